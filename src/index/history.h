// Which points of a series count where a job was restarted and wrote some steps again.
//
// The points of a series come file by file, in each file in the order written. A stretch is a part of a file in which
// steps do not go back. The newest history follows from two rules:
//
//   A stretch that begins at a step below what was there before replaces all points from that step on. So does a
//   SessionLog.START, by which a writer says at which step it starts.
//   It replaces only what was written before it: earlier points of its own file, and those of an earlier file that had
//   ended by then. Files written at the same time are several writers: nothing is replaced, and both are served.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sonde::index {

// Points [begin, end) of one file.
struct Stretch {
  std::uint32_t file = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
};

// A SessionLog.START: it stands before point `index` of its file.
struct Restart {
  std::uint32_t file = 0;
  std::size_t index = 0;
  std::int64_t step = 0;
  double time = 0;
};

// The points of one file; Source has size(), step_at(i), time_at(i), and breaks(): where steps go back.
template <class Source>
struct Part {
  std::uint32_t file = 0;
  const Source* source = nullptr;
};

namespace detail {

template <class Source>
class Newest {
 public:
  explicit Newest(std::span<const Part<Source>> parts) : parts_(parts), live_(parts.size()) {}

  // `number` counts parts; the stretch comes after all those added before.
  void add(std::size_t number, std::size_t begin, std::size_t end) {
    const Source& source = *parts_[number].source;
    const std::int64_t first = source.step_at(begin);
    if (begin > 0 || goes_back(number, first, source.time_at(begin))) cut(number, first, source.time_at(begin));
    live_[number].push_back({parts_[number].file, begin, end, first, source.step_at(end - 1)});
  }

  // What was written before that time, by part `number` or by files that had ended, counts only below that step.
  void cut(std::size_t number, std::int64_t step, double time) {
    for (std::size_t other = 0; other <= number; ++other) {
      if (other == number || ended(other, time)) cut_part(other, step);
    }
  }

  std::vector<Stretch> take() {
    std::vector<Stretch> all;
    for (const auto& part : live_) all.insert(all.end(), part.begin(), part.end());
    return all;
  }

 private:
  bool ended(std::size_t number, double time) const {
    const Source& source = *parts_[number].source;
    return source.size() > 0 && source.time_at(source.size() - 1) <= time;
  }
  bool goes_back(std::size_t number, std::int64_t step, double time) const {
    for (std::size_t other = 0; other < number; ++other) {
      if (!live_[other].empty() && live_[other].back().last_step > step && ended(other, time)) return true;
    }
    return false;
  }
  // Live stretches of a part ascend, so that only the last ones can reach that far.
  void cut_part(std::size_t number, std::int64_t step) {
    auto& live = live_[number];
    const Source& source = *parts_[number].source;
    while (!live.empty() && live.back().last_step >= step) {
      Stretch& last = live.back();
      std::size_t low = last.begin;
      std::size_t high = last.end;
      while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (source.step_at(middle) < step) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      if (low == last.begin) {
        live.pop_back();
      } else {
        last.end = low;
        last.last_step = source.step_at(low - 1);
        return;
      }
    }
  }

  std::span<const Part<Source>> parts_;
  std::vector<std::vector<Stretch>> live_;  // of each part
};

}  // namespace detail

// Parts in the order of the files; restarts in any order.
template <class Source>
std::vector<Stretch> newest_history(std::span<const Part<Source>> parts, std::span<const Restart> restarts) {
  const auto place = [](const Restart& restart) { return std::pair(restart.file, restart.index); };
  std::vector<Restart> sorted(restarts.begin(), restarts.end());
  std::ranges::stable_sort(sorted, {}, place);

  detail::Newest<Source> newest(parts);
  std::vector<std::size_t> borders;
  for (std::size_t number = 0; number < parts.size(); ++number) {
    const Source& source = *parts[number].source;
    const auto own = std::ranges::equal_range(sorted, parts[number].file, {}, &Restart::file);
    const auto breaks = source.breaks();
    borders.assign(breaks.begin(), breaks.end());
    for (const Restart& restart : own) {
      if (restart.index > 0 && restart.index < source.size()) borders.push_back(restart.index);
    }
    std::ranges::sort(borders);
    const auto repeated = std::ranges::unique(borders);
    borders.erase(repeated.begin(), repeated.end());
    borders.push_back(source.size());

    auto restart = own.begin();
    std::size_t begin = 0;
    for (const std::size_t end : borders) {
      for (; restart != own.end() && restart->index <= begin; ++restart)
        newest.cut(number, restart->step, restart->time);
      if (begin < end) newest.add(number, begin, end);
      begin = end;
    }
    for (; restart != own.end(); ++restart) newest.cut(number, restart->step, restart->time);
  }
  return newest.take();
}

}  // namespace sonde::index
