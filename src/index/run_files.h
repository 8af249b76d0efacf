// Which files of a directory make it a run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/directory.h"
#include "index/run_data.h"

namespace sonde::index {

// Where runs are put that somebody has deleted: nothing in it is looked at.
inline constexpr std::string_view kTrash = ".sonde-trash";

// By its name: every one that contains "tfevents", as TensorBoard does it, and Sonde's statistics files. Nothing for
// all others.
std::optional<SourceFile::Type> type_of_file(std::string_view name) noexcept;

// What others keep beside these files, which is shown with the run: when it changes, the run has.
inline constexpr std::string_view kNote = "note.md";
inline constexpr std::string_view kCaptures = "captures";

inline constexpr std::string_view kCaptureFile = "capture.json";  // in the directory of a capture
inline bool is_ring(std::string_view name) noexcept { return name.starts_with("flight-") && name.ends_with(".ring"); }
// Whether anything in a file of that name is shown.
bool is_read(std::string_view name) noexcept;

struct RunFile {
  std::string name;
  SourceFile::Type type = SourceFile::Type::events;
};
// By name.
std::vector<RunFile> run_files(const Directory& directory);

}  // namespace sonde::index
