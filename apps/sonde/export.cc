// sonde export: writes the content of a log directory for other programs.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "export_rows.h"
#include "formats/graph_def.h"
#include "formats/graph_text.h"
#include "formats/hparams.h"
#include "formats/shortest.h"
#include "interrupt.h"
#include "media_files.h"
#include "plugin_text.h"
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
  std::string_view name;  // as in --kind, and the table's name in a database
  TagKind kind;
  std::string_view formats;  // the first one is the default; none: writes files, and a list of them
};
constexpr std::string_view kRows = "csv jsonl sqlite";
constexpr std::array kKinds = {
    ExportKind{"scalars", TagKind::scalars, kRows},
    ExportKind{"statistics", TagKind::statistics, kRows},
    ExportKind{"histograms", TagKind::histograms, kRows},
    ExportKind{"tensors", TagKind::tensors, kRows},
    ExportKind{"pr_curves", TagKind::pr_curves, kRows},
    ExportKind{"hparams", TagKind::hparams, kRows},
    ExportKind{"graphs", TagKind::graphs, "csv jsonl sqlite json pb pbtxt"},
    ExportKind{"images", TagKind::images, ""},
    ExportKind{"audio", TagKind::audio, ""},
    ExportKind{"text", TagKind::text, ""},
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// Whether a value cannot be decoded, or has another kind than its tag says: only this value is lost.
bool is_unreadable(const Status& status) noexcept {
  return status.code() == Code::corrupt || status.code() == Code::unsupported ||
         status.code() == Code::invalid_argument;
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
      single_ = formats::all_single(scalars_->values);
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

class Export final : public Subcommand {
 public:
  Export()
      : Subcommand(
            {.name = "export",
             .usage = "export LOGDIR [options]",
             .summary = "write a log as CSV, JSON lines, a database or files",
             .details =
                 "Scalars, statistics, histograms, tensors, PR curves and graphs become rows that begin with "
                 "run, tag, step and wall_time (seconds since 1970): one row for each point, bucket of a "
                 "histogram, threshold of a curve, node of a graph and element of a tensor; in JSON lines "
                 "a tensor is one row. For hyper-parameters a row has run, hparam and value. Images, audio and "
                 "text become files in the folder that -o names, RUN/TAG/STEP.png and so on, with a list of "
                 "them in manifest.csv; so do graphs with --format json, or pb, which is a GraphDef, or pbtxt, the "
                 "same in protobuf's text format. Tensors "
                 "that were kept whole are files already, RUN/tensors.\n"
                 "Numbers have as many digits as are needed to restore the recorded value: 0.1 for the nearest "
                 "float32, in CSV, in JSON, and in SQLite, where a REAL is the double nearest to 0.1. NaN and "
                 "infinities are NaN, Infinity and -Infinity: in JSON as strings, in SQLite NaN is NULL.",
             .examples = {"sonde export logs > scalars.csv", "sonde export logs --tags '.*loss' --format jsonl",
                          "sonde export logs --kind statistics --format sqlite -o stats.db",
                          "sonde export logs --kind hparams", "sonde export logs --kind images -o pictures",
                          "sonde export logs --kind graphs --format pb -o graphs"}}) {}

  void setup(Flags& flags) override {
    std::vector<std::string> kinds;
    kinds.reserve(std::size(kKinds));
    for (const ExportKind& kind : kKinds) kinds.emplace_back(kind.name);
    flags.argument(directory_, "LOGDIR", "a directory with runs");
    const std::string help = "what to export: " + base::enumerated(kinds) + " (scalars)";
    flags.choice(kind_, "--kind", std::move(kinds), help, "KIND");
    flags.choice(format_, "--format", {"csv", "jsonl", "sqlite", "json", "pb", "pbtxt"},
                 "the format of rows (csv); json, pb and pbtxt are for graphs");
    flags.option(runs_.pattern(), "--runs", "RE", "the run of this name, or those that match (all)");
    flags.option(tags_.pattern(), "--tags", "RE", "the tag of this name, or those that match (all)");
    flags.choice(history_, "--history", {"newest", "all"}, "all: also the points that a restart replaced (newest)");
    flags.path_option(output_, "-o,--output", "FILE", "where to write; the folder for files (standard output)");
    flags.toggle(force_, "--force", "replace the file given with -o if it exists");
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
    Result<std::vector<SelectedRun>> selected = select(*runs, tags_, kind.kind);
    if (!selected) {
      report_unreadable(*log, *runs);
      return fail(selected.error());
    }
    if (kind.kind == TagKind::graphs) leave_out_metadata(*selected);
    std::uint64_t points = 0;
    for (const SelectedRun& one : *selected) {
      for (const Tag& tag : one.tags) points += tag.points;
    }
    if (points == 0) {
      report_unreadable(*log, *runs);
      report_damage(*log, *runs);
      return fail(nothing_of(kind, *runs));
    }
    Status status = writes_files(kind) ? write_files(*selected, points) : write_rows(kind, *selected, points);
    if (!status) return fail(status);
    report_damage(*log, *runs);
    if (unknown_fields_ > 0) {
      note("left out " + counted(unknown_fields_, "field") +
           " of graphs whose names this version does not know: the files say where; --format pb has all");
    }
    const int skipped = report_skipped();
    return std::max(skipped, report_unreadable(*log, *runs));
  }

 private:
  bool writes_files(const ExportKind& kind) const {
    return kind.formats.empty() || format_ == "json" || format_ == "pb" || format_ == "pbtxt";
  }

  Status check_output(const ExportKind& kind) {
    const std::vector<std::string> formats = words_of(kind.formats);
    if (!formats.empty() && format_.empty()) format_ = formats.front();
    const bool known = formats.empty() ? format_.empty() || format_ == "csv" : std::ranges::count(formats, format_) > 0;
    if (!known) {
      return {Code::invalid_argument,
              "--kind " + kind_ + " cannot be written as " + format_ +
                  (formats.empty() ? ": it writes files and a list of them in CSV, omit --format"
                                   : ": --format is one of " + base::enumerated(formats))};
    }
    if (kind.kind == TagKind::hparams && !tags_.pattern().empty()) {
      return {Code::invalid_argument, "hyper-parameters have no tags: omit --tags"};
    }
    if (!writes_files(kind)) return Status::success();
    if (force_) return {Code::invalid_argument, "--force is for a file, and a folder is never replaced: omit it"};
    if (!output_.empty()) return Status::success();
    const std::string what = kind.formats.empty() ? "--kind " + kind_ : "--kind " + kind_ + " --format " + format_;
    return {Code::invalid_argument, what + " writes files: name the folder for them with -o"};
  }

  // Tags of the graph plugins that do not hold a graph of operations.
  static void leave_out_metadata(std::vector<SelectedRun>& selected) {
    std::vector<std::string> names;
    for (SelectedRun& one : selected) {
      std::erase_if(one.tags, [&](const Tag& tag) {
        if (tag.plugin == "graphs") return false;
        names.push_back(tag.name);
        return true;
      });
    }
    if (!names.empty())
      note("only graphs of operations are exported, not run metadata and Keras models: " + listed(names));
  }

  static void report_damage(const Log& log, const std::vector<Run>& runs) {
    if (const std::string damage = damage_text(log, runs); !damage.empty()) note(damage);
  }

  // The message for runs that lack the requested kind, with the kinds that exist.
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
        open_table({.format = format_,
                    .path = output_,
                    .table = std::string(kind.name),
                    .key = kind.kind == TagKind::hparams ? "hparam" : "tag",
                    .existing = force_ ? Existing::replace : Existing::refuse},
                   columns_of(kind.kind, format_));
    if (!opened) return opened.error();
    TableWriter& table = **opened;
    Status status = kind.kind == TagKind::scalars   ? write_scalars(table, selected, points)
                    : kind.kind == TagKind::hparams ? write_hparams(table, selected)
                                                    : write_values(table, selected, points);
    if (status) status = table.finish();
    return table.reader_left() ? Status::success() : status;
  }

  Status write_scalars(TableWriter& table, const std::vector<SelectedRun>& selected, std::uint64_t points) const {
    ScalarPieces pieces(selected, points, history());
    return table.rows([&](ScalarPiece& piece) { return pieces.next(piece); });
  }

  Status write_values(TableWriter& table, const std::vector<SelectedRun>& selected, std::uint64_t points) {
    return each_tag(selected, points, [&](const Run& run, const Tag& tag) {
      table.series(run.name(), tag.name);
      return each_value(run, tag, [&](const ValueRef& value) {
        Status status = write_value(table, run, tag, value);
        if (!is_unreadable(status)) return status;
        skip(run, tag, value, status);
        return Status::success();
      });
    });
  }

  Status write_value(TableWriter& table, const Run& run, const Tag& tag, const ValueRef& value) const {
    switch (tag.kind) {
      case TagKind::statistics: {
        const Result<TensorStatistics> statistics = run.statistics(value);
        return statistics ? put_statistics(table, *statistics) : statistics.error();
      }
      case TagKind::pr_curves: {
        const Result<Tensor> tensor = run.tensor(value);
        if (!tensor) return tensor.error();
        const Result<PrCurve> curve = pr_curve_of(tensor->view());
        return curve ? put_pr_curve(table, value, *curve) : curve.error();
      }
      case TagKind::tensors: {
        const Result<Tensor> tensor = run.tensor(value);
        return tensor ? put_tensor(table, format_, value, tensor->view()) : tensor.error();
      }
      case TagKind::graphs: {
        const Result<std::string> graph = run.graph(value);
        if (!graph) return graph.error();
        const Result<std::vector<formats::NodeInfo>> nodes = formats::decode_graph_def(base::as_bytes(*graph));
        return nodes ? put_graph(table, value, *nodes) : nodes.error();
      }
      default: {
        const Result<std::vector<Bucket>> buckets = run.histogram(value);
        return buckets ? put_histogram(table, value, *buckets) : buckets.error();
      }
    }
  }

  // One row per hyper-parameter of a run, with the group of the run and how it ended.
  Status write_hparams(TableWriter& table, const std::vector<SelectedRun>& selected) {
    for (const SelectedRun& one : selected) {
      hparams::SessionStart start;
      std::string_view status;
      for (const Tag& tag : one.tags) {
        const Result<hparams::Content> content = hparams::decode(tag.plugin_content);
        if (!content) {
          skip(one.run, tag, {}, content.error());
          continue;
        }
        if (content->start) start = *content->start;
        if (content->end) status = hparams::status_text(content->end->status);
      }
      for (const auto& [name, value] : start.hparams) {
        table.series(one.run.name(), name);
        const auto* const number = std::get_if<double>(&value);
        const auto* const truth = std::get_if<bool>(&value);
        const std::string text = base::valid_utf8(value_text(value));
        const Cell cell = number != nullptr  ? Cell::of_real(*number)
                          : truth != nullptr ? Cell::of_truth(*truth)
                                             : Cell::of_text(text);
        const std::string group = base::valid_utf8(start.group);
        if (Status written = table.row(std::array{cell, Cell::of_text(group), Cell::of_text(status)}); !written) {
          return written;
        }
      }
    }
    return Status::success();
  }

  Status write_files(const std::vector<SelectedRun>& selected, std::uint64_t points) {
    const Result<std::unique_ptr<MediaFiles>> files = MediaFiles::create(output_);
    if (!files) return files.error();
    Status status = each_tag(selected, points, [&](const Run& run, const Tag& tag) {
      return each_value(run, tag, [&](const ValueRef& value) {
        Status added =
            tag.kind == TagKind::graphs ? add_graph(**files, run, tag, value) : (*files)->add(run, tag, value);
        if (!is_unreadable(added)) return added;
        skip(run, tag, value, added);
        return Status::success();
      });
    });
    return status ? (*files)->finish() : status;
  }

  Status add_graph(MediaFiles& files, const Run& run, const Tag& tag, const ValueRef& value) {
    const Result<std::string> graph = run.graph(value);
    if (!graph) return graph.error();
    if (format_ == "pb") return files.add(run, tag, value, *graph, "pb");
    if (format_ == "pbtxt") {
      const Result<formats::GraphText> text = formats::graph_def_text(base::as_bytes(*graph));
      if (!text) return text.error();
      unknown_fields_ += text->unknown_fields;
      return files.add(run, tag, value, text->text, "pbtxt");
    }
    const Result<std::vector<formats::NodeInfo>> nodes = formats::decode_graph_def(base::as_bytes(*graph));
    if (!nodes) return nodes.error();
    return files.add(run, tag, value, json_graph(*nodes), "json");
  }

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
  std::string format_;  // empty: the default of the kind
  std::string history_ = "newest";
  std::string output_;
  bool force_ = false;
  Selector runs_{"--runs", "run"};
  Selector tags_{"--tags", "tag"};
  std::uint64_t skipped_ = 0;
  std::uint64_t unknown_fields_ = 0;  // of graphs
  std::string first_skipped_;
};

}  // namespace

std::unique_ptr<Subcommand> make_export_command() { return std::make_unique<Export>(); }

}  // namespace sonde::cli
