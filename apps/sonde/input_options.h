// Options for random inputs of models.
#pragma once

#include <string>

#include "inspect/inputs.h"
#include "sonde/status.h"

namespace sonde::cli {

// Reads the values of --random SEED and --range LOW,HIGH; empty ones were not given.
Status read_random_options(const std::string& seed, const std::string& range, inspect::InputOptions& options);

}  // namespace sonde::cli
