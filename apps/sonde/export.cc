// sonde export: what is in a log directory, for other programs.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "interrupt.h"
#include "media_files.h"
#include "progress.h"
#include "render/console.h"
#include "selection.h"
#include "sonde/log.h"
#include "subcommand.h"
#include "tables.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

struct ExportKind {
  std::string_view name;  // as in --kind, and of the table in a database
  TagKind kind;
  bool files = false;  // as files instead of rows
};
constexpr std::array kKinds = {
    ExportKind{"scalars", TagKind::scalars},       ExportKind{"statistics", TagKind::statistics},
    ExportKind{"histograms", TagKind::histograms}, ExportKind{"images", TagKind::images, true},
    ExportKind{"audio", TagKind::audio, true},     ExportKind{"text", TagKind::text, true},
};

std::vector<Column> columns_of(TagKind kind) {
  using Type = Cell::Type;
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
  return columns;
}

// The points of all chosen scalars, in pieces.
class ScalarPieces {
 public:
  ScalarPieces(const std::vector<SelectedRun>& selected, std::uint64_t points, History history)
      : selected_(selected), points_(points), history_(history) {}

  Result<bool> next(ScalarPiece& piece) {
    constexpr std::size_t kPoints = 16384;  // about a megabyte of text
    while (scalars_ == nullptr || at_ == scalars_->size()) {
      if (!next_tag()) return false;
      Result<Scalars> scalars = selected_[run_].run.scalars(tag().name, {}, history_);
      if (!scalars) return scalars.error();
      scalars_ = std::make_shared<const Scalars>(*std::move(scalars));
      single_ = all_single(scalars_->values);
      at_ = 0;
    }
    const std::size_t end = std::min(scalars_->size(), at_ + kPoints);
    piece = {selected_[run_].run.name(), tag().name, scalars_, at_, end, single_};
    progress_.update(done_ += end - at_, points_);
    at_ = end;
    return true;
  }

 private:
  const Tag& tag() const { return selected_[run_].tags[tag_]; }
  bool next_tag() {
    if (scalars_ != nullptr) ++tag_;
    for (; run_ < selected_.size(); ++run_, tag_ = 0) {
      if (tag_ < selected_[run_].tags.size()) return true;
    }
    return false;
  }

  const std::vector<SelectedRun>& selected_;
  std::uint64_t points_;
  History history_;
  std::size_t run_ = 0;
  std::size_t tag_ = 0;
  std::shared_ptr<const Scalars> scalars_;  // of that tag
  bool single_ = false;
  std::size_t at_ = 0;
  std::uint64_t done_ = 0;
  Progress progress_{"exporting"};
};

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

class Export final : public Subcommand {
 public:
  Export()
      : Subcommand({.name = "export",
                    .usage = "export LOGDIR [options]",
                    .summary = "write a log as CSV, JSON lines, a database or files",
                    .details =
                        "Scalars, statistics and histograms become rows, every one of them, that begin with run, tag, "
                        "step and wall_time (seconds since 1970); a histogram has one row for each bucket. Images, "
                        "audio and text become files in the folder that -o names, RUN/TAG/STEP.png and so on, with "
                        "a list of them in manifest.csv.\n"
                        "Numbers have as many digits as it takes to read the same value back. NaN and infinities "
                        "are NaN, Infinity and -Infinity: in JSON as strings, in SQLite NaN is NULL.",
                    .examples = {"sonde export logs > scalars.csv", "sonde export logs --tags '.*loss' --format jsonl",
                                 "sonde export logs --kind statistics --format sqlite -o stats.db",
                                 "sonde export logs --kind images -o pictures"}}) {}

  void setup(Flags& flags) override {
    std::vector<std::string> kinds;
    kinds.reserve(std::size(kKinds));
    for (const ExportKind& kind : kKinds) kinds.emplace_back(kind.name);
    flags.argument(directory_, "LOGDIR", "a directory with runs");
    flags.choice(kind_, "--kind", std::move(kinds), "what to export (scalars)");
    flags.choice(format_, "--format", {"csv", "jsonl", "sqlite"}, "of rows (csv)");
    flags.option(runs_.pattern(), "--runs", "RE", "the run of this name, or those that match (all)");
    flags.option(tags_.pattern(), "--tags", "RE", "the tag of this name, or those that match (all)");
    flags.choice(history_, "--history", {"newest", "all"},
                 "all: also the points that a restarted job wrote again (newest)");
    flags.path_option(output_, "-o,--output", "FILE", "where to write; the folder for files (standard output)");
  }

  int run() override {
    const ExportKind& kind = *std::ranges::find(kKinds, kind_, &ExportKind::name);
    if (Status status = check_output(kind); !status) return fail(status);
    Result<Log> log = open_log(directory_);
    if (!log) return fail(log.error());
    if (log->runs().empty()) {
      report_unreadable(*log, {});
      return fail("there are no runs in '" + directory_ + "'");
    }
    const Result<std::vector<Run>> runs = select_runs(*log, runs_);
    if (!runs) return fail(runs.error());
    const Result<std::vector<SelectedRun>> selected = select(*runs, tags_, kind.kind);
    if (!selected) {
      report_unreadable(*log, *runs);
      return fail(selected.error());
    }
    std::uint64_t points = 0;
    for (const SelectedRun& one : *selected) {
      for (const Tag& tag : one.tags) points += tag.points;
    }
    if (points == 0) {
      report_unreadable(*log, *runs);
      report_damage(*log, *runs);
      return fail(nothing_of(kind, *runs));
    }
    Status status = kind.files ? write_files(*selected, points) : write_rows(kind, *selected, points);
    if (!status) return fail(status);
    report_damage(*log, *runs);
    const int skipped = report_skipped();
    return std::max(skipped, report_unreadable(*log, *runs));
  }

 private:
  Status check_output(const ExportKind& kind) const {
    if (!kind.files) return Status::success();
    if (output_.empty()) {
      return {Code::invalid_argument, "--kind " + kind_ + " writes files: name the folder for them with -o"};
    }
    if (format_ == "csv") return Status::success();
    return {Code::invalid_argument, "--kind " + kind_ + " writes files and a list of them in CSV: --format " + format_ +
                                        " is for scalars, statistics and histograms"};
  }

  static void report_damage(const Log& log, const std::vector<Run>& runs) {
    if (const std::string damage = damage_text(log, runs); !damage.empty()) note(damage);
  }

  // The sentence for runs without what was asked for, and what there is instead.
  std::string nothing_of(const ExportKind& kind, const std::vector<Run>& runs) const {
    std::vector<std::string> others;
    for (const ExportKind& other : kKinds) {
      const bool found = std::ranges::any_of(runs, [&](const Run& run) {
        return std::ranges::any_of(run.tags(),
                                   [&](const Tag& tag) { return tag.kind == other.kind && tag.points > 0; });
      });
      if (found && other.kind != kind.kind) others.emplace_back(other.name);
    }
    const bool uncountable = kind.kind == TagKind::audio || kind.kind == TagKind::text;
    std::string text = std::string(uncountable ? "there is no " : "there are no ") + std::string(kind.name) + " in ";
    if (!runs_.pattern().empty()) {
      std::vector<std::string> names;
      names.reserve(runs.size());
      for (const Run& run : runs) names.push_back(run.name());
      text += (names.size() == 1 ? "run " : "runs ") + listed(names) + " of ";
    }
    text += "'" + directory_ + "'";
    return others.empty() ? text : text + ", but " + listed(others, others.size());
  }

  History history() const noexcept { return history_ == "all" ? History::all : History::newest; }

  Status write_rows(const ExportKind& kind, const std::vector<SelectedRun>& selected, std::uint64_t points) {
    Result<std::unique_ptr<TableWriter>> opened =
        open_table({.format = format_, .path = output_, .table = std::string(kind.name)}, columns_of(kind.kind));
    if (!opened) return opened.error();
    TableWriter& table = **opened;
    Status status =
        kind.kind == TagKind::scalars ? write_scalars(table, selected, points) : write_tensors(table, selected, points);
    if (status) status = table.finish();
    return table.reader_left() ? Status::success() : status;
  }

  Status write_scalars(TableWriter& table, const std::vector<SelectedRun>& selected, std::uint64_t points) const {
    ScalarPieces pieces(selected, points, history());
    return table.rows([&](ScalarPiece& piece) { return pieces.next(piece); });
  }

  Status write_tensors(TableWriter& table, const std::vector<SelectedRun>& selected, std::uint64_t points) {
    return each_tag(selected, points, [&](const Run& run, const Tag& tag) {
      table.series(run.name(), tag.name);
      return each_value(run, tag, [&](const ValueRef& value) {
        if (tag.kind == TagKind::statistics) {
          const Result<TensorStatistics> statistics = run.statistics(value);
          if (statistics) return put_statistics(table, *statistics);
          skip(run, tag, value, statistics.error());
        } else {
          const Result<std::vector<Bucket>> buckets = run.histogram(value);
          if (buckets) return put_histogram(table, value, *buckets);
          skip(run, tag, value, buckets.error());
        }
        return Status::success();
      });
    });
  }

  Status write_files(const std::vector<SelectedRun>& selected, std::uint64_t points) {
    const Result<std::unique_ptr<MediaFiles>> files = MediaFiles::create(output_);
    if (!files) return files.error();
    Status status = each_tag(selected, points, [&](const Run& run, const Tag& tag) {
      return each_value(run, tag, [&](const ValueRef& value) {
        Status added = (*files)->add(run, tag, value);
        if (added.code() != Code::corrupt) return added;
        skip(run, tag, value, added);
        return Status::success();
      });
    });
    return status ? (*files)->finish() : status;
  }

  // A value that cannot be decoded costs itself only.
  void skip(const Run& run, const Tag& tag, const ValueRef& value, const Status& why) {
    if (skipped_++ > 0) return;
    first_skipped_.append("'").append(render::printable(tag.name)).append("' of run '");
    first_skipped_.append(render::printable(run.name())).append("' at step ").append(std::to_string(value.step));
    first_skipped_.append(" (").append(why.message()).append(")");
  }
  int report_skipped() const {
    if (skipped_ == 0) return kSuccess;
    return fail("left out " + counted(skipped_, "value") + " that cannot be read, first " + first_skipped_);
  }

  template <class Write>
  Status each_value(const Run& run, const Tag& tag, Write&& write) const {
    const Result<std::vector<ValueRef>> values = run.values(tag.name, tag.kind, {}, history());
    if (!values) return values.error();
    for (const ValueRef& value : *values) {
      if (Status status = not_interrupted(); !status) return status;
      if (Status status = write(value); !status) return status;
    }
    return Status::success();
  }

  template <class Write>
  static Status each_tag(const std::vector<SelectedRun>& selected, std::uint64_t points, Write&& write) {
    Progress progress("exporting");
    std::uint64_t done = 0;
    for (const SelectedRun& one : selected) {
      for (const Tag& tag : one.tags) {
        if (Status status = write(one.run, tag); !status) return status;
        progress.update(done += tag.points, points);
      }
    }
    return Status::success();
  }

  std::string directory_;
  std::string kind_ = "scalars";
  std::string format_ = "csv";
  std::string history_ = "newest";
  std::string output_;
  Selector runs_{"--runs", "run"};
  Selector tags_{"--tags", "tag"};
  std::uint64_t skipped_ = 0;
  std::string first_skipped_;
};

}  // namespace

std::unique_ptr<Subcommand> make_export_command() { return std::make_unique<Export>(); }

}  // namespace sonde::cli
