// The map of a network: cells over steps, one cell in numbers, and the first difference of two runs.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/task_pool.h"
#include "compare/run_difference.h"
#include "formats/json_writer.h"
#include "query/answers.h"
#include "query/binary.h"
#include "query/network_tiles.h"
#include "store/access.h"

namespace sonde::query {
namespace {

constexpr std::size_t kTileCells = 256;

enum Flag : std::uint8_t { kRecorded = 1, kHasNan = 2, kHasInfinity = 4, kSpikeUp = 8, kSpikeDown = 16 };

enum class Shown : std::uint8_t { mean, max, min, past };

Result<Shown> shown_of(const std::string& name) {
  if (name.empty() || name == "mean") return Shown::mean;
  if (name == "max") return Shown::max;
  if (name == "min") return Shown::min;
  if (name == "past") return Shown::past;
  return Status(Code::invalid_argument, "'cell' must be mean, max, min or past, and not " + in_quotes(name));
}

float value_of(const TileCell& cell, const Deviation& deviation, Shown shown) noexcept {
  switch (shown) {
    case Shown::mean: return cell.mean;
    case Shown::max: return cell.max;
    case Shown::min: return cell.min;
    case Shown::past: break;
  }
  return deviation.z;
}

std::uint8_t flags_of(const TileCell& cell, const Deviation& deviation) noexcept {
  unsigned flags = cell.steps > 0 ? kRecorded : 0;
  if (cell.has_nan) flags |= kHasNan;
  if (cell.has_infinity) flags |= kHasInfinity;
  if (deviation.z >= Deviation::kSpike) flags |= kSpikeUp;
  if (deviation.z <= -Deviation::kSpike) flags |= kSpikeDown;
  return static_cast<std::uint8_t>(flags);
}

// The value of a tensor at a step, or at the last recorded step before it; of several at one step the last.
Result<ValueRef> value_at(const Run& run, const std::string& tag, std::int64_t first, std::int64_t step) {
  const auto last_of = [&](std::int64_t since) -> Result<ValueRef> {
    const auto refs = run.values(tag, TagKind::statistics, {.first_step = since, .last_step = step});
    if (!refs) return refs.error();
    if (refs->empty()) return Status(Code::not_found, "");
    return refs->back();
  };
  Result<ValueRef> near = last_of(first);
  if (near || near.error().code() != Code::not_found) return near;
  Result<ValueRef> before = last_of(std::numeric_limits<std::int64_t>::min());
  if (before || !before.error().message().empty()) return before;
  return Status(Code::not_found, "nothing was recorded of '" + tag + "' at or before this step");
}

// The share of the finite elements for which `is_beyond` holds, from the bins: all elements of a bin or none of them
// are meant, or the bin straddles the limit.
struct Share {
  double low = 0;
  double high = 0;
};
Share share_of(const TensorStatistics& values, double from, double to) {
  Share share;
  double total = 0;
  for (const Bucket& bin : values.histogram) {
    // In magnitudes. Bins do not straddle zero.
    double low = std::min(std::abs(bin.left), std::abs(bin.right));
    double high = std::max(std::abs(bin.left), std::abs(bin.right));
    if (bin.left < 0 && bin.right > 0) low = 0;
    // The ends are known exactly.
    if (bin.right > 0) high = std::min(high, std::abs(values.max));
    if (bin.left < 0 && bin.right <= 0) high = std::min(high, std::abs(values.min));
    total += bin.count;
    if (low >= from && high < to) share.low += bin.count;
    if (high >= from && low < to) share.high += bin.count;
  }
  if (total > 0) {
    share.low /= total;
    share.high /= total;
  }
  return share;
}

struct Target {
  const char* name;
  double overflow;   // magnitudes from here on round to infinity
  double underflow;  // magnitudes up to here round to zero
};
constexpr std::array kTargets = {
    Target{"f16", 65'520, 0x1p-25},
    Target{"bf16", 0x1.ffp127, 0x1p-134},
    Target{"f8_e4m3", 464, 0x1p-10},
    Target{"f8_e5m2", 61'440, 0x1p-17},
};

void put_share(formats::JsonWriter& json, const char* name, const Share& share) {
  json.key(name).array().number(share.low).number(share.high).end();
}

void put_recorded(formats::JsonWriter& json, const TensorStatistics& values) {
  json.key("dtype").text(to_string(values.dtype)).key("shape").shape(values.shape);
  json.key("count").integer(values.count).key("nan").integer(values.nan);
  json.key("positive_infinity").integer(values.positive_infinity);
  json.key("negative_infinity").integer(values.negative_infinity);
  json.key("zeros").integer(values.zeros).key("negatives").integer(values.negatives);
  json.key("min").number(values.min).key("max").number(values.max);
  json.key("mean").number(values.mean).key("std").number(values.std).key("sum_abs").number(values.sum_abs);
  json.key("casts").object();
  for (const Target& target : values.histogram.empty() ? std::span<const Target>() : std::span(kTargets)) {
    json.key(target.name).object();
    put_share(json, "overflow", share_of(values, target.overflow, std::numeric_limits<double>::infinity()));
    Share underflow = share_of(values, std::numeric_limits<double>::denorm_min(), target.underflow);
    // A bin of zeros has no width.
    put_share(json, "underflow", underflow);
    json.end();
  }
  json.end();
}

}  // namespace

Result<Answer> answer_network_tile(const Context& context, const Body& body) {
  const Result<Statistic> statistic = statistic_of(body.statistic);
  if (!statistic) return statistic.error();
  const Result<Shown> shown = shown_of(body.cell);
  if (!shown) return shown.error();
  if (body.tags.size() * kTileCells * (sizeof(float) + 1) > kLargestAnswer) {
    return Status(Code::exhausted, "the answer would have more than 256 MiB; ask for fewer tags");
  }
  const auto item = context.catalogue->run(body.run);
  if (!item) return item.error();
  // The cells before the tile are the past of its first ones.
  const auto cells = static_cast<std::int64_t>(kTileCells);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / cells >> (body.level + 1);
  if (body.tile < -most || body.tile > most) {
    return Status(Code::invalid_argument, "there is no tile " + std::to_string(body.tile) + " at this level");
  }
  const std::int64_t first = body.tile * cells;
  const auto before = static_cast<std::int64_t>(kPast);
  const auto rows = context.tiles.cells(item->entry, item->entry->version(), body.tags, *statistic, body.level,
                                        first - before, kPast + kTileCells);
  if (!rows) return rows.error();

  BinaryWriter out;
  out.text("SNDT");
  out.put(std::uint32_t{1});
  out.put(static_cast<std::uint32_t>(body.tags.size()));
  out.put(static_cast<std::uint32_t>(kTileCells));
  for (const TileRow& row : *rows) out.put(std::uint32_t{row.found ? 0U : 1U});
  std::vector<float> values;
  std::string flags;
  values.reserve(rows->size() * kTileCells);
  flags.reserve(rows->size() * kTileCells);
  for (const TileRow& row : *rows) {
    const std::vector<Deviation> deviation = deviations(row.cells, first - before, kPast);
    for (std::size_t c = kPast; c < row.cells.size(); ++c) {
      values.push_back(value_of(row.cells[c], deviation[c], *shown));
      flags += static_cast<char>(flags_of(row.cells[c], deviation[c]));
    }
  }
  out.column(std::span<const float>(values));
  out.column(std::span<const char>(flags));
  Answer answer;
  answer.content_type = "application/octet-stream";
  answer.compress = false;  // panning asks for megabytes per second, and floats hardly shrink
  answer.body = out.take();
  return answer;
}

Result<Answer> answer_network_cell(const Context& context, const Params& params) {
  const auto name = params.text("run");
  if (!name) return name.error();
  const auto tag = params.text("tag");
  if (!tag) return tag.error();
  const auto wanted = params.text("statistic");
  if (!wanted) return wanted.error();
  const Result<Statistic> statistic = statistic_of(*wanted);
  if (!statistic) return statistic.error();
  const auto first = params.integer("first", INT64_MIN, INT64_MIN, INT64_MAX);
  if (!first) return first.error();
  const auto last = params.integer("last", INT64_MAX, INT64_MIN, INT64_MAX);
  if (!last) return last.error();
  const auto step = params.integer("step", *last, *first, *last);
  if (!step) return step.error();
  const auto item = context.catalogue->run(*name);
  if (!item) return item.error();
  const Run& run = item->entry->run;
  const auto map = run.statistics_map({*tag}, *statistic, 1, {.first_step = *first, .last_step = *last});
  if (!map) return map.error();
  if (!map->found.front())
    return Status(Code::not_found, "the run '" + *name + "' has no statistics of '" + *tag + "'");
  const Result<ValueRef> ref = value_at(run, *tag, *first, *step);
  if (!ref) return ref.error();
  const Result<TensorStatistics> values = store::Access::source(run).read_statistics(*ref);
  if (!values) return values.error();
  const auto value = run.statistic(*tag, *statistic, {.first_step = ref->step, .last_step = ref->step});
  if (!value) return value.error();

  formats::JsonWriter json;
  json.object().key("steps").integer(map->count.front());
  json.key("nan_steps").integer(map->nan.front()).key("infinite_steps").integer(map->infinite.front());
  json.key("lowest").number(map->min.front()).key("average").number(map->mean.front());
  json.key("highest").number(map->max.front());
  json.key("step").integer(ref->step).key("time").number(ref->wall_time);
  json.key("value").number(value->size() > 0 ? value->values.back() : std::numeric_limits<double>::quiet_NaN());
  put_recorded(json, *values);
  return json_answer(json.end().take());
}

Result<Answer> answer_network_parting(const Context& context, const Params& params) {
  const auto name_a = params.text("a");
  if (!name_a) return name_a.error();
  const auto name_b = params.text("b");
  if (!name_b) return name_b.error();
  const auto a = context.catalogue->run(*name_a);
  if (!a) return a.error();
  const auto b = context.catalogue->run(*name_b);
  if (!b) return b.error();
  const Result<compare::FirstParting> found = compare::find_parting(a->entry->run, b->entry->run, {});
  if (!found) return found.error();
  formats::JsonWriter json;
  json.object().key("compared").integer(found->compared).key("parting");
  if (found->row) {
    const compare::Row& row = *found->row;
    json.object().key("step").integer(row.parting->step).key("tag").text(row.name).key("tag_in_b").text(row.name_in_b);
    json.key("statistic").text(row.parting->statistic);
    json.key("a").number(row.parting->a).key("b").number(row.parting->b).end();
  } else {
    json.null();
  }
  return json_answer(json.end().take());
}

}  // namespace sonde::query
