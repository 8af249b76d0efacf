#include <cstdlib>

#include "base/bytes.h"
#include "formats/csv.h"

// Rows that decode must be encoded and decoded to the same again; so must tables of numbers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  const std::string_view text = base::as_text(std::as_bytes(std::span(data, size)));
  const auto rows = csv::decode(text);
  if (!rows) return 0;
  std::string written;
  for (const auto& row : *rows) {
    const std::vector<std::string_view> fields(row.begin(), row.end());
    csv::put_row(written, fields, size % 2 == 0 ? csv::LineEnd::crlf : csv::LineEnd::lf);
  }
  if (!written.starts_with("\xef\xbb\xbf")) {  // at the beginning, that is no part of the first field
    const auto again = csv::decode(written);
    if (!again || *again != *rows) std::abort();
  }
  const auto table = csv::decode_tensor(text);
  if (!table) return 0;
  const auto numbers = csv::encode_tensor(table->view());
  if (!numbers) std::abort();
  const auto second = csv::decode_tensor(*numbers);
  if (!second || !(second->shape == table->shape)) std::abort();
  return 0;
}
