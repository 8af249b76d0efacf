// Any bytes as modes, a pattern and texts: no crash, and the answers of RE2.
#include <cstdio>
#include <cstdlib>

#include "regexp/oracle_testing.h"

namespace {

void require_same(const std::string& difference) {
  if (difference.empty()) return;
  (void)std::fprintf(stderr, "%s\n", difference.c_str());
  std::abort();
}

}  // namespace

// The first byte chooses the mode; the pattern and the texts are behind it, with a byte 0 between them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde::regexp;
  constexpr std::size_t kLongestPattern = 200;  // RE2 takes long for some larger ones
  if (size == 0) return 0;
  const Mode mode = kModes[data[0] % std::size(kModes)];
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string_view pattern = rest.substr(0, rest.find('\0'));
  if (pattern.size() > kLongestPattern) return 0;
  const Comparison comparison(pattern, mode);
  require_same(comparison.difference());
  do {
    rest.remove_prefix(std::min(rest.size(), rest.find('\0')));
    if (!rest.empty()) rest.remove_prefix(1);
    require_same(comparison.difference(rest.substr(0, rest.find('\0'))));
  } while (!rest.empty());
  return 0;
}
