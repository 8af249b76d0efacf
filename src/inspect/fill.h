// Values that are made to fit an input of a model: random ones, pictures, tables.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "inspect/runtime.h"
#include "sonde/status.h"
#include "sonde/tensor.h"

namespace sonde::inspect {

// Random values; `state` is the seed, and advances. The same seed gives the same values on every machine. Floats are
// drawn from N(0, 1); integers from `range`, both ends included, and without one it is an error.
Result<Tensor> random_for(const Value& input, const std::optional<std::pair<std::int64_t, std::int64_t>>& range,
                          std::uint64_t& state);

// A picture, u8 or u16[height, width, channels], as the input wants it: with a batch axis, channels first or last by
// the sizes that the model gives, floats from 0 to 1.
Result<Tensor> picture_for(const Value& input, const Tensor& picture);

// A table, f64[rows, columns], in the type of the input; a row that has as many numbers as the axes behind the first is
// shaped like them.
Result<Tensor> table_for(const Value& input, const Tensor& table);

}  // namespace sonde::inspect
