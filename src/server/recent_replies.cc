#include "server/recent_replies.h"

#include <utility>

namespace sonde::server {
namespace {

constexpr std::size_t kMost = 128;                         // replies
constexpr std::size_t kLargest = std::size_t{1} << 20;     // bytes of one
constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // of all
constexpr std::size_t kLongestKey = std::size_t{4} << 10;
constexpr std::chrono::milliseconds kYoung{200};

}  // namespace

std::string RecentReplies::key_of(const ApiCall& call) {
  if (call.question.method != query::Question::Method::get) return {};
  if (call.question.query.size() + call.fields.size() > kLongestKey) return {};
  std::string key(call.question.may_write ? "w" : "r");
  key.append(call.gzip ? "g" : "p").append(call.question.path).append("?").append(call.question.query);
  return call.fields.empty() ? key : key.append("\n").append(call.fields);
}

std::shared_ptr<const Reply> RecentReplies::find(const std::string& key, std::uint64_t revision,
                                                 Clock::time_point now) const {
  const auto found = replies_.find(key);
  if (found == replies_.end()) return nullptr;
  const Entry& entry = found->second;
  return entry.revision == revision && now - entry.made < kYoung ? entry.reply : nullptr;
}

std::shared_ptr<const Reply> RecentReplies::last(const std::string& key) const {
  const auto found = replies_.find(key);
  return found != replies_.end() ? found->second.reply : nullptr;
}

void RecentReplies::keep(const std::string& key, std::uint64_t revision, Clock::time_point now,
                         std::shared_ptr<const Reply> reply) {
  if (key.empty() || reply->status != 200 || reply->text.size() > kLargest) return;
  if (const auto found = replies_.find(key); found != replies_.end()) {
    // Who asked first may be answered last.
    if (found->second.revision > revision) return;
    bytes_ -= found->second.reply->text.size();
    replies_.erase(found);
  }
  if (replies_.size() >= kMost || bytes_ + reply->text.size() > kMostBytes) {
    replies_.clear();
    bytes_ = 0;
  }
  bytes_ += reply->text.size();
  replies_[key] = {revision, now, std::move(reply)};
}

}  // namespace sonde::server
