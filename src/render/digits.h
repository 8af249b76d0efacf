// Floats as decimal text, with as many digits as it takes to read the same value back: the rules by which NumPy prints.
// Independent of the locale.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace sonde::render {

// The type whose neighbouring values the digits must tell apart.
enum class FloatType : std::uint8_t { f16, f32, f64 };

inline constexpr int kAllDigits = std::numeric_limits<int>::max();

// All functions take a finite value that is representable in `type`. The shortest digits that identify it are taken
// where they are at most `precision` behind the point; otherwise the exact value, rounded (half to even) to
// `precision`.

// "12.5", "-0.", "100.": the point is always there, zeros behind it never.
std::string positional(double value, FloatType type, int precision = kAllDigits);

// "1.25e+01", "1.e+10". With fewer than `min_digits` digits behind the point, the exact value has that many; the
// exponent has at least `exponent_digits`, and never less than two.
std::string scientific(double value, FloatType type, int precision = kAllDigits, int min_digits = 0,
                       int exponent_digits = 2);

// Three significant digits for a line that a person reads: "0", "-2.1", "0.0123", "12345", "1.5e-07".
std::string brief(double value);

}  // namespace sonde::render
