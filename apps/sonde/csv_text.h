// A table in a CSV file as `sonde show` prints it: its first and last rows, or all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/json_writer.h"
#include "sonde/status.h"

namespace sonde::cli {

struct CsvRequest {
  std::uint64_t rows = 20;                // maximum number of rows, half of them from the end
  bool full = false;                      // all rows, and all columns on a terminal
  std::optional<std::int64_t> step = {};  // only rows with this value in the column "step"
  std::string name;                       // for the heading
};

struct CsvText {
  std::string text;        // lines for people
  std::uint64_t rows = 0;  // number of rows, of the given step if there is one
};
// Reads the file once, in pieces, and keeps only what is shown. The file may grow meanwhile.
// `json` gets the members "columns":[...],"rows":N,"left_out":N,"values":[[...],...], or nothing if this fails.
Result<CsvText> show_csv(const std::string& path, const CsvRequest& request, formats::JsonWriter& json);

}  // namespace sonde::cli
