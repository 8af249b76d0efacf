// Any text is a mapping or an error, and a mapping that is written again gives the same pairs.
#include <cstdlib>
#include <string>

#include "compare/mapping.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string text(data, data + size);
  const auto pairs = sonde::compare::parse_mapping(text, "map");
  if (!pairs) {
    if (pairs.error().message().empty()) std::abort();
    return 0;
  }
  std::string again;
  for (const auto& pair : *pairs) again.append(pair.a).append(" -> ").append(pair.b).append("\n");
  const auto second = sonde::compare::parse_mapping(again, "map");
  if (!second || second->size() != pairs->size()) std::abort();
  for (std::size_t i = 0; i < pairs->size(); ++i) {
    if ((*second)[i].a != (*pairs)[i].a || (*second)[i].b != (*pairs)[i].b) std::abort();
  }
  return 0;
}
