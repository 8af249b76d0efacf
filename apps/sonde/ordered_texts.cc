#include "ordered_texts.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "base/thread.h"

namespace sonde::cli {

// The next piece; null if there are no more, or the window is full.
std::shared_ptr<OrderedTexts::Piece> OrderedTexts::claim() {
  if (ended_ || pieces_.size() >= window_) return nullptr;
  auto piece = std::make_shared<Piece>();
  Result<bool> more = source_(piece->make);
  if (!more) error_ = more.error();
  ended_ = !more || !*more;
  if (ended_) {
    changed_.notify_all();
    return nullptr;
  }
  pieces_.push_back(piece);
  return piece;
}

void OrderedTexts::make(Piece& piece, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  std::string text;
  piece.make(text);
  lock.lock();
  piece.text = std::move(text);
  piece.made = true;
  changed_.notify_all();
}

void OrderedTexts::help() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    if (const std::shared_ptr<Piece> piece = claim()) {
      make(*piece, lock);
    } else if (!ended_) {
      changed_.wait(lock);
    }
  }
}

Status OrderedTexts::run(const std::function<Status(std::string_view)>& write) {
  const std::size_t processors = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 16);
  window_ = 4 * processors;
  std::vector<base::Thread> helpers;  // joined at the end
  for (std::size_t i = 1; i < processors; ++i) {
    Result<base::Thread> helper = base::Thread::start("sonde-export", [this] { help(); });
    if (helper) helpers.push_back(*std::move(helper));  // without it this thread does the work
  }
  std::unique_lock lock(mutex_);
  while (true) {
    if (!pieces_.empty() && pieces_.front()->made) {
      const std::shared_ptr<Piece> piece = std::move(pieces_.front());
      pieces_.pop_front();
      changed_.notify_all();
      lock.unlock();
      Status status = write(piece->text);
      lock.lock();
      if (status) continue;
      ended_ = true;
      changed_.notify_all();
      return status;
    }
    if (const std::shared_ptr<Piece> piece = claim()) {
      make(*piece, lock);
    } else if (ended_ && pieces_.empty()) {
      return error_;
    } else if (pieces_.empty() || !pieces_.front()->made) {
      changed_.wait(lock);
    }
  }
}

}  // namespace sonde::cli
