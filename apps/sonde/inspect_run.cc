#include "inspect_run.h"

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "inspect_passes.h"
#include "interrupt.h"
#include "progress.h"

namespace sonde::cli {
namespace {

// Formats that order the axes of pictures as batch, height, width, channels.
bool has_channels_last(const std::string& format) {
  return format == "saved_model" || format == "frozen_graph" || format == "tflite" || format == "keras";
}

class Runner {
 public:
  explicit Runner(InspectRequest request) : request_(std::move(request)) {}

  Result<Inspection> run() {
    // A measured pass runs alone.
    if (!request_.options.profile) request_.options.kept_runs = PassReader::kKeptRuns;
    Result<std::unique_ptr<inspect::Runtime>> opened = inspect::open_model(request_.model, request_.options);
    if (!opened) return opened.error();
    made_.runtime = *std::move(opened);
    auto layers = inspect::select_layers(model(), request_.selection);
    if (!layers) return layers.error();
    chosen_ = *std::move(layers);
    auto source = inspect::InputSource::open(model(), request_.inputs);
    if (!source) return source.error();
    if (Status created = create_files(source->batches()); !created) return created;
    if (Status placed = place_taps(); !placed) return placed;
    if (Status ran = run_passes(*source); !ran) return ran;
    if (files_) {
      if (Status finished = files_->finish(); !finished) return finished;
    }
    if (Status checked = look_again(*source); !checked) return checked;
    return std::move(made_);
  }

 private:
  const inspect::Description& model() const { return made_.runtime->description(); }
  inspect::Runtime& runtime() const { return *made_.runtime; }

  Status create_files(std::size_t passes) {
    if (request_.save.folder.empty()) return {};
    request_.save.several = passes > 1;
    request_.save.channels_last = has_channels_last(model().format);
    Result<std::unique_ptr<LayerFiles>> created = LayerFiles::create(request_.save);
    if (!created) return created.error();
    files_ = *std::move(created);
    return {};
  }

  // Selects the layers in the runtime, except those that it would have to split a fusion for.
  Status place_taps() {
    for (const std::int64_t index : chosen_) {
      LayerReport& report = made_.reports.emplace_back();
      report.layer = &model().layers[static_cast<std::size_t>(index)];
    }
    const bool safe = request_.taps == "safe" || (request_.taps.empty() && request_.selection.empty());
    if (safe || request_.taps == "all") {
      Result<std::vector<std::int64_t>> fusions = runtime().fusions();
      // A runtime that does not tell is asked for all of them.
      if (!fusions && fusions.error().code() != Code::unsupported) return fusions.error();
      if (fusions) fusions_ = *std::move(fusions);
    }
    for (LayerReport& report : made_.reports) {
      const inspect::Layer& layer = *report.layer;
      const std::int64_t into = fusions_.empty() ? layer.index : fusions_[static_cast<std::size_t>(layer.index)];
      if (safe && into != layer.index) {
        report.missing = runtime().info().name + " computes it within '" +
                         model().layers[static_cast<std::size_t>(into)].value.name + "'; --taps all shows it";
        continue;
      }
      if (into != layer.index) ++split_;
      taps_.push_back(layer.index);
      tapped_.push_back(&report);
    }
    return runtime().select(taps_);
  }

  Status run_passes(const inspect::InputSource& source) {
    PassReader reader({files_.get(), request_.print, has_channels_last(model().format)});
    Progress progress("running the model");
    for (std::size_t i = 0; i < source.batches(); ++i) {
      progress.update(i, source.batches());
      if (Status status = not_interrupted(); !status) return status;
      const Result<inspect::InputBatch> batch = source.load(i);
      if (!batch) return batch.error();
      if (Status ran = run_pass(*batch, reader); !ran) return ran;
    }
    made_.passes = source.batches();
    return reader.finish();
  }

  Status run_pass(const inspect::InputBatch& batch, PassReader& reader) {
    if (Status added = add_inputs(batch); !added) return added;
    // The first run of a shape also prepares memory, which is not the model's own time.
    if (request_.options.profile) {
      if (Status warmed = runtime().run(batch.views(), {}, {}); !warmed) return warmed;
    }
    reader.begin(batch.name());
    std::size_t next = 0;
    const auto take = [&](const inspect::Output& output) -> Status { return reader.take(*tapped_[next++], output); };
    if (Status ran = runtime().run(batch.views(), take, {}); !ran) return ran;
    if (request_.options.profile) {
      if (Status timed = add_times(); !timed) return timed;
    }
    return reader.end();
  }

  Status add_inputs(const inspect::InputBatch& batch) {
    for (const NamedView& view : batch.views()) {
      auto found = std::ranges::find(made_.inputs, view.name, &InputReport::name);
      if (found == made_.inputs.end()) found = made_.inputs.insert(found, InputReport{std::string(view.name), {}});
      const Result<stats::Summary> summary = stats::summarize(view.tensor);
      if (summary) found->summary.merge(*summary);  // complex numbers have none
    }
    return {};
  }

  Status add_times() {
    Result<std::vector<inspect::LayerTime>> times = runtime().times();
    if (!times) return times.error();
    for (inspect::LayerTime& time : *times) {
      const auto found = std::ranges::find(made_.times, time.name, &inspect::LayerTime::name);
      if (found == made_.times.end()) {
        made_.times.push_back(std::move(time));
      } else {
        found->nanoseconds += time.nanoseconds;
      }
    }
    return {};
  }

  // What needs further runs.
  Status look_again(const inspect::InputSource& source) {
    const bool measure = request_.taps == "all" && !fusions_.empty();
    if (!request_.verify && !measure) return {};
    const Result<inspect::InputBatch> batch = source.load(0);
    if (!batch) return batch.error();
    if (measure) {
      TapCost cost{split_, 0, 0};
      if (Status timed = time_passes(*batch, cost.tapped_seconds); !timed) return timed;
      if (Status none = runtime().select({}); !none) return none;
      if (Status timed = time_passes(*batch, cost.plain_seconds); !timed) return timed;
      made_.cost = cost;
    }
    return request_.verify ? verify(source) : Status::success();
  }

  Status verify(const inspect::InputSource& source) {
    Progress progress("verifying");
    for (std::size_t i = 0; i < source.batches(); ++i) {
      progress.update(i, source.batches());
      if (Status status = not_interrupted(); !status) return status;
      const Result<inspect::InputBatch> batch = source.load(i);
      if (!batch) return batch.error();
      Result<inspect::Verification> verified = inspect::verify(runtime(), request_.options, taps_, batch->views());
      if (!verified) return verified.error();
      if (made_.verification) {
        made_.verification->merge(*verified);
      } else {
        made_.verification = *std::move(verified);
      }
    }
    return {};
  }

  // The fastest of a few.
  Status time_passes(const inspect::InputBatch& batch, double& seconds) const {
    seconds = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t begin = base::monotonic_nanoseconds();
      if (Status ran = runtime().run(batch.views(), {}, {}); !ran) return ran;
      seconds = std::min(seconds, static_cast<double>(base::monotonic_nanoseconds() - begin) * 1e-9);
    }
    return {};
  }

  InspectRequest request_;
  Inspection made_;
  std::vector<std::int64_t> chosen_;
  std::vector<std::int64_t> fusions_;  // empty: not known
  std::vector<std::int64_t> taps_;     // what the runtime is asked for
  std::vector<LayerReport*> tapped_;   // their reports
  std::size_t split_ = 0;
  std::unique_ptr<LayerFiles> files_;
};

}  // namespace

Result<Inspection> run_inspection(InspectRequest request) { return Runner(std::move(request)).run(); }

}  // namespace sonde::cli
