#include "record/backend.h"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <utility>

#include "base/thread.h"
#include "record/run_writer.h"

namespace sonde::record {
namespace {

using namespace std::chrono_literals;

// While there is work. A round soon after the last one takes cache lines from the training thread that it is about to
// use again, and without a free processor it interrupts that thread. A thread that waits, has filled half of a ring or
// took half of the memory wakes the backend at once.
constexpr auto kShortestPause = 2000us;
constexpr auto kLongestPause = 10ms;  // when there was none for a while
// When there was none for so many rounds, half a second. A tensor or a step wakes the backend then; a scalar waits,
// since waking a thread takes a hundred times as long as recording it, and still reaches the disk in time.
constexpr auto kIdlePause = 30ms;
constexpr int kIdleRounds = 50;
constexpr auto kExitDrain = 2000ms;
constexpr auto kLeastParking = 200ms;             // at exit, also where draining took all of the time
constexpr std::uint64_t kSecond = 1'000'000'000;  // ns

// Never destroyed: threads may record until the very end of the process.
std::atomic<Backend*> g_backend{nullptr};
std::once_flag g_once;

// A second thread has recorded, so stamps of different threads are compared. Set before its first stamp: every thread
// that knows about its call sees this too.
std::atomic<bool> g_several_threads{false};

// The backend is in an idle pause. A thread may see it too late, and the backend then looks only after the pause.
std::atomic<bool> g_idle{false};

std::uint64_t stamp() noexcept {
  return g_several_threads.load(std::memory_order_relaxed) ? base::ticks() : base::thread_ticks();
}

}  // namespace

// The ring of this thread. The plain pointer is what the hot path reads, at a fixed place that takes no call to find;
// the other object gives it back at the end.
[[gnu::tls_model("initial-exec")]] static thread_local constinit Ring* t_ring = nullptr;
static thread_local constinit bool t_ended = false;

struct LocalRing {
  std::shared_ptr<Ring> ring;
  ~LocalRing() {
    t_ended = true;
    t_ring = nullptr;
    if (ring) ring->orphaned.store(true, std::memory_order_release);
  }
};
static thread_local LocalRing t_local;

Backend& Backend::get() {
  std::call_once(g_once, [] {
    base::choose_clock();
    g_backend.store(new Backend);
    pthread_atfork(&Backend::prepare_fork, &Backend::resume_parent, &Backend::resume_child);
    std::atexit(&Backend::drain_at_exit);
  });
  return *g_backend.load(std::memory_order_acquire);
}

// ---- Front end.

// The message is written once, straight into the ring: a copy would have to wait for its parts to be written first.
template <class Fill>
void Backend::push(Channel& channel, Op op, Overflow overflow, const Fill& fill) noexcept {
  Ring* ring = t_ring;
  Message* slot = ring != nullptr ? ring->claim() : nullptr;
  if (slot == nullptr) [[unlikely]] {
    Message message;
    message.target = Message::target_of(channel.id(), op);
    message.ticks = stamp();
    fill(message);
    return push_slowly(channel, message, overflow);
  }
  slot->target = Message::target_of(channel.id(), op);
  slot->ticks = stamp();
  fill(*slot);
  ring->publish();
  if (ring->half_full()) [[unlikely]] {
    get().wake();
  }
}

void Backend::push_scalar(Channel& channel, std::uint32_t tag, double value, std::int64_t step,
                          Overflow overflow) noexcept {
  push(channel, Op::scalar, overflow, [=](Message& message) {
    message.tag = tag;
    message.value = value;
    message.step = step;
  });
}

void Backend::push_payload(Channel& channel, PayloadPtr payload, std::int64_t step, Overflow overflow) noexcept {
  push(channel, Op::payload, overflow, [step, &payload](Message& message) {
    message.payload = payload.release();
    message.step = step;
  });
  wake_if_idle();
}

void Backend::push_step(Channel& channel, Op op, std::uint32_t pass, std::int64_t step) noexcept {
  push(channel, op, Overflow::wait, [=](Message& message) {
    message.tag = pass;
    message.step = step;
  });
  wake_if_idle();
}

void Backend::wake_if_idle() noexcept {
  if (g_idle.load(std::memory_order_relaxed)) [[unlikely]] {
    if (g_idle.exchange(false)) get().wake();
  }
}

void Backend::push_slowly(Channel& channel, Message& message, Overflow overflow) noexcept {
  Backend& backend = get();
  if (t_ring == nullptr) {
    if (t_ended || backend.attach_thread() == nullptr) return drop(message);
    message.ticks = base::ticks();  // stamped again, since this thread may be the second one
  }
  Ring& ring = *t_ring;
  const auto deadline = std::chrono::steady_clock::now() + channel.options().max_wait;
  while (!ring.push(message)) {
    backend.wake();
    if (overflow == Overflow::drop_oldest) {
      ring.drop_oldest(&Backend::drop);
    } else if (overflow == Overflow::drop_newest || std::chrono::steady_clock::now() >= deadline) {
      return drop(message);
    } else {
      std::this_thread::sleep_for(20us);
    }
  }
}

void Backend::drop(const Message& message) noexcept {
  const std::shared_ptr<Channel> channel = get().find(message.channel());
  if (message.op() == Op::payload) {
    PayloadPtr payload(message.payload);
    if (channel) channel->losses().lose_unseen(std::move(payload), message.step);
  } else if (channel && message.op() == Op::scalar) {
    channel->losses().lose_scalar(message.step);
  } else if (channel) {
    channel->losses().lose_step_mark(message.op(), message.tag, message.step);
  }
}

std::shared_ptr<Channel> Backend::find(std::uint32_t id) {
  const std::scoped_lock lock(mutex_);
  return id < channels_.size() ? channels_[id] : nullptr;
}

Ring* Backend::attach_thread() {
  const std::scoped_lock lock(mutex_);
  try {
    if (!start_locked().ok()) return nullptr;
    auto ring = std::make_shared<Ring>();
    rings_.push_back(ring);
    if (std::exchange(any_ring_, true)) g_several_threads.store(true);
    t_local.ring = std::move(ring);
  } catch (...) {
    return nullptr;  // out of memory: the message is dropped, and counted
  }
  return t_ring = t_local.ring.get();
}

std::size_t Backend::rings() {
  const std::scoped_lock lock(mutex_);
  return rings_.size();
}

void Backend::wake() {
  {
    const std::scoped_lock lock(mutex_);
    awake_ = true;
  }
  wakeup_.notify_one();
}

Status Backend::start_locked() {
  if (started_) return Status::success();
  auto thread = base::Thread::start("sonde", [this] { run(); });
  if (!thread) return thread.error();
  thread->detach();
  started_ = true;
  return Status::success();
}

Status Backend::add(const std::shared_ptr<Channel>& channel) {
  const std::scoped_lock lock(mutex_);
  if (Status status = start_locked(); !status.ok()) return status;
  channel->id_ = static_cast<std::uint32_t>(channels_.size());
  channels_.push_back(channel);
  return Status::success();
}

void Backend::release_owners() noexcept {
  for (std::uint32_t id = 0;; ++id) {
    std::shared_ptr<Channel> channel;
    {
      const std::scoped_lock lock(mutex_);
      if (id >= channels_.size()) break;
      channel = channels_[id];
    }
    if (channel) channel->reclaim();
  }
  for (std::size_t i = 0;; ++i) {  // those that are closed, and were so while tensors were in flight
    std::shared_ptr<Channel> channel;
    {
      const std::scoped_lock lock(mutex_);
      if (i >= closed_.size()) break;
      channel = closed_[i].channel;
    }
    channel->reclaim();
  }
  Pool::release_orphans();
}

Status Backend::flush(Channel& channel) { return submit(channel, Request::Kind::flush, 0ms); }
Status Backend::finish_pending(Channel& channel) { return submit(channel, Request::Kind::finish_pending, 0ms); }
Status Backend::close(Channel& channel) { return submit(channel, Request::Kind::close, 0ms); }

// A timeout of 0 waits until it is done.
Status Backend::submit(Channel& channel, Request::Kind kind, std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  if (started_ && pthread_equal(pthread_self(), thread_) != 0) {
    return {Code::invalid_argument, "flush and close cannot be called from the error handler"};
  }
  if (exiting_) return {Code::closed, "the process is ending"};
  if (channel.id() >= channels_.size() || channels_[channel.id()] == nullptr) return Status::success();
  if (!started_) {  // in a forked child that has recorded nothing
    if (kind == Request::Kind::close) channels_[channel.id()] = nullptr;
    return Status::success();
  }
  std::shared_ptr<Request> request;
  try {
    request = std::make_shared<Request>();
    request->channel = channels_[channel.id()];
    request->kind = kind;
    requests_.push_back(request);
  } catch (...) {
    return {Code::exhausted, "out of memory"};
  }
  awake_ = true;
  wakeup_.notify_one();
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!request->done) {
    // A program's functions that may need a lock which this thread holds.
    if (kind != Request::Kind::leave && channel.has_callbacks()) {
      lock.unlock();
      const bool any = channel.run_callbacks(true);
      lock.lock();
      if (any) continue;
    }
    if (request->done) break;
    if (timeout == 0ms) {
      answered_.wait(lock);
    } else if (answered_.wait_until(lock, deadline) == std::cv_status::timeout && !request->done) {
      return {Code::exhausted, "not everything could be written before the process ended"};
    }
  }
  return request->status;
}

void Backend::drain_at_exit() {
  Backend& backend = get();
  const auto deadline = std::chrono::steady_clock::now() + kExitDrain;
  for (std::uint32_t id = 0;; ++id) {
    std::shared_ptr<Channel> channel;
    {
      const std::scoped_lock lock(backend.mutex_);
      if (id >= backend.channels_.size()) break;
      channel = backend.channels_[id];
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    try {
      if (channel && left > 0ms) (void)backend.submit(*channel, Request::Kind::leave, left);
    } catch (...) {  // out of memory for the message: nobody would read it
      channel->counters().count_out_of_memory();
    }
  }
  // What the program's statics hold goes away after this: the backend must be at rest by then.
  std::unique_lock lock(backend.mutex_);
  backend.exiting_ = true;
  if (!backend.started_) return;
  backend.awake_ = true;
  backend.wakeup_.notify_one();
  backend.answered_.wait_until(lock, std::max(deadline, std::chrono::steady_clock::now() + kLeastParking),
                               [&] { return backend.parked_; });
}

// ---- Around fork().

void Backend::prepare_fork() {
  Backend& backend = get();
  backend.mutex_.lock();
  for (const auto& channel : backend.channels_) {
    if (channel) channel->lock_for_fork();
  }
}

void Backend::resume_parent() {
  Backend& backend = get();
  for (const auto& channel : backend.channels_) {
    if (channel) channel->unlock_after_fork();
  }
  backend.mutex_.unlock();
}

void Backend::resume_child() {
  // The thread of the old backend no longer exists, and may have been interrupted anywhere: it and everything it worked
  // on stays untouched.
  Backend& old = get();
  auto* fresh = new Backend;
  fresh->channels_ = old.channels_;
  for (const auto& channel : fresh->channels_) {
    if (!channel) continue;
    channel->unlock_after_fork();
    channel->become_child();
  }
  old.mutex_.unlock();
  new std::shared_ptr<Ring>(std::move(t_local.ring));  // kept forever, since payloads may still be in it
  t_ring = nullptr;
  Pool::forget_orphans();
  g_backend.store(fresh, std::memory_order_release);
}

// ---- The backend thread.

void Backend::run() {
  {
    const std::scoped_lock lock(mutex_);
    thread_ = pthread_self();
  }
  base::Thread::work_in_background();
  Pool::leave_owners_to_others();
  last_anchor_ = base::monotonic_nanoseconds();
  for (;;) rest(round());
}

// Soon after the beginning, when the rate of the clock is known only roughly, then once per second.
void Backend::keep_time() noexcept {
  const std::uint64_t now = base::monotonic_nanoseconds();
  if (now - last_anchor_ < anchor_after_) return;
  clock_.anchor();
  last_anchor_ = now;
  anchor_after_ = std::min(anchor_after_ * 4, kSecond);
}

// If there is no memory, the remaining messages come with the next round.
void Backend::gather(std::uint64_t until) noexcept {
  batch_.clear();
  gathered_ = true;
  try {
    {
      const std::scoped_lock lock(mutex_);
      draining_ = rings_;
      serving_ = channels_;
    }
    for (const auto& ring : draining_) {
      const auto middle = static_cast<std::ptrdiff_t>(batch_.size());
      ring->drain(until, batch_);
      if (middle > 0) std::ranges::inplace_merge(batch_, batch_.begin() + middle, {}, &Message::ticks);
    }
  } catch (...) {
    gathered_ = false;
    for (const auto& channel : serving_) {
      if (channel) channel->counters().count_out_of_memory();
    }
  }
  draining_.clear();
  // The ring of a thread that has ended goes with its last message.
  const std::scoped_lock lock(mutex_);
  std::erase_if(rings_, [](const std::shared_ptr<Ring>& ring) {
    return ring->orphaned.load(std::memory_order_acquire) && ring->empty();
  });
}

// True if there was anything to do.
bool Backend::round() {
  // The order matters: requests, stamp, rings. Data recorded before a request is stamped before `until`, and a thread
  // that stamped before `until` has registered before the rings are listed.
  take_requests();
  const std::size_t asked = asked_.size();
  keep_time();
  gather(base::ticks_then_loads());
  for (const Message& message : batch_) process_safely(message);
  housekeeping();
  std::erase_if(asked_, [this](const std::shared_ptr<Request>& request) { return answer(*request); });
  const bool answered = asked_.size() < asked;
  const bool calls_back =
      std::ranges::any_of(serving_, [](const auto& channel) { return channel && channel->has_callbacks(); });
  if (answered || calls_back) {
    {
      const std::scoped_lock lock(mutex_);
    }  // every thread that has checked by now waits, and is woken
    answered_.notify_all();
  }
  return !batch_.empty() || answered;
}

// Behind those that could not be answered yet. Where there is no memory for all in the list, some come with the next
// round; it always has room for one.
void Backend::take_requests() noexcept {
  const std::scoped_lock lock(mutex_);
  std::size_t taken = 0;
  try {
    for (; taken < requests_.size(); ++taken) asked_.push_back(requests_[taken]);
  } catch (...) {
    requests_[taken]->channel->counters().count_out_of_memory();
  }
  requests_.erase(requests_.begin(), requests_.begin() + static_cast<std::ptrdiff_t>(taken));
}

// False: it must wait for conditions that the program's threads answer, or for a flight ring that is being made.
bool Backend::answer(Request& request) noexcept {
  const double now = std::max(last_wall_, clock_.wall(base::ticks()));
  RunWriter& writer = request.channel->writer();
  Status status;
  if (request.kind == Request::Kind::finish_pending) writer.finish_pending(now, request.channel->take_signal());
  if (request.kind != Request::Kind::leave && writer.waits()) return false;
  switch (request.kind) {
    case Request::Kind::flush: status = writer.flush(now); break;
    case Request::Kind::finish_pending: break;
    case Request::Kind::close: status = writer.finish(now); break;
    case Request::Kind::leave: status = writer.leave(now, request.channel->take_signal()); break;
  }
  // What is still in the rings is not in the files. Short enough to need no memory.
  if (!gathered_ && status.ok()) status = {Code::exhausted, "out of memory"};
  const std::scoped_lock lock(mutex_);
  if (request.kind == Request::Kind::close) {
    std::shared_ptr<Channel>& channel = channels_[request.channel->id()];
    try {
      closed_.push_back({.channel = channel});
      channel = nullptr;
    } catch (...) {  // it stays in the list, which costs its memory
      request.channel->counters().count_out_of_memory();
    }
  }
  request.status = std::move(status);
  request.done = true;
  return true;
}

// Running out of memory costs what was at hand, never the program. A payload counts what it costs by itself.
void Backend::process_safely(const Message& message) noexcept {
  try {
    process(message);
  } catch (...) {
    const auto& channel = serving_[message.channel()];
    channel->counters().count_out_of_memory();
    if (message.op() == Op::scalar) {
      channel->counters().count_rejected();
    } else if (message.op() != Op::payload) {
      channel->losses().lose_step_mark(message.op(), message.tag, message.step);
    }
  }
}

void Backend::process(const Message& message) {
  const std::shared_ptr<Channel>* channel =
      message.channel() < serving_.size() ? &serving_[message.channel()] : nullptr;
  if (channel == nullptr || *channel == nullptr) return refuse(message);
  Output* output = (*channel)->writer().output();
  if (output == nullptr) return drop(message);
  last_wall_ = std::max(last_wall_, clock_.wall(message.ticks));
  const sinks::Stamp stamp = {last_wall_, message.step};
  const bool timed = message.op() != Op::scalar && (*channel)->policy().timed();
  const std::uint64_t begin = timed ? base::monotonic_nanoseconds() : 0;
  switch (message.op()) {
    case Op::scalar: output->scalar(stamp, message.tag, message.value); break;
    case Op::payload: output->payload(stamp, PayloadPtr(message.payload)); break;
    case Op::step_begin: output->begin_step(stamp, {message.tag, false}); break;
    case Op::step_end: output->end_step(stamp, {message.tag, false}); break;
    case Op::evaluation_begin: output->begin_step(stamp, {message.tag, true}); break;
    case Op::evaluation_end: output->end_step(stamp, {message.tag, true}); break;
  }
  if (timed) (*channel)->counters().add_busy(base::monotonic_nanoseconds() - begin);
}

// It was in flight when its recorder was closed.
void Backend::refuse(const Message& message) noexcept {
  const auto closed =
      std::ranges::find(closed_, message.channel(), [](const Closed& gone) { return gone.channel->id(); });
  if (closed != closed_.end() && (message.op() == Op::scalar || message.op() == Op::payload)) {
    closed->channel->counters().count_rejected();
  }
  if (message.op() == Op::payload) PayloadPtr(message.payload).reset();
}

void Backend::housekeeping() {
  const std::uint64_t now = base::monotonic_nanoseconds();
  for (const auto& channel : serving_) {
    if (!channel) continue;
    try {
      channel->look_at_signal();  // for a program between two steps
      channel->writer().poll(now, last_wall_);
    } catch (...) {
      channel->counters().count_out_of_memory();
    }
  }
  forget_unused();
}

// Data that a thread recorded while another one closed the recorder arrives here later, and returns to the recorder's
// pool. Once no handle is left nothing more can come, and everything sent before has arrived by the end of the next
// round. Then the recorder is destroyed here, with its error handler. Owners that it still has become orphans (Pool).
void Backend::forget_unused() {
  for (;;) {
    std::shared_ptr<Channel> ended;  // without the lock
    const std::scoped_lock lock(mutex_);
    if (exiting_) return;  // what belongs to the program may be gone
    const auto unused = std::ranges::find_if(closed_, &Closed::unused);
    if (unused == closed_.end()) break;
    ended = std::move(unused->channel);
    closed_.erase(unused);
  }
  for (Closed& closed : closed_) closed.unused = closed.channel.use_count() == 1;
  std::atomic_thread_fence(std::memory_order_acquire);  // the next round sees what the last handle has sent
}

void Backend::rest(bool busy) {
  idle_rounds_ = busy ? 0 : std::min(idle_rounds_ + 1, kIdleRounds);
  pause_ = busy ? kShortestPause : std::clamp<std::chrono::microseconds>(pause_ * 2, kShortestPause, kLongestPause);
  const bool idle = idle_rounds_ == kIdleRounds;
  std::unique_lock lock(mutex_);
  // After the drain at the end of the process nothing is touched any more.
  if (exiting_) {
    parked_ = true;
    answered_.notify_all();
    wakeup_.wait(lock, [] { return false; });
  }
  if (idle) g_idle.store(true);
  wakeup_.wait_for(lock, idle ? std::chrono::microseconds(kIdlePause) : pause_, [&] { return awake_; });
  if (idle) g_idle.store(false);
  awake_ = false;
}

}  // namespace sonde::record
