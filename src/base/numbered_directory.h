// A directory that takes its place as a whole, under a number of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "sonde/status.h"

namespace sonde {

// The number at the beginning of "12-nan"; 0 where there is none.
std::uint64_t leading_number(std::string_view name) noexcept;

// Made as PARENT/.part-<n> and renamed to PARENT/<n>-<name> when all is in it; without a commit it vanishes with
// everything in it. n is larger than every number that is there, and no other process or thread gets the same. What a
// killed process left behind is removed by the next one.
class NumberedDirectory {
 public:
  // Makes the parent, too.
  static Result<NumberedDirectory> create(const std::string& parent);

  NumberedDirectory(NumberedDirectory&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), parent_(std::move(other.parent_)), number_(other.number_) {}
  NumberedDirectory& operator=(NumberedDirectory&&) = delete;
  ~NumberedDirectory();

  std::uint64_t number() const noexcept { return number_; }
  std::string path() const;  // where it is made
  // Where it will be.
  std::string final_path(std::string_view name) const;
  // Puts it there. Nothing can be added afterwards.
  Status commit(std::string_view name);

 private:
  NumberedDirectory(int fd, std::string parent, std::uint64_t number) noexcept
      : fd_(fd), parent_(std::move(parent)), number_(number) {}

  int fd_ = -1;  // holds the lock that tells the living from what was left behind; -1: it is no longer ours
  std::string parent_;
  std::uint64_t number_ = 0;
};

}  // namespace sonde
