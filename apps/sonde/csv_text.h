// A table in a CSV file as `sonde show` prints it: its first and last rows, or all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sonde/status.h"

namespace sonde::cli {

struct CsvRequest {
  std::uint64_t rows = 20;                // at most so many, half of them from the end
  bool full = false;                      // all rows, and all columns on a terminal
  std::optional<std::int64_t> step = {};  // only rows whose column "step" holds it
  std::string name;                       // for the heading
};

struct CsvText {
  std::string text;        // lines for a person
  std::string json;        // "columns":[...],"rows":N,"left_out":N,"values":[[...],...]
  std::uint64_t rows = 0;  // that there are, of the step where one is asked for
};
// The file is read once, in pieces, and only what is shown is kept. It may grow meanwhile.
Result<CsvText> show_csv(const std::string& path, const CsvRequest& request);

}  // namespace sonde::cli
