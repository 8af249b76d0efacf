#include "query/network_tiles.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

namespace sonde::query {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t kMostBaseCells = std::size_t{4} << 20;  // of all tensors of a run, for one statistic
constexpr std::size_t kMostKept = std::size_t{12} << 20;      // cells of all bases together
constexpr std::size_t kMostBaseWidth = 16'384;
constexpr int kMostThreads = 4;

std::int64_t cell_of(std::int64_t step, int level) noexcept { return step >> level; }

TileCell empty_cell() noexcept { return {kNaN, kNaN, kNaN, 0, false, false}; }

// The mean is weighted by the recorded steps.
void merge(TileCell& into, const TileCell& other) noexcept {
  into.has_nan |= other.has_nan;
  into.has_infinity |= other.has_infinity;
  if (!std::isnan(other.mean)) {
    if (std::isnan(into.mean)) {
      into.min = other.min;
      into.mean = other.mean;
      into.max = other.max;
    } else {
      const double a = into.steps;
      const double b = other.steps;
      into.mean = static_cast<float>((into.mean * a + other.mean * b) / (a + b));
      into.min = std::min(into.min, other.min);
      into.max = std::max(into.max, other.max);
    }
  }
  into.steps += other.steps;
}

// The median of some values, which are reordered.
float median(std::vector<float>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

struct Reference {
  float median = 0;
  float scale = 0;
  float z(float value) const noexcept { return (value - median) / scale; }
};

Reference reference_of(std::vector<float>& values) {
  constexpr float kNormal = 1.4826F;  // the deviation of a normal distribution, in median absolute deviations
  constexpr float kLeast = 1e-3F;     // of the median: a row that was constant does not make a spike of rounding
  Reference found;
  found.median = median(values);
  for (float& value : values) value = std::abs(value - found.median);
  found.scale =
      std::max({kNormal * median(values), kLeast * std::abs(found.median), std::numeric_limits<float>::min()});
  return found;
}

}  // namespace

std::vector<Deviation> deviations(const std::vector<TileCell>& cells, std::int64_t first, std::size_t skipped) {
  constexpr std::size_t kFew = 8;  // cells that make no past
  std::vector<Deviation> found(cells.size(), Deviation{kNaN});
  std::vector<float> low;
  std::vector<float> high;
  const auto block = static_cast<std::int64_t>(kPastBlock);
  for (std::size_t begin = skipped; begin < cells.size();) {
    const std::int64_t at = first + static_cast<std::int64_t>(begin);
    const std::int64_t into = ((at % block) + block) % block;
    const std::size_t end = std::min(cells.size(), begin + static_cast<std::size_t>(block - into));
    const std::size_t until = begin - std::min(begin, static_cast<std::size_t>(into));
    const std::size_t since = until - std::min(until, kPast);
    low.clear();
    high.clear();
    bool same = true;
    for (std::size_t i = since; i < until; ++i) {
      if (std::isnan(cells[i].mean)) continue;
      low.push_back(cells[i].min);
      high.push_back(cells[i].max);
      same = same && cells[i].min == cells[i].max;
    }
    if (low.size() >= kFew) {
      const Reference above = reference_of(high);
      const Reference below = same ? above : reference_of(low);
      for (std::size_t i = begin; i < end; ++i) {
        if (std::isnan(cells[i].mean)) continue;
        const float up = above.z(cells[i].max);
        const float down = below.z(cells[i].min);
        found[i].z = std::abs(up) >= std::abs(down) ? up : down;
      }
    }
    begin = end;
  }
  return found;
}

// The cells of the base level of one statistic of a run.
struct NetworkTiles::Base {
  std::weak_ptr<const RunEntry> run;
  const RunEntry* address = nullptr;
  Statistic statistic = Statistic::rms;

  std::mutex mutex;  // guards the following members
  struct Row {
    TileRow row;
    std::uint64_t version = 0;
    std::uint64_t points = 0;  // of the tag
    std::uint64_t written_again = 0;
  };
  bool is_known = false;
  int level = 0;
  std::int64_t first = 0;  // the index of the first cell of each row
  std::int64_t end = 0;
  std::map<std::string, Row, std::less<>> rows;
  std::atomic<std::size_t> cells = 0;
};

NetworkTiles::NetworkTiles()
    : pool_("sonde-network", std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads)) {}

std::shared_ptr<NetworkTiles::Base> NetworkTiles::base_of(const std::shared_ptr<const RunEntry>& run,
                                                          Statistic statistic) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(bases_, [&](const std::shared_ptr<Base>& base) {
    return base->address == run.get() && base->statistic == statistic && !base->run.expired();
  });
  if (found != bases_.end()) {
    bases_.splice(bases_.begin(), bases_, found);
    return bases_.front();
  }
  auto made = std::make_shared<Base>();
  made->run = run;
  made->address = run.get();
  made->statistic = statistic;
  bases_.push_front(made);
  return made;
}

void NetworkTiles::remove_old() {
  const std::lock_guard lock(mutex_);
  std::erase_if(bases_, [](const std::shared_ptr<Base>& base) { return base->run.expired(); });
  std::size_t total = 0;
  for (auto at = bases_.begin(); at != bases_.end();) {
    total += (*at)->cells;
    at = total > kMostKept && at != bases_.begin() ? bases_.erase(at) : std::next(at);
  }
}

Status NetworkTiles::read(const Run& run, const std::vector<std::string>& tags, Statistic statistic, int level,
                          std::int64_t first, std::size_t count, std::vector<TileRow>& rows) {
  constexpr std::size_t kMostAtOnce = std::size_t{256} << 10;  // cells of one call, for the sake of memory
  const auto width = static_cast<std::int64_t>(count);
  const Range range = {.first_step = first * (std::int64_t{1} << level),
                       .last_step = (first + width) * (std::int64_t{1} << level) - 1};
  const auto threads = static_cast<std::size_t>(pool_.threads());
  const std::size_t portion =
      std::clamp<std::size_t>((tags.size() + threads - 1) / threads, 1, std::max<std::size_t>(1, kMostAtOnce / count));
  const std::size_t portions = (tags.size() + portion - 1) / portion;
  rows.assign(tags.size(), {});
  std::vector<Status> failed(portions);
  const auto body = [&](std::size_t p) {
    const std::size_t begin = p * portion;
    const std::size_t end = std::min(tags.size(), begin + portion);
    const std::vector<std::string> some(tags.begin() + static_cast<std::ptrdiff_t>(begin),
                                        tags.begin() + static_cast<std::ptrdiff_t>(end));
    const Result<StatisticsMap> map = run.statistics_map(some, statistic, static_cast<int>(count), range);
    if (!map) {
      failed[p] = map.error();
      return;
    }
    for (std::size_t r = begin; r < end; ++r) {
      rows[r].found = map->found[r - begin];
      rows[r].cells.resize(count);
      for (std::size_t c = 0; c < count; ++c) {
        const std::size_t at = (r - begin) * count + c;
        rows[r].cells[c] = {static_cast<float>(map->min[at]),
                            static_cast<float>(map->mean[at]),
                            static_cast<float>(map->max[at]),
                            map->count[at],
                            map->nan[at] > 0,
                            map->infinite[at] > 0};
      }
    }
  };
  const std::unique_lock lock(pool_mutex_, std::try_to_lock);
  if (lock) {
    pool_.run(portions, body);
  } else {
    for (std::size_t p = 0; p < portions; ++p) body(p);
  }
  for (const Status& status : failed) {
    if (!status) return status;
  }
  return Status::success();
}

Status NetworkTiles::update(Base& base, const Run& run, std::uint64_t version, const std::vector<std::string>& tags,
                            Statistic statistic) {
  std::vector<std::string> missing;  // tags that must be read as a whole
  std::vector<std::string> grown;    // tags of which the end must be read
  for (const std::string& tag : tags) {
    const auto known = base.rows.find(tag);
    if (known == base.rows.end()) {
      missing.push_back(tag);
    } else if (known->second.version != version) {
      grown.push_back(tag);
    }
  }
  if (missing.empty() && grown.empty()) return Status::success();

  // The steps of the run and its number of tensors decide about the size of a cell.
  std::map<std::string, Tag, std::less<>> about;
  std::int64_t first_step = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_step = std::numeric_limits<std::int64_t>::min();
  for (Tag& tag : run.tags()) {
    if (tag.kind != TagKind::statistics || tag.points == 0) continue;
    first_step = std::min(first_step, tag.first_step);
    last_step = std::max(last_step, tag.last_step);
    about.emplace(tag.name, std::move(tag));
  }
  if (about.empty()) first_step = last_step = 0;
  const std::size_t most =
      std::clamp<std::size_t>(kMostBaseCells / std::max<std::size_t>(1, about.size()), 256, kMostBaseWidth);
  int level = base.is_known ? base.level : 0;
  const auto width_at = [&](int l) {
    return static_cast<std::uint64_t>(cell_of(last_step, l)) - static_cast<std::uint64_t>(cell_of(first_step, l)) + 1;
  };
  while (width_at(level) > most) ++level;
  const std::int64_t first = cell_of(first_step, level);
  const std::int64_t end = cell_of(last_step, level) + 1;
  if (base.is_known && (level != base.level || first != base.first)) {
    base.rows.clear();
    base.cells = 0;
    grown.clear();
    missing = tags;
  }
  const std::int64_t tail = base.is_known ? base.end - 1 : first;
  base.is_known = true;
  base.level = level;
  base.first = first;
  base.end = end;

  // The end of a row that has only grown. Its points tell whether it has.
  if (!grown.empty()) {
    std::vector<TileRow> ends;
    if (Status status = read(run, grown, statistic, level, tail, static_cast<std::size_t>(end - tail), ends); !status) {
      return status;
    }
    for (std::size_t i = 0; i < grown.size(); ++i) {
      Base::Row& row = base.rows[grown[i]];
      const auto tag = about.find(grown[i]);
      const Tag* now = tag != about.end() ? &tag->second : nullptr;
      std::uint64_t added = 0;
      for (const TileCell& cell : ends[i].cells) added += cell.steps;
      const auto kept = static_cast<std::size_t>(
          std::clamp<std::int64_t>(tail - first, 0, static_cast<std::int64_t>(row.row.cells.size())));
      std::uint64_t last = 0;
      for (std::size_t c = kept; c < row.row.cells.size(); ++c) last += row.row.cells[c].steps;
      const bool appended = now != nullptr && kept == static_cast<std::size_t>(tail - first) &&
                            now->written_again == row.written_again && row.points - last + added == now->points;
      if (!appended) {
        missing.push_back(grown[i]);
        continue;
      }
      row.row.cells.resize(kept);
      row.row.cells.insert(row.row.cells.end(), ends[i].cells.begin(), ends[i].cells.end());
      row.points = now->points;
      row.version = version;
    }
  }
  if (!missing.empty()) {
    std::vector<TileRow> whole;
    if (Status status = read(run, missing, statistic, level, first, static_cast<std::size_t>(end - first), whole);
        !status) {
      return status;
    }
    for (std::size_t i = 0; i < missing.size(); ++i) {
      const auto tag = about.find(missing[i]);
      Base::Row& row = base.rows[missing[i]];
      row.row = std::move(whole[i]);
      row.version = version;
      row.points = tag != about.end() ? tag->second.points : 0;
      row.written_again = tag != about.end() ? tag->second.written_again : 0;
    }
  }
  std::size_t cells = 0;
  for (const auto& [name, row] : base.rows) cells += row.row.cells.size();
  base.cells = cells;
  return Status::success();
}

Result<std::vector<TileRow>> NetworkTiles::cells(const std::shared_ptr<const RunEntry>& entry, std::uint64_t version,
                                                 const std::vector<std::string>& tags, Statistic statistic, int level,
                                                 std::int64_t first, std::size_t count) {
  const std::shared_ptr<Base> base = base_of(entry, statistic);
  std::vector<TileRow> rows;
  {
    const std::lock_guard lock(base->mutex);
    if (Status status = update(*base, entry->run, version, tags, statistic); !status) return status;
    if (level >= base->level) {
      const int shift = level - base->level;
      for (const std::string& tag : tags) {
        const TileRow& from = base->rows[tag].row;
        TileRow& row = rows.emplace_back();
        row.found = from.found;
        row.cells.assign(count, empty_cell());
        const auto size = static_cast<std::int64_t>(from.cells.size());
        for (std::size_t c = 0; c < count; ++c) {
          const std::int64_t cell = first + static_cast<std::int64_t>(c);
          const std::int64_t begin = std::clamp<std::int64_t>(cell * (std::int64_t{1} << shift) - base->first, 0, size);
          const std::int64_t end =
              std::clamp<std::int64_t>((cell + 1) * (std::int64_t{1} << shift) - base->first, 0, size);
          for (std::int64_t i = begin; i < end; ++i) merge(row.cells[c], from.cells[static_cast<std::size_t>(i)]);
        }
      }
    }
  }
  remove_old();
  if (!rows.empty() || tags.empty()) return rows;
  if (Status status = read(entry->run, tags, statistic, level, first, count, rows); !status) return status;
  return rows;
}

}  // namespace sonde::query
