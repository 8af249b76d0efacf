#include <cstdlib>

#include "formats/npz.h"

// Every array that decodes must come back from a new archive.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  const auto entries = npz::parse(std::as_bytes(std::span(data, size)));
  if (!entries) return 0;
  for (const npz::Entry& entry : *entries) {
    const auto first = npz::decode(entry);
    if (!first) continue;
    for (npz::Method method : {npz::Method::stored, npz::Method::deflated}) {
      const npz::NamedView named{"x", first->view()};
      const auto archive = npz::encode({&named, 1}, method);
      if (!archive) std::abort();
      const auto again = npz::parse(as_bytes(*archive));
      if (!again || again->size() != 1) std::abort();
      const auto second = npz::decode(again->front());
      if (!second || second->dtype != first->dtype || second->data != first->data) std::abort();
    }
  }
  return 0;
}
