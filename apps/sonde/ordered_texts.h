// Text that several threads produce in pieces and that is written in order. A delayed thread does not block the others:
// the caller's thread produces pieces itself while it waits for the next one in order.
//
//   OrderedTexts texts([&](OrderedTexts::Make& make) { ...; return true; });
//   Status status = texts.run([&](std::string_view text) { return out.append(text); });
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "sonde/status.h"

namespace sonde::cli {

class OrderedTexts {
 public:
  // Appends one piece. Called on any thread, several at once.
  using Make = std::function<void(std::string&)>;
  // Returns the next piece, or false after the last. Called on any thread, one call at a time.
  using Source = std::function<Result<bool>(Make&)>;

  explicit OrderedTexts(Source source) : source_(std::move(source)) {}

  // Calls `write` with all pieces in order, on this thread. Stops at the first error, its own or the source's; pieces
  // before the source's error are written.
  Status run(const std::function<Status(std::string_view)>& write);

 private:
  struct Piece {
    Make make;
    std::string text;
    bool made = false;
  };
  std::shared_ptr<Piece> claim();
  void make(Piece& piece, std::unique_lock<std::mutex>& lock);
  void help();

  Source source_;
  std::mutex mutex_;  // guards everything below, and is held during calls of source_
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Piece>> pieces_;  // claimed and not written yet, in order
  std::size_t window_ = 0;                     // maximum number of pieces, which bounds the memory
  bool ended_ = false;                         // the source has no more pieces, or work must stop
  Status error_;                               // of the source
};

}  // namespace sonde::cli
