// Which rows of a recorded tensor a plan keeps, and under which name its step keeps it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/tensor_tags.h"
#include "record/step_data.h"

namespace sonde::record {

bool takes_all(const RowSample& sample, const Shape& shape) noexcept;

// Some rows of a view, gathered into `buffer` where they do not lie together; then `rows` says which ones.
TensorView sampled(const TensorView& view, const RowSample& sample, std::int64_t step, Tensor& buffer,
                   std::vector<std::int64_t>& rows);

// The rows that the first of the `held` parts which keeps this asks for; all where the caller's thread took them.
RowSample sample_of(const StepData::Tensor& tensor, policy::Parts held, Keep flag);

// The tag of a tensor's summary: "gradient/dense_1/out#1".
std::string key_of(const ProbeEntry& probe, std::uint32_t occurrence, bool evaluation, tags::Plugin plugin);

}  // namespace sonde::record
