#include "server/recent_replies.h"

namespace sonde::server {
namespace {

constexpr std::size_t kMost = 128;                       // replies
constexpr std::size_t kLargest = std::size_t{64} << 10;  // bytes of one
constexpr std::chrono::milliseconds kYoung{200};

}  // namespace

std::string RecentReplies::key_of(const ApiCall& call) {
  const bool plain = call.question.method == query::Question::Method::get && !call.head && call.if_none_match.empty() &&
                     call.fields.empty();
  if (!plain) return {};
  std::string key(call.question.may_write ? "w" : "r");
  return key.append(call.gzip ? "g" : "p").append(call.question.path).append("?").append(call.question.query);
}

const Reply* RecentReplies::find(const std::string& key, std::uint64_t revision, Clock::time_point now) const {
  const auto found = replies_.find(key);
  if (found == replies_.end()) return nullptr;
  const Entry& entry = found->second;
  return entry.revision == revision && now - entry.made < kYoung ? &entry.reply : nullptr;
}

void RecentReplies::keep(const std::string& key, std::uint64_t revision, Clock::time_point now, const Reply& reply) {
  if (key.empty() || key.size() > kLargest || reply.status != 200 || reply.text.size() > kLargest) return;
  if (replies_.size() >= kMost) replies_.clear();
  replies_[key] = {revision, now, reply};
}

}  // namespace sonde::server
