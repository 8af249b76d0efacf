#include "index/probe_order.h"

#include <algorithm>

namespace sonde::index {

void ProbeOrder::learn(const std::vector<std::uint32_t>& step) {
  const auto is_known = [this](std::uint32_t id) { return known_.contains(id); };
  if (std::ranges::all_of(step, is_known)) return;
  // If nothing relates these to the known ones, they come last.
  auto behind = std::ranges::any_of(step, is_known) ? ids_.begin() : ids_.end();
  for (const std::uint32_t id : step) {
    if (known_.insert(id).second) {
      behind = ids_.insert(behind, id) + 1;
    } else if (const auto at = std::find(behind, ids_.end(), id); at != ids_.end()) {
      behind = at + 1;
    }
  }
}

void ProbeOrder::save(std::string& out) const {
  base::put_varint(out, ids_.size());
  for (const std::uint32_t id : ids_) base::put_varint(out, id);
}

void ProbeOrder::restore(base::ByteReader& from) {
  *this = {};
  for (std::uint64_t left = from.varint(); left > 0 && from.ok(); --left) {
    const auto id = static_cast<std::uint32_t>(from.varint());
    if (known_.insert(id).second) ids_.push_back(id);
  }
}

}  // namespace sonde::index
