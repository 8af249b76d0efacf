// The rows that `sonde export` writes for each kind of value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/graph_def.h"
#include "plugin_text.h"
#include "sonde/log.h"
#include "sonde/status.h"
#include "sonde/tensor.h"
#include "tables.h"

namespace sonde::cli {

std::vector<Column> columns_of(TagKind kind, std::string_view format);

// All rows of one value.
Status put_histogram(TableWriter& table, const ValueRef& value, const std::vector<Bucket>& buckets);
Status put_statistics(TableWriter& table, const TensorStatistics& one);
Status put_pr_curve(TableWriter& table, const ValueRef& value, const PrCurve& curve);
// In JSON lines one row with all values; otherwise one row per element, counted from 0 in the order of the axes.
Status put_tensor(TableWriter& table, std::string_view format, const ValueRef& value, const TensorView& view);
// One row for each node.
Status put_graph(TableWriter& table, const ValueRef& value, const std::vector<formats::NodeInfo>& nodes);

// {"nodes":[{"name":...,"op":...,"device":...,"inputs":[...],"attributes":{...}},...]}, one line per node.
std::string json_graph(const std::vector<formats::NodeInfo>& nodes);

}  // namespace sonde::cli
