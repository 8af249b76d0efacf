// A file of fixed size that only this process writes: its content survives the process, however it ends. It may not
// survive the machine: the kernel decides when to write it to the disk.
//
// Written by system calls and not mapped: truncating a mapped file would kill the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "sonde/status.h"

namespace sonde::base {

// Not safe for several threads at once, except read_at. On a thread that does not block SIGXFSZ (those of base/thread.h
// do), a write may end the process if the program lowers the file size limit.
class FixedFile {
 public:
  // Creates "<prefix><k><suffix>", with k the smallest free number, readable by this user only, with all its bytes
  // allocated and zero: later writes cannot fail because the disk is full. It is locked (base/file_lock.h) from its
  // creation on. `no_space` says how many bytes are needed and how many are free, or the file size limit.
  static Result<FixedFile> create(const std::string& prefix, const std::string& suffix, std::uint64_t bytes);

  FixedFile(FixedFile&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), size_(std::exchange(other.size_, 0)), path_(std::move(other.path_)) {}
  FixedFile& operator=(FixedFile&&) = delete;
  ~FixedFile();  // like release()

  std::uint64_t size() const noexcept { return size_; }  // 0 once it is released
  const std::string& path() const noexcept { return path_; }

  // False: not everything could be written, or it is beyond the end. A reader sees writes in their order.
  bool write_at(std::uint64_t offset, Bytes bytes) noexcept;
  // False: the file is too short.
  bool read_at(std::uint64_t offset, std::span<std::byte> to) const noexcept;
  // False: somebody has truncated it.
  bool is_whole() const noexcept;

  // Closes the file and releases the lock; the file stays. In a forked child this takes nothing from the parent.
  void release() noexcept;
  // Removes the file, then releases it.
  Status remove();

 private:
  FixedFile(int fd, std::string path) noexcept : fd_(fd), path_(std::move(path)) {}
  Status take_name(const std::string& temporary, const std::string& prefix, const std::string& suffix);
  Status allocate(std::uint64_t bytes);

  int fd_ = -1;  // holds the lock
  std::uint64_t size_ = 0;
  std::string path_;
};

}  // namespace sonde::base
