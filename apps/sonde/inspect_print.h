// The result of `sonde inspect`, for people and for programs.
#pragma once

#include <string>

#include "inspect_run.h"

namespace sonde::cli {

std::string inspection_text(const Inspection& made);
std::string inspection_json(const Inspection& made);

}  // namespace sonde::cli
