// The tensors that a program probes, as its statistics files define them.
#include <algorithm>
#include <map>
#include <utility>

#include "formats/tensor_tags.h"
#include "index/run_index.h"

namespace sonde::index {

std::vector<ProbeInfo> RunIndex::probes() {
  ensure_read();
  const std::shared_lock lock(data_mutex_);
  return probes_in_order();
}

// Only one statistic needs them.
std::vector<ProbeInfo> RunIndex::probes_for(Statistic statistic) const {
  return statistic == Statistic::depth_gain ? probes_in_order() : std::vector<ProbeInfo>();
}

std::vector<ProbeInfo> RunIndex::probes_in_order() const {
  // A job that was restarted defines them again: what the last file says counts.
  std::vector<ProbeInfo> probes;
  std::map<std::string, std::size_t> places;  // by tag
  for (const std::uint32_t number : data_.file_order()) {
    const SourceFile& file = data_.files[number];
    std::vector<std::uint32_t> ids = file.probe_order.ids();
    for (const auto& [id, definition] : file.definitions.all()) {
      if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
    }
    for (const std::uint32_t id : ids) {
      const stats_record::Definition* definition = file.definitions.find(id);
      if (definition == nullptr) continue;
      ProbeInfo probe = {.name = definition->name,
                         .kind = definition->kind,
                         .tag = tag_of({.name = definition->name, .kind = definition->kind}, tags::Plugin::histograms),
                         .dtype = definition->form.dtype,
                         .shape = definition->form.shape,
                         .inputs = definition->inputs};
      const auto [at, is_new] = places.try_emplace(probe.tag, probes.size());
      if (is_new) {
        probes.push_back(std::move(probe));
      } else {
        probes[at->second] = std::move(probe);
      }
    }
  }
  for (std::size_t i = 0; i < probes.size(); ++i) probes[i].order = static_cast<std::uint32_t>(i);
  return probes;
}

}  // namespace sonde::index
