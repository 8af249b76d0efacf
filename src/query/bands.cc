// Mean and spread over runs, pixel column by pixel column.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "query/answers.h"
#include "query/binary.h"
#include "store/access.h"

namespace sonde::query {
namespace {

struct Member {
  Run run;
  double origin = 0;  // what its positions count from
  Tag tag;
};

// Columns of the same length.
struct Band {
  std::vector<double> x;
  std::vector<double> mean;
  std::vector<double> std;
  std::vector<double> min;
  std::vector<double> max;
  std::vector<std::uint32_t> count;
  std::uint64_t total = 0;
};

// One pixel column: over the means of the runs that have points there.
struct Spread {
  double position_sum = 0;
  double points = 0;
  double mean = 0;
  double squares = 0;  // of distances from the mean
  double min = 0;
  double max = 0;
  std::uint32_t runs = 0;

  void add(const store::GridCell& cell) {
    const double value = cell.sum / static_cast<double>(cell.count);
    position_sum += cell.position_sum;
    points += static_cast<double>(cell.count);
    ++runs;
    const double distance = value - mean;
    mean += distance / runs;
    squares += distance * (value - mean);
    min = runs == 1 ? value : std::min(min, value);
    max = runs == 1 ? value : std::max(max, value);
  }
};

std::vector<Member> members_of(const Context& context, const GroupName& group, AxisName axis) {
  std::vector<Member> members;
  for (const std::string& name : group.runs) {
    const Catalogue::Item* item = context.catalogue->find(name);
    if (item == nullptr) continue;
    const Run& run = item->entry->run;
    if (auto tag = run.tag(group.tag, TagKind::scalars); tag && tag->points > 0) {
      members.push_back({run, axis == AxisName::relative ? run.start_time() : 0, *std::move(tag)});
    }
  }
  return members;
}

// The columns of the range; an open end is the end of the runs' points.
store::Grid grid_of(const std::vector<Member>& members, const Body& body) {
  const bool steps = body.axis == AxisName::step;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Member& member : members) {
    low = std::min(low, (steps ? static_cast<double>(member.tag.first_step) : member.tag.first_time) - member.origin);
    high = std::max(high, (steps ? static_cast<double>(member.tag.last_step) : member.tag.last_time) - member.origin);
  }
  low = body.range.first.value_or(low);
  high = body.range.last.value_or(high) + (steps ? 1 : 0);
  store::Grid grid;
  grid.axis = steps ? Axis::step : Axis::wall_time;
  grid.low = low;
  grid.width = static_cast<std::size_t>(body.width);
  const double span = high - low;
  grid.scale = span > 0 && std::isfinite(span) ? static_cast<double>(body.width) / span : 0;
  return grid;
}

Band band_of(const std::vector<Member>& members, const std::string& tag, const Body& body) {
  store::Grid grid = grid_of(members, body);
  std::vector<Spread> columns(grid.width);
  std::vector<store::GridCell> cells;
  Band band;
  for (const Member& member : members) {
    cells.assign(grid.width, {});
    grid.origin = member.origin;
    const auto total =
        store::Access::source(member.run).accumulate(tag, range_of(member.run, body.axis, body.range), grid, cells);
    band.total += total ? *total : 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].count > 0) columns[i].add(cells[i]);
    }
  }
  for (const Spread& column : columns) {
    if (column.runs == 0) continue;
    band.x.push_back(column.position_sum / column.points);
    band.mean.push_back(column.mean);
    band.std.push_back(std::sqrt(column.squares / column.runs));
    band.min.push_back(column.min);
    band.max.push_back(column.max);
    band.count.push_back(column.runs);
  }
  return band;
}

}  // namespace

Result<Answer> answer_bands(const Context& context, const Body& body) {
  BinaryWriter out;
  out.text("SNDB");
  out.put(std::uint32_t{1});
  out.put(static_cast<std::uint32_t>(body.groups.size()));
  out.put(std::uint32_t{0});
  for (const GroupName& group : body.groups) {
    const std::vector<Member> members = members_of(context, group, body.axis);
    const Band band = members.empty() ? Band{} : band_of(members, group.tag, body);
    out.put(std::uint32_t{members.empty() ? 1U : 0U});
    out.put(static_cast<std::uint32_t>(band.x.size()));
    out.put(band.total);
    for (const auto* column : {&band.x, &band.mean, &band.std, &band.min, &band.max}) {
      out.column(std::span<const double>(*column));
    }
    out.column(std::span<const std::uint32_t>(band.count));
    out.align();
    if (out.size() > kLargestAnswer) {
      return Status(Code::exhausted,
                    "the answer would have more than 256 MiB; ask for fewer groups or a smaller width");
    }
  }
  Answer answer;
  answer.content_type = "application/octet-stream";
  answer.body = out.take();
  return answer;
}

}  // namespace sonde::query
