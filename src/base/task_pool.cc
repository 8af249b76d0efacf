#include "base/task_pool.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace sonde::base {

TaskPool::TaskPool(std::string name, int threads) : name_(std::move(name)), threads_(std::max(threads, 1)) {}

TaskPool::~TaskPool() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  helpers_.clear();  // joins them
}

int TaskPool::default_threads() noexcept {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency() / 4));
}

void TaskPool::start_helpers() {
  if (std::exchange(tried_, true)) return;
  for (int i = 1; i < threads_; ++i) {
    auto thread = Thread::start(name_, [this] { help(); });
    if (!thread) return;
    helpers_.push_back(std::move(*thread));
  }
}

void TaskPool::run(std::size_t count, const std::function<void(std::size_t)>& body) {
  if (threads_ > 1 && count > 1) start_helpers();
  Loop loop;
  loop.body = &body;
  loop.count = count;
  const auto helpers = static_cast<int>(std::min(helpers_.size(), count > 0 ? count - 1 : 0));
  if (helpers == 0) {
    work(loop);
  } else {
    {
      const std::scoped_lock lock(mutex_);
      loop_ = &loop;
      wanted_ = helpers;
    }
    for (int i = 0; i < helpers; ++i) wake_.notify_one();
    work(loop);
    std::unique_lock lock(mutex_);
    loop_ = nullptr;  // later helpers need not join
    done_.wait(lock, [&] { return loop.helpers == 0; });
  }
  if (loop.error) std::rethrow_exception(loop.error);
}

void TaskPool::work(Loop& loop) noexcept {
  for (;;) {
    const std::size_t i = loop.next.fetch_add(1, std::memory_order_relaxed);
    if (i >= loop.count) return;
    try {
      (*loop.body)(i);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!loop.error) loop.error = std::current_exception();
    }
  }
}

void TaskPool::help() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return ending_ || (loop_ != nullptr && wanted_ > 0); });
    if (ending_) return;
    Loop& loop = *loop_;
    --wanted_;
    ++loop.helpers;
    lock.unlock();
    work(loop);
    lock.lock();
    if (--loop.helpers == 0) done_.notify_all();
  }
}

}  // namespace sonde::base
