// How far apart two tensors may be.
//
// Without a word of the user the whole tensor is judged: ||a - b|| / ||b|| must not exceed a limit that depends on the
// type; integers must be equal. Healthy networks in two runtimes stay far below these limits, whereas element-wise
// limits call nearly every tensor different, since sums that cancel have few correct digits (docs/decisions/0039).
// With --rtol, --atol or --tolerance every element is judged, as numpy.isclose does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/kernels.h"
#include "compare/metrics.h"
#include "regexp/regexp.h"
#include "sonde/status.h"
#include "sonde/tensor.h"

namespace sonde::compare {

struct Tolerance {
  enum class Kind : std::uint8_t { exact, norm, elements } kind = Kind::exact;
  double norm = 0;  // the largest ||a - b|| / ||b||
  Limits limits;    // of each element
  friend bool operator==(const Tolerance& a, const Tolerance& b) noexcept {
    return a.kind == b.kind && a.norm == b.norm && a.limits.rtol == b.limits.rtol && a.limits.atol == b.limits.atol;
  }
};

// "norm-relative 1e-05", "rtol 0.001, atol 0", "exact"
std::string to_string(const Tolerance& tolerance);
// The tolerance of the same kind that these tensors would just pass; empty if there is none.
std::string passing(const Metrics& metrics, const Tolerance& tolerance);

// For tensors that are compared in this type.
Tolerance default_tolerance(DType type) noexcept;

// Whether the difference is within the tolerance. Different NaN or infinities never are.
bool passes(const Metrics& metrics, const Tolerance& tolerance) noexcept;

// Which tolerance holds for which tensor.
class Tolerances {
 public:
  // For all tensors that no rule names.
  void set_all(const Limits& limits) noexcept { all_ = limits; }
  // "encoder/.*=1e-3,1e-6": a name or a regular expression that matches all of a name; then rtol, and atol (0 if it is
  // absent). Of several rules the first that matches counts, but an exact name comes before a pattern.
  Status add_rule(std::string_view text);

  Tolerance of(std::string_view name_in_a, std::string_view name_in_b, DType type) const;
  // Rules that matched no tensor so far, as they were given.
  std::vector<std::string> unused() const;

 private:
  struct Rule {
    std::string text;
    std::string name;
    regexp::Regexp pattern;
    Limits limits;
    mutable bool used = false;
  };
  std::optional<Limits> all_;
  std::vector<Rule> rules_;
};

}  // namespace sonde::compare
