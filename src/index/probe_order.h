// The order in which the tensors of a statistics file are executed, learned from its steps. A step need not hold all of
// them: a tensor that is recorded every hundredth step is placed after the one before it in that step.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/bytes.h"
#include "formats/stats_record.h"

namespace sonde::index {

class ProbeOrder {
 public:
  // Costs almost nothing if the step has no new tensor.
  void learn(const stats_record::Step& step);
  const std::vector<std::uint32_t>& ids() const noexcept { return ids_; }  // first executed first

  void save(std::string& out) const;
  void restore(ByteReader& from);

 private:
  std::vector<std::uint32_t> ids_;
  std::unordered_set<std::uint32_t> known_;
};

}  // namespace sonde::index
