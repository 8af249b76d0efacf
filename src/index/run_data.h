// Everything known about one run: its files, and its series with their points. Plain data; RunIndex guards it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/input_file.h"
#include "formats/stats_record.h"
#include "formats/tfevents_decode.h"
#include "index/column.h"
#include "index/history.h"
#include "index/ordered.h"
#include "index/probe_order.h"
#include "index/sorted.h"
#include "index/stat_stream.h"
#include "sonde/log.h"

namespace sonde::index {

// The tag under which TensorBoard's readers serve the graph of a run.
inline constexpr std::string_view kGraphTag = "__run_graph__";
inline constexpr std::string_view kTaggedRunMetadata = "graph_tagged_run_metadata";

TagKind kind_of_plugin(std::string_view plugin) noexcept;

// Checksums of parts of a file that was read up to `end`: they show whether the file still has the same content.
struct Guard {
  static constexpr std::uint64_t kSize = 64;
  std::uint32_t head = 0;  // checksum of the first bytes
  std::uint32_t tail = 0;  // and of the last bytes that were read
  friend bool operator==(const Guard&, const Guard&) = default;
};

struct SourceFile {
  enum class Type : std::uint8_t { events, statistics };
  std::string name;  // within the directory of the run
  Type type = Type::events;
  base::FileState state;   // when it was last read
  std::uint64_t read = 0;  // up to here
  Guard guard;
  bool gone = false;
  std::string error;
  stats_record::Definitions definitions;  // of a statistics file, like the following
  ProbeOrder probe_order;
  // Tensors whose definitions were missing when they were needed.
  struct Undefined {
    std::uint32_t id = 0;
    std::uint32_t occurrence = 0;
    bool evaluation = false;
    friend auto operator<=>(const Undefined&, const Undefined&) = default;
  };
  std::set<Undefined> undefined;
  // Of its records, except those without a time.
  double first_time = std::numeric_limits<double>::infinity();
  double last_time = -std::numeric_limits<double>::infinity();

  void note_time(double time) noexcept {
    if (!std::isfinite(time) || time <= 0) return;
    first_time = std::min(first_time, time);
    last_time = std::max(last_time, time);
  }
};

// The files of a run in the order in which they were begun, and the time span of the session that each belongs to. The
// event file and the statistics file of one writer count together.
struct Timeline {
  std::vector<std::uint32_t> order;
  std::vector<Span> spans;  // by number of the file
};

// The non-scalar values of a series in one file, in the order written.
class RefTrack {
 public:
  struct Item {
    explicit Item(const ValueRef& value) : ref(value), step(value.step), time(value.wall_time) {}
    ValueRef ref;
    std::int64_t step;
    double time;
  };
  void append(const ValueRef& ref) {
    if (!refs_.empty() && is_sorted_) {
      const ValueRef& last = refs_.back();
      is_sorted_ = ref.step != last.step ? ref.step > last.step : ordered(ref.wall_time) >= ordered(last.wall_time);
    }
    refs_.push_back(ref);
  }
  void append(const Item& item) { append(item.ref); }
  void truncate(std::size_t count) { refs_.resize(count); }
  void pack() noexcept {}
  std::size_t size() const noexcept { return refs_.size(); }
  const ValueRef& at(std::size_t index) const noexcept { return refs_[index]; }
  std::int64_t step_at(std::size_t index) const noexcept { return refs_[index].step; }
  double time_at(std::size_t index) const noexcept { return refs_[index].wall_time; }
  // Whether steps ascend, and the times of equal steps.
  bool is_sorted() const noexcept { return is_sorted_; }
  template <class Visit>
  void visit(std::size_t begin, std::size_t end, Visit visit) const {
    for (std::size_t i = begin; i < end; ++i) visit(Item(refs_[i]));
  }

 private:
  std::vector<ValueRef> refs_;
  bool is_sorted_ = true;
};

// The points of a series by file. There are few files, and nearly always the last one grows.
template <class Source>
class ByFile {
 public:
  struct Entry {
    std::uint32_t file = 0;
    Source source;
    mutable std::unique_ptr<Sorted<Source>> sorted = {};  // see RunData::sorted
  };
  Source& of(std::uint32_t file) {
    if (last_ < entries_.size() && entries_[last_].file == file) return entries_[last_].source;
    for (last_ = 0; last_ < entries_.size(); ++last_) {
      if (entries_[last_].file == file) return entries_[last_].source;
    }
    return entries_.emplace_back(Entry{file, {}, {}}).source;
  }
  std::size_t size_of(std::uint32_t file) const noexcept {
    for (const Entry& entry : entries_) {
      if (entry.file == file) return entry.source.size();
    }
    return 0;
  }
  void drop(std::uint32_t file) {
    std::erase_if(entries_, [&](const Entry& entry) { return entry.file == file; });
    last_ = 0;
  }
  std::vector<Entry>& entries() noexcept { return entries_; }
  const std::vector<Entry>& entries() const noexcept { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::size_t last_ = 0;
};

struct Series {
  std::string tag;
  TagKind kind = TagKind::scalars;
  std::string plugin;
  std::string plugin_content;
  std::string display_name;
  std::string description;
  bool has_metadata = false;                           // the first one counts
  ByFile<Column> columns;                              // of scalars
  ByFile<RefTrack> tracks;                             // of all other kinds
  std::map<std::uint32_t, StatTrack> statistics = {};  // of statistics, by file, instead
  bool evaluation = false;                             // of statistics
  std::vector<Restart> restarts;

  Series* next = nullptr;      // the series that followed it last time in a file: a guess for the next
  Series* same_tag = nullptr;  // another kind under the same tag
};

// The statistics files of a run: for each the records of training steps, and those of evaluation passes.
class RunStatistics {
 public:
  StatStream& stream(std::uint32_t file, bool evaluation) { return streams_[{file, evaluation}]; }
  const StatStream* find(std::uint32_t file, bool evaluation) const noexcept {
    const auto found = streams_.find({file, evaluation});
    return found == streams_.end() ? nullptr : &found->second;
  }
  // The steps and times of the records, by file; values are the numbers of the records.
  Series& steps(bool evaluation) noexcept { return steps_[evaluation ? 1 : 0]; }
  const Series& steps(bool evaluation) const noexcept { return steps_[evaluation ? 1 : 0]; }
  void drop(std::uint32_t file);
  void pack();
  const std::map<std::pair<std::uint32_t, bool>, StatStream>& streams() const noexcept { return streams_; }

 private:
  std::map<std::pair<std::uint32_t, bool>, StatStream> streams_;
  std::array<Series, 2> steps_;
};

struct FoundDamage {
  std::uint32_t file = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string reason;
};

struct FoundGap {
  std::uint32_t file = 0;
  stats_record::Gap gap;
};

class RunData {
 public:
  std::vector<SourceFile> files;  // the number of a file never changes
  std::vector<FoundDamage> damage;
  std::vector<FoundGap> gaps;
  std::shared_ptr<const ChunkFiles> chunk_files;  // null if nothing is cached
  mutable RunStatistics statistics;               // read it through packed_statistics
  // Grows when something is removed: until then, series only get longer.
  std::uint64_t generation = 0;

  const std::deque<Series>& series() const noexcept { return series_; }
  std::deque<Series>& series() noexcept { return series_; }
  // The first series of that tag, others follow through same_tag; null if there is none.
  Series* find(std::string_view tag) const noexcept {
    const auto found = by_tag_.find(tag);
    return found == by_tag_.end() ? nullptr : found->second;
  }
  Series* find(std::string_view tag, TagKind kind) const noexcept;
  Series& add(std::string_view tag, TagKind kind, std::string_view plugin);

  // Adjacent damage is merged. At most 100,000 places per run are listed.
  void add_damage(FoundDamage found);
  // Removes everything that came from a file.
  void drop_file(std::uint32_t file);
  // Files by name, which is the order in which they were begun.
  std::vector<std::uint32_t> file_order() const;
  Timeline timeline() const;

  // The points of an entry by ascending step in each section. Several threads may call it at the same time, as long as
  // none of them changes the data.
  const RunStatistics& packed_statistics() const {
    const std::lock_guard lock(*sorting_);
    statistics.pack();
    return statistics;
  }
  template <class Source>
  const Source& sorted(const typename ByFile<Source>::Entry& entry, std::span<const std::size_t> ends) const {
    if (entry.source.is_sorted()) return entry.source;
    const std::lock_guard lock(*sorting_);
    if (entry.sorted == nullptr) entry.sorted = std::make_unique<Sorted<Source>>();
    entry.sorted->update(entry.source, ends);
    return entry.sorted->points();
  }

 private:
  std::unique_ptr<std::mutex> sorting_ = std::make_unique<std::mutex>();
  std::deque<Series> series_;
  std::unordered_map<std::string_view, Series*> by_tag_;  // the keys are the tags of the series
};

}  // namespace sonde::index
