#include "diff_page.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compare/metrics.h"
#include "formats/png.h"
#include "render/colormap.h"
#include "tensor/convert.h"
#include "tensor/tensor_data.h"
#include "text.h"

namespace sonde::cli {
namespace {

using compare::Difference;
using compare::Outcome;
using compare::Row;

constexpr std::int64_t kMostCells = 128;  // of a picture, in each direction

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < left ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= left ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string cell(std::string_view text, std::string_view kind = {}) {
  return "<td" + (kind.empty() ? std::string() : " class='" + std::string(kind) + "'") + ">" + escaped(text) + "</td>";
}

// The largest |a - b| of each cell of a grid; -1 if one of a cell's values is not finite in only one tensor.
struct Cells {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> largest;
};

Cells reduce(const TensorView& a, const TensorView& b, std::int64_t rows, std::int64_t columns) {
  Cells cells = {std::min(rows, kMostCells), std::min(columns, kMostCells), {}};
  cells.largest.resize(static_cast<std::size_t>(cells.rows * cells.columns));
  const auto* at_a = static_cast<const std::byte*>(a.data);
  const auto* at_b = static_cast<const std::byte*>(b.data);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t to_row = row * cells.rows / rows * cells.columns;
    for (std::int64_t column = 0; column < columns; ++column, at_a += size_of(a.dtype), at_b += size_of(b.dtype)) {
      const double x = tensor::element_as_double(at_a, a.dtype);
      const double y = tensor::element_as_double(at_b, b.dtype);
      double& largest = cells.largest[static_cast<std::size_t>(to_row + column * cells.columns / columns)];
      const double distance = std::abs(x - y);
      if (std::isfinite(distance)) {
        if (largest >= 0) largest = std::max(largest, distance);
      } else if (x != y && (!std::isnan(x) || !std::isnan(y))) {
        largest = -1;
      }
    }
  }
  return cells;
}

Result<std::string> png_of(const Cells& cells, double max_abs) {
  std::vector<std::uint8_t> pixels;
  pixels.reserve(cells.largest.size() * 3);
  for (const double value : cells.largest) {
    const double share = max_abs > 0 ? std::clamp(value / max_abs, 0.0, 1.0) : 0;
    const render::Color color =
        value < 0 ? render::kNanColor
                  : render::kViridisPalette.colors[static_cast<std::size_t>(std::lround(share * 255))];
    pixels.insert(pixels.end(), {color.red, color.green, color.blue});
  }
  return png::encode(view(pixels, {cells.rows, cells.columns, 3}));
}

constexpr std::string_view kStyle = R"(<style>
body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:76em;padding:0 1em;color:#1b1f24;background:#fff}
h1{font-size:1.3em}h2{font-size:1.05em;margin:1.6em 0 .4em}.same{color:#17692c}.different{color:#b3261e}
table{border-collapse:collapse;width:100%}th,td{text-align:right;padding:.2em .7em;border-bottom:1px solid #e3e6ea;
white-space:nowrap;font-variant-numeric:tabular-nums}th{color:#57606a;font-weight:500}.l{text-align:left;white-space:normal;
overflow-wrap:anywhere}.bad{color:#b3261e}.dim{color:#57606a}figure{display:inline-block;margin:.6em 1.2em .6em 0;
vertical-align:top;max-width:24em}img{image-rendering:pixelated;width:24em;border:1px solid #d0d7de}
figcaption{color:#57606a;overflow-wrap:anywhere}svg{width:100%;height:9em;display:block}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th,td{border-color:#30363d}
.same{color:#57c46c}.different,.bad{color:#ff7b72}.dim,th,figcaption{color:#8d96a0}}
</style>)";

// One bar per tensor, in the order of the rows: the exponent of its norm-relative error.
std::string error_chart(const Difference& difference) {
  constexpr double kSmallest = -9;
  constexpr double kLargest = 1;
  std::string bars;
  std::size_t position = 0;
  for (const Row& row : difference.rows) {
    if (!row.metrics) continue;
    const double error = row.metrics->norm_relative();
    const double exponent = error > 0 ? std::clamp(std::log10(error), kSmallest, kLargest) : kSmallest;
    const double height =
        row.metrics->equal() ? 0.5 : std::max(1.0, (exponent - kSmallest) / (kLargest - kSmallest) * 100);
    bars += "<rect x='" + std::to_string(position++) + ".1' y='" + number_text(100 - height) + "' width='.8' height='" +
            number_text(height) + "' fill='" + (row.outcome == Outcome::different ? "#d1453b" : "#4b8bbe") +
            "'><title>" + escaped(row.name) + " " + number_text(error) + "</title></rect>";
  }
  if (position == 0) return {};
  return "<h2>||a-b||/||b|| of each tensor, 1e-9 to 10, logarithmic</h2><svg viewBox='0 0 " + std::to_string(position) +
         " 100' preserveAspectRatio='none' role='img'>" + bars + "</svg>\n";
}

std::string table_row(const Row& row, bool differs) {
  std::string text =
      "<tr>" +
      cell(row.name_in_b.empty() || row.name_in_b == row.name ? row.name : row.name + " = " + row.name_in_b, "l") +
      cell(row.op, "l") + cell(type_text(row), "l") + cell(to_string(row.outcome), differs ? "l bad" : "l");
  if (row.metrics) {
    const compare::Metrics& metrics = *row.metrics;
    for (const double value : {metrics.norm_relative(), metrics.max_abs, metrics.max_rel, metrics.rmse(),
                               metrics.cosine(), metrics.sqnr()}) {
      text += cell(number_text(value));
    }
    text += cell(metrics.max_ulp ? grouped(*metrics.max_ulp) : "-") + cell(to_string(row.tolerance), "l dim");
  } else {
    for (int i = 0; i < 7; ++i) text += cell("-");
    text += cell(row.steps > 0 ? to_string(row.tolerance) : "", "l dim");
  }
  return text + cell(row_notes(row), "l dim") + "</tr>\n";
}

}  // namespace

void DiffPage::add(const Row& row, const TensorView& a, const TensorView& b) {
  if (row.outcome != Outcome::different || maps_.size() >= kMostMaps || a.size() == 0) return;
  if (tensor::is_complex(a.dtype) || tensor::is_complex(b.dtype)) return;
  const Tensor dense_a = a.contiguous() ? Tensor{} : tensor::to_tensor(a);
  const Tensor dense_b = b.contiguous() ? Tensor{} : tensor::to_tensor(b);
  const std::int64_t columns = a.shape.rank() == 0 ? 1 : a.shape[a.shape.rank() - 1];
  const Cells cells =
      reduce(a.contiguous() ? a : dense_a.view(), b.contiguous() ? b : dense_b.view(), a.size() / columns, columns);
  const Result<std::string> png = png_of(cells, row.metrics->max_abs);
  if (!png) return;
  maps_[row.name] = {base64(*png),
                     grouped(static_cast<std::uint64_t>(a.size() / columns)) + " rows of " +
                         grouped(static_cast<std::uint64_t>(columns)),
                     static_cast<int>(cells.columns), static_cast<int>(cells.rows)};
}

std::string DiffPage::html(const Difference& difference, const DiffNames& names) const {
  std::string page = "<!doctype html>\n<html lang='en'><meta charset='utf-8'><title>sonde diff</title>\n" +
                     std::string(kStyle) + "\n<h1 class='" + (difference.same() ? "same" : "different") + "'>" +
                     escaped(verdict_text(difference)) + "</h1>\n<p>A: " + escaped(names.a) + " <span class='dim'>" +
                     escaped(difference.kind_a) + "</span><br>B: " + escaped(names.b) + " <span class='dim'>" +
                     escaped(difference.kind_b) + "</span></p>\n";
  for (const std::string& paragraph : findings(difference)) page += "<p>" + escaped(paragraph) + "</p>\n";
  page += error_chart(difference);
  if (!maps_.empty())
    page += "<h2>Where they differ: |a-b|, dark is 0, yellow the largest, pink not finite in only one</h2>\n";
  for (const Row& row : difference.rows) {
    const auto map = maps_.find(row.name);
    if (map == maps_.end()) continue;
    page += "<figure><img alt='' width='" + std::to_string(map->second.width) + "' height='" +
            std::to_string(map->second.height) + "' style='height:auto' src='data:image/png;base64," + map->second.png +
            "'><figcaption>" + escaped(row.name) + "  " + escaped(type_text(row)) + ", " + map->second.caption +
            "; max abs " + number_text(row.metrics->max_abs) + "</figcaption></figure>\n";
  }
  page +=
      "<h2>Tensors</h2><table><tr><th class='l'>tensor<th class='l'>op<th class='l'>type<th class='l'>status"
      "<th>||a-b||/||b||<th>max abs<th>max rel<th>RMSE<th>cosine<th>SQNR dB<th>ULP<th class='l'>tolerance<th "
      "class='l'></tr>\n";
  for (const Row& row : difference.rows) page += table_row(row, difference.differs(row));
  return page + "</table></html>\n";
}

}  // namespace sonde::cli
