// A cache of averages of long series: a chart asks for the same one at every zoom.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "query/catalogue.h"
#include "store/lines.h"

namespace sonde::query {

// Any thread. The least recently used entries are removed when the total is too large.
class SmoothedCache {
 public:
  std::shared_ptr<const store::Averages> find(const RunEntry& run, std::string_view tag,
                                              const store::Smoothing& smoothing);
  void keep(const std::shared_ptr<const RunEntry>& run, std::string_view tag,
            std::shared_ptr<const store::Averages> smoothed);

 private:
  struct Item {
    std::weak_ptr<const RunEntry> run;
    const RunEntry* address = nullptr;  // of `run`, for comparison
    std::string tag;
    std::shared_ptr<const store::Averages> smoothed;
    std::size_t bytes = 0;
  };
  std::list<Item>::iterator at(const RunEntry& run, std::string_view tag, const store::Smoothing& smoothing);

  std::mutex mutex_;
  std::list<Item> items_;  // the most recently used first
  std::size_t bytes_ = 0;
};

}  // namespace sonde::query
