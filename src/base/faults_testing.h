// For tests: file operations that fail on demand, without any privilege.
//
//   Faults faults;                                    // active as long as it lives
//   faults.add({.operation = FileOperation::write, .error = ENOSPC, .nth = 3, .path = "events"});
//
// for_each_fault walks through a piece of code: it fails the first operation, then the second and so on, in every way.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/file_system.h"

namespace sonde::base {

enum class FileOperation : std::uint8_t {
  open,
  close,
  read,
  write,
  sync,  // of a file or a directory
  truncate,
  allocate,
  map,
  rename,
  link,
  make_directory,
  remove,  // of a file, a directory or a tree
};
inline constexpr std::array<const char*, 12> kFileOperations = {"open",   "close",    "read",           "write",
                                                                "sync",   "truncate", "allocate",       "map",
                                                                "rename", "link",     "make_directory", "remove"};

struct Fault {
  FileOperation operation = FileOperation::write;
  int error = ENOSPC;       // 0: a read or write does half of its work, and succeeds
  std::uint64_t nth = 1;    // of the matching operations, counted from the moment when the fault is added
  bool persistent = false;  // that one and all later ones, until clear()
  bool half_first = false;  // a write does half of its work, and the next one fails
  std::string path = {};    // only on paths that contain this

  // Whether the caller must not notice it.
  bool harmless() const { return error == 0 || error == EINTR; }
  std::string text() const {
    const std::string what = error == 0 ? "is short" : "fails: " + std::generic_category().message(error);
    return std::string(kFileOperations[static_cast<std::size_t>(operation)]) + " " + std::to_string(nth) + " " + what +
           (half_first ? " in the middle" : "") + (persistent ? ", and all that follow" : "");
  }
};

// Replaces the system's files. It is never destroyed, since threads may be in its calls when a test ends.
class FaultyFiles final : public FileSystem {
 public:
  static FaultyFiles& get() {
    static auto* const one = new FaultyFiles;
    return *one;
  }

  void reset() {
    const std::scoped_lock lock(mutex_);
    rules_.clear();
    seen_ = {};
    fired_ = 0;
    capacity_.reset();
    used_ = 0;
  }
  void add(Fault fault) {
    const std::scoped_lock lock(mutex_);
    rules_.push_back({std::move(fault), 0, false});
  }
  void clear() {
    const std::scoped_lock lock(mutex_);
    rules_.clear();
    capacity_.reset();
  }
  void limit_space(std::string directory, std::optional<std::uint64_t> bytes) {
    const std::scoped_lock lock(mutex_);
    disk_ = std::move(directory);
    capacity_ = bytes;
  }
  std::uint64_t used() {
    const std::scoped_lock lock(mutex_);
    return used_;
  }
  std::uint64_t fired() {
    const std::scoped_lock lock(mutex_);
    return fired_;
  }
  std::uint64_t seen(FileOperation operation) {
    const std::scoped_lock lock(mutex_);
    return seen_[static_cast<std::size_t>(operation)];
  }

  int open(const std::string& path, int flags, mode_t mode) noexcept override {
    if (const int error = next(FileOperation::open, path)) return fail(error);
    return FileSystem::open(path, flags, mode);
  }
  int close(const std::string& path, int fd) noexcept override {
    const int error = next(FileOperation::close, path);
    const int result = FileSystem::close(path, fd);  // even if it fails, as in Linux
    return error != 0 ? fail(error) : result;
  }
  ssize_t read(const std::string& path, int fd, void* to, std::size_t size) noexcept override {
    bool half = false;
    if (const int error = next(FileOperation::read, path, &half)) return fail(error);
    return FileSystem::read(path, fd, to, half ? (size + 1) / 2 : size);
  }
  ssize_t read_at(const std::string& path, int fd, void* to, std::size_t size, std::uint64_t at) noexcept override {
    bool half = false;
    if (const int error = next(FileOperation::read, path, &half)) return fail(error);
    return FileSystem::read_at(path, fd, to, half ? (size + 1) / 2 : size, at);
  }
  ssize_t write(const std::string& path, int fd, const void* from, std::size_t size) noexcept override {
    bool half = false;
    if (const int error = next(FileOperation::write, path, &half)) return fail(error);
    if (half) size = (size + 1) / 2;
    const std::size_t taken = take_space(path, size);
    if (taken == 0 && size > 0) return fail(ENOSPC);
    return FileSystem::write(path, fd, from, taken);
  }
  ssize_t write_at(const std::string& path, int fd, const void* from, std::size_t size,
                   std::uint64_t at) noexcept override {
    bool half = false;
    if (const int error = next(FileOperation::write, path, &half)) return fail(error);
    return FileSystem::write_at(path, fd, from, half ? (size + 1) / 2 : size, at);
  }
  int sync(const std::string& path, int fd) noexcept override {
    if (const int error = next(FileOperation::sync, path)) return fail(error);
    return FileSystem::sync(path, fd);
  }
  int sync_directory(const std::string& path, int fd) noexcept override {
    if (const int error = next(FileOperation::sync, path)) return fail(error);
    return FileSystem::sync_directory(path, fd);
  }
  int truncate(const std::string& path, int fd, std::uint64_t size) noexcept override {
    if (const int error = next(FileOperation::truncate, path)) return fail(error);
    struct stat info{};
    if (::fstat(fd, &info) == 0 && static_cast<std::uint64_t>(info.st_size) > size) {
      give_back(path, static_cast<std::uint64_t>(info.st_size) - size);
    }
    return FileSystem::truncate(path, fd, size);
  }
  int allocate(const std::string& path, int fd, std::uint64_t size) noexcept override {
    if (const int error = next(FileOperation::allocate, path)) return fail(error);
    const std::uint64_t taken = take_space(path, size);
    if (taken == size) return FileSystem::allocate(path, fd, size);
    give_back(path, taken);
    return fail(ENOSPC);
  }
  void* map(const std::string& path, int fd, std::size_t size, int protection, int flags) noexcept override {
    if (const int error = next(FileOperation::map, path)) {
      errno = error;
      return MAP_FAILED;
    }
    return FileSystem::map(path, fd, size, protection, flags);
  }
  int rename(const std::string& from, const std::string& to) noexcept override {
    if (const int error = next(FileOperation::rename, to)) return fail(error);
    give_back(to, size_of(to));
    return FileSystem::rename(from, to);
  }
  int rename_to_free(const std::string& from, const std::string& to) noexcept override {
    if (const int error = next(FileOperation::rename, to)) return fail(error);
    return FileSystem::rename_to_free(from, to);
  }
  int link(const std::string& from, const std::string& to) noexcept override {
    if (const int error = next(FileOperation::link, to)) return fail(error);
    return FileSystem::link(from, to);
  }
  int make_directory(const std::string& path, mode_t mode) noexcept override {
    if (const int error = next(FileOperation::make_directory, path)) return fail(error);
    return FileSystem::make_directory(path, mode);
  }
  int remove_file(const std::string& path) noexcept override {
    if (const int error = next(FileOperation::remove, path)) return fail(error);
    give_back(path, size_of(path));
    return FileSystem::remove_file(path);
  }
  int remove_directory(const std::string& path) noexcept override {
    if (const int error = next(FileOperation::remove, path)) return fail(error);
    return FileSystem::remove_directory(path);
  }
  int remove_tree(const std::string& path) noexcept override {
    if (const int error = next(FileOperation::remove, path)) return fail(error);
    std::error_code ignored;
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path, ignored)) {
      bytes += size_of(entry.path().string());
    }
    give_back(path, bytes);
    return FileSystem::remove_tree(path);
  }

 private:
  struct Rule {
    Fault fault;
    std::uint64_t matched = 0;
    bool done_half = false;
  };

  FaultyFiles() = default;

  static int fail(int error) noexcept {
    errno = error;
    return -1;
  }
  // Size of a regular file with this name and no other links.
  static std::uint64_t size_of(const std::string& path) noexcept {
    struct stat info{};
    const bool counts = ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1;
    return counts ? static_cast<std::uint64_t>(info.st_size) : 0;
  }

  // The errno with which this operation must fail, or 0.
  int next(FileOperation operation, const std::string& path, bool* half = nullptr) noexcept {
    const std::scoped_lock lock(mutex_);
    ++seen_[static_cast<std::size_t>(operation)];
    for (Rule& rule : rules_) {
      const Fault& fault = rule.fault;
      if (fault.operation != operation || path.find(fault.path) == std::string::npos) continue;
      ++rule.matched;
      const std::uint64_t nth = fault.nth + (rule.done_half ? 1 : 0);
      if (rule.matched < nth || (rule.matched > nth && !fault.persistent)) continue;
      const bool first_half = fault.half_first && !rule.done_half;
      if (half != nullptr && (fault.error == 0 || first_half)) {
        *half = true;
        rule.done_half = first_half;
        fired_ += fault.error == 0 ? 1 : 0;
        continue;
      }
      ++fired_;
      return fault.error;
    }
    return 0;
  }

  std::uint64_t take_space(const std::string& path, std::uint64_t size) noexcept {
    const std::scoped_lock lock(mutex_);
    if (!path.starts_with(disk_)) return size;
    if (capacity_) size = std::min(size, *capacity_ - std::min(used_, *capacity_));
    used_ += size;
    return size;
  }
  void give_back(const std::string& path, std::uint64_t size) noexcept {
    const std::scoped_lock lock(mutex_);
    if (path.starts_with(disk_)) used_ -= std::min(size, used_);
  }

  std::mutex mutex_;
  std::vector<Rule> rules_;
  std::array<std::uint64_t, kFileOperations.size()> seen_ = {};
  std::uint64_t fired_ = 0;
  std::string disk_;                       // a directory that acts as a separate disk
  std::optional<std::uint64_t> capacity_;  // of that disk; none: unlimited
  std::uint64_t used_ = 0;
};

// Replaces the system's files as long as it lives. One at a time; a process that forks must not have one.
class Faults {
 public:
  Faults() {
    FaultyFiles::get().reset();
    use_files(&FaultyFiles::get());
  }
  ~Faults() {
    use_files(nullptr);
    FaultyFiles::get().reset();
  }
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  void add(Fault fault) { FaultyFiles::get().add(std::move(fault)); }
  // Removes all faults.
  void clear() { FaultyFiles::get().clear(); }

  // Limits the space below `directory` to this many bytes: the write that reaches the end is short, the next one fails
  // with ENOSPC. Removing and truncating files through Sonde frees space.
  void limit_space(const std::string& directory, std::uint64_t bytes) {
    FaultyFiles::get().limit_space(directory, bytes);
  }
  std::uint64_t used_space() const { return FaultyFiles::get().used(); }

  // Counted since this object was created.
  std::uint64_t seen(FileOperation operation) const { return FaultyFiles::get().seen(operation); }
  std::uint64_t fired() const { return FaultyFiles::get().fired(); }
};

// All ways in which one operation can fail, for the first operation of its kind.
inline std::vector<Fault> every_fault() {
  using enum FileOperation;
  std::vector<Fault> faults;
  for (const int error : {ENOSPC, EIO, EINTR, 0}) faults.push_back({.operation = write, .error = error});
  for (const int error : {ENOSPC, EIO}) faults.push_back({.operation = write, .error = error, .half_first = true});
  for (const int error : {EMFILE, ENOSPC, EIO, EINTR}) faults.push_back({.operation = open, .error = error});
  for (const int error : {EIO, EINTR, 0}) faults.push_back({.operation = read, .error = error});
  for (const FileOperation one : {close, sync, truncate, rename, link, make_directory, remove}) {
    for (const int error : {EIO, ENOSPC, EINTR}) faults.push_back({.operation = one, .error = error});
  }
  for (const int error : {ENOSPC, EIO, EINTR}) faults.push_back({.operation = allocate, .error = error});
  faults.push_back({.operation = map, .error = ENOMEM});
  const std::size_t once = faults.size();
  for (std::size_t i = 0; i < once; ++i) {
    if (faults[i].harmless()) continue;  // a call that is always interrupted would never end
    faults.push_back(faults[i]);
    faults.back().persistent = true;
  }
  return faults;
}

// Calls body(faults, fault) with every fault at the first operation of its kind, at the second and so on, until nothing
// is left to fail. The body sets up what it needs, names the relevant paths in fault.path, and adds the fault. Returns
// how many faults occurred.
template <class Body>
std::uint64_t for_each_fault(Body body) {
  std::uint64_t met = 0;
  for (Fault fault : every_fault()) {
    for (bool fired = true; fired && !::testing::Test::HasFatalFailure(); ++fault.nth) {
      const ::testing::ScopedTrace trace(__FILE__, __LINE__, fault.text());
      Faults faults;
      body(faults, fault);
      fired = faults.fired() > 0;
      met += fired ? 1 : 0;
    }
  }
  return met;
}

}  // namespace sonde::base
