// The names of statistics.
#include <array>
#include <string>
#include <utility>

#include "sonde/log.h"

namespace sonde {
namespace {

using Named = std::pair<Statistic, std::string_view>;
constexpr std::array kNames = {
    Named{Statistic::count, "count"},
    Named{Statistic::nan, "nan"},
    Named{Statistic::positive_infinity, "positive_infinity"},
    Named{Statistic::negative_infinity, "negative_infinity"},
    Named{Statistic::zeros, "zeros"},
    Named{Statistic::negatives, "negatives"},
    Named{Statistic::min, "min"},
    Named{Statistic::max, "max"},
    Named{Statistic::mean, "mean"},
    Named{Statistic::std, "std"},
    Named{Statistic::sum_abs, "sum_abs"},
    Named{Statistic::mean_abs, "mean_abs"},
    Named{Statistic::rms, "rms"},
    Named{Statistic::l2, "l2"},
    Named{Statistic::abs_max, "abs_max"},
    Named{Statistic::peak_factor, "peak_factor"},
    Named{Statistic::shape_factor, "shape_factor"},
    Named{Statistic::non_finite, "non_finite"},
    Named{Statistic::zero_fraction, "zero_fraction"},
    Named{Statistic::negative_fraction, "negative_fraction"},
    Named{Statistic::f16_range, "f16_range"},
    Named{Statistic::f8_e4m3_range, "f8_e4m3_range"},
    Named{Statistic::f8_e5m2_range, "f8_e5m2_range"},
    Named{Statistic::update_ratio, "update_ratio"},
    Named{Statistic::depth_gain, "depth_gain"},
    Named{Statistic::drift, "drift"},
};

}  // namespace

std::string_view to_string(Statistic statistic) noexcept {
  for (const auto& [known, name] : kNames) {
    if (known == statistic) return name;
  }
  return "unknown";
}

Result<Statistic> statistic_of(std::string_view name) {
  std::string names;
  for (const auto& [known, text] : kNames) {
    if (text == name) return known;
    names.append(names.empty() ? "" : ", ").append(text);
  }
  std::string text = "'";
  text.append(name).append("' is not a statistic; there are ").append(names);
  return Status(Code::invalid_argument, std::move(text));
}

}  // namespace sonde
