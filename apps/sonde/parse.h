// The command line of one subcommand.
#pragma once

#include <string>
#include <vector>

#include "sonde/status.h"
#include "subcommand.h"

namespace sonde::cli {

// Writes what is given to the variables that the flags are bound to. The error says in one sentence what is wrong.
Status parse(const Flags& flags, const std::vector<std::string>& arguments);

// Whether -h or --help is among them, wherever it stands.
bool asks_for_help(const std::vector<std::string>& arguments);

}  // namespace sonde::cli
