#include "base/thread.h"

#include <csignal>
#include <memory>
#include <system_error>

namespace sonde::base {
namespace {

void* run_body(void* argument) {
  const std::unique_ptr<std::function<void()>> body(static_cast<std::function<void()>*>(argument));
  (*body)();
  return nullptr;
}

}  // namespace

Result<Thread> Thread::start(std::string name, std::function<void()> body) {
  auto argument = std::make_unique<std::function<void()>>(std::move(body));
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // Faults of the thread itself: blocked, the kernel would end the process without asking the program's handler.
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the new thread inherits the mask
  pthread_t handle{};
  const int error = pthread_create(&handle, nullptr, run_body, argument.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    return Status(Code::exhausted, "cannot start the thread '" + name +
                                       "': " + std::error_code(error, std::generic_category()).message());
  }
  argument.release();  // the thread owns it now
  name.resize(name.size() < 15 ? name.size() : 15);
  pthread_setname_np(handle, name.c_str());
  return Thread(handle);
}

// Only what the kernel calls normal: a program with a policy of its own, such as a real-time one, keeps it.
void Thread::work_in_background() noexcept {
  int policy = 0;
  sched_param parameters{};
  if (pthread_getschedparam(pthread_self(), &policy, &parameters) != 0 || policy != SCHED_OTHER) return;
  (void)pthread_setschedparam(pthread_self(), SCHED_BATCH, &parameters);
}

Thread& Thread::operator=(Thread&& other) noexcept {
  if (this != &other) {
    join();
    handle_ = other.handle_;
    running_ = std::exchange(other.running_, false);
  }
  return *this;
}

void Thread::join() noexcept {
  if (std::exchange(running_, false)) pthread_join(handle_, nullptr);
}

void Thread::detach() noexcept {
  if (std::exchange(running_, false)) pthread_detach(handle_);
}

}  // namespace sonde::base
