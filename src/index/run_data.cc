#include "index/run_data.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sonde {

std::string_view to_string(TagKind kind) noexcept {
  switch (kind) {
    case TagKind::scalars: return "scalars";
    case TagKind::histograms: return "histograms";
    case TagKind::images: return "images";
    case TagKind::audio: return "audio";
    case TagKind::text: return "text";
    case TagKind::pr_curves: return "pr_curves";
    case TagKind::mesh: return "mesh";
    case TagKind::hparams: return "hparams";
    case TagKind::custom_scalars: return "custom_scalars";
    case TagKind::graphs: return "graphs";
    case TagKind::tensors: return "tensors";
    case TagKind::statistics: return "statistics";
  }
  return "tensors";
}

namespace index {

TagKind kind_of_plugin(std::string_view plugin) noexcept {
  for (const TagKind kind : {TagKind::scalars, TagKind::histograms, TagKind::images, TagKind::audio, TagKind::text,
                             TagKind::pr_curves, TagKind::mesh, TagKind::hparams, TagKind::custom_scalars}) {
    if (plugin == to_string(kind)) return kind;
  }
  return plugin.starts_with("graph") ? TagKind::graphs : TagKind::tensors;
}

Series* RunData::find(std::string_view tag, TagKind kind) const noexcept {
  Series* found = find(tag);
  while (found != nullptr && found->kind != kind) found = found->same_tag;
  return found;
}

Series& RunData::add(std::string_view tag, TagKind kind, std::string_view plugin) {
  Series& made = series_.emplace_back();
  made.tag = tag;
  made.kind = kind;
  made.plugin = plugin;
  const auto [at, is_new] = by_tag_.try_emplace(made.tag, &made);
  if (!is_new) {
    Series* last = at->second;
    while (last->same_tag != nullptr) last = last->same_tag;
    last->same_tag = &made;
  }
  return made;
}

void RunData::add_damage(FoundDamage found) {
  constexpr std::size_t kLimit = 100'000;
  if (!damage.empty()) {
    FoundDamage& last = damage.back();
    if (last.file == found.file && last.offset + last.size == found.offset && last.reason == found.reason) {
      last.size += found.size;
      return;
    }
  }
  if (damage.size() < kLimit) damage.push_back(std::move(found));
}

void RunData::drop_file(std::uint32_t file) {
  ++generation;
  for (Series& one : series_) {
    one.columns.drop(file);
    one.tracks.drop(file);
    std::erase_if(one.restarts, [&](const Restart& restart) { return restart.file == file; });
  }
  std::erase_if(damage, [&](const FoundDamage& found) { return found.file == file; });
  std::erase_if(gaps, [&](const FoundGap& found) { return found.file == file; });
  SourceFile& source = files[file];
  source.read = 0;
  source.guard = {};
  source.definitions = {};
}

std::vector<std::uint32_t> RunData::file_order() const {
  std::vector<std::uint32_t> order(files.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t file) -> const std::string& { return files[file].name; });
  return order;
}

}  // namespace index
}  // namespace sonde
