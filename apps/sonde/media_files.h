// Images, sound, text and graphs of a log as files:
//
//   OUT/<run>/<tag>/<step>[-k].png|wav|md|pb    k counts the images, clips or texts of one step where there are several
//   OUT/manifest.csv                         file,run,tag,step,wall_time,label
//
// Slashes in names make folders, and the root run "." has none of its own. Bytes that do not belong in file names,
// and the names "." and "..", are written as %XX, so that nothing can come to lie outside OUT; so is the last dot of a
// folder that is called like one of the files ("1.png"), so that none is in the way of a file. Of what is too long for
// the system the beginning is kept, and a checksum.
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
  // Written to a temporary folder that finish() renames. Fails where the folder is there and not empty.
  static Result<std::unique_ptr<MediaFiles>> create(const std::string& folder);
  MediaFiles(const MediaFiles&) = delete;
  MediaFiles& operator=(const MediaFiles&) = delete;
  // Removes what was not finished.
  ~MediaFiles();

  // The files of one value, of a tag whose kind is images, audio or text. Code::corrupt where it cannot be decoded.
  Status add(const Run& run, const Tag& tag, const ValueRef& value);
  // One file, of any content.
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
  std::unordered_set<std::string> names_;  // relative paths given away
  bool finished_ = false;
};

}  // namespace sonde::cli
