#include "policy/budget.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace sonde::policy {
namespace {

constexpr double kWindow = 1.0;           // seconds over which the overhead is measured
constexpr double kLongestPatience = 300;  // seconds
constexpr double kRoom = 0.5;             // a higher level is tried below this share of the limit
constexpr double kWhole = 0.9;            // share of the disk for whole tensors: the rest is for statistics

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %%", share * 100);
  return text;
}

std::string size_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.4g %s", value, kUnits[unit]);
  return text;
}

}  // namespace

std::string_view to_string(Level level) noexcept {
  switch (level) {
    case Level::full: return "full";
    case Level::statistics: return "statistics";
    case Level::nothing: return "nothing";
  }
  return "";
}

Keep limit(Keep keep, Level level) noexcept {
  switch (level) {
    case Level::full: return keep;
    case Level::statistics: {
      const Keep small = keep & (Keep::stats | Keep::histogram | Keep::print);
      return keep == small ? small : small | Keep::stats;  // large items become statistics
    }
    case Level::nothing: break;
  }
  return Keep::nothing;
}

std::string BudgetKeeper::excess(const Usage& usage, double overhead) const {
  if (policy_.overhead && overhead > *policy_.overhead) {
    return "recording took " + percent(overhead) + " of the time, more than " + percent(*policy_.overhead);
  }
  if (policy_.memory && usage.refused > begin_->refused) {
    return std::to_string(usage.refused - begin_->refused) + " tensors did not fit into " + size_text(*policy_.memory);
  }
  return disk_excess(usage.disk);
}

std::string BudgetKeeper::disk_excess(std::uint64_t bytes) const {
  if (!policy_.disk) return {};
  const double share = static_cast<double>(bytes) / static_cast<double>(*policy_.disk);
  if (share <= (level_ == Level::full ? kWhole : 1.0)) return {};
  return "the run takes " + size_text(bytes) + " of the " + size_text(*policy_.disk) + " that it may have";
}

std::string BudgetKeeper::lacks_disk(std::uint64_t taken, std::uint64_t bytes) const {
  if (!policy_.disk) return {};
  const double room = static_cast<double>(*policy_.disk) * kWhole - static_cast<double>(taken);
  if (static_cast<double>(bytes) <= room) return {};
  return "it would take about " + size_text(bytes) + ", and the run takes " + size_text(taken) + " of the " +
         size_text(*policy_.disk) + " that it may have; the last tenth is for statistics";
}

std::optional<BudgetKeeper::Change> BudgetKeeper::observe_disk(std::uint64_t bytes) {
  if (level_ == Level::nothing) return std::nullopt;
  std::string reason = disk_excess(bytes);
  if (reason.empty()) return std::nullopt;
  const Level from = level_;
  level_ = static_cast<Level>(static_cast<int>(level_) + 1);
  begin_.reset();
  return Change{from, level_, std::move(reason)};
}

bool BudgetKeeper::has_room(const Usage& usage, double overhead) const {
  const auto below = [](double used, double allowed) { return used < allowed * kRoom; };
  if (policy_.overhead && !below(overhead, *policy_.overhead)) return false;
  if (policy_.memory && usage.refused > begin_->refused) return false;
  // The disk does not empty by itself: somebody has removed files.
  return !policy_.disk || static_cast<double>(usage.disk) < static_cast<double>(*policy_.disk) * 0.8;
}

std::optional<BudgetKeeper::Change> BudgetKeeper::observe(const Usage& usage) {
  if (!begin_) {
    begin_ = usage;
    calm_since_ = usage.wall;
    return std::nullopt;
  }
  const double wall = usage.wall - begin_->wall;
  if (wall < kWindow) return std::nullopt;
  const double overhead = (usage.busy - begin_->busy) / wall;
  std::string reason = excess(usage, overhead);
  const bool room = has_room(usage, overhead);
  begin_ = usage;
  if (!room) calm_since_ = usage.wall;
  const Level from = level_;
  if (!reason.empty() && level_ != Level::nothing) {
    level_ = static_cast<Level>(static_cast<int>(level_) + 1);
    // If a higher level fails soon, the next attempt comes later each time.
    const bool soon = raised_ > 0 && usage.wall - raised_ < 2 * patience_;
    patience_ = soon ? std::min(2 * patience_, kLongestPatience) : kFirstPatience;
    begin_.reset();  // data in flight still has the old cost
    return Change{from, level_, std::move(reason)};
  }
  if (level_ != Level::full && usage.wall - calm_since_ >= patience_) {
    level_ = static_cast<Level>(static_cast<int>(level_) - 1);
    calm_since_ = raised_ = usage.wall;
    return Change{from, level_, "there is room again"};
  }
  return std::nullopt;
}

}  // namespace sonde::policy
