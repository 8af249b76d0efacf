#include "record/step_data.h"

#include <limits>

namespace sonde {

double StepValues::scalar(std::string_view name) const noexcept {
  for (const auto& [known, value] : data_.scalars) {
    if (known == name) return value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::int64_t StepValues::step() const noexcept { return data_.step; }

}  // namespace sonde

namespace sonde::record {

void StepData::begin(std::int64_t number) {
  step = number;
  open = true;
  degraded = false;
  for (const std::uint32_t tag : tags_) place_[tag] = 0;
  tags_.clear();
  scalars.clear();
  tensors.clear();
  occurrences_.clear();
}

std::uint32_t StepData::next_occurrence(std::uint32_t probe_id) {
  if (occurrences_.size() <= probe_id) occurrences_.resize(probe_id + 1);
  return occurrences_[probe_id]++;
}

void StepData::set_scalar(std::uint32_t tag, std::string_view name, double value) {
  if (tag >= place_.size()) place_.resize(tag + 1);
  if (place_[tag] == 0) {
    scalars.emplace_back(name, value);
    tags_.push_back(tag);
    place_[tag] = static_cast<std::uint32_t>(scalars.size());
  }
  scalars[place_[tag] - 1].second = value;
}

}  // namespace sonde::record
