// The order in which the tensors of a statistics file are executed, learned from its steps. A step need not hold all of
// them: what is recorded every hundredth step is placed behind what came before it there.
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
  // Costs next to nothing where the step has no tensor that is new.
  void learn(const stats_record::Step& step);
  const std::vector<std::uint32_t>& ids() const noexcept { return ids_; }  // first executed first

  void save(std::string& out) const;
  void restore(ByteReader& from);

 private:
  std::vector<std::uint32_t> ids_;
  std::unordered_set<std::uint32_t> known_;
};

}  // namespace sonde::index
