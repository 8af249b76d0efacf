// Floats that were read as doubles, printed with no more digits than a float needs.
#pragma once

#include <span>

namespace sonde {

// Whether every value is exactly a float, or not finite. Asked of a whole series: two values that differ must differ as
// texts, and the float next to 0.1 and the double next to 0.1 have the same shortest text.
bool all_single(std::span<const double> values) noexcept;

// The double that is nearest to the shortest text of a float: 0.1 for the float next to 0.1. Printed as a double it has
// the digits of the float, and rounded to a float it is the same one again.
double shortest_double(double value) noexcept;

}  // namespace sonde
