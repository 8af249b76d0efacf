// A file of fixed size that this process alone writes, as memory: what is stored there outlives the process, whatever
// ends it. Not the machine: the kernel writes it to the disk when it likes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "sonde/status.h"

namespace sonde {

// Not safe for several threads at once; its bytes are ordinary memory.
class SharedMapping {
 public:
  // Makes "<prefix><k><suffix>", k the smallest number that is free, readable by this user only, with all its bytes
  // allocated and zero: storing to them cannot fail later because the disk is full. Locked (base/file_lock.h) from the
  // moment it is made. `no_space` says how many bytes were wanted and how many are free, or how many a file may have.
  static Result<SharedMapping> create(const std::string& prefix, const std::string& suffix, std::uint64_t bytes);

  SharedMapping(SharedMapping&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), bytes_(std::exchange(other.bytes_, {})), path_(std::move(other.path_)) {}
  SharedMapping& operator=(SharedMapping&&) = delete;
  ~SharedMapping();  // as release()

  std::span<std::byte> bytes() const noexcept { return bytes_; }
  const std::string& path() const noexcept { return path_; }

  // Lets go of memory and lock; the file stays. In a forked child it takes nothing from the parent.
  void release() noexcept;
  // Takes the file away, then lets go.
  Status remove();

 private:
  SharedMapping(int fd, std::string path) noexcept : fd_(fd), path_(std::move(path)) {}
  Status take_name(const std::string& prefix, const std::string& suffix);
  Status allocate(std::uint64_t bytes);

  int fd_ = -1;  // holds the lock
  std::span<std::byte> bytes_;
  std::string path_;
};

}  // namespace sonde
