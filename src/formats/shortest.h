// Floats that were read as doubles, printed with only as many digits as a float needs.
#pragma once

#include <span>

namespace sonde::formats {

// Whether every value is exactly a float, or not finite. Decided for a whole series: different values must have
// different texts, and the float nearest to 0.1 and the double nearest to 0.1 have the same shortest text.
bool all_single(std::span<const double> values) noexcept;

// The double nearest to the shortest text of a float: 0.1 for the float nearest to 0.1. Printed as a double it has the
// digits of the float, and it rounds to the same float.
double shortest_double(double value) noexcept;

}  // namespace sonde::formats
