// Images, sound, text and graphs of a log as files:
//
//   OUT/<run>/<tag>/<step>[-k].png|wav|md|pb    k counts the images, clips or texts of one step if there are several
//   OUT/manifest.csv                         file,run,tag,step,wall_time,label
//
// Slashes in names become folders; the root run "." has no folder. Bytes that are not allowed in file names, and the
// names "." and "..", are written as %XX, so that nothing can be written outside OUT. The last dot of a folder that is
// named like one of the files ("1.png") is escaped, too, so that no folder blocks a file. Names that are too long for
// the system are truncated and get a checksum.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "sonde/log.h"
#include "sonde/status.h"

namespace sonde::cli {

// A run and a tag as a relative path.
std::string media_path(std::string_view run, std::string_view tag);

class MediaFiles {
 public:
  // Writes to a temporary folder that finish() renames. Fails if the folder exists and is not empty.
  static Result<std::unique_ptr<MediaFiles>> create(const std::string& folder);
  MediaFiles(const MediaFiles&) = delete;
  MediaFiles& operator=(const MediaFiles&) = delete;
  // Removes unfinished output.
  ~MediaFiles();

  // Adds the files of one value of an images, audio or text tag. Code::corrupt if it cannot be decoded.
  Status add(const Run& run, const Tag& tag, const ValueRef& value);
  // Adds one file with any content.
  Status add(const Run& run, const Tag& tag, const ValueRef& value, std::string_view bytes, std::string_view extension);
  Status finish();

 private:
  explicit MediaFiles(std::string folder);
  struct Item {
    std::string_view bytes;
    std::string_view extension;
    std::string_view label;
  };
  Status write(const Run& run, const Tag& tag, const ValueRef& value, const std::vector<Item>& items);

  std::string folder_;
  std::string temporary_;
  std::string manifest_;
  std::unordered_set<std::string> names_;  // relative paths that are taken
  bool finished_ = false;
};

}  // namespace sonde::cli
