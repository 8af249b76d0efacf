// From the text of a pattern to a program.
#pragma once

#include <string_view>

#include "regexp/program.h"
#include "regexp/regexp.h"
#include "sonde/status.h"

namespace sonde::regexp {

Result<Program> parse(std::string_view pattern, Extent extent, Dot dot);

}  // namespace sonde::regexp
