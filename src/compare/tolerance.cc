#include "compare/tolerance.h"

#include <charconv>
#include <cmath>

namespace sonde::compare {
namespace {

// The shortest text that parses to the same number.
std::string text_of(double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  return {digits, end.ptr};
}

// Two digits, rounded up, so that the printed tolerance passes.
std::string rounded_up(double value) {
  if (!(value > 0) || std::isinf(value)) return text_of(value);
  const double unit = std::pow(10, std::floor(std::log10(value)) - 1);
  double up = std::ceil(value / unit) * unit;
  char digits[32];
  auto end = std::to_chars(digits, digits + sizeof digits, up, std::chars_format::scientific, 1);
  double printed = 0;
  std::from_chars(digits, end.ptr, printed);
  if (printed < value) {
    end = std::to_chars(digits, digits + sizeof digits, up + unit, std::chars_format::scientific, 1);
    std::from_chars(digits, end.ptr, printed);
  }
  return text_of(printed);
}

bool parse(std::string_view text, double& value) {
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  return end.ec == std::errc{} && end.ptr == text.data() + text.size() && value >= 0 && std::isfinite(value);
}

}  // namespace

std::string to_string(const Tolerance& tolerance) {
  switch (tolerance.kind) {
    case Tolerance::Kind::exact: return "exact";
    case Tolerance::Kind::norm: return "norm-relative " + text_of(tolerance.norm);
    case Tolerance::Kind::elements: break;
  }
  return "rtol " + text_of(tolerance.limits.rtol) + ", atol " + text_of(tolerance.limits.atol);
}

std::string passing(const Metrics& metrics, const Tolerance& tolerance) {
  if (metrics.non_finite_differ > 0) return {};
  switch (tolerance.kind) {
    case Tolerance::Kind::exact: return "atol " + rounded_up(metrics.max_abs);
    case Tolerance::Kind::norm:
      return std::isinf(metrics.norm_relative()) ? "atol " + rounded_up(metrics.max_abs)
                                                 : "norm-relative " + rounded_up(metrics.norm_relative());
    case Tolerance::Kind::elements: break;
  }
  if (std::isinf(metrics.max_excess)) return "atol " + rounded_up(metrics.max_abs);
  return "rtol " + rounded_up(metrics.max_excess) + ", atol " + text_of(tolerance.limits.atol);
}

Tolerance default_tolerance(DType type) noexcept {
  const auto norm = [](double limit) { return Tolerance{.kind = Tolerance::Kind::norm, .norm = limit, .limits = {}}; };
  switch (type) {
    case DType::f64:
    case DType::c128: return norm(1e-12);
    case DType::f32:
    case DType::c64: return norm(1e-5);
    case DType::f16: return norm(1e-2);
    case DType::bf16: return norm(5e-2);
    case DType::f8_e4m3: return norm(0.2);
    case DType::f8_e5m2: return norm(0.4);
    default: return {};
  }
}

bool passes(const Metrics& metrics, const Tolerance& tolerance) noexcept {
  if (metrics.non_finite_differ > 0) return false;
  switch (tolerance.kind) {
    case Tolerance::Kind::exact: return metrics.equal();
    case Tolerance::Kind::norm: return metrics.norm_relative() <= tolerance.norm;
    case Tolerance::Kind::elements: return metrics.outside == 0;
  }
  return false;
}

Status Tolerances::add_rule(std::string_view text) {
  const std::string quoted = "'" + std::string(text) + "'";
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) {
    return {Code::invalid_argument,
            "the tolerance " + quoted + " is not NAME=RTOL,ATOL, such as 'encoder/.*=1e-3,1e-6'"};
  }
  const std::string_view name = text.substr(0, equals);
  const std::string_view numbers = text.substr(equals + 1);
  const std::size_t comma = numbers.find(',');
  Limits limits;
  if (!parse(numbers.substr(0, comma), limits.rtol) ||
      (comma != std::string_view::npos && !parse(numbers.substr(comma + 1), limits.atol))) {
    return {Code::invalid_argument, "the tolerance " + quoted + " ends in '" + std::string(numbers) +
                                        "', but must end in RTOL or RTOL,ATOL, numbers that are not negative"};
  }
  Result<regexp::Regexp> pattern = regexp::Regexp::compile(name, regexp::Extent::whole);
  if (!pattern) {
    return {Code::invalid_argument,
            "the pattern of the tolerance " + quoted + " is not valid: " + pattern.error().message()};
  }
  rules_.push_back({std::string(text), std::string(name), *pattern, limits});
  return Status::success();
}

Tolerance Tolerances::of(std::string_view name_in_a, std::string_view name_in_b, DType type) const {
  const Rule* found = nullptr;
  for (const Rule& rule : rules_) {
    if (rule.name == name_in_a || rule.name == name_in_b) {
      found = &rule;
      break;
    }
  }
  for (auto rule = rules_.begin(); found == nullptr && rule != rules_.end(); ++rule) {
    if (rule->pattern.matches(name_in_a) || rule->pattern.matches(name_in_b)) found = &*rule;
  }
  if (found != nullptr) {
    found->used = true;
    return {.kind = Tolerance::Kind::elements, .norm = 0, .limits = found->limits};
  }
  if (all_) return {.kind = Tolerance::Kind::elements, .norm = 0, .limits = *all_};
  return default_tolerance(type);
}

std::vector<std::string> Tolerances::unused() const {
  std::vector<std::string> texts;
  for (const Rule& rule : rules_) {
    if (!rule.used) texts.push_back(rule.text);
  }
  return texts;
}

}  // namespace sonde::compare
