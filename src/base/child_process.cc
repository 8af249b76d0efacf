#include "base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <system_error>

#include "base/file.h"
#include "base/file_system.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has it in no header

namespace sonde::base {
namespace {

constexpr std::size_t kWordsKept = 2048;
constexpr int kPipeBytes = 1 << 20;
constexpr std::uint64_t kWorkTicks = 10;  // 0.1 s on a processor count as progress; an idle thread's timers do not
constexpr std::chrono::milliseconds kLookEvery{500};
constexpr std::chrono::milliseconds kGrace{2000};

std::string reason(int error) { return std::generic_category().message(error); }

// Above the standard descriptors, so that moving one of them to its place in the child overwrites no other.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {
    if (fd_ < 0 || fd_ > 2) return;
    fd_ = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    ::close(fd);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

struct Pair {
  Descriptor ours, theirs;
};

Result<Pair> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Status(Code::io, "cannot make a pipe: " + reason(errno));
  Pair pair{Descriptor(ends[0]), Descriptor(ends[1])};
  ::fcntl(pair.ours.get(), F_SETPIPE_SZ, kPipeBytes);  // only faster, and not allowed everywhere
  ::fcntl(pair.ours.get(), F_SETFL, O_NONBLOCK);
  return pair;
}

Result<Pair> make_socket() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Status(Code::io, "cannot make a socket: " + reason(errno));
  }
  Pair pair{Descriptor(ends[0]), Descriptor(ends[1])};
  ::fcntl(pair.ours.get(), F_SETFL, O_NONBLOCK);
  return pair;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> texts;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view text(*each);
    const bool replaced = std::ranges::any_of(added, [&](const auto& pair) {
      return text.size() > pair.first.size() && text.starts_with(pair.first) && text[pair.first.size()] == '=';
    });
    if (!replaced) texts.emplace_back(text);
  }
  for (const auto& [name, value] : added) texts.emplace_back(name).append("=").append(value);
  return texts;
}

// The child begins without our blocked or ignored signals.
int spawn(pid_t* pid, const ChildProcess::Options& options, int input, int output, int errors) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> words = options.command;
  std::vector<std::string> environment = environment_with(options.environment);
  const int error = posix_spawnp(pid, words.front().c_str(), &actions, &attributes, pointers(words).data(),
                                 pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const Options& options) {
  if (options.command.empty() || options.command.front().empty()) {
    return Status(Code::invalid_argument, "there is no program to start: its name is empty");
  }
  Result<Pair> input = make_socket();
  if (!input) return input.error();
  Result<Pair> output = make_pipe();
  if (!output) return output.error();
  Result<Pair> errors = make_pipe();
  if (!errors) return errors.error();
  pid_t pid = -1;
  const int error = spawn(&pid, options, input->theirs.get(), output->theirs.get(), errors->theirs.get());
  if (error != 0) {
    return Status(error == ENOENT   ? Code::not_found
                  : error == EACCES ? Code::permission_denied
                                    : Code::io,
                  "cannot start '" + options.command.front() + "': " + reason(error));
  }
  return std::unique_ptr<ChildProcess>(
      new ChildProcess(pid, input->ours.release(), output->ours.release(), errors->ours.release(), options.patience));
}

ChildProcess::~ChildProcess() { stop(false); }

void ChildProcess::stop(bool kill) noexcept {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
  if (pid_ >= 0) {
    // Its end closes its output; what it still writes is not read, so it may also have to be killed.
    const auto deadline = Clock::now() + kGrace;
    std::array<char, 4096> ignored{};
    while (!kill) {
      pollfd output{output_, POLLIN, 0};
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) break;
      if (::poll(&output, 1, static_cast<int>(left)) < 0 && errno != EINTR) break;
      const ssize_t size = ::read(output_, ignored.data(), ignored.size());
      if (size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN)) break;
    }
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == 0) {
      ::kill(pid_, SIGKILL);
      retrying([&] { return ::waitpid(pid_, &status, 0); });
    }
    pid_ = -1;
  }
  if (output_ >= 0) ::close(std::exchange(output_, -1));
  if (errors_ >= 0) ::close(std::exchange(errors_, -1));
}

Status ChildProcess::write(std::string_view bytes) {
  while (failed_ && !bytes.empty()) {
    errno = 0;
    const ssize_t size = ::send(input_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(size));
      moved_ = Clock::now();
    } else if (errno == EAGAIN) {
      if (Status waited = wait(true); !waited) return waited;
    } else if (errno != EINTR) {
      return ended();
    }
  }
  return failed_;
}

Result<std::size_t> ChildProcess::read_some(std::span<std::byte> to) {
  while (failed_) {
    const ssize_t size = ::read(output_, to.data(), to.size());
    if (size > 0) {
      moved_ = Clock::now();
      return static_cast<std::size_t>(size);
    }
    if (size == 0) return ended();
    if (errno == EAGAIN) {
      if (Status waited = wait(false); !waited) return waited;
    } else if (errno != EINTR) {
      return give_up({Code::io, "cannot read from it: " + reason(errno)});
    }
  }
  return failed_;
}

Status ChildProcess::read(std::span<std::byte> to) {
  const std::size_t held = std::min(to.size(), buffer_.size() - taken_);
  if (held > 0) std::memcpy(to.data(), buffer_.data() + taken_, held);
  taken_ += held;
  to = to.subspan(held);
  while (!to.empty()) {
    const Result<std::size_t> size = read_some(to);
    if (!size) return size.error();
    to = to.subspan(*size);
  }
  return failed_;
}

Result<std::string_view> ChildProcess::read_line(std::size_t longest) {
  buffer_.erase(0, std::exchange(taken_, 0));
  std::size_t searched = 0;
  for (;;) {
    const std::size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      taken_ = end + 1;
      return std::string_view(buffer_).substr(0, end);
    }
    searched = buffer_.size();
    if (searched > longest)
      return give_up({Code::corrupt, "it wrote a line of more than " + std::to_string(longest) + " bytes"});
    std::array<std::byte, 1 << 16> piece;
    const Result<std::size_t> size = read_some(piece);
    if (!size) return size.error();
    buffer_.append(reinterpret_cast<const char*>(piece.data()), *size);
  }
}

Status ChildProcess::wait(bool to_write) {
  for (;;) {
    std::array<pollfd, 2> watched = {
        {{to_write ? input_ : output_, static_cast<short>(to_write ? POLLOUT : POLLIN), 0}, {errors_, POLLIN, 0}}};
    const int count = ::poll(watched.data(), watched.size(), static_cast<int>(kLookEvery.count()));
    if (count < 0 && errno != EINTR) return give_up({Code::io, "cannot wait for it: " + reason(errno)});
    if (count > 0 && watched[1].revents != 0) take_errors();
    if (count > 0 && watched[0].revents != 0) return failed_;
    if (uses_processor()) moved_ = Clock::now();
    if (Clock::now() - moved_ > patience_) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience_).count();
      return give_up({Code::exhausted, "it did nothing for " + std::to_string(seconds) + " s, and was ended"});
    }
  }
}

void ChildProcess::take_errors() {
  std::array<char, 1 << 14> piece;
  while (errors_ >= 0) {
    const ssize_t size = ::read(errors_, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return;
    if (size == 0) {  // it closed its standard error; poll ignores a negative descriptor
      ::close(std::exchange(errors_, -1));
      return;
    }
    moved_ = Clock::now();
    words_.append(piece.data(), static_cast<std::size_t>(size));
    if (words_.size() > 2 * kWordsKept) words_.erase(0, words_.size() - kWordsKept);
  }
}

bool ChildProcess::uses_processor() {
  const auto text = read_file("/proc/" + std::to_string(pid_) + "/stat");
  if (!text) return false;
  // The second field is a name in parentheses, which may hold anything; user and system time are 14 and 15.
  std::size_t place = text->rfind(')');
  std::uint64_t ticks = 0;
  for (int field = 2; place != std::string::npos && field < 15; ++field) {
    place = text->find(' ', place + 1);
    std::uint64_t value = 0;
    if (place != std::string::npos && field >= 13) {
      std::from_chars(text->data() + place + 1, text->data() + text->size(), value);
      ticks += value;
    }
  }
  if (ticks < processor_time_ + kWorkTicks) return false;
  processor_time_ = ticks;
  return true;
}

Status ChildProcess::give_up(Status reason) {
  take_errors();
  failed_ = std::move(reason);
  stop(true);
  return failed_;
}

Status ChildProcess::ended() {
  // What it wrote last may still be in the pipe; its output is closed, so it is about to end.
  int status = 0;
  const auto deadline = Clock::now() + kGrace;
  pid_t waited = 0;
  while ((waited = retrying([&] { return ::waitpid(pid_, &status, WNOHANG); })) == 0 && Clock::now() < deadline) {
    pollfd errors{errors_, POLLIN, 0};
    ::poll(&errors, 1, 10);
    take_errors();
  }
  take_errors();
  std::string how = "it ended";
  if (waited == 0) {
    how = "it closed its output";
  } else if (waited == pid_) {
    pid_ = -1;
    if (WIFSIGNALED(status)) {
      const char* name = ::sigabbrev_np(WTERMSIG(status));
      how = "it was killed by the signal " +
            (name != nullptr ? "SIG" + std::string(name) : std::to_string(WTERMSIG(status)));
    } else {
      how = "it ended with exit code " + std::to_string(WEXITSTATUS(status));
    }
  }
  failed_ = {Code::closed, how};
  stop(true);
  return failed_;
}

std::string ChildProcess::last_words() {
  take_errors();
  std::string_view words(words_);
  if (words.size() > kWordsKept) words.remove_prefix(words.size() - kWordsKept);
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.remove_suffix(1);
  return std::string(words);
}

}  // namespace sonde::base
