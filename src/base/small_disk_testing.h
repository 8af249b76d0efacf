// For tests: a disk that is soon full.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "base/directory.h"
#include "base/faults_testing.h"
#include "base/file.h"
#include "base/temp_dir_testing.h"

namespace sonde::base {

class SmallDisk {
 public:
  virtual ~SmallDisk() = default;
  const std::string& path() const { return dir_.path(); }
  std::string operator/(std::string_view name) const { return dir_ / name; }
  virtual void fill() = 0;  // to the last byte
  virtual void free() = 0;  // what was filled

 protected:
  TempDir dir_;
};

// A disk that Faults simulates.
class PretendedDisk final : public SmallDisk {
 public:
  explicit PretendedDisk(std::uint64_t bytes) : bytes_(bytes) { faults_.limit_space(path(), bytes_); }
  void fill() override { faults_.limit_space(path(), faults_.used_space()); }
  void free() override { faults_.limit_space(path(), bytes_); }

 private:
  Faults faults_;
  std::uint64_t bytes_;
};

// A tmpfs, which is removed with the calling process.
class MountedDisk final : public SmallDisk {
 public:
  explicit MountedDisk(std::uint64_t bytes) {
    const std::string options = "size=" + std::to_string(bytes);
    mounted_ = have_mounts_of_our_own() && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               ::mount("sonde", path().c_str(), "tmpfs", 0, options.c_str()) == 0;
  }
  bool mounted() const { return mounted_; }
  void fill() override {
    std::FILE* file = std::fopen((dir_ / "ballast").c_str(), "wb");
    const std::string block(1 << 20, 'x');
    while (std::fwrite(block.data(), 1, block.size(), file) == block.size()) {
    }
    std::fclose(file);
  }
  void free() override { EXPECT_TRUE(remove_file(dir_ / "ballast").ok()); }

 private:
  // Without root we use a user namespace, in which we keep our user id.
  static bool have_mounts_of_our_own() {
    const std::string user = std::to_string(::geteuid());
    const std::string group = std::to_string(::getegid());
    if (::geteuid() == 0 && ::unshare(CLONE_NEWNS) == 0) return true;
    return ::unshare(CLONE_NEWNS | CLONE_NEWUSER) == 0 && put("/proc/self/uid_map", user + " " + user + " 1") &&
           put("/proc/self/setgroups", "deny") && put("/proc/self/gid_map", group + " " + group + " 1");
  }
  static bool put(const char* path, const std::string& text) {
    const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
    const bool written = fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (fd >= 0) ::close(fd);
    return written;
  }

  bool mounted_ = false;
};

// Calls body(disk), which returns 0 on success, on a simulated disk, and before that, if this system lets us mount one,
// on a real one, in a separate process.
template <class Body>
void test_on_small_disk(std::uint64_t bytes, Body body) {
  constexpr int kNotPermitted = 77;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    MountedDisk disk(bytes);
    ::_exit(disk.mounted() ? body(static_cast<SmallDisk&>(disk)) : kNotPermitted);
  }
  int state = 0;
  ASSERT_EQ(::waitpid(child, &state, 0), child);
  ASSERT_TRUE(WIFEXITED(state)) << "ended by signal " << WTERMSIG(state);
  if (WEXITSTATUS(state) != kNotPermitted) {
    EXPECT_EQ(WEXITSTATUS(state), 0) << "on a mounted disk";
  }
  PretendedDisk disk(bytes);
  EXPECT_EQ(body(static_cast<SmallDisk&>(disk)), 0) << "on a simulated disk";
}

}  // namespace sonde::base
