// The one thread of the process that does the work: it drains the rings of all recording threads, merges their messages
// by time and passes them to the outputs of all recorders.
//
// Order. A round takes a time stamp first, then reads the rings, and processes what was stamped before: of two calls
// that follow each other, on whatever threads, the first is published before the second is stamped, so no round sees
// the second without the first.
// Fork. A child begins with a new Backend, which knows the same channels but has no rings, no thread and no open files;
// all of them are created by its first call. It does not touch what the parent's backend was working on.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "record/channel.h"
#include "record/ring.h"
#include "sonde/status.h"

namespace sonde::record {

class Backend {
 public:
  static Backend& get();

  // Starts the thread if it does not run, and gives the channel its id.
  Status add(const std::shared_ptr<Channel>& channel);
  // These return when everything recorded before is in the files.
  Status flush(Channel& channel);
  // Ends the steps in progress, so that only close is left to do.
  Status finish_pending(Channel& channel);
  Status close(Channel& channel);

  // Push a message, stamped with the time of the call. They may wait as `overflow` says. A dropped message, this one or
  // an older one, is given back to its channel. Never called with a lock held.
  static void push_scalar(Channel& channel, std::uint32_t tag, double value, std::int64_t step,
                          Overflow overflow) noexcept;
  static void push_payload(Channel& channel, PayloadPtr payload, std::int64_t step, Overflow overflow) noexcept;
  static void push_step(Channel& channel, Op op, std::uint32_t pass, std::int64_t step) noexcept;
  // Releases the owners of frozen tensors that the backend no longer needs, of all recorders. On a thread of the
  // program.
  void release_owners() noexcept;
  // Wakes the backend, for something urgent. Any thread.
  void wake();
  // The number of threads with a ring. Any thread.
  std::size_t rings();

 private:
  Backend() { asked_.reserve(16); }
  friend struct LocalRing;
  struct Request {
    enum class Kind : std::uint8_t { flush, finish_pending, close, leave };
    std::shared_ptr<Channel> channel;
    Kind kind = Kind::flush;
    bool done = false;  // guarded by mutex_
    Status status;
  };
  struct Closed {
    std::shared_ptr<Channel> channel;
    bool unused = false;  // no handle was left when the last round ended
  };

  template <class Fill>
  static void push(Channel& channel, Op op, Overflow overflow, const Fill& fill) noexcept;
  static void wake_if_idle() noexcept;
  static void push_slowly(Channel& channel, Message& message, Overflow overflow) noexcept;
  static void drop(const Message& message) noexcept;
  static void prepare_fork();
  static void resume_parent();
  static void resume_child();
  static void drain_at_exit();

  std::shared_ptr<Channel> find(std::uint32_t id);
  Status start_locked();
  Status submit(Channel& channel, Request::Kind kind, std::chrono::milliseconds timeout);
  Ring* attach_thread();

  // Only the backend thread.
  void run();
  bool round();
  void keep_time() noexcept;
  void gather(std::uint64_t until) noexcept;
  void take_requests() noexcept;
  void process_safely(const Message& message) noexcept;
  void process(const Message& message);
  void refuse(const Message& message) noexcept;
  bool answer(Request& request) noexcept;
  void housekeeping();
  void forget_unused();
  void rest(bool busy);

  std::mutex mutex_;  // guards the following members
  std::condition_variable wakeup_;
  std::condition_variable answered_;
  bool awake_ = false;
  bool started_ = false;
  bool exiting_ = false;
  bool parked_ = false;    // after that the thread touches nothing
  bool any_ring_ = false;  // there was one, perhaps of a thread that has ended
  pthread_t thread_{};
  std::vector<std::shared_ptr<Channel>> channels_;  // by id; null once closed
  std::vector<std::shared_ptr<Ring>> rings_;
  std::vector<std::shared_ptr<Request>> requests_;
  std::vector<Closed> closed_;  // recorders that may still have messages in flight; only the backend changes it

  // Owned by the backend thread.
  base::TickClock clock_;
  double last_wall_ = 0;
  std::uint64_t last_anchor_ = 0;           // ns
  std::uint64_t anchor_after_ = 1'000'000;  // ns
  std::chrono::microseconds pause_{0};
  int idle_rounds_ = 0;  // without any work, one after the other
  std::vector<Message> batch_;
  bool gathered_ = true;                         // the last round took all that was there
  std::vector<std::shared_ptr<Request>> asked_;  // that are not answered
  std::vector<std::shared_ptr<Ring>> draining_;
  std::vector<std::shared_ptr<Channel>> serving_;  // a copy of channels_
};

}  // namespace sonde::record
