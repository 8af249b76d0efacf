// Help that fits 80 columns.
#pragma once

#include <string>
#include <vector>

#include "subcommand.h"

namespace sonde::cli {

using Commands = std::vector<std::unique_ptr<Subcommand>>;

// What `sonde --help` prints: the available commands, and a few ways to start.
std::string general_help(const Commands& commands, bool color);
// What `sonde help COMMAND` prints.
std::string command_help(Subcommand& command, bool color);

}  // namespace sonde::cli
