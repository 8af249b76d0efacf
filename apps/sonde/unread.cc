#include "unread.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "base/directory.h"
#include "base/file.h"
#include "formats/run_layout.h"
#include "text.h"

namespace sonde::cli {
namespace {

constexpr int kDeepest = 16;

// A set of Debugger V2: tfdbg_events.<time>.<host>.<one of these>.
constexpr std::array<std::string_view, 6> kDebugger = {".metadata", ".source_files", ".stack_frames",
                                                       ".graphs",   ".execution",    ".graph_execution_traces"};

// The plugin that shows this file; empty if Sonde reads it, or nothing is known about it.
std::string_view reader_of(std::string_view name) noexcept {
  const auto ends = [&](std::string_view suffix) { return name.ends_with(suffix); };
  if (name.starts_with("tfdbg_events.") && std::ranges::any_of(kDebugger, ends)) return "tfdbg";
  if (name == "projector_config.pbtxt") return "projector";
  if (name == "graph.pbtxt") return "graph_pbtxt";
  return "";
}

std::uint64_t count_files(const std::string& path, int depth) {
  const Result<base::Directory> directory = base::read_directory(path);
  if (!directory) return 0;
  std::uint64_t count = 0;
  for (const base::DirectoryEntry& entry : directory->entries) {
    if (entry.type == base::DirectoryEntry::Type::file) ++count;
    if (entry.type != base::DirectoryEntry::Type::directory || entry.link || depth == kDeepest) continue;
    count += count_files(base::join_path(path, entry.name), depth + 1);
  }
  return count;
}

void look(const std::string& root, const std::string& name, int depth, std::vector<UnreadFiles>& found) {
  const std::string path = run_path(root, name);
  const Result<base::Directory> directory = base::read_directory(path);
  if (!directory) return;  // the log's own reader reports it
  std::map<std::string, std::uint64_t> counts;
  for (const base::DirectoryEntry& entry : directory->entries) {
    if (entry.type != base::DirectoryEntry::Type::file) continue;
    if (const std::string_view what = reader_of(entry.name); !what.empty()) ++counts[std::string(what)];
  }
  for (auto& [what, files] : counts) found.push_back({what, name, files});
  for (const base::DirectoryEntry& entry : directory->entries) {
    if (entry.type != base::DirectoryEntry::Type::directory || entry.link || depth == kDeepest ||
        run_layout::is_folder(entry.name))
      continue;
    if (entry.name != "plugins") {
      look(root, name == "." ? entry.name : base::join_path(name, entry.name), depth + 1, found);
      continue;
    }
    const Result<base::Directory> plugins = base::read_directory(base::join_path(path, entry.name));
    if (!plugins) continue;
    for (const base::DirectoryEntry& plugin : plugins->entries) {
      if (plugin.type != base::DirectoryEntry::Type::directory || plugin.link) continue;
      const std::uint64_t files = count_files(base::join_path(base::join_path(path, entry.name), plugin.name), depth);
      if (files > 0) found.push_back({plugin.name, name, files});
    }
  }
}

}  // namespace

std::vector<UnreadFiles> unread_files(const std::string& log_directory) {
  std::vector<UnreadFiles> found;
  look(log_directory, ".", 0, found);
  return found;
}

std::string describe(const UnreadFiles& unread) {
  const std::string files = counted(unread.files, "file");
  if (unread.what == "tfdbg") return files + " of TensorFlow's Debugger V2 (tfdbg)";
  if (unread.what == "projector") return files + " of the embedding projector (projector_config.pbtxt)";
  if (unread.what == "graph_pbtxt") return files + " with a graph as text (graph.pbtxt)";
  return files + " of the plugin '" + harmless(unread.what) + "'";
}

}  // namespace sonde::cli
