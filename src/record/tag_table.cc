#include "record/tag_table.h"

#include <array>

#include "base/utf8.h"

namespace sonde::record {
namespace {

constexpr std::array<std::string_view, 6> kPlugins = {"scalars", "histograms", "images", "audio", "text", "other"};

std::string_view to_string(tags::Plugin plugin) { return kPlugins[static_cast<std::size_t>(plugin)]; }

// As much of a name as a message needs.
std::string shortened(std::string_view name) {
  constexpr std::size_t kShown = 80;
  return name.size() <= kShown ? std::string(name) : base::valid_utf8(name.substr(0, kShown)) + "...";
}

}  // namespace

Result<std::uint32_t> TagTable::known(std::uint32_t id, tags::Plugin plugin) const {
  const Entry& entry = entries_[id];
  if (entry.plugin == plugin) return id;
  std::string message = "the tag '" + shortened(entry.name) + "' holds ";
  message.append(to_string(entry.plugin)).append(" already and cannot hold ").append(to_string(plugin));
  return Status(Code::invalid_argument, message + ": use another name");
}

Result<std::uint32_t> TagTable::resolve(std::string_view name, tags::Plugin plugin) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = ids_.find(name); found != ids_.end()) return known(found->second, plugin);
  }
  if (name.empty()) return Status(Code::invalid_argument, "a name is empty: give each tag at least one character");
  if (name.size() > kLongestName) {
    return Status(Code::invalid_argument,
                  "the name '" + shortened(name) + "' is longer than 64 KiB: use a shorter one");
  }
  std::string valid = base::valid_utf8(name);
  const std::scoped_lock lock(mutex_);
  if (const auto found = ids_.find(valid); found != ids_.end()) return known(found->second, plugin);
  const auto id = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back({std::move(valid), plugin});
  try {
    ids_.emplace(entries_.back().name, id);
  } catch (...) {
    entries_.pop_back();
    throw;
  }
  return id;
}

std::optional<tags::Plugin> TagTable::plugin(std::string_view name) const {
  const std::scoped_lock lock(mutex_);
  const auto found = ids_.find(name);
  if (found == ids_.end()) return std::nullopt;
  return entries_[found->second].plugin;
}

std::vector<std::string> TagTable::names(tags::Plugin plugin) const {
  std::vector<std::string> found;
  const std::scoped_lock lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.plugin == plugin) found.push_back(entry.name);
  }
  return found;
}

std::string_view TagTable::name(std::uint32_t id) const {
  const std::scoped_lock lock(mutex_);
  return entries_[id].name;
}

}  // namespace sonde::record
