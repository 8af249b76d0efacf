#include "diff_page.h"

#include <algorithm>
#include <cmath>
#include <limits>
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

double error_of(const Row& row) {
  return row.metrics->non_finite_differ > 0 ? std::numeric_limits<double>::infinity() : row.metrics->norm_relative();
}

constexpr std::string_view kStyle = R"(<style>
:root{color-scheme:light dark;--text:#12181c;--muted:#56636c;--line:#dbe1e6;--card:#fff;--page:#f3f5f7;--bad:#b3261e;--good:#17692c;--bar:#3d7fb0}
@media(prefers-color-scheme:dark){:root{--text:#e9eef1;--muted:#97a4ac;--line:#2a3338;--card:#1a2024;--page:#0f1315;--bad:#ff7b72;--good:#57c46c;--bar:#5a9fd0}}
body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:84em;padding:0 1.5em;color:var(--text);background:var(--page)}
h1{font-size:1.35em;margin:0 0 .6em}h2{font-size:1.05em;margin:2em 0 .6em}.same{color:var(--good)}.different,.bad{color:var(--bad)}
.dim,th,figcaption,summary{color:var(--muted)}code{font:13px ui-monospace,monospace}p{margin:.3em 0}
section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.7em 1em;margin:.6em 0;overflow-wrap:anywhere}
section b{font-weight:600}table{border-collapse:collapse;width:100%}th,td{text-align:right;padding:.25em .7em;border-bottom:1px solid var(--line);
white-space:nowrap;font-variant-numeric:tabular-nums}th{font-weight:500;position:sticky;top:0;background:var(--card)}
.l{text-align:left}td:last-child{white-space:normal;overflow-wrap:anywhere;min-width:12em}.wide{overflow-x:auto}
.maps{display:grid;grid-template-columns:repeat(auto-fill,minmax(17em,1fr));gap:1em}figure{margin:0;min-width:0}
img{image-rendering:pixelated;width:100%;height:auto;min-height:1.4em;max-height:17em;display:block;border-radius:4px}
figcaption{font-size:.9em;margin-top:.3em;overflow-wrap:anywhere}figcaption b{color:var(--text);font-weight:600}details{margin-top:1em}summary{cursor:pointer;margin-bottom:1em}
.chart{display:grid;grid-template-columns:3.5em 1fr;gap:.5em}.axis{display:flex;flex-direction:column;justify-content:space-between;text-align:right;
font-size:.85em;color:var(--muted)}svg{width:100%;height:10em;display:block;border-bottom:1px solid var(--line)}
</style>)";

// Per cent of the chart's height for an error: its exponent, from 1e-9 to 10.
double height_of(double error) {
  constexpr double kSmallest = -9;
  constexpr double kLargest = 1;
  const double exponent = error > 0 ? std::clamp(std::log10(error), kSmallest, kLargest) : kSmallest;
  return (exponent - kSmallest) / (kLargest - kSmallest) * 100;
}

// One bar per tensor, in the order of the rows: the exponent of its norm-relative error.
std::string error_chart(const Difference& difference) {
  std::string bars;
  std::size_t position = 0;
  double limit = 0;  // the tolerance, if all tensors have the same
  bool one_limit = true;
  for (const Row& row : difference.rows) {
    if (!row.metrics) continue;
    const double error = row.metrics->norm_relative();
    if (row.tolerance.kind == compare::Tolerance::Kind::norm) {
      one_limit = one_limit && (limit == 0 || limit == row.tolerance.norm);
      limit = row.tolerance.norm;
    }
    const double height = row.metrics->equal() ? 0.5 : std::max(1.0, height_of(error));
    bars += "<rect x='" + std::to_string(position++) + ".1' y='" + number_text(100 - height) + "' width='.8' height='" +
            number_text(height) + "' fill='" + (row.outcome == Outcome::different ? "var(--bad)" : "var(--bar)") +
            "'><title>" + escaped(row.name) + " " + number_text(error) + "</title></rect>";
  }
  if (position == 0) return {};
  const std::string width = std::to_string(position);
  if (one_limit && limit > 0) {
    const std::string y = number_text(100 - height_of(limit));
    bars += "<line x1='0' x2='" + width + "' y1='" + y + "' y2='" + y +
            "' stroke='var(--muted)' stroke-dasharray='4 3' vector-effect='non-scaling-stroke'><title>the tolerance, " +
            number_text(limit) + "</title></line>";
  }
  return std::string("<h2>||a-b||/||b|| of each tensor") +
         (difference.in_order_of_execution ? ", in order of execution" : "") +
         (one_limit && limit > 0 ? "; dashed: the tolerance, " + number_text(limit) : "") +
         "</h2><section class='chart'><div class='axis'><span>10</span><span>1e-4</span><span>1e-9</span></div>"
         "<svg viewBox='0 0 " +
         width + " 100' preserveAspectRatio='none' role='img' aria-label='Error of each tensor'>" + bars +
         "</svg></section>\n";
}

// "first in order of execution: dense_3  f32[2,48]  MatMul" with what is said about it below.
std::string finding(std::string_view text) {
  const std::size_t end = text.find('\n');
  const std::string_view head = text.substr(0, end);
  const std::size_t colon = head.find(": ");
  if (end == std::string_view::npos || colon == std::string_view::npos)
    return "<section>" + escaped(text) + "</section>\n";
  return "<section><span class='dim'>" + escaped(head.substr(0, colon)) + "</span><p><b>" +
         escaped(head.substr(colon + 2)) + "</b></p><p>" + escaped(text.substr(end + 1)) + "</p></section>\n";
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
  const auto before = maps_.find(row.name);  // for another input of the models
  if (row.outcome != Outcome::different || a.size() == 0) return;
  const double error = error_of(row);
  if (before == maps_.end() ? maps_.size() >= kMostMaps : before->second.error >= error) return;
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
                     static_cast<int>(cells.columns), static_cast<int>(cells.rows), error};
}

std::string DiffPage::html(const Difference& difference, const DiffNames& names) const {
  std::string page =
      "<!doctype html>\n<html lang='en'><meta charset='utf-8'><meta name='viewport' "
      "content='width=device-width'><title>sonde diff</title>\n" +
      std::string(kStyle) + "\n<h1 class='" + (difference.same() ? "same" : "different") + "'>" +
      escaped(verdict_text(difference)) + "</h1>\n<p>A: " + escaped(names.a) + " <span class='dim'>" +
      escaped(difference.kind_a) + "</span><br>B: " + escaped(names.b) + " <span class='dim'>" +
      escaped(difference.kind_b) + "</span></p>\n";
  for (const std::string& text : findings(difference)) page += finding(text);
  page += error_chart(difference);
  page += pictures(difference);
  page +=
      "<h2>Tensors</h2><section class='wide'><table><tr><th class='l'>tensor<th class='l'>op<th class='l'>type<th "
      "class='l'>status"
      "<th>||a-b||/||b||<th>max abs<th>max rel<th>RMSE<th>cosine<th>SQNR dB<th>ULP<th class='l'>tolerance<th "
      "class='l'></tr>\n";
  for (const Row& row : difference.rows) page += table_row(row, difference.differs(row));
  return page + "</table></section></html>\n";
}

std::string DiffPage::pictures(const Difference& difference) const {
  constexpr std::size_t kShown = 12;  // the others are behind a click
  std::string page;
  std::size_t count = 0;
  for (const Row& row : difference.rows) {
    const auto map = maps_.find(row.name);
    if (map == maps_.end()) continue;
    if (count++ == kShown) {
      page += "</div>\n<details><summary>" + grouped(maps_.size() - kShown) + " more</summary><div class='maps'>\n";
    }
    page += "<figure><img alt='' width='" + std::to_string(map->second.width) + "' height='" +
            std::to_string(map->second.height) + "' src='data:image/png;base64," + map->second.png +
            "'><figcaption><b>" + escaped(row.name) + "</b> " + escaped(type_text(row)) + "<br>" + map->second.caption +
            "; max abs " + number_text(row.metrics->max_abs) + "</figcaption></figure>\n";
  }
  if (count == 0) return {};
  return "<h2>Where they differ: |a-b|, dark is 0, yellow the largest, pink not finite in only one</h2>\n"
         "<section><div class='maps'>\n" +
         page + "</div>" + (count > kShown ? "</details>" : "") + "</section>\n";
}

}  // namespace sonde::cli
