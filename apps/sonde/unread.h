// Files of a log directory that TensorBoard's plugins show and Sonde does not read, so that `sonde ls` can name them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::cli {

struct UnreadFiles {
  std::string what;       // "tfdbg", "projector", "profile", "graph_pbtxt", or the name of another plugin's folder
  std::string directory;  // below the log directory; "." for that itself
  std::uint64_t files = 0;
};
// Sorted by directory. Links are not followed.
std::vector<UnreadFiles> unread_files(const std::string& log_directory);

// "6 files of TensorFlow's Debugger V2 (tfdbg)"
std::string describe(const UnreadFiles& unread);

}  // namespace sonde::cli
