#include "render/table.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/utf8.h"
#include "render/console.h"
#include "render/digits.h"
#include "tensor/convert.h"
#include "tensor/why_invalid.h"

namespace sonde::render {
namespace {

constexpr std::int64_t kMostFields = 16'384;

std::int64_t rows_of(const TensorView& view) noexcept { return view.shape.rank() == 0 ? 1 : view.shape[0]; }

// Elements of one row.
std::int64_t width_of(const TensorView& view) noexcept {
  std::int64_t count = 1;
  for (int axis = 1; axis < view.shape.rank(); ++axis) {
    count = std::min(count * std::min(view.shape[axis], kMostFields + 1), kMostFields + 1);
  }
  return count;
}

std::string named(std::string_view name) {
  std::string text = "the column '";
  return text.append(printable(name)).append("'");
}

Status check(const Column& column, const Column& first) {
  const TensorView& view = column.view;
  if (!view.valid()) {
    return {Code::invalid_argument,
            named(column.name) + " cannot be in a table: " + std::string(tensor::why_invalid(column.view))};
  }
  if (tensor::is_complex(view.dtype)) {
    return {Code::unsupported, named(column.name) + " holds complex numbers: record their parts as two columns"};
  }
  if (rows_of(view) != rows_of(first.view)) {
    return {Code::invalid_argument, named(column.name) + " has " + std::to_string(rows_of(view)) + " rows, but '" +
                                        printable(first.name) + "' has " + std::to_string(rows_of(first.view)) +
                                        ": all columns of a table need the same number"};
  }
  return Status::success();
}

std::string cell_text(const void* at, DType dtype) {
  switch (dtype) {
    case DType::i64: return std::to_string(base::load<std::int64_t>(at));
    case DType::u64: return std::to_string(base::load<std::uint64_t>(at));
    case DType::boolean:
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::u8:
    case DType::u16:
    case DType::u32: return std::to_string(static_cast<std::int64_t>(tensor::element_as_double(at, dtype)));
    default: return brief(tensor::element_as_double(at, dtype));
  }
}

// The indices to show, with -1 for the part left out.
std::vector<std::int64_t> shown(std::int64_t count, std::int64_t most) {
  std::vector<std::int64_t> indices;
  most = std::max<std::int64_t>(most, 2);
  const std::int64_t head = count <= most ? count : (most + 1) / 2;
  indices.reserve(static_cast<std::size_t>(std::min(count, most) + 1));
  for (std::int64_t i = 0; i < head; ++i) indices.push_back(i);
  if (count <= most) return indices;
  indices.push_back(-1);
  for (std::int64_t i = count - most / 2; i < count; ++i) indices.push_back(i);
  return indices;
}

}  // namespace

Result<Table> Table::of(std::span<const Column> columns) {
  Table table;
  if (columns.empty()) return table;
  std::int64_t fields = 0;
  for (const Column& column : columns) {
    if (Status status = check(column, columns.front()); !status) return status;
    fields += width_of(column.view);
    if (fields > kMostFields) {
      return Status(Code::exhausted, named(column.name) + " would make the table wider than " +
                                         std::to_string(kMostFields) + " fields: record some of its elements only");
    }
  }
  table.rows_ = rows_of(columns.front().view);
  for (const Column& column : columns) table.add(column);
  return table;
}

void Table::add(const Column& column) {
  const TensorView& view = column.view;
  const int rank = view.shape.rank();
  const std::int64_t width = width_of(view);
  const auto element = static_cast<std::int64_t>(size_of(view.dtype));
  Shape index = view.shape;
  for (int axis = 0; axis < rank; ++axis) index[axis] = 0;
  for (std::int64_t i = 0; i < width; ++i) {
    std::int64_t offset = 0;
    std::string name(column.name);
    for (int axis = 1; axis < rank; ++axis) {
      offset += index[axis] * view.strides[axis];
      if (width > 1) name.append(axis == 1 ? "[" : ",").append(std::to_string(index[axis]));
    }
    if (width > 1) name += ']';
    names_.push_back(std::move(name));
    fields_.push_back({.first = static_cast<const std::byte*>(view.data) + offset * element,
                       .stride = rank == 0 ? 0 : view.strides[0] * element,
                       .dtype = view.dtype});
    for (int axis = rank - 1; axis > 0 && ++index[axis] == view.shape[axis]; --axis) index[axis] = 0;
  }
}

std::string table_text(const Table& table, const TableOptions& options) {
  const std::vector<std::int64_t> rows = shown(table.rows(), options.rows);
  // Each field as its lines, the name first.
  std::vector<std::vector<std::string>> fields(1, {"row"});
  for (const std::int64_t row : rows) fields[0].push_back(row < 0 ? "..." : std::to_string(row));
  for (const std::int64_t index :
       shown(static_cast<std::int64_t>(table.names().size()), static_cast<std::int64_t>(options.fields))) {
    const auto field = static_cast<std::size_t>(index);
    std::vector<std::string>& lines = fields.emplace_back();
    lines.push_back(index < 0 ? "..." : printable(table.names()[field]));
    for (const std::int64_t row : rows) {
      lines.push_back(index < 0 || row < 0 ? "..." : cell_text(table.at(row, field), table.dtype(field)));
    }
  }
  std::vector<std::size_t> widths;
  widths.reserve(fields.size());
  for (const auto& lines : fields) {
    widths.push_back(base::count_characters(std::ranges::max(lines, {}, base::count_characters)));
  }
  std::string out;
  for (std::size_t line = 0; line <= rows.size(); ++line) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string& text = fields[i][line];
      out.append((i == 0 ? 0 : 2) + widths[i] - base::count_characters(text), ' ').append(text);
    }
    out += '\n';
  }
  return out;
}

}  // namespace sonde::render
