// A numbered directory that appears as a whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "sonde/status.h"

namespace sonde::base {

// The number at the beginning of "12-nan"; 0 if there is none.
std::uint64_t leading_number(std::string_view name) noexcept;

// Created as PARENT/.part-<n> and renamed to PARENT/<n>-<name> when it is complete; without a commit it is removed with
// its content. n is larger than all existing numbers, and no other process or thread gets the same. The next one
// removes what a killed process left behind.
class NumberedDirectory {
 public:
  // Creates the parent, too.
  static Result<NumberedDirectory> create(const std::string& parent);

  NumberedDirectory(NumberedDirectory&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        parent_(std::move(other.parent_)),
        path_(std::move(other.path_)),
        number_(other.number_) {}
  NumberedDirectory& operator=(NumberedDirectory&&) = delete;
  ~NumberedDirectory();

  std::uint64_t number() const noexcept { return number_; }
  const std::string& path() const noexcept { return path_; }  // while it is incomplete
  // The path after the commit.
  std::string final_path(std::string_view name) const;
  // Renames it to its final path. Nothing can be added afterwards.
  Status commit(std::string_view name);

 private:
  NumberedDirectory(int fd, std::string parent, std::string path, std::uint64_t number) noexcept
      : fd_(fd), parent_(std::move(parent)), path_(std::move(path)), number_(number) {}

  int fd_ = -1;  // holds the lock that distinguishes living ones from leftovers; -1: it is no longer ours
  std::string parent_;
  std::string path_;
  std::uint64_t number_ = 0;
};

}  // namespace sonde::base
