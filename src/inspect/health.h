// Signs of numerical trouble in the outputs of a layer, gathered over all passes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "inspect/runtime.h"
#include "sonde/tensor.h"
#include "stats/derived.h"
#include "stats/summary.h"

namespace sonde::inspect {

// Which units of a layer ever gave something else than zero. A unit is a channel: of four and more axes the second, or
// the last where the model orders axes so; of two and three the last.
class UnitActivity {
 public:
  // Counts only layers that are dead when they are zero: ReLU and what resembles it.
  void add(const Layer& layer, const TensorView& tensor, bool channels_last);

  std::int64_t units() const noexcept { return static_cast<std::int64_t>(alive_.size()); }  // 0: not counted
  std::int64_t dead() const noexcept;

 private:
  std::vector<bool> alive_;
  bool inconsistent_ = false;  // the number of units changed
};

// A narrower type, and what would happen to the values in it.
struct CastReport {
  std::string_view type;
  stats::CastRisk risk;
};

struct HealthReport {
  std::int64_t units = 0;  // 0: not counted
  std::int64_t dead = 0;
  double saturated = 0;  // share of values at the limits of a sigmoid or tanh: within 1/32
  // Types that are narrower than the layer's own; the first four are floats.
  std::vector<CastReport> casts;
  // Share of values that are not zero and become zero as 8-bit integers, with one scale for the whole tensor.
  double lost_in_int8 = 0;
};

HealthReport health_of(const Layer& layer, DType dtype, const stats::Summary& summary,
                       const stats::Histogram& histogram, const UnitActivity& units);

// Whether an operation gives a non-finite value for every non-finite element that it reads: a finite result then means
// that the runtime went on with other values than it showed.
bool passes_nonfinite_on(std::string_view op) noexcept;

}  // namespace sonde::inspect
