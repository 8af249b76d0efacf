// The rows of a recorded tensor that a plan keeps, and the name under which its step keeps it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/tensor_tags.h"
#include "record/step_data.h"

namespace sonde::record {

bool takes_all(const RowSample& sample, const Shape& shape) noexcept;

// Some rows of a view, gathered into `buffer` if they are not contiguous; then `rows` has their numbers.
TensorView sampled(const TensorView& view, const RowSample& sample, std::int64_t step, Tensor& buffer,
                   std::vector<std::int64_t>& rows);

// The rows that the first `held` part with this flag asks for; all if the caller's thread has already selected them.
RowSample sample_of(const StepData::Tensor& tensor, policy::Parts held, Keep flag);

// The tag of a tensor's summary: "gradient/dense_1/out#1".
std::string key_of(const ProbeEntry& probe, std::uint32_t occurrence, bool evaluation, tags::Plugin plugin);

}  // namespace sonde::record
