// One statistic of many tensors over steps, in cells of 2^level steps that start at multiples of 2^level: a map that is
// panned and zoomed asks for the same cells again and again, whichever part of the run it shows.
//
// Small cells are computed from the recorded values. From some level on, the base, they are merged from cells of the
// base level, which are computed once for each tensor, kept, and extended while the run grows.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/task_pool.h"
#include "query/catalogue.h"
#include "sonde/log.h"
#include "sonde/status.h"

namespace sonde::query {

struct TileCell {
  float min = 0;  // of the finite values of the statistic; all three are NaN if there are none
  float mean = 0;
  float max = 0;
  std::uint32_t steps = 0;    // recorded ones
  bool has_nan = false;       // the tensor had such elements at one of the steps
  bool has_infinity = false;  // the same
};

struct TileRow {
  bool found = false;
  std::vector<TileCell> cells;
};

// How far the cells of a row are from those before them.
struct Deviation {
  float z = 0;  // of the smallest or of the largest value, whichever is farther; NaN: too few cells before it
  static constexpr float kSpike = 7;
};

inline constexpr std::size_t kPast = 64;       // cells with which a cell is compared
inline constexpr std::size_t kPastBlock = 16;  // so many neighbouring cells are compared with the same ones

// A cell's largest value against the largest values of the 64 cells before its block of 16, and the same for its
// smallest value: distances from the median, in 1.4826 median absolute deviations, but at least a thousandth of the
// median. `first` is the index of cells[0] among all cells of the level. The first `skipped` get no result.
std::vector<Deviation> deviations(const std::vector<TileCell>& cells, std::int64_t first, std::size_t skipped);

// Any thread.
class NetworkTiles {
 public:
  NetworkTiles();

  // The cells [first, first + count) of the level, for each tag.
  Result<std::vector<TileRow>> cells(const std::shared_ptr<const RunEntry>& run, std::uint64_t version,
                                     const std::vector<std::string>& tags, Statistic statistic, int level,
                                     std::int64_t first, std::size_t count);

 private:
  struct Base;
  std::shared_ptr<Base> base_of(const std::shared_ptr<const RunEntry>& run, Statistic statistic);
  Status update(Base& base, const Run& run, std::uint64_t version, const std::vector<std::string>& tags,
                Statistic statistic);
  Status read(const Run& run, const std::vector<std::string>& tags, Statistic statistic, int level, std::int64_t first,
              std::size_t count, std::vector<TileRow>& rows);
  void remove_old();

  std::mutex mutex_;
  std::list<std::shared_ptr<Base>> bases_;  // the most recently used first
  std::mutex pool_mutex_;                   // the pool does one loop at a time
  base::TaskPool pool_;
};

}  // namespace sonde::query
