// The typical number of steps between two points of a series.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::index {

// The median distance of neighbouring points, over at most some hundred pairs spread evenly over the series: one gap,
// however long, does not change it. Equal steps do not count.
class PointInterval {
 public:
  explicit PointInterval(std::size_t points) : stride_(std::max<std::size_t>(1, points / kPairs)) {}

  // Points [begin, end) of a source with step_at(i), by ascending step.
  template <class Source>
  void add(const Source& source, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i + 1 < end; i += stride_) {
      const std::int64_t step = source.step_at(i);
      const std::int64_t next = source.step_at(i + 1);
      if (next > step) distances_.push_back(static_cast<std::uint64_t>(next) - static_cast<std::uint64_t>(step));
    }
  }

  // 0 if no two points are at different steps.
  double median() {
    if (distances_.empty()) return 0;
    const auto middle = distances_.begin() + static_cast<std::ptrdiff_t>(distances_.size() / 2);
    std::ranges::nth_element(distances_, middle);
    return static_cast<double>(*middle);
  }

 private:
  static constexpr std::size_t kPairs = 128;
  std::size_t stride_;
  std::vector<std::uint64_t> distances_;
};

}  // namespace sonde::index
