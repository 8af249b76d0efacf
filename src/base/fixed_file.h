// A file of fixed size that this process alone writes: what is written there outlives the process, whatever ends it.
// Not the machine: the kernel writes it to the disk when it likes.
//
// Written by system calls and not mapped: somebody who cuts the file short would end a process that has it mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "sonde/status.h"

namespace sonde {

// Not safe for several threads at once, but for read_at. On a thread that does not block SIGXFSZ, as those of
// base/thread.h do, a write may end the process where the program lowers the limit for the size of files.
class FixedFile {
 public:
  // Makes "<prefix><k><suffix>", k the smallest number that is free, readable by this user only, with all its bytes
  // allocated and zero: writing them cannot fail later because the disk is full. Locked (base/file_lock.h) from the
  // moment it is made. `no_space` says how many bytes were wanted and how many are free, or how many a file may have.
  static Result<FixedFile> create(const std::string& prefix, const std::string& suffix, std::uint64_t bytes);

  FixedFile(FixedFile&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), size_(std::exchange(other.size_, 0)), path_(std::move(other.path_)) {}
  FixedFile& operator=(FixedFile&&) = delete;
  ~FixedFile();  // as release()

  std::uint64_t size() const noexcept { return size_; }  // 0 once it is released
  const std::string& path() const noexcept { return path_; }

  // False: not all of it could be written, or it lies beyond the end. A reader sees writes in their order.
  bool write_at(std::uint64_t offset, Bytes bytes) noexcept;
  // False: not all of it is there.
  bool read_at(std::uint64_t offset, std::span<std::byte> to) const noexcept;
  // False: somebody has cut it short.
  bool is_whole() const noexcept;

  // Lets go of file and lock; the file stays. In a forked child it takes nothing from the parent.
  void release() noexcept;
  // Takes the file away, then lets go.
  Status remove();

 private:
  FixedFile(int fd, std::string path) noexcept : fd_(fd), path_(std::move(path)) {}
  Status take_name(const std::string& prefix, const std::string& suffix);
  Status allocate(std::uint64_t bytes);

  int fd_ = -1;  // holds the lock
  std::uint64_t size_ = 0;
  std::string path_;
};

}  // namespace sonde
