#include "embed/neighbors.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>

#include "embed/kernels.h"
#include "embed/packed.h"

namespace sonde::embed {
namespace {

constexpr std::size_t kQueries = 64;      // points of one task
constexpr std::size_t kCandidates = 256;  // points that they are compared with at a time
constexpr std::size_t kSpare = 8;         // more than wanted are kept, since the first distances are rounded

struct Candidate {
  float distance = 0;
  std::uint32_t row = 0;
  friend bool operator<(const Candidate& a, const Candidate& b) noexcept {
    return a.distance < b.distance || (a.distance == b.distance && a.row < b.row);
  }
};

// The best candidates of one point so far.
class Best {
 public:
  explicit Best(std::size_t wanted) : wanted_(wanted) { held_.reserve(4 * wanted + kCandidates); }
  float limit() const noexcept { return limit_; }
  void add(const std::uint32_t* rows, const float* distances, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) held_.push_back({distances[i], rows[i]});
    if (held_.size() >= 4 * wanted_) shrink();
  }
  std::vector<Candidate>& shrink() {
    if (held_.size() <= wanted_) return held_;
    std::nth_element(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(wanted_ - 1), held_.end());
    held_.resize(wanted_);
    // Rows of the same distance that come later have higher numbers, so they are not needed.
    limit_ = held_.back().distance;
    return held_;
  }
  void clear() {
    held_.clear();
    limit_ = std::numeric_limits<float>::infinity();
  }

 private:
  std::size_t wanted_;
  float limit_ = std::numeric_limits<float>::infinity();
  std::vector<Candidate> held_;
};

void keep_best(std::vector<Candidate>& candidates, std::size_t count, Metric metric, std::size_t point,
               Neighbors& result) {
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count), candidates.end());
  for (std::size_t k = 0; k < count; ++k) {
    const float squares = candidates[k].distance;
    result.rows[point * count + k] = candidates[k].row;
    result.distances[point * count + k] = metric == Metric::cosine ? squares / 2 : std::sqrt(squares);
  }
}

}  // namespace

Result<Neighbors> nearest_neighbors(const Matrix& points, std::size_t count, Metric metric, base::TaskPool& pool,
                                    const Continue& progress) {
  if (count == 0 || count >= points.rows) {
    return Status{Code::invalid_argument, std::to_string(count) + " neighbours are not possible with " +
                                              std::to_string(points.rows) + " points"};
  }
  Matrix prepared = points;
  if (metric == Metric::cosine) {
    normalize_rows(prepared, pool);
  } else {
    center(prepared, pool);
  }
  const PackedPoints packed(prepared, pool);
  std::vector<float> squares(packed.panels() * packed.width(), std::numeric_limits<float>::infinity());
  for_blocks(pool, points.rows, kQueries, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) squares[i] = dot(prepared.row(i), prepared.row(i), prepared.columns);
  });
  Neighbors result{count, std::vector<std::uint32_t>(points.rows * count), std::vector<float>(points.rows * count)};
  const std::size_t wanted = std::min(points.rows, count + 1 + kSpare);  // a point finds itself as well
  const std::size_t panels_at_once = kCandidates / packed.width();
  std::atomic<bool> stopped{false};
  const std::size_t tasks = (points.rows + kQueries - 1) / kQueries;
  std::atomic<std::size_t> done{0};
  pool.run(tasks, [&](std::size_t task) {
    if (stopped.load(std::memory_order_relaxed)) return;
    const std::size_t first = task * kQueries;
    const std::size_t last = std::min(points.rows, first + kQueries);
    std::vector<float> products(kQueries * kCandidates);
    std::vector<Best> best(last - first, Best(wanted));
    std::uint32_t rows[kCandidates];
    float scores[kCandidates];
    for (std::size_t panel = 0; panel < packed.panels(); panel += panels_at_once) {
      const std::size_t end = std::min(packed.panels(), panel + panels_at_once);
      packed.products(first, (last + 3) / 4 * 4, panel, end, products.data(), kCandidates);
      for (std::size_t i = first; i < last; ++i) {
        Best& of_point = best[i - first];
        const std::size_t found =
            take_below(products.data() + (i - first) * kCandidates, squares.data() + panel * packed.width(),
                       (end - panel) * packed.width(), of_point.limit(),
                       static_cast<std::uint32_t>(panel * packed.width()), rows, scores);
        of_point.add(rows, scores, found);
      }
    }
    for (std::size_t i = first; i < last; ++i) {
      std::vector<Candidate>& candidates = best[i - first].shrink();
      std::erase_if(candidates, [&](const Candidate& one) { return one.row == i; });
      for (Candidate& one : candidates) {
        one.distance = squared_distance(prepared.row(i), prepared.row(one.row), prepared.columns);
      }
      keep_best(candidates, count, metric, i, result);
    }
    const std::size_t now = done.fetch_add(1) + 1;
    if (!goes_on(progress, "neighbours", now, tasks)) stopped = true;
  });
  if (stopped) return cancelled();
  return result;
}

double cosine_distance(const float* a, const float* b, std::size_t count) noexcept {
  const auto squares_a = static_cast<double>(dot(a, a, count));
  const auto squares_b = static_cast<double>(dot(b, b, count));
  if (squares_a == 0 || squares_b == 0) return 1;
  return std::max(0.0, 1 - static_cast<double>(dot(a, b, count)) / std::sqrt(squares_a * squares_b));
}

Neighbors neighbors_of(const Matrix& points, std::size_t row, std::size_t count, Metric metric, base::TaskPool& pool) {
  std::vector<Candidate> all(points.rows);
  for_blocks(pool, points.rows, 4096, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      all[i].row = static_cast<std::uint32_t>(i);
      all[i].distance = metric == Metric::cosine
                            ? static_cast<float>(cosine_distance(points.row(row), points.row(i), points.columns))
                            : std::sqrt(squared_distance(points.row(row), points.row(i), points.columns));
    }
  });
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(row));
  count = std::min(count, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
  Neighbors result{count, {}, {}};
  for (std::size_t k = 0; k < count; ++k) {
    result.rows.push_back(all[k].row);
    result.distances.push_back(all[k].distance);
  }
  return result;
}

}  // namespace sonde::embed
