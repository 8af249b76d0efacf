#include "show_recorded.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "bars.h"
#include "base/file.h"
#include "base/suggest.h"
#include "csv_text.h"
#include "formats/hparams.h"
#include "formats/json_writer.h"
#include "formats/png.h"
#include "formats/run_layout.h"
#include "formats/shortest.h"
#include "formats/wav.h"
#include "plugin_text.h"
#include "render/array.h"
#include "render/console.h"
#include "sonde/log.h"
#include "sparkline.h"
#include "stats/derived.h"
#include "subcommand.h"
#include "tensor_file.h"
#include "tensor_files/kept_tensors.h"
#include "tensor_text.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

constexpr int kBars = 16;
constexpr double kQuantiles[] = {0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99};

// "steps 0 .. 589"
std::string steps_text(std::int64_t first, std::int64_t last) {
  if (first == last) return "step " + std::to_string(first);
  return "steps " + std::to_string(first) + " .. " + std::to_string(last);
}

std::string labelled(std::string_view label, const std::string& text) {
  return "  " + padded(std::string(label), 9) + "  " + text + "\n";
}

std::string percent_text(std::uint64_t part, std::uint64_t all) {
  if (part == 0 || all == 0) return grouped(part);
  return grouped(part) + " (" + number_text(100 * static_cast<double>(part) / static_cast<double>(all)) + " %)";
}

void put_buckets(formats::JsonWriter& json, const std::vector<Bucket>& buckets) {
  json.list("histogram", buckets,
            [&](const Bucket& one) { json.array().number(one.left).number(one.right).number(one.count).end(); });
}

// "24 x 24 pixels, RGB, 8 bits, 1.2 kB"
std::string image_text(const EncodedImages& images, const std::string& file) {
  const Result<Tensor> picture = png::decode(base::as_bytes(file));
  const std::string size = std::to_string(images.width) + " x " + std::to_string(images.height) + " pixels";
  return (picture ? pixels_text(picture->view()) : size) + ", " + size_text(file.size());
}

class Recorded {
 public:
  explicit Recorded(const RecordedRequest& request) : request_(request) {}

  int run() {
    Result<Log> log = Log::open(request_.directory);
    if (!log) return fail(log.error());
    Result<Run> run = log->run(request_.run);
    if (!run) return fail(run.error());
    run_ = *std::move(run);
    kept_.emplace(run_->directory(), "", [](const Status& status) { note(status.message()); });
    for (Tag& tag : run_->tags()) {
      if (tag.name == request_.tag && tag.points > 0) tags_.push_back(std::move(tag));
    }
    json_.object().key("run").text(run_->name()).key("tag").text(request_.tag).key("values").array();
    const Status status = collect();
    if (!status) return fail(status);
    if (request_.json) {
      print(json_.end().end().take() + "\n");
    } else {
      print_text();
    }
    return kSuccess;
  }

 private:
  bool at_last_step() const noexcept { return request_.step == kLastStep; }
  bool wants_picture() const noexcept { return !request_.picture.path.empty(); }

  // ---- Collecting the data.

  // Fills sections_ and json_, and draws the picture if one is wanted.
  Status collect() {
    std::optional<tensor_files::KeptTensor> whole =
        kept_->last(request_.tag, at_last_step() ? std::nullopt : std::optional(request_.step));
    if (tags_.empty() && !whole) {
      const std::vector<std::string> tables = chosen_tables();
      if (!tables.empty()) return add_tables(tables);
      if (at_last_step() || !kept_->last(request_.tag)) return no_such_tag();
      return no_such_step();
    }
    choose_step(whole);
    for (const Tag& tag : tags_) {
      if (Status status = add(tag); !status) return status;
    }
    if (whole && step_ && whole->step == *step_) {
      if (Status status = add(*whole); !status) return status;
    } else if (whole) {
      kept_elsewhere_ = whole->step;
    }
    if (sections_.empty()) return no_such_step();
    if (wants_picture() && drawn_.empty()) return no_picture();
    return Status::success();
  }

  // Tables of the run: the one with the path that 'sonde ls' lists, or all that were recorded under a name.
  std::vector<std::string> chosen_tables() const {
    const std::vector<std::string> paths = tensor_files::table_paths(run_->directory());
    const std::string& name = request_.tag;
    for (const std::string& exact : {name, base::join_path(run_layout::kTables, name)}) {
      if (std::ranges::count(paths, exact) > 0) return {exact};
    }
    std::vector<std::string> found;
    for (const std::string& begin : {name + ".", base::join_path(run_layout::kTables, name) + "."}) {
      for (const std::string& path : paths) {
        if (path.starts_with(begin)) found.push_back(path);
      }
    }
    return found;
  }

  Status add_tables(const std::vector<std::string>& paths) {
    if (wants_picture()) {
      return {Code::unsupported, "'" + render::printable(request_.tag) + "' is a table, which cannot be drawn"};
    }
    std::uint64_t rows = 0;
    for (const std::string& path : paths) {
      CsvRequest request = {
          .rows = static_cast<std::uint64_t>(request_.rows), .full = request_.full, .step = {}, .name = path};
      if (!at_last_step()) request.step = request_.step;
      json_.object().key("kind").text("table").key("file").text(path);
      const Result<CsvText> table = show_csv(base::join_path(run_->directory(), path), request, json_);
      if (!table) return table.error();
      json_.end();
      rows += table->rows;
      sections_.push_back(table->text);
    }
    if (rows > 0 || at_last_step()) return Status::success();
    return {Code::not_found,
            "the table '" + render::printable(request_.tag) + "' has no row of step " + std::to_string(request_.step)};
  }

  // The step at which everything except scalars is shown; unset if there is nothing else.
  void choose_step(const std::optional<tensor_files::KeptTensor>& whole) {
    if (!at_last_step()) {
      step_ = request_.step;
      return;
    }
    for (const Tag& tag : tags_) {
      if (tag.kind != TagKind::scalars) step_ = std::max(step_.value_or(tag.last_step), tag.last_step);
    }
    // A picture shows the last step at which there is something to draw.
    if (whole && (!step_ || whole->step > *step_ || wants_picture())) step_ = whole->step;
  }

  Status no_such_tag() const {
    std::vector<std::string> names = kept_->tags();
    for (const Tag& tag : run_->tags()) names.push_back(tag.name);
    for (const std::string& path : tensor_files::table_paths(run_->directory())) names.push_back(path);
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    std::string hint = base::did_you_mean(request_.tag, names);
    if (hint.empty()) hint = names.empty() ? "; it has none yet" : base::nearest(request_.tag, names);
    return {Code::not_found,
            "there is no tag '" + render::printable(request_.tag) + "' in run '" + run_->name() + "'" + hint};
  }

  Status no_such_step() const {
    std::set<std::int64_t> steps;
    for (const Tag& tag : tags_) {
      if (tag.kind == TagKind::scalars) {
        if (const Result<Scalars> all = run_->scalars(tag.name)) steps.insert(all->steps.begin(), all->steps.end());
      } else if (const Result<std::vector<ValueRef>> all = run_->values(tag.name, tag.kind)) {
        for (const ValueRef& value : *all) steps.insert(value.step);
      }
    }
    for (const std::int64_t step : kept_->steps(request_.tag)) steps.insert(step);
    std::string hint;
    if (!steps.empty()) {
      const auto after = steps.lower_bound(request_.step);
      std::vector<std::string> near;
      if (after != steps.begin()) near.push_back(std::to_string(*std::prev(after)));
      if (after != steps.end()) near.push_back(std::to_string(*after));
      hint = near.size() == 2 ? "; the nearest steps are " + near[0] + " and " + near[1]
                              : "; the nearest step is " + near[0];
    }
    return {Code::not_found, "nothing was recorded of '" + render::printable(request_.tag) + "' in run '" +
                                 run_->name() + "' at step " + std::to_string(request_.step) + hint};
  }

  Status no_picture() const {
    return {Code::unsupported, "the recorded data of '" + render::printable(request_.tag) + "'" +
                                   (step_ ? " at step " + std::to_string(*step_) : "") +
                                   " cannot be drawn: only images can, and tensors that were kept whole"};
  }

  // ---- Each kind: lines for people, and a JSON object.

  // The first members of every JSON object.
  formats::JsonWriter& begin_json(std::string_view kind, std::int64_t step) {
    return json_.object().key("kind").text(kind).key("step").integer(step);
  }

  Status add(const Tag& tag) {
    if (tag.kind == TagKind::scalars) return at_last_step() ? add_course(tag) : add_point(tag);
    const Result<std::vector<ValueRef>> values =
        run_->values(tag.name, tag.kind, {.first_step = *step_, .last_step = *step_});
    if (!values) return values.error();
    if (values->empty()) return Status::success();
    const ValueRef& value = values->back();
    wall_time_ = value.wall_time;
    switch (tag.kind) {
      case TagKind::statistics: return add_statistics(value);
      case TagKind::histograms: return add_histogram(value);
      case TagKind::images: return add_images(value);
      case TagKind::audio: return add_audio(value);
      case TagKind::text: return add_text(value);
      case TagKind::pr_curves: return add_pr_curve(value);
      case TagKind::hparams: return add_hparams(tag);
      case TagKind::mesh:
      case TagKind::tensors: return add_tensor(tag, value);
      default:
        return {Code::unsupported, "'" + render::printable(tag.name) + "' holds " + std::string(to_string(tag.kind)) +
                                       ", which this command cannot show: TensorBoard can"};
    }
  }

  Status add_course(const Tag& tag) {
    const Result<Scalars> all = run_->scalars(tag.name);
    if (!all) return all.error();
    std::size_t finite = 0;
    std::size_t least = 0;
    std::size_t most = 0;
    for (std::size_t i = 0; i < all->size(); ++i) {
      if (!std::isfinite(all->values[i])) continue;
      if (finite == 0 || all->values[i] < all->values[least]) least = i;
      if (finite == 0 || all->values[i] > all->values[most]) most = i;
      ++finite;
    }
    const bool single = formats::all_single(all->values);
    const auto text = [&](double value) { return exact_text(value, single); };
    const auto exact = [&](double value) { return single ? formats::shortest_double(value) : value; };
    const auto at = [&](std::size_t i) { return text(all->values[i]) + " at step " + std::to_string(all->steps[i]); };
    std::string section =
        labelled("points", grouped(all->size()) + ", " + steps_text(all->steps.front(), all->steps.back())) +
        labelled("first", text(all->values.front())) + labelled("last", text(all->values.back()));
    if (finite > 0) section += labelled("min", at(least)) + labelled("max", at(most));
    if (finite < all->size()) {
      section +=
          labelled("nonfinite", styled(percent_text(all->size() - finite, all->size()), Style::red, style_.color));
    }
    constexpr int kLine = 60;
    if (const Result<Drawing> drawing = run_->draw(tag.name, kLine); drawing && all->size() > 1) {
      section += "\n  " + styled(sparkline(*drawing, kLine, style_.glyphs), Style::cyan, style_.color) + "\n";
    }
    const double none = std::numeric_limits<double>::quiet_NaN();
    json_.object().key("kind").text("scalars").key("points").integer(all->size());
    json_.key("first_step").integer(all->steps.front()).key("last_step").integer(all->steps.back());
    json_.key("first").number(exact(all->values.front())).key("last").number(exact(all->values.back()));
    json_.key("min").number(finite > 0 ? exact(all->values[least]) : none);
    json_.key("max").number(finite > 0 ? exact(all->values[most]) : none);
    json_.key("nonfinite").integer(all->size() - finite).end();
    sections_.push_back(std::move(section));
    return Status::success();
  }

  Status add_point(const Tag& tag) {
    const Result<Scalars> all = run_->scalars(tag.name);
    if (!all) return all.error();
    const auto after = std::ranges::upper_bound(all->steps, request_.step);
    if (after == all->steps.begin() || *std::prev(after) != request_.step) return Status::success();
    const auto at = static_cast<std::size_t>(after - all->steps.begin()) - 1;
    wall_time_ = all->wall_times[at];
    const double value = all->values[at];
    const bool single = formats::all_single(all->values);
    const Style style = std::isfinite(value) ? Style::plain : Style::red;
    sections_.push_back(labelled("value", styled(exact_text(value, single), style, style_.color)));
    begin_json("scalars", request_.step).key("value").number(single ? formats::shortest_double(value) : value).end();
    return Status::success();
  }

  Status add_statistics(const ValueRef& value) {
    const Result<TensorStatistics> known = run_->statistics(value);
    if (!known) return known.error();
    const stats::Summary summary = summary_of(*known);
    const stats::Histogram histogram = histogram_of(*known);
    const bool binned = !known->histogram.empty();
    std::string section =
        labelled("type", styled(render::type_text(known->dtype, known->shape), Style::cyan, style_.color) + ", " +
                             counted(known->count, "value"));
    const std::string nonfinite = render::nonfinite_text(summary);
    section += labelled("nonfinite", nonfinite.empty() ? "none" : styled(nonfinite, Style::red, style_.color));
    section += labelled("zero", percent_text(known->zeros, known->count)) +
               labelled("negative", percent_text(known->negatives, known->count));
    begin_json("statistics", known->step).key("dtype").text(sonde::to_string(known->dtype));
    json_.key("shape").shape(known->shape).key("count").integer(known->count);
    put_stats(json_.key("negative").integer(known->negatives).key("stats"), summary);
    const bool varied = known->min < known->max;  // false if nothing is finite
    if (varied) {
      section += labelled("range", number_text(known->min) + " .. " + number_text(known->max)) +
                 labelled("mean", number_text(known->mean) + ", std " + number_text(known->std));
    } else if (summary.finite() > 0) {
      section += labelled("range", "all " + number_text(known->min));
    }
    if (binned && summary.finite() > 0) add_quantiles(summary, histogram, varied, section);
    if (binned) put_buckets(json_, known->histogram);
    json_.end();
    if (!binned && varied) section += "  no histogram was recorded\n";
    if (binned && varied) {
      std::vector<Bucket> equal;
      for (const stats::Bucket& one : stats::tensorboard_buckets(summary, histogram, kBars)) {
        equal.push_back({one.left, one.right, one.count});
      }
      section += "\n" + bars(equal, kBars, style_);
    }
    sections_.push_back(std::move(section));
    return Status::success();
  }

  void add_quantiles(const stats::Summary& summary, const stats::Histogram& histogram, bool for_people,
                     std::string& section) {
    std::string lower;
    std::string upper;
    json_.key("percentiles").object();
    for (const double q : kQuantiles) {
      const double value = stats::percentile(summary, histogram, q);
      const std::string name = std::to_string(std::lround(100 * q));
      std::string& line = q <= 0.5 ? lower : upper;  // together they are too long for a terminal
      line.append(line.empty() ? "" : ", ").append(name).append(" % ").append(number_text(value));
      json_.key(name).number(value);
    }
    json_.end();
    if (for_people) section += labelled("quantiles", lower) + labelled("", upper);
  }

  // As TensorBoard has it; the statistics file has more detail about a tensor.
  Status add_histogram(const ValueRef& value) {
    const bool known_better = std::ranges::any_of(tags_, [&](const Tag& tag) {
      if (tag.kind != TagKind::statistics) return false;
      const auto found = run_->values(tag.name, tag.kind, {.first_step = value.step, .last_step = value.step});
      return found && !found->empty();
    });
    if (known_better) return Status::success();
    const Result<std::vector<Bucket>> buckets = run_->histogram(value);
    if (!buckets) return buckets.error();
    double count = 0;
    double low = std::numeric_limits<double>::quiet_NaN();
    double high = low;
    for (const Bucket& one : *buckets) {
      if (!(one.count > 0)) continue;
      if (count == 0) low = one.left;
      high = one.right;
      count += one.count;
    }
    const std::string drawn = bars(*buckets, kBars, style_);
    std::string section =
        labelled("count", number_text(count)) +
        (count > 0 ? labelled("range", number_text(low) + " .. " + number_text(high)) + "\n" + drawn : "");
    put_buckets(begin_json("histograms", value.step).key("count").number(count), *buckets);
    json_.end();
    sections_.push_back(std::move(section));
    return Status::success();
  }

  Status add_images(const ValueRef& value) {
    const Result<EncodedImages> images = run_->images(value);
    if (!images) return images.error();
    std::string section;
    begin_json("images", value.step).key("width").integer(images->width).key("height").integer(images->height);
    json_.key("images").array();
    for (const std::string& file : images->files) {
      section += labelled(&file == images->files.data() ? "image" : "", image_text(*images, file));
      json_.object().key("bytes").integer(file.size()).end();
    }
    json_.end().end();
    sections_.push_back(std::move(section));
    if (!wants_picture()) return Status::success();
    for (std::size_t i = 0; i < images->files.size(); ++i) {
      // Several get numbers: a.png, a-1.png, a-2.png.
      std::string path = request_.picture.path;
      const std::size_t dot = path.ends_with(".png") ? path.size() - 4 : path.size();
      if (i > 0) path.insert(dot, "-" + std::to_string(i));
      if (Status status = base::write_file(path, images->files[i]); !status) return status;
      drawn_ += harmless(path) + ": " + size_text(images->files[i].size()) + ", as it was recorded\n";
    }
    return Status::success();
  }

  Status add_audio(const ValueRef& value) {
    const Result<std::vector<AudioClip>> clips = run_->audio(value);
    if (!clips) return clips.error();
    std::string section;
    begin_json("audio", value.step).key("clips").array();
    for (const AudioClip& clip : *clips) {
      std::string text = size_text(clip.file.size());
      json_.object().key("bytes").integer(clip.file.size());
      if (const Result<wav::Sound> sound = wav::decode(base::as_bytes(clip.file)); sound) {
        const TensorView& view = sound->samples.view();
        const double seconds = static_cast<double>(view.shape[0]) / sound->rate;
        const auto channels = static_cast<std::uint64_t>(view.shape[1]);
        text.insert(0, std::to_string(sound->rate) + " Hz, " + counted(channels, "channel") + ", " +
                           number_text(seconds) + " s, " + std::string(sonde::to_string(view.dtype)) + ", ");
        json_.key("rate").integer(sound->rate).key("dtype").text(sonde::to_string(view.dtype));
        json_.key("shape").shape(view.shape);
      }
      json_.key("label").text(clip.label).end();
      section += labelled(&clip == clips->data() ? "audio" : "", text);
      if (!clip.label.empty()) section += labelled("", harmless(clip.label));
    }
    json_.end().end();
    sections_.push_back(std::move(section));
    return Status::success();
  }

  Status add_text(const ValueRef& value) {
    const Result<std::vector<std::string>> texts = run_->text(value);
    if (!texts) return texts.error();
    std::string section;
    for (const std::string& text : *texts) {
      // Lines stay lines; within them nothing reaches the terminal that it would obey.
      for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        if (end > at || end < text.size()) section += harmless(text.substr(at, end - at)) + "\n";
        at = end + 1;
      }
    }
    begin_json("text", value.step).key("texts").texts(*texts).end();
    sections_.push_back(std::move(section));
    return Status::success();
  }

  Status add_pr_curve(const ValueRef& value) {
    const Result<Tensor> tensor = run_->tensor(value);
    if (!tensor) return tensor.error();
    const Result<PrCurve> curve = pr_curve_of(tensor->view());
    if (!curve) return curve.error();
    sections_.push_back(pr_curve_text(*curve, style_));
    put_pr_curve(begin_json("pr_curves", value.step), *curve);
    json_.end();
    return Status::success();
  }

  Status add_hparams(const Tag& tag) {
    const Result<hparams::Content> content = hparams::decode(tag.plugin_content);
    if (!content) return content.error();
    sections_.push_back(hparams_text(*content));
    put_hparams(begin_json("hparams", *step_), *content);
    json_.end();
    return Status::success();
  }

  Status add_tensor(const Tag& tag, const ValueRef& value) {
    const Result<Tensor> tensor = run_->tensor(value);
    if (!tensor) return tensor.error();
    begin_json(to_string(tag.kind), value.step);
    return add_view(tensor->view());
  }

  Status add(const tensor_files::KeptTensor& kept) {
    const Result<TensorFile> file = TensorFile::open(kept.path);
    if (!file) return file.error();
    const auto at = std::ranges::find(file->names(), kept.name) - file->names().begin();
    const Result<LoadedTensor> loaded = file->load(static_cast<std::size_t>(at));
    if (!loaded) return loaded.error();
    begin_json("whole", kept.step).key("file").text(kept.path);
    return add_view(loaded->view);
  }

  // As `sonde show FILE` prints it. Ends the JSON object.
  Status add_view(const TensorView& view) {
    const Result<Described> described = describe(view);
    if (!described) return described.error();
    std::string section =
        tensor_line(render::printable(request_.tag), render::type_text(view.dtype, view.shape), *described, 0, style_);
    if (Status status = put_tensor(json_, view, *described, request_.full); !status) return status;
    json_.end();
    if (wants_picture()) {
      Result<std::string> drawn = write_picture(view, described->summary.value_or(stats::Summary{}), request_.picture);
      if (!drawn) return drawn.error();
      drawn_ += harmless(*drawn) + "\n";
    }
    if (request_.full || !wants_picture()) {
      section +=
          render::numpy_style(view, {.threshold = request_.full ? render::ArrayOptions::kEverything : 1000}) + "\n";
    }
    sections_.push_back(std::move(section));
    return Status::success();
  }

  // ---- Printing.

  void print_text() const {
    std::string heading = styled(render::printable(run_->name()), Style::bold, style_.color) + "  " +
                          styled(render::printable(request_.tag), Style::bold, style_.color);
    if (step_) {
      heading += "  step " + std::to_string(*step_);
      if (wall_time_) heading += styled(", " + time_text(*wall_time_), Style::dim, style_.color);
    }
    print(heading + "\n");
    for (const std::string& section : sections_) {
      print((&section == sections_.data() ? "" : "\n") + section);
    }
    if (kept_elsewhere_) {
      print(styled("  kept whole at step " + std::to_string(*kept_elsewhere_) + ": --step " +
                       std::to_string(*kept_elsewhere_),
                   Style::dim, style_.color) +
            "\n");
    }
    print(drawn_);
  }

  const RecordedRequest& request_;
  const TextStyle style_ = output_style();
  std::optional<Run> run_;
  std::vector<Tag> tags_;  // all tags of this name, of every kind
  std::optional<tensor_files::KeptTensors> kept_;
  std::optional<std::int64_t> step_;
  std::optional<double> wall_time_;             // of that step
  std::vector<std::string> sections_;           // lines for people, of one kind of recording each
  formats::JsonWriter json_;                    // the same for programs
  std::optional<std::int64_t> kept_elsewhere_;  // a step
  std::string drawn_;
};

}  // namespace

int show_recorded(const RecordedRequest& request) { return Recorded(request).run(); }

}  // namespace sonde::cli
