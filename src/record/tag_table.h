// The tags of one recorder, each with a dense id and its plugin.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/tensor_tags.h"
#include "sonde/status.h"

namespace sonde::record {

// Safe from any thread.
class TagTable {
 public:
  static constexpr std::size_t kLongestName = std::size_t{64} << 10;

  // The id of a tag, new or existing. Fails if the name is empty or too long, or the tag already belongs to another
  // plugin: TensorBoard keeps only the first kind of summary under a tag. Invalid UTF-8 bytes are replaced.
  Result<std::uint32_t> resolve(std::string_view name, tags::Plugin plugin);
  // The plugin of a tag; none if there is no such tag.
  std::optional<tags::Plugin> plugin(std::string_view name) const;
  // The name stays valid for the life of the table.
  std::string_view name(std::uint32_t id) const;
  std::vector<std::string> names(tags::Plugin plugin) const;

  // Held over a fork, so that the child does not inherit a table in the middle of a change.
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  struct Entry {
    std::string name;
    tags::Plugin plugin;
  };
  Result<std::uint32_t> known(std::uint32_t id, tags::Plugin plugin) const;

  mutable std::mutex mutex_;  // not a shared one: those cannot be unlocked in a forked child
  std::deque<Entry> entries_;
  std::unordered_map<std::string_view, std::uint32_t> ids_;
};

}  // namespace sonde::record
