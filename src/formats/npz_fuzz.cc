#include <isa-l/crc.h>

#include <cstdlib>

#include "formats/npz.h"

namespace {

using namespace sonde;

// What decodes must come back from a new archive.
void check(const npz::Entry& entry) {
  const auto first = npz::decode(entry);
  if (!first) return;
  for (npz::Method method : {npz::Method::stored, npz::Method::deflated}) {
    const npz::NamedView named{"x", first->view()};
    const auto archive = npz::encode({&named, 1}, method);
    if (!archive) std::abort();
    const auto again = npz::parse(base::as_bytes(*archive));
    if (!again || again->size() != 1) std::abort();
    const auto second = npz::decode(again->front());
    if (!second || second->dtype != first->dtype || second->data != first->data) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto entries = npz::parse(std::as_bytes(std::span(data, size)));
  if (!entries) return 0;
  for (npz::Entry entry : *entries) {
    check(entry);
    // Random bytes would hardly get past the checksum.
    const auto* packed = reinterpret_cast<const unsigned char*>(entry.packed.data());
    entry.crc = crc32_gzip_refl(0, packed, entry.packed.size());
    check(entry);
  }
  return 0;
}
