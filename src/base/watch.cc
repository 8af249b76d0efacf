#include "base/watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/bytes.h"
#include "base/file.h"

namespace sonde::base {

bool tells_of_changes(const std::string& path) noexcept {
  // NFS, SMB (two generations), CIFS, FUSE, 9P, AFS, Ceph, Lustre, GPFS
  constexpr std::array<std::uint32_t, 10> kRemote = {0x6969,     0x517B,     0xFE534D42, 0xFF534D42, 0x65735546,
                                                     0x01021997, 0x5346414F, 0x00C36400, 0x0BD00BD0, 0x47504653};
  struct statfs info{};
  if (::statfs(path.c_str(), &info) != 0) return false;
  return std::ranges::find(kRemote, static_cast<std::uint32_t>(info.f_type)) == kRemote.end();
}

Result<std::unique_ptr<Watch>> Watch::create() {
  const int notify = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (notify < 0) return system_error("watch", "directories", errno);
  const int wake = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wake < 0) {
    const int error = errno;
    ::close(notify);
    return system_error("watch", "directories", error);
  }
  return std::unique_ptr<Watch>(new Watch(notify, wake));
}

Watch::~Watch() {
  ::close(notify_);
  ::close(wake_);
}

Status Watch::add(const std::string& directory) {
  constexpr std::uint32_t kMask = IN_CREATE | IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF |
                                  IN_MOVE_SELF | IN_ATTRIB | IN_ONLYDIR;
  const std::lock_guard lock(mutex_);  // before the system can report a change
  const int id = ::inotify_add_watch(notify_, directory.c_str(), kMask);
  if (id < 0) {
    if (errno == ENOSPC || errno == ENOMEM) {
      return {Code::exhausted, "cannot watch '" + directory + "': the system's limit of watches is reached"};
    }
    return system_error("watch", directory, errno);
  }
  std::vector<std::string>& paths = directories_[id];
  if (std::ranges::find(paths, directory) == paths.end()) paths.push_back(directory);
  return Status::success();
}

void Watch::take_events(Changes& changes) {
  alignas(inotify_event) std::array<char, 1 << 16> buffer;
  const std::lock_guard lock(mutex_);
  for (;;) {
    const ssize_t got = ::read(notify_, buffer.data(), buffer.size());
    if (got <= 0) return;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      const auto event = load<inotify_event>(buffer.data() + at);
      at += sizeof(inotify_event) + event.len;
      if ((event.mask & IN_Q_OVERFLOW) != 0) changes.lost = true;
      const auto found = directories_.find(event.wd);
      if (found == directories_.end()) continue;
      const bool entries = (event.mask & (IN_MODIFY | IN_ATTRIB)) == 0;
      for (const std::string& path : found->second) {
        const auto known = std::ranges::find(changes.directories, path, &Change::directory);
        if (known == changes.directories.end()) {
          changes.directories.push_back({path, entries});
        } else {
          known->entries |= entries;
        }
      }
      if ((event.mask & IN_IGNORED) != 0) directories_.erase(found);
    }
  }
}

Watch::Changes Watch::wait(std::chrono::milliseconds timeout) {
  std::array<pollfd, 2> waiting = {pollfd{notify_, POLLIN, 0}, pollfd{wake_, POLLIN, 0}};
  ::poll(waiting.data(), waiting.size(), static_cast<int>(std::min<std::int64_t>(timeout.count(), 1 << 30)));
  std::uint64_t woken = 0;
  (void)!::read(wake_, &woken, sizeof woken);
  Changes changes;
  take_events(changes);
  return changes;
}

void Watch::wake() const noexcept {
  const std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
}

}  // namespace sonde::base
