// Which tensor of A corresponds to which of B, written by a user.
//
//   # comments and empty lines are skipped
//   encoder/0/attention/out -> /layers.0/attn/Add_output_0
//
// One pair per line: the name in A, an arrow with blanks around it (or a tab), the name in B. Blanks around a name do
// not belong to it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sonde/status.h"

namespace sonde::compare {

struct MappedPair {
  std::string a;
  std::string b;
  std::size_t line = 0;  // from 1
};

// The error is one sentence about the first bad line; `path` is its file, for messages. Each name may occur once on
// each side.
Result<std::vector<MappedPair>> parse_mapping(std::string_view text, std::string_view path);

}  // namespace sonde::compare
