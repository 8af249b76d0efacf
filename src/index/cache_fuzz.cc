// Any bytes as a cache file with a correct header and checksum: the result must be usable.
#include <string>

#include "base/crc32c.h"
#include "index/cache.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  using namespace sonde::index;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  std::string file = encode_cache(RunData{})->substr(0, 12);
  base::put(file, base::crc32c(base::as_bytes(body)));
  file += body;
  RunData run;
  if (!decode_cache(base::as_bytes(file), nullptr, run)) return 0;
  Points points;
  for (const Series& series : run.series()) {
    for (const auto& entry : series.columns.entries()) {
      for (std::size_t b = 0; b < entry.source.blocks(); ++b) (void)entry.source.unpack(b, points);
    }
  }
  return 0;
}
