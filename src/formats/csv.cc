#include "formats/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/bytes.h"
#include "tensor/convert.h"
#include "tensor/copy.h"
#include "tensor/why_invalid.h"

namespace sonde::csv {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

Status corrupt(std::uint64_t line, std::string_view what) {
  return {Code::corrupt, "not valid CSV: line " + std::to_string(line) + " " + std::string(what)};
}

void put_line_end(std::string& out, LineEnd line_end) { out += line_end == LineEnd::crlf ? "\r\n" : "\n"; }

template <class T>
void put_shortest(std::string& out, T value) {
  char text[32];  // a double needs 24, a 64-bit integer 20
  const auto result = std::to_chars(text, text + sizeof text, value);
  out.append(text, result.ptr);
}

template <class T>
void put_real(std::string& out, T value) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
  } else {
    put_shortest(out, value);
  }
}

std::optional<double> to_number(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return std::nullopt;
  text = text.substr(first, text.find_last_not_of(" \t") + 1 - first);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error != std::errc()) return std::nullopt;
  return value;
}

}  // namespace

void put_field(std::string& out, std::string_view field) {
  if (field.find_first_of("\",\r\n") == std::string_view::npos) {
    out += field;
    return;
  }
  out.push_back('"');
  for (char c : field) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  out.push_back('"');
}

void put_row(std::string& out, std::span<const std::string_view> fields, LineEnd line_end) {
  const std::size_t begin = out.size();
  for (const std::string_view& field : fields) {
    if (&field != fields.data()) out.push_back(',');
    put_field(out, field);
  }
  if (!fields.empty() && out.size() == begin) out += "\"\"";
  put_line_end(out, line_end);
}

void put_row(std::string& out, std::initializer_list<std::string_view> fields, LineEnd line_end) {
  put_row(out, std::span(fields.begin(), fields.size()), line_end);
}

void put_number(std::string& out, double value) { put_real(out, value); }
void put_number(std::string& out, float value) { put_real(out, value); }
void put_number(std::string& out, std::int64_t value) { put_shortest(out, value); }
void put_number(std::string& out, std::uint64_t value) { put_shortest(out, value); }

void put_element(std::string& out, const void* at, DType dtype) {
  switch (dtype) {
    case DType::i64: return put_number(out, base::load<std::int64_t>(at));
    case DType::u64: return put_number(out, base::load<std::uint64_t>(at));
    case DType::f64: return put_number(out, base::load<double>(at));
    case DType::f32:
    case DType::f16:
    case DType::bf16:
    case DType::f8_e4m3:
    case DType::f8_e5m2: return put_number(out, static_cast<float>(tensor::element_as_double(at, dtype)));
    default: return put_number(out, static_cast<std::int64_t>(tensor::element_as_double(at, dtype)));
  }
}

Reader::Reader(std::string_view text, std::uint64_t line) noexcept : rest_(text), line_(line) {
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
}

// Skips one line end, if there is one.
bool Reader::end_line() noexcept {
  if (rest_.empty()) return true;
  if (rest_.front() != '\r' && rest_.front() != '\n') return false;
  rest_.remove_prefix(rest_.starts_with("\r\n") ? 2 : 1);
  ++line_;
  return true;
}

Status Reader::plain_field(std::string& field) {
  const std::size_t end = std::min(rest_.find_first_of("\",\r\n"), rest_.size());
  field = rest_.substr(0, end);
  rest_.remove_prefix(end);
  if (rest_.starts_with('"')) return corrupt(line_, "has a quote inside a field that does not begin with one");
  return {};
}

Status Reader::quoted_field(std::string& field) {
  const std::uint64_t first_line = line_;
  rest_.remove_prefix(1);
  for (;;) {
    const std::size_t end = rest_.find('"');
    if (end == std::string_view::npos) return corrupt(first_line, "opens a quote that is never closed");
    const std::string_view text = rest_.substr(0, end);
    line_ += static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
    field += text;
    rest_.remove_prefix(end + 1);
    if (!rest_.starts_with('"')) return {};
    field.push_back('"');
    rest_.remove_prefix(1);
  }
}

Result<bool> Reader::next(std::vector<std::string>& fields) {
  fields.clear();
  if (rest_.empty()) return false;
  if (end_line()) return true;
  for (;;) {
    std::string& field = fields.emplace_back();
    const Status status = rest_.starts_with('"') ? quoted_field(field) : plain_field(field);
    if (!status) return status;
    if (rest_.starts_with(',')) {
      rest_.remove_prefix(1);
      continue;
    }
    if (!end_line()) return corrupt(line_, "continues after a closing quote");
    return true;
  }
}

Result<std::vector<std::vector<std::string>>> decode(std::string_view text) {
  Reader reader(text);
  std::vector<std::vector<std::string>> rows;
  for (;;) {
    std::vector<std::string> fields;
    const Result<bool> more = reader.next(fields);
    if (!more) return more.error();
    if (!*more) return rows;
    rows.push_back(std::move(fields));
  }
}

Result<std::string> encode_tensor(const TensorView& tensor, LineEnd line_end) {
  if (!tensor.valid()) {
    return Status(Code::invalid_argument,
                  "the tensor cannot be written as CSV: " + std::string(tensor::why_invalid(tensor)));
  }
  if (tensor.dtype == DType::c64 || tensor.dtype == DType::c128) {
    return Status(Code::unsupported, "complex numbers cannot be written as CSV: write npy, or their parts");
  }
  const int rank = tensor.shape.rank();
  const std::int64_t columns = rank < 2 ? 1 : tensor.shape[rank - 1];
  const auto element = static_cast<std::int64_t>(size_of(tensor.dtype));
  std::string out;
  std::int64_t column = 0;
  tensor::for_each_run(tensor, [&](const std::byte* at, std::int64_t count, std::int64_t stride) {
    for (std::int64_t i = 0; i < count; ++i) {
      put_element(out, at + i * stride * element, tensor.dtype);
      if (++column < columns) {
        out.push_back(',');
      } else {
        column = 0;
        put_line_end(out, line_end);
      }
    }
  });
  return out;
}

Result<Tensor> decode_tensor(std::string_view text) {
  Reader reader(text);
  Tensor tensor{DType::f64, {0, 0}, {}};
  std::vector<std::string> fields;
  for (;;) {
    const Result<bool> more = reader.next(fields);
    if (!more) return more.error();
    if (!*more) return tensor;
    if (fields.empty()) continue;
    const auto columns = static_cast<std::int64_t>(fields.size());
    const auto row = [&] { return "row " + std::to_string(tensor.shape[0] + 1) + " of the CSV table"; };
    if (tensor.shape[0] == 0) tensor.shape[1] = columns;
    if (columns != tensor.shape[1]) {
      return Status(Code::corrupt, row() + " has " + std::to_string(columns) + " fields, the first row " +
                                       std::to_string(tensor.shape[1]));
    }
    for (const std::string& field : fields) {
      const std::optional<double> value = to_number(field);
      if (!value) return Status(Code::corrupt, row() + " holds '" + field.substr(0, 40) + "', which is not a number");
      const auto* raw = reinterpret_cast<const std::byte*>(&*value);
      tensor.data.insert(tensor.data.end(), raw, raw + sizeof *value);
    }
    ++tensor.shape[0];
  }
}

}  // namespace sonde::csv
