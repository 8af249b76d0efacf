// Text that is made in pieces by several threads and written in order. A thread that the system lets wait holds up no
// other: the caller's makes pieces itself while the next one in order is not there yet.
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
  // Appends one piece. Called in any thread, several at once.
  using Make = std::function<void(std::string&)>;
  // Gives the next piece, or false after the last. Called in any thread, one call at a time.
  using Source = std::function<Result<bool>(Make&)>;

  explicit OrderedTexts(Source source) : source_(std::move(source)) {}

  // Calls `write` with all pieces in order, in this thread. Ends with the first error, its own or the source's; what
  // comes before that of the source is written.
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
  std::mutex mutex_;  // of all below, and held over calls of source_
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Piece>> pieces_;  // claimed and not written yet, in order
  std::size_t window_ = 0;                     // so many at most, which bounds the memory
  bool ended_ = false;                         // the source has no more, or all is to end
  Status error_;                               // of the source
};

}  // namespace sonde::cli
