// A step in progress, as the backend gathers it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/engine.h"
#include "record/policy_in_force.h"
#include "record/pool.h"
#include "sinks/values.h"
#include "sonde/recorder.h"

namespace sonde::record {

struct StepData {
  std::int64_t step = 0;
  Pass pass = {};
  bool open = false;
  bool degraded = false;  // the budget kept some of its tensors out of the flight ring
  // Last values by name, each once; collected only if they may be needed.
  std::vector<std::pair<std::string_view, double>> scalars;

  // Statistics of the rows that a watch wants of a tensor that was recorded as a whole.
  struct OfRows {
    RowSample sample;
    bool with_histogram = false;
    Shape shape = {};
    stats::Summary summary = {};
    std::optional<stats::Histogram> histogram = {};
    std::vector<stats::Bucket> buckets = {};
  };

  struct Tensor {
    sinks::StepTensor record;  // of the whole recorded tensor: conditions use it
    const ProbeEntry* probe = nullptr;
    const policy::Plan* plan = nullptr;
    policy::Parts due = 0;
    std::vector<stats::Bucket> buckets = {};  // of the histogram, in TensorBoard's format
    std::vector<OfRows> of_rows = {};         // each sample once
    PayloadPtr payload = nullptr;             // kept if the end of the step decides about more than statistics
  };
  std::vector<Tensor> tensors;  // in the order of arrival

  void begin(std::int64_t number);
  StepValues values() const noexcept { return StepValues(*this); }
  // The number of earlier tensors of this probe in the step.
  std::uint32_t next_occurrence(std::uint32_t probe_id);
  bool has_scalar(std::uint32_t tag) const noexcept { return tag < place_.size() && place_[tag] != 0; }
  void set_scalar(std::uint32_t tag, std::string_view name, double value);

 private:
  std::vector<std::uint32_t> occurrences_;  // by the probe's id
  std::vector<std::uint32_t> place_;        // by tag: 1 + its index in `scalars`, or 0
  std::vector<std::uint32_t> tags_;         // those in `scalars`
};

}  // namespace sonde::record
