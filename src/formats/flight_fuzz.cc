#include <cstdlib>
#include <cstring>
#include <string>

#include "base/crc32c.h"
#include "formats/flight.h"
#include "formats/flight_layout.h"

namespace {

using namespace sonde;

// Every view must be in the file.
void check(base::Bytes file) {
  const auto contents = flight::read(file);
  if (!contents) return;
  for (const flight::Step& step : contents->steps) {
    for (const flight::Tensor& tensor : step.tensors) {
      const auto* data = static_cast<const std::byte*>(tensor.view.data);
      const auto bytes = static_cast<std::size_t>(tensor.view.size()) * size_of(tensor.view.dtype);
      if (!tensor.view.valid() || data < file.data() || bytes > file.size() ||
          data > file.data() + file.size() - bytes) {
        std::abort();
      }
    }
  }
}

// Corrects checksums, and the positions of the first round, so that the data behind them is parsed.
void repair(std::string& file) {
  auto* bytes = reinterpret_cast<std::byte*>(file.data());
  const auto texts = base::load<std::uint32_t>(bytes + 40);
  if (texts <= flight::kHeaderBytes - 192) {
    const std::uint32_t crc =
        base::crc32c_append(base::crc32c(base::as_bytes(file).first(44)), base::as_bytes(file).subspan(192, texts));
    std::memcpy(bytes + 44, &crc, sizeof crc);
  }
  for (std::uint64_t at = flight::kHeaderBytes; at + flight::kUnit <= file.size(); at += flight::kUnit) {
    auto header = base::load<flight::EntryHeader>(bytes + at);
    if (header.magic != flight::EntryHeader{}.magic) continue;
    header.position = at - flight::kHeaderBytes;
    const base::Bytes rest = base::as_bytes(file).subspan(at + flight::kUnit);
    const std::uint64_t data_at = flight::round_up(header.meta_bytes);
    if (data_at <= rest.size() && header.data_bytes <= rest.size() - data_at) {
      header.body_checksum =
          base::crc32c_append(base::crc32c(rest.first(header.meta_bytes)), rest.subspan(data_at, header.data_bytes));
    }
    flight::store_entry_header(bytes + at, header);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const base::Bytes file = std::as_bytes(std::span(data, size));
  check(file);
  if (size < flight::kHeaderBytes) return 0;
  std::string repaired(base::as_text(file));
  repair(repaired);
  check(base::as_bytes(repaired));
  return 0;
}
