// The command line of one subcommand.
#pragma once

#include <string>
#include <vector>

#include "sonde/status.h"
#include "subcommand.h"

namespace sonde::cli {

// Parses the arguments into the variables that the flags are bound to. The error is one sentence.
Status parse(const Flags& flags, const std::vector<std::string>& arguments);

// Whether -h or --help is among them, at any position.
bool asks_for_help(const std::vector<std::string>& arguments);

}  // namespace sonde::cli
