#include "policy/expression_window.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde::policy::condition {
namespace {

constexpr double kLargest = 1e150;  // the sum of a million squares is still a double

}  // namespace

bool Window::takes(double value) noexcept { return std::abs(value) <= kLargest; }

void Window::Moments::add(const Point& point) noexcept {
  count += 1;
  const double from_step = point.step - step;
  const double from_value = point.value - value;
  step += from_step / count;
  value += from_value / count;
  step_m2 += from_step * (point.step - step);
  value_m2 += from_value * (point.value - value);
  product_m2 += from_step * (point.value - value);
}

void Window::Moments::remove(const Point& point) noexcept {
  count -= 1;
  if (count == 0) {
    *this = {};
    return;
  }
  const double from_step = point.step - step;
  const double from_value = point.value - value;
  step -= from_step / count;
  value -= from_value / count;
  step_m2 -= from_step * (point.step - step);
  value_m2 -= from_value * (point.value - value);
  product_m2 -= (point.step - step) * from_value;
}

void Window::push(std::int64_t step, double value) {
  if (points_.empty()) origin_ = static_cast<double>(step);
  const Point point{static_cast<double>(step) - origin_, value};
  alike_ = alike_ > 0 && value == last_ ? alike_ + 1 : 1;
  last_ = value;
  if (!full()) {
    points_.push_back(point);
    moments_.add(point);
    value_peak_ = moments_.value_m2;
    step_peak_ = moments_.step_m2;
    return;
  }
  moments_.remove(points_[oldest_]);
  points_[oldest_] = point;
  oldest_ = (oldest_ + 1) % capacity_;
  moments_.add(point);
  value_peak_ = std::max(value_peak_, moments_.value_m2);
  step_peak_ = std::max(step_peak_, moments_.step_m2);
  constexpr double kLeft = 1e-6;  // of a moment: the rest is then mostly rounding errors of removed values
  const bool cancelled = moments_.value_m2 < kLeft * value_peak_ || moments_.step_m2 < kLeft * step_peak_;
  if (++replaced_ >= capacity_ || cancelled) recompute();
}

void Window::recompute() noexcept {
  replaced_ = 0;
  moments_ = {};
  for (const Point& point : points_) moments_.add(point);
  value_peak_ = moments_.value_m2;
  step_peak_ = moments_.step_m2;
}

double Window::mean() const noexcept {
  if (points_.empty()) return std::numeric_limits<double>::quiet_NaN();
  return constant() ? last_ : moments_.value;
}

double Window::stddev() const noexcept {
  return moments_.value_m2 > 0 && !constant() ? std::sqrt(moments_.value_m2 / moments_.count) : 0;
}

double Window::slope() const noexcept {
  if (!(moments_.step_m2 > 0)) return std::numeric_limits<double>::quiet_NaN();
  return constant() ? 0 : moments_.product_m2 / moments_.step_m2;
}

}  // namespace sonde::policy::condition
