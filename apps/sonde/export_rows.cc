#include "export_rows.h"

#include <array>
#include <string>

#include "base/bytes.h"
#include "base/utf8.h"
#include "formats/json_writer.h"
#include "tensor/convert.h"
#include "tensor/tensor_data.h"
#include "tensor_text.h"

namespace sonde::cli {
namespace {

// One element: an integer as such, a real number with as many digits as its type needs.
Cell cell_of(const std::byte* at, DType dtype) noexcept {
  switch (dtype) {
    case DType::boolean: return Cell::of_truth(base::load<std::uint8_t>(at) != 0);
    case DType::u64: return Cell::of_count(base::load<std::uint64_t>(at));
    case DType::i64: return Cell::of_integer(base::load<std::int64_t>(at));
    case DType::f64: return Cell::of_real(base::load<double>(at));
    case DType::f32:
    case DType::f16:
    case DType::bf16:
    case DType::f8_e4m3:
    case DType::f8_e5m2: return Cell::of_single(tensor::element_as_double(at, dtype));
    default: return Cell::of_integer(static_cast<std::int64_t>(tensor::element_as_double(at, dtype)));
  }
}

void put_attributes(formats::JsonWriter& json, const formats::NodeInfo& node) {
  json.object();
  for (const auto& [name, value] : node.attributes) json.text_key(name).text(value);
  json.end();
}

}  // namespace

std::vector<Column> columns_of(TagKind kind, std::string_view format) {
  using Type = Cell::Type;
  if (kind == TagKind::hparams) return {{"value", Type::any}, {"group_name", Type::text}, {"status", Type::text}};
  std::vector<Column> columns = {{"step", Type::integer}, {"wall_time", Type::time}};
  if (kind == TagKind::scalars) columns.push_back({"value", Type::real});
  if (kind == TagKind::histograms) {
    for (std::string_view name : {"left", "right", "count"}) columns.push_back({name, Type::real});
  }
  if (kind == TagKind::statistics) {
    columns.push_back({"dtype", Type::text});
    columns.push_back({"shape", Type::shape});
    for (std::string_view name : {"count", "nan", "pos_inf", "neg_inf", "zeros", "negatives"}) {
      columns.push_back({name, Type::count});
    }
    for (std::string_view name : {"min", "max", "mean", "std", "sum_abs"}) columns.push_back({name, Type::real});
  }
  if (kind == TagKind::tensors) {
    columns.push_back({"dtype", Type::text});
    columns.push_back({"shape", Type::shape});
    if (format == "jsonl") {
      columns.push_back({"values", Type::json});
    } else {
      columns.push_back({"element", Type::integer});
      columns.push_back({"value", Type::any});
    }
  }
  if (kind == TagKind::pr_curves) {
    columns.push_back({"threshold", Type::real});
    for (std::string_view name :
         {"true_positives", "false_positives", "true_negatives", "false_negatives", "precision", "recall"}) {
      columns.push_back({name, Type::real});
    }
  }
  if (kind == TagKind::graphs) {
    for (std::string_view name : {"node", "op", "device"}) columns.push_back({name, Type::text});
    for (std::string_view name : {"inputs", "attributes"}) columns.push_back({name, Type::json});
  }
  return columns;
}

Status put_histogram(TableWriter& table, const ValueRef& value, const std::vector<Bucket>& buckets) {
  for (const Bucket& bucket : buckets) {
    const std::array cells = {Cell::of_integer(value.step), Cell::of_time(value.wall_time), Cell::of_real(bucket.left),
                              Cell::of_real(bucket.right), Cell::of_real(bucket.count)};
    if (Status status = table.row(cells); !status) return status;
  }
  return Status::success();
}

Status put_statistics(TableWriter& table, const TensorStatistics& one) {
  const std::array cells = {Cell::of_integer(one.step),
                            Cell::of_time(one.wall_time),
                            Cell::of_text(sonde::to_string(one.dtype)),
                            Cell::of_shape(one.shape),
                            Cell::of_count(one.count),
                            Cell::of_count(one.nan),
                            Cell::of_count(one.positive_infinity),
                            Cell::of_count(one.negative_infinity),
                            Cell::of_count(one.zeros),
                            Cell::of_count(one.negatives),
                            Cell::of_real(one.min),
                            Cell::of_real(one.max),
                            Cell::of_real(one.mean),
                            Cell::of_real(one.std),
                            Cell::of_real(one.sum_abs)};
  return table.row(cells);
}

Status put_pr_curve(TableWriter& table, const ValueRef& value, const PrCurve& curve) {
  for (const PrPoint& one : curve) {
    const std::array cells = {
        Cell::of_integer(value.step),         Cell::of_time(value.wall_time),       Cell::of_real(one.threshold),
        Cell::of_single(one.true_positives),  Cell::of_single(one.false_positives), Cell::of_single(one.true_negatives),
        Cell::of_single(one.false_negatives), Cell::of_single(one.precision),       Cell::of_single(one.recall)};
    if (Status status = table.row(cells); !status) return status;
  }
  return Status::success();
}

Status put_tensor(TableWriter& table, std::string_view format, const ValueRef& value, const TensorView& view) {
  const Cell step = Cell::of_integer(value.step);
  const Cell time = Cell::of_time(value.wall_time);
  const Cell dtype = Cell::of_text(sonde::to_string(view.dtype));
  const Cell shape = Cell::of_shape(view.shape);
  if (format == "jsonl") {
    formats::JsonWriter json;
    if (Status status = put_values(json, view); !status) return status;
    const std::string values = json.take();
    return table.row(std::array{step, time, dtype, shape, Cell::of_json(values)});
  }
  if (view.dtype == DType::c64 || view.dtype == DType::c128) {
    return {Code::corrupt, "complex numbers do not fit into one column: --format jsonl writes them"};
  }
  const Tensor dense = tensor::to_tensor(view);
  const auto* const data = static_cast<const std::byte*>(dense.view().data);
  const std::size_t size = size_of(view.dtype);
  for (std::int64_t i = 0; i < dense.view().size(); ++i) {
    const Cell element = cell_of(data + static_cast<std::size_t>(i) * size, view.dtype);
    if (Status status = table.row(std::array{step, time, dtype, shape, Cell::of_integer(i), element}); !status) {
      return status;
    }
  }
  return Status::success();
}

Status put_graph(TableWriter& table, const ValueRef& value, const std::vector<formats::NodeInfo>& nodes) {
  for (const formats::NodeInfo& node : nodes) {
    const std::string name = base::valid_utf8(node.name);
    const std::string op = base::valid_utf8(node.op);
    const std::string device = base::valid_utf8(node.device);
    const std::string inputs = formats::JsonWriter().texts(node.inputs).take();
    formats::JsonWriter json;
    put_attributes(json, node);
    const std::string attributes = json.take();
    const std::array cells = {
        Cell::of_integer(value.step), Cell::of_time(value.wall_time), Cell::of_text(name),      Cell::of_text(op),
        Cell::of_text(device),        Cell::of_json(inputs),          Cell::of_json(attributes)};
    if (Status status = table.row(cells); !status) return status;
  }
  return Status::success();
}

std::string json_graph(const std::vector<formats::NodeInfo>& nodes) {
  formats::JsonWriter json;
  json.object().key("nodes").array();
  for (const formats::NodeInfo& node : nodes) {
    json.line().object().key("name").text(node.name).key("op").text(node.op).key("device").text(node.device);
    json.key("inputs").texts(node.inputs).key("attributes");
    put_attributes(json, node);
    json.end();
  }
  return json.line().end().end().take() + "\n";
}

}  // namespace sonde::cli
