// The command line of sonde-data-server, which is the one that TensorBoard gives to its data server.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sonde/status.h"

namespace sonde::data_server {

struct Options {
  std::string logdir;
  // A number of seconds (anything new is seen at once, whatever the number is), or "once".
  bool follow = true;
  std::set<std::string, std::less<>> unlimited;  // plugins with "all" in --samples-per-plugin
  std::string host = "127.0.0.1";
  int port = 0;            // any free one
  std::string port_file;   // where the port is written as "<port>\n"
  std::string error_file;  // where a failure to start is written
  bool die_after_stdin = false;
  int verbosity = 0;
  bool help = false;
  bool version = false;
};

extern const char* const kUsage;

// Takes "--name=value" and "--name value". One sentence about the first thing that is wrong; `options` then holds what
// was understood, so that the error file is known.
Status parse(const std::vector<std::string>& arguments, Options& options);

}  // namespace sonde::data_server
