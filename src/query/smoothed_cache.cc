#include "query/smoothed_cache.h"

#include <algorithm>
#include <utility>

namespace sonde::query {
namespace {

constexpr std::size_t kLargest = std::size_t{64} << 20;  // bytes of all
constexpr std::size_t kMost = 256;
constexpr std::size_t kSmallest = 4'096;  // small ones are recomputed quickly and not kept

}  // namespace

std::list<SmoothedCache::Item>::iterator SmoothedCache::at(const RunEntry& run, std::string_view tag,
                                                           const store::Smoothing& smoothing) {
  return std::ranges::find_if(items_, [&](const Item& item) {
    return item.address == &run && item.tag == tag && item.smoothed->smoothing() == smoothing && !item.run.expired();
  });
}

std::shared_ptr<const store::Averages> SmoothedCache::find(const RunEntry& run, std::string_view tag,
                                                           const store::Smoothing& smoothing) {
  const std::lock_guard lock(mutex_);
  const auto found = at(run, tag, smoothing);
  if (found == items_.end()) return nullptr;
  items_.splice(items_.begin(), items_, found);
  return found->smoothed;
}

void SmoothedCache::keep(const std::shared_ptr<const RunEntry>& run, std::string_view tag,
                         std::shared_ptr<const store::Averages> smoothed) {
  const std::size_t bytes = smoothed ? smoothed->memory() : 0;
  if (bytes < kSmallest || bytes > kLargest) return;
  const std::lock_guard lock(mutex_);
  if (const auto known = at(*run, tag, smoothed->smoothing()); known != items_.end()) {
    if (known->smoothed == smoothed) return;
    bytes_ -= known->bytes;
    items_.erase(known);
  }
  items_.push_front({run, run.get(), std::string(tag), std::move(smoothed), bytes});
  bytes_ += bytes;
  while (bytes_ > kLargest || items_.size() > kMost) {
    bytes_ -= items_.back().bytes;
    items_.pop_back();
  }
}

}  // namespace sonde::query
