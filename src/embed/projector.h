// TensorBoard's projector data: a directory with projector_config.pbtxt, which names tensors (rows as TSV, or raw
// float32), metadata (TSV) and sprites (one picture with a small one for each point).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "embed/points.h"
#include "sonde/status.h"

namespace sonde::embed {

inline constexpr std::string_view kProjectorConfig = "projector_config.pbtxt";

// Paths as the configuration has them; empty if it names none.
struct ProjectorEntry {
  std::string tensor_name;
  std::string tensor_path;
  std::string metadata_path;
  std::string sprite_path;
  std::vector<std::size_t> tensor_shape;  // rows and columns; empty if it is not said
  std::size_t sprite_width = 0;           // of one point's picture
  std::size_t sprite_height = 0;
};

// The text format of the message ProjectorConfig. Members that are not known are skipped.
Result<std::vector<ProjectorEntry>> parse_projector_config(std::string_view text, std::string_view name);

// One row for each point. A file with one column has no header, as TensorBoard reads it; its column is "label".
struct Metadata {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};
// `points`: how many rows there must be.
Result<Metadata> parse_metadata(std::string_view text, std::size_t points, std::string_view name);

// Numbers separated by tabs; rows of equal length. Empty lines at the end are ignored.
Result<Matrix> parse_tsv_points(std::string_view text, std::string_view name);

// The content of a file, by its path in the configuration.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;

class ProjectorData {
 public:
  static Result<ProjectorData> open(ReadFile read);
  // Reads only files below the directory, wherever links lead: a path that leaves it is an error.
  static Result<ProjectorData> open_directory(const std::string& directory);

  const std::vector<ProjectorEntry>& entries() const noexcept { return entries_; }
  // The entry of this tensor's name; the only one if the name is empty.
  Result<const ProjectorEntry*> find(std::string_view tensor_name) const;
  Result<Matrix> points(const ProjectorEntry& entry) const;
  Result<Metadata> metadata(const ProjectorEntry& entry, std::size_t points) const;
  // The bytes of the sprite picture.
  Result<std::string> sprite(const ProjectorEntry& entry) const;

 private:
  ReadFile read_;
  std::vector<ProjectorEntry> entries_;
};

// `projector_config.pbtxt` for one tensor, as TensorBoard reads it.
std::string projector_config_text(const ProjectorEntry& entry);

}  // namespace sonde::embed
