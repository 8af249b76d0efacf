// The last values of a quantity, with their mean, deviation and slope kept up to date.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::policy::condition {

// Constant time per value and 16 bytes for each stored one. Mean and moments are updated by Welford's formula as values
// are added and removed. They are computed again once per window length, and when removed values took nearly all of a
// moment with them, so that errors do not add up.
class Window {
 public:
  explicit Window(std::size_t capacity) noexcept : capacity_(capacity) {}

  // Values that are not finite, or so large that their squares overflow, are left out.
  static bool takes(double value) noexcept;
  // Only for values that it takes; removes the oldest value if it is full.
  void push(std::int64_t step, double value);

  std::size_t size() const noexcept { return points_.size(); }
  bool full() const noexcept { return points_.size() == capacity_; }
  // NaN for an empty window.
  double mean() const noexcept;
  // Population standard deviation. Exactly 0 if all values are equal.
  double stddev() const noexcept;
  // Slope of the least-squares line, per step; exactly 0 if all values are equal, NaN if all values are of one step.
  double slope() const noexcept;

 private:
  struct Point {
    double step = 0;
    double value = 0;
  };
  struct Moments {
    double count = 0;
    double step = 0;   // mean
    double value = 0;  // mean
    double step_m2 = 0;
    double value_m2 = 0;
    double product_m2 = 0;
    void add(const Point& point) noexcept;
    void remove(const Point& point) noexcept;
  };
  void recompute() noexcept;
  // All values are equal, where the moments would only be nearly 0.
  bool constant() const noexcept { return alike_ >= points_.size(); }

  std::size_t capacity_;
  std::size_t oldest_ = 0;
  std::size_t replaced_ = 0;  // since the moments were last computed from all values
  double value_peak_ = 0;     // the largest moments since then
  double step_peak_ = 0;
  std::size_t alike_ = 0;  // how many of the last values are equal
  double last_ = 0;
  double origin_ = 0;  // the first step: squares of small numbers are more exact
  std::vector<Point> points_;
  Moments moments_;
};

}  // namespace sonde::policy::condition
