// Orders of axes that turn one shape into another: the same tensor in another layout.
#pragma once

#include <string>
#include <vector>

#include "sonde/tensor.h"

namespace sonde::compare {

// Axis i of the result is axis order[i] of the view.
using AxisOrder = std::vector<int>;

// All orders by which the axes of `from` give the shape `to`, except the identity; those that keep most axes in
// sequence first, as a change of layout does (NCHW to NHWC: 0, 2, 3, 1). At most 24.
std::vector<AxisOrder> orders_between(const Shape& from, const Shape& to);

// The same memory with its axes in this order.
TensorView permuted(const TensorView& view, const AxisOrder& order) noexcept;

// "B permuted by (0, 2, 3, 1), as NCHW to NHWC"
std::string permutation_text(const AxisOrder& order);

}  // namespace sonde::compare
