#include "inspect/health.h"

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "tensor/convert.h"
#include "tensor/copy.h"

namespace sonde::inspect {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view op, const std::array<std::string_view, N>& ops) noexcept {
  return std::ranges::find(ops, op) != ops.end();
}

constexpr std::array<std::string_view, 5> kRectifiers = {"Relu", "ReLU", "Relu6", "Clip", "ThresholdedRelu"};
constexpr std::array<std::string_view, 3> kSigmoids = {"Sigmoid", "HardSigmoid", "Logistic"};
constexpr std::array<std::string_view, 2> kTanhs = {"Tanh", "Softsign"};
constexpr std::array<std::string_view, 22> kPassing = {"MatMul",
                                                       "Gemm",
                                                       "Conv",
                                                       "ConvTranspose",
                                                       "Add",
                                                       "Sub",
                                                       "Mul",
                                                       "Neg",
                                                       "Abs",
                                                       "Identity",
                                                       "Flatten",
                                                       "Reshape",
                                                       "Transpose",
                                                       "Squeeze",
                                                       "Unsqueeze",
                                                       "Sqrt",
                                                       "Reciprocal",
                                                       "Concat",
                                                       "ReduceSum",
                                                       "ReduceMean",
                                                       "LayerNormalization",
                                                       "BatchNormalization"};

// The axis of the units.
int unit_axis(int rank, bool channels_last) noexcept { return rank >= 4 && !channels_last ? 1 : rank - 1; }

bool is_zero(const std::byte* at, DType dtype) noexcept {
  if (dtype == DType::f32) return base::load<float>(at) == 0;
  return tensor::element_as_double(at, dtype) == 0;
}

double share_outside(const stats::Summary& summary, const stats::Histogram& histogram, double low, double high,
                     bool both) {
  if (summary.finite() == 0) return 0;
  std::uint64_t count = 0;
  for (const stats::Histogram::Bin& bin : histogram.bins()) {
    const double lower = stats::Histogram::lower(bin.key);
    const double upper = stats::Histogram::upper(bin.key);
    if (lower >= high || (both ? upper <= low : upper <= low && bin.key >= 0)) count += bin.count;
  }
  return static_cast<double>(count) / static_cast<double>(summary.finite());
}

double saturation(const Layer& layer, const stats::Summary& summary, const stats::Histogram& histogram) {
  constexpr double kEdge = 1.0 / 32;  // an edge of the histogram's bins, so that the share is exact
  if (is_one_of(layer.op, kSigmoids)) return share_outside(summary, histogram, kEdge, 1 - kEdge, false);
  if (is_one_of(layer.op, kTanhs)) return share_outside(summary, histogram, -1 + kEdge, 1 - kEdge, true);
  return 0;
}

double lost_in_int8(const stats::Summary& summary, const stats::Histogram& histogram) {
  const double largest = std::max(std::fabs(summary.min), std::fabs(summary.max));
  if (summary.finite() == 0 || !(largest > 0)) return 0;
  const double half_step = largest / 127 / 2;
  std::uint64_t lost = 0;
  for (const stats::Histogram::Bin& bin : histogram.bins()) {
    if (bin.key == 0) continue;
    const double end =
        std::max(std::fabs(stats::Histogram::lower(bin.key)), std::fabs(stats::Histogram::upper(bin.key)));
    if (end <= half_step) lost += bin.count;
  }
  return static_cast<double>(lost) / static_cast<double>(summary.finite());
}

struct Target {
  std::string_view name;
  stats::Target target;
  DType dtype;
};
constexpr std::array<Target, 4> kTargets = {{{"fp16", stats::Target::f16, DType::f16},
                                             {"bf16", stats::Target::bf16, DType::bf16},
                                             {"fp8_e4m3", stats::Target::f8_e4m3, DType::f8_e4m3},
                                             {"fp8_e5m2", stats::Target::f8_e5m2, DType::f8_e5m2}}};

bool is_float(DType dtype) noexcept { return dtype >= DType::f8_e4m3 && dtype <= DType::f64; }

}  // namespace

void UnitActivity::add(const Layer& layer, const TensorView& tensor, bool channels_last) {
  const int rank = tensor.shape.rank();
  if (!is_one_of(layer.op, kRectifiers) || rank < 2 || inconsistent_ || tensor.size() == 0) return;
  const int axis = unit_axis(rank, channels_last);
  const auto units = static_cast<std::size_t>(tensor.shape[axis]);
  if (alive_.empty()) alive_.resize(units);
  if (alive_.size() != units) {
    inconsistent_ = true;
    alive_.clear();
    return;
  }
  const auto size = static_cast<std::int64_t>(size_of(tensor.dtype));
  for (std::size_t unit = 0; unit < units; ++unit) {
    if (alive_[unit]) continue;
    TensorView part = tensor;
    part.data =
        static_cast<const std::byte*>(tensor.data) + static_cast<std::int64_t>(unit) * tensor.strides[axis] * size;
    part.shape[axis] = 1;
    bool found = false;
    tensor::for_each_run(part, [&](const std::byte* at, std::int64_t count, std::int64_t stride) {
      for (std::int64_t i = 0; i < count && !found; ++i) found = !is_zero(at + i * stride * size, tensor.dtype);
    });
    alive_[unit] = found;
  }
}

std::int64_t UnitActivity::dead() const noexcept { return std::ranges::count(alive_, false); }

HealthReport health_of(const Layer& layer, DType dtype, const stats::Summary& summary,
                       const stats::Histogram& histogram, const UnitActivity& units) {
  HealthReport report;
  report.units = units.units();
  report.dead = units.dead();
  if (!is_float(dtype)) return report;
  report.saturated = saturation(layer, summary, histogram);
  report.lost_in_int8 = lost_in_int8(summary, histogram);
  for (const Target& target : kTargets) {
    if (size_of(target.dtype) > size_of(dtype) || target.dtype == dtype) continue;
    report.casts.push_back({target.name, stats::cast_risk(summary, histogram, target.target)});
  }
  return report;
}

bool passes_nonfinite_on(std::string_view op) noexcept { return is_one_of(op, kPassing); }

}  // namespace sonde::inspect
