#include "index/probe_order.h"

#include <algorithm>

namespace sonde::index {

void ProbeOrder::learn(const stats_record::Step& step) {
  const auto is_known = [this](const stats_record::Entry& entry) { return known_.contains(entry.id); };
  if (std::ranges::all_of(step.entries, is_known)) return;
  // If nothing relates these to the known ones, they come last.
  auto behind = std::ranges::any_of(step.entries, is_known) ? ids_.begin() : ids_.end();
  for (const stats_record::Entry& entry : step.entries) {
    if (known_.insert(entry.id).second) {
      behind = ids_.insert(behind, entry.id) + 1;
    } else if (const auto at = std::find(behind, ids_.end(), entry.id); at != ids_.end()) {
      behind = at + 1;
    }
  }
}

void ProbeOrder::save(std::string& out) const {
  put_varint(out, ids_.size());
  for (const std::uint32_t id : ids_) put_varint(out, id);
}

void ProbeOrder::restore(ByteReader& from) {
  *this = {};
  for (std::uint64_t left = from.varint(); left > 0 && from.ok(); --left) {
    const auto id = static_cast<std::uint32_t>(from.varint());
    if (known_.insert(id).second) ids_.push_back(id);
  }
}

}  // namespace sonde::index
