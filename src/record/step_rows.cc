#include "record/step_rows.h"

#include "tensor/rows.h"

namespace sonde::record {

bool takes_all(const RowSample& sample, const Shape& shape) noexcept {
  return sample.rows <= 0 || shape.rank() == 0 || shape[0] <= sample.rows;
}

TensorView sampled(const TensorView& view, const RowSample& sample, std::int64_t step, Tensor& buffer,
                   std::vector<std::int64_t>& rows) {
  if (takes_all(sample, view.shape)) return view;
  if (!sample.random) return tensor::first_rows(view, sample.rows);
  rows = tensor::random_rows(view.shape[0], sample.rows, static_cast<std::uint64_t>(step));
  Shape shape = view.shape;
  shape[0] = sample.rows;
  buffer.dtype = view.dtype;
  buffer.shape = shape;
  buffer.data.resize(tensor::row_bytes(view, rows.size()));
  return tensor::copy_rows(view, rows, buffer.data.data());
}

RowSample sample_of(const StepData::Tensor& tensor, policy::Parts held, Keep flag) {
  if (tensor.plan->sample.rows > 0) return {};  // the caller's thread took them already
  const auto& parts = tensor.plan->parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (policy::has_part(held, i) && has(parts[i].keep, flag)) return parts[i].sample;
  }
  return {};
}

std::string key_of(const ProbeEntry& probe, std::uint32_t occurrence, bool evaluation, tags::Plugin plugin) {
  return tags::tag_of(
      {.name = probe.name, .kind = probe.options.kind, .occurrence = occurrence, .evaluation = evaluation}, plugin);
}

}  // namespace sonde::record
