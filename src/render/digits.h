// Floats as decimal text, with as many digits as are needed to parse the same value: NumPy's rules. Independent of the
// locale.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace sonde::render {

// The type whose neighbouring values the digits must distinguish.
enum class FloatType : std::uint8_t { f16, f32, f64 };

inline constexpr int kAllDigits = std::numeric_limits<int>::max();

// All functions take a finite value that is representable in `type`. They use the shortest digits that identify it if
// at most `precision` are after the point; otherwise the exact value, rounded (half to even) to `precision`.

// "12.5", "-0.", "100.": always with a point, never with zeros after it.
std::string positional(double value, FloatType type, int precision = kAllDigits);

// "1.25e+01", "1.e+10". With fewer than `min_digits` digits after the point, the exact value has that many; the
// exponent has at least `exponent_digits`, and never fewer than two.
std::string scientific(double value, FloatType type, int precision = kAllDigits, int min_digits = 0,
                       int exponent_digits = 2);

// Three significant digits for people: "0", "-2.1", "0.0123", "12345", "1.5e-07".
std::string brief(double value);

}  // namespace sonde::render
