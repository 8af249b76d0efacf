// Selects the points of a series that count if a job was restarted and wrote some steps again.
//
// A file has one writer, and all of its points count, in whatever order it wrote them: threads that record one series
// overtake each other. Files that were written at the same time, or at the same time as a third one, belong to one
// session of the job, like the children of a fork: all are shown. Only a restart replaces points:
//
//   A file of a later session was begun after all writers of the earlier one had ended. From its first step of a series
//   on, it replaces the earlier points of that series.
//   A SessionLog.START means that its writer starts again at a step. It replaces everything from that step on that is
//   before it in its own file, or in a session that had ended by then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

namespace sonde::index {

// Points [begin, end) of one file, by ascending step.
struct Stretch {
  std::uint32_t file = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::int64_t first_step = 0;
};

// A SessionLog.START before point `index` of its file.
struct Restart {
  std::uint32_t file = 0;
  std::size_t index = 0;
  std::int64_t step = 0;
  double time = 0;
};

// When a session was written, over all its files and series.
struct Span {
  double first = 0;
  double last = 0;
};

// The points of one file, as written, and by ascending step in each section. Source has size() and step_at(i).
template <class Source>
struct Part {
  std::uint32_t file = 0;
  const Source* written = nullptr;
  const Source* sorted = nullptr;
  std::vector<std::size_t> ends;  // of the sections: at each START, and at the end
};

// What files replace in sessions that had ended before theirs began, and what the STARTs replace.
class Cuts {
 public:
  // Sorted by time; files of the same time by their position in the order of files.
  void add(double time, std::size_t place, std::int64_t step, bool is_start) {
    cuts_.push_back({time, place, is_start ? kNever : step, is_start ? step : kNever});
  }
  void sort() {
    std::ranges::sort(cuts_, [](const Cut& a, const Cut& b) { return a.when() < b.when(); });
    for (std::size_t i = cuts_.size(); i-- > 1;) {
      cuts_[i - 1].by_file = std::min(cuts_[i - 1].by_file, cuts_[i].by_file);
      cuts_[i - 1].by_start = std::min(cuts_[i - 1].by_start, cuts_[i].by_start);
    }
  }

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  struct Lowest {
    std::int64_t by_file = kNever;
    std::int64_t by_start = kNever;
  };
  // The lowest steps from which on the points of a session that ended at this time are replaced.
  Lowest after(double time, std::size_t place) const {
    const auto found =
        std::ranges::upper_bound(cuts_, std::tuple(time, place), {}, [](const Cut& cut) { return cut.when(); });
    return found == cuts_.end() ? Lowest() : Lowest{found->by_file, found->by_start};
  }

 private:
  struct Cut {
    double time = 0;
    std::size_t place = 0;
    std::int64_t by_file = kNever;  // once sorted: of this one and all following
    std::int64_t by_start = kNever;
    std::tuple<double, std::size_t> when() const noexcept { return {time, place}; }
  };
  std::vector<Cut> cuts_;
};

namespace detail {

// The STARTs of one file, by ascending index, with the lowest step of each and all following ones.
inline std::vector<Restart> starts_of(std::uint32_t file, std::span<const Restart> restarts) {
  std::vector<Restart> own;
  for (const Restart& restart : restarts) {
    if (restart.file == file) own.push_back(restart);
  }
  std::ranges::stable_sort(own, {}, &Restart::index);
  for (std::size_t i = own.size(); i-- > 1;) own[i - 1].step = std::min(own[i - 1].step, own[i].step);
  return own;
}

// The end of the points in [begin, end), which ascend, that are below the step.
template <class Source>
std::size_t end_below(const Source& points, std::size_t begin, std::size_t end, std::int64_t step) {
  while (begin < end) {
    const std::size_t middle = begin + (end - begin) / 2;
    if (points.step_at(middle) < step) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return end;
}

}  // namespace detail

// Parts in the order of the files, with their spans in the same order; restarts in any order.
template <class Source>
std::vector<Stretch> newest_history(std::span<const Part<Source>> parts, std::span<const Span> spans,
                                    std::span<const Restart> restarts) {
  Cuts cuts;
  for (std::size_t place = 0; place < parts.size(); ++place) {
    const Part<Source>& part = parts[place];
    if (part.written->size() > 0) cuts.add(spans[place].first, place, part.written->step_at(0), false);
    for (const Restart& restart : restarts) {
      if (restart.file == part.file) cuts.add(restart.time, place, restart.step, true);
    }
  }
  cuts.sort();

  std::vector<Stretch> stretches;
  for (std::size_t place = 0; place < parts.size(); ++place) {
    const Part<Source>& part = parts[place];
    const Source& points = *part.sorted;
    const Cuts::Lowest lowest = cuts.after(spans[place].last, place);
    const std::vector<Restart> starts = detail::starts_of(part.file, restarts);
    std::size_t begin = 0;
    for (const std::size_t section_end : part.ends) {
      std::int64_t below = lowest.by_start;
      const auto own = std::ranges::lower_bound(starts, section_end, {}, &Restart::index);
      if (own != starts.end()) below = std::min(below, own->step);
      if (begin < section_end && lowest.by_file != Cuts::kNever) {
        // Points that all have the same step were recorded without steps: they do not indicate a restart.
        const std::int64_t first = points.step_at(begin);
        const bool has_no_steps = section_end - begin > 1 && points.step_at(section_end - 1) == first;
        if (!has_no_steps || lowest.by_file < first) below = std::min(below, lowest.by_file);
      }
      const std::size_t end =
          below == Cuts::kNever ? section_end : detail::end_below(points, begin, section_end, below);
      if (begin < end) stretches.push_back({part.file, begin, end, points.step_at(begin)});
      begin = section_end;
    }
  }
  return stretches;
}

}  // namespace sonde::index
