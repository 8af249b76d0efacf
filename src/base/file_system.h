// The system calls with which this project changes, opens, reads and maps files. All of them go through this class
// (tools/check_layers): tests replace it with a file system that fails on demand (base/faults_testing.h), and another
// store can be added here later.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

namespace sonde::base {

// The calls of the operating system, as they are: -1 (or MAP_FAILED) and errno where one fails, also with EINTR; reads
// and writes may do less than they are asked for. Calls that have a descriptor also get the path that it was opened
// by, which the system does not need. Called from any thread.
class FileSystem {
 public:
  constexpr FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;

  virtual int open(const std::string& path, int flags, mode_t mode) noexcept;
  virtual int close(const std::string& path, int fd) noexcept;
  virtual ssize_t read(const std::string& path, int fd, void* to, std::size_t size) noexcept;
  virtual ssize_t read_at(const std::string& path, int fd, void* to, std::size_t size, std::uint64_t offset) noexcept;
  virtual ssize_t write(const std::string& path, int fd, const void* from, std::size_t size) noexcept;
  virtual ssize_t write_at(const std::string& path, int fd, const void* from, std::size_t size,
                           std::uint64_t offset) noexcept;
  virtual int sync(const std::string& path, int fd) noexcept;            // a file's data
  virtual int sync_directory(const std::string& path, int fd) noexcept;  // the names in it
  virtual int truncate(const std::string& path, int fd, std::uint64_t size) noexcept;
  virtual int allocate(const std::string& path, int fd, std::uint64_t size) noexcept;
  virtual void* map(const std::string& path, int fd, std::size_t size, int protection, int flags) noexcept;

  virtual int rename(const std::string& from, const std::string& to) noexcept;
  virtual int rename_to_free(const std::string& from, const std::string& to) noexcept;  // EEXIST if the path is taken
  virtual int link(const std::string& from, const std::string& to) noexcept;
  virtual int make_directory(const std::string& path, mode_t mode) noexcept;
  virtual int remove_file(const std::string& path) noexcept;
  virtual int remove_directory(const std::string& path) noexcept;  // an empty one
  virtual int remove_tree(const std::string& path) noexcept;       // with its content, following no link

 protected:
  ~FileSystem() = default;  // the current one is never deleted
};

namespace detail {
extern constinit std::atomic<FileSystem*> files_in_place;
}  // namespace detail

// The current file system.
inline FileSystem& files() noexcept { return *detail::files_in_place.load(std::memory_order_acquire); }

// Replaces it for the whole process; nullptr: the system's. It must live until the process ends, since a thread may be
// in one of its calls when the next one takes over. For tests.
void use_files(FileSystem* other) noexcept;

// Repeats the call as long as a signal interrupts it.
template <class Call>
auto retrying(Call call) {
  for (;;) {
    const auto result = call();
    if (result != decltype(result)(-1) || errno != EINTR) return result;
  }
}

}  // namespace sonde::base
