// Serving log directories: by `sonde serve`, and at the end of `sonde demo`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::cli {

struct ServeOptions {
  std::vector<std::string> directories;
  std::string host = "127.0.0.1";
  std::optional<std::uint16_t> port = {};  // none: 6006, or the next free one
  std::string path_prefix = {};
  std::vector<std::string> allow_origins = {};
  std::string token = {};  // empty: one is generated
  bool stop_at_eof = false;
};

// Prints the address, serves until Ctrl-C or, with stop_at_eof, the end of standard input, and returns the exit code.
int serve(const ServeOptions& options);

}  // namespace sonde::cli
