// The order in which the tensors of a statistics file are executed, learned from its steps. A step need not hold all of
// them: a tensor that is recorded every hundredth step is placed after the one before it in that step.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/bytes.h"

namespace sonde::index {

class ProbeOrder {
 public:
  // From the ids of a step's tensors. Costs almost nothing if none of them is new.
  void learn(const std::vector<std::uint32_t>& step);
  const std::vector<std::uint32_t>& ids() const noexcept { return ids_; }  // first executed first

  void save(std::string& out) const;
  void restore(base::ByteReader& from);

 private:
  std::vector<std::uint32_t> ids_;
  std::unordered_set<std::uint32_t> known_;
};

}  // namespace sonde::index
