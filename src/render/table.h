// Tensors side by side as a table: one line per row of the first axis, one column per element of a row.
//
//    row  label  output[0]  output[1]
//      0      7       0.02       0.98
//      1      3      0.711     0.0012
//    ...    ...        ...        ...
//     63      1        0.5        0.5
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/status.h"
#include "sonde/tensor.h"

namespace sonde::render {

struct Column {
  std::string_view name;
  TensorView view;  // a scalar is one row
};

// The columns, split into fields: `name` if a row of a tensor has one element, name[0], name[1] ..., or name[0,1] if it
// has more axes. The tensors must outlive it.
class Table {
 public:
  // All must have the same number of rows, and together at most 16,384 fields, the limit of spreadsheets. Complex
  // numbers are `unsupported`.
  static Result<Table> of(std::span<const Column> columns);

  std::int64_t rows() const noexcept { return rows_; }
  const std::vector<std::string>& names() const noexcept { return names_; }
  DType dtype(std::size_t field) const noexcept { return fields_[field].dtype; }
  const void* at(std::int64_t row, std::size_t field) const noexcept {
    return fields_[field].first + row * fields_[field].stride;
  }

 private:
  struct Field {
    const std::byte* first;
    std::int64_t stride;  // bytes, from row to row
    DType dtype;
  };
  void add(const Column& column);

  std::int64_t rows_ = 0;
  std::vector<std::string> names_;
  std::vector<Field> fields_;
};

struct TableOptions {
  // With more rows than this (at least 2), only the first and the last are shown, with "..." between them.
  std::int64_t rows = 20;
  std::size_t fields = 10;
};

// For people: the numbers of the rows and the fields below their names, aligned, floats with three digits. Every line
// ends with a line break.
std::string table_text(const Table& table, const TableOptions& options = {});

}  // namespace sonde::render
