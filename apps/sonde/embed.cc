// sonde embed: points of many features as a map in two or three dimensions.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/directory.h"
#include "base/file.h"
#include "base/process.h"
#include "base/task_pool.h"
#include "embed/embedding.h"
#include "embed/projector.h"
#include "formats/json_writer.h"
#include "interrupt.h"
#include "output.h"
#include "progress.h"
#include "show_recorded.h"
#include "sonde/log.h"
#include "sonde/tensor_io.h"
#include "subcommand.h"
#include "tensor_file.h"
#include "tensor_files/kept_tensors.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

class Embed final : public Subcommand {
 public:
  Embed()
      : Subcommand(
            {.name = "embed",
             .usage = "embed FILE | DIR | LOGDIR RUN TAG [options]",
             .summary = "make a map of points: PCA, t-SNE or UMAP",
             .details =
                 "Reads points, one row each, from npy, npz, safetensors or tsv; from a directory with TensorBoard's "
                 "projector data (projector_config.pbtxt); or from a tensor that a run kept whole. Axes after the "
                 "first are features.\n"
                 "Writes the coordinates to --output: npy, csv or tsv by its name, or, if it ends in a slash, a "
                 "directory of projector data that TensorBoard opens. Without --output, tsv goes to standard output; "
                 "with --json only numbers about the quality do: the share of the variance that PCA explains, the KL "
                 "divergence of t-SNE, and how many of the 12 nearest neighbours in the map are near in the data "
                 "(trustworthiness, 1 is best).\n"
                 "The result is the same for a seed, with any number of threads.",
             .examples = {"sonde embed vectors.npy --method tsne -o map.npy",
                          "sonde embed logs train weight/embedding --method umap --dims 3 -o map.csv",
                          "sonde embed projector --tensor words --method pca --json",
                          "sonde embed model.safetensors --tensor tokens --metric cosine -o projector/"}}) {}

  void setup(Flags& flags) override {
    flags.argument(path_, "FILE", "a file of points, a directory of projector data, or a log directory");
    flags.optional_argument(run_, "RUN", "a run of the log directory; . for the directory itself");
    flags.optional_argument(tag_, "TAG", "a tensor that the run kept whole");
    flags.option(step_, "--step", "N", "the tensor at this step (the last one)");
    flags.option(tensor_, "--tensor", "NAME", "one tensor of the file or of the projector data");
    flags.choice(method_, "--method", {"pca", "tsne", "umap"}, "how the map is made (pca)");
    flags.option(dims_, "--dims", "N", "dimensions of the map: 2 or 3, of PCA any (2)");
    flags.option(perplexity_, "--perplexity", "P", "of t-SNE: about how many neighbours count (30)");
    flags.option(neighbors_, "--neighbors", "N", "of UMAP (15)");
    flags.option(min_distance_, "--min-distance", "D", "of UMAP: how close points may come (0.1)");
    flags.option(iterations_, "--iterations", "N",
                 "of t-SNE (1000) or epochs of UMAP (500, or 200 above 10,000 points)");
    flags.choice(metric_, "--metric", {"euclidean", "cosine"}, "distance of two points (euclidean)");
    flags.option(seed_, "--seed", "N", "of random numbers (1)");
    flags.option(threads_, "--threads", "N", "at most so many threads (all processors)");
    flags.path_option(output_, "-o,--output", "FILE", "coordinates: npy, csv, tsv, or a directory with a slash");
    flags.toggle(json_, "--json", "numbers about the result, for programs");
  }

  int run() override {
    embed::EmbeddingOptions options;
    if (Status status = read_options(options); !status) return fail(status);
    if (Status status = check_output(); !status) return fail(status);
    if (Status status = load(); !status) return fail(status);
    catch_interrupts();
    base::TaskPool pool("sonde-embed", threads());
    const Result<embed::Embedding> made = compute(options, pool);
    end_if_interrupted();
    if (!made) return fail(made.error());
    if (made->perplexity && *made->perplexity < perplexity_) {
      note("the perplexity is " + text_of(*made->perplexity) + ", since there are only " +
           counted(points_.rows, "point"));
    }
    if (Status status = write(*made); !status) return fail(status);
    if (json_) print_json(options, *made);
    return kSuccess;
  }

 private:
  // One more for every kPointsOfAThread: with few points threads wait for each other longer than they work, above all
  // on a busy machine.
  int threads() const {
    const auto asked = static_cast<std::size_t>(threads_ > 0 ? threads_ : base::processor_count());
    return static_cast<int>(std::min(asked, 1 + points_.rows / kPointsOfAThread));
  }

  static std::string text_of(double value) {
    formats::JsonWriter json;
    return json.number(value).take();
  }

  Status read_options(embed::EmbeddingOptions& options) const {
    const auto at_least = [](const char* name, std::int64_t value, std::int64_t least) -> Status {
      if (value >= least) return Status::success();
      return {Code::invalid_argument,
              std::string(name) + " is " + std::to_string(value) + ", but must be at least " + std::to_string(least)};
    };
    if (Status status = at_least("--dims", dims_, 1); !status) return status;
    if (Status status = at_least("--neighbors", neighbors_, 2); !status) return status;
    if (Status status = at_least("--iterations", iterations_, 0); !status) return status;
    if (Status status = at_least("--threads", threads_, 0); !status) return status;
    options.method = method_ == "tsne"   ? embed::Method::tsne
                     : method_ == "umap" ? embed::Method::umap
                                         : embed::Method::pca;
    options.dims = static_cast<std::size_t>(dims_);
    options.perplexity = perplexity_;
    options.neighbors = static_cast<std::size_t>(neighbors_);
    options.min_distance = min_distance_;
    options.iterations = static_cast<std::size_t>(iterations_);
    options.seed = static_cast<std::uint64_t>(seed_);
    options.metric = metric_ == "cosine" ? embed::Metric::cosine : embed::Metric::euclidean;
    if (!json_) options.quality_rows = 0;
    return Status::success();
  }

  Status check_output() const {
    if (output_.empty()) return Status::success();
    if (output_.ends_with('/')) {
      if (!base::file_state(output_)) return Status::success();
      return {Code::invalid_argument, "'" + output_ + "' exists already; name a directory that does not"};
    }
    const std::string extension = fs::path(output_).extension().string();
    if (extension != ".npy" && extension != ".csv" && extension != ".tsv") {
      return {Code::invalid_argument, "'" + output_ + "' is not a name of a result: use .npy, .csv, .tsv, or a " +
                                          "directory, with a slash at its end"};
    }
    return writable_as_file(output_, Existing::replace);
  }

  // ---- Points.

  Status load() {
    if (!run_.empty()) return load_recorded();
    if (step_ != kLastStep) return {Code::invalid_argument, "--step is for log directories, not for '" + path_ + "'"};
    std::error_code error;
    if (fs::is_directory(path_, error)) return load_projector();
    if (path_.ends_with(".tsv")) {
      const Result<std::string> text = base::read_stream(path_, kLargestText);
      if (!text) return text.error();
      return take(embed::parse_tsv_points(*text, path_));
    }
    const Result<TensorFile> file = TensorFile::open(path_);
    if (!file) return file.error();
    const std::vector<std::string>& names = file->names();
    std::size_t index = 0;
    if (!tensor_.empty()) {
      index = static_cast<std::size_t>(std::ranges::find(names, tensor_) - names.begin());
      if (index == names.size()) {
        return {Code::not_found, "there is no tensor '" + tensor_ + "' in '" + path_ + "'; 'sonde show' lists them"};
      }
    } else if (names.size() != 1) {
      return {Code::invalid_argument,
              "'" + path_ + "' holds " + counted(names.size(), "tensor") + ": choose one with --tensor"};
    }
    const Result<LoadedTensor> loaded = file->load(index);
    if (!loaded) return loaded.error();
    return take(embed::points_of(loaded->view, tensor_.empty() ? path_ : tensor_));
  }

  Status load_recorded() {
    if (tag_.empty()) return {Code::invalid_argument, "a TAG is missing after '" + run_ + "'; 'sonde ls' lists them"};
    const Result<Log> log = Log::open(path_);
    if (!log) return log.error();
    const Result<Run> run = log->run(run_);
    if (!run) return run.error();
    const tensor_files::KeptTensors kept(run->directory());
    const auto found = kept.last(tag_, step_ == kLastStep ? std::nullopt : std::optional(step_));
    if (!found) {
      return {Code::not_found, "the run '" + run_ + "' has not kept the tensor '" + tag_ + "' whole" +
                                   (step_ == kLastStep ? "" : " at step " + std::to_string(step_)) +
                                   ": a policy with 'whole' keeps tensors"};
    }
    const Result<sonde::TensorFile> file = sonde::TensorFile::open(found->path);
    if (!file) return file.error();
    const Result<Tensor> tensor = file->load(found->name);
    if (!tensor) return tensor.error();
    return take(embed::points_of(tensor->view(), tag_));
  }

  Status load_projector() {
    if (!base::file_state(base::join_path(path_, embed::kProjectorConfig))) {
      return {Code::not_found, "'" + path_ + "' has no " + std::string(embed::kProjectorConfig) +
                                   "; of a log directory, name a RUN and a TAG too"};
    }
    const Result<embed::ProjectorData> data = embed::ProjectorData::open_directory(path_);
    if (!data) return data.error();
    const Result<const embed::ProjectorEntry*> entry = data->find(tensor_);
    if (!entry) return entry.error();
    if (Status status = take(data->points(**entry)); !status) return status;
    Result<embed::Metadata> metadata = data->metadata(**entry, points_.rows);
    // The map can be made without it.
    if (metadata) {
      metadata_ = *std::move(metadata);
    } else {
      note(metadata.error().message() + ", so that it is left out");
    }
    return Status::success();
  }

  Status take(Result<embed::Matrix> points) {
    if (!points) return points.error();
    points_ = *std::move(points);
    return Status::success();
  }

  Result<embed::Embedding> compute(const embed::EmbeddingOptions& options, base::TaskPool& pool) const {
    Progress progress("embedding " + counted(points_.rows, "point"));
    std::mutex mutex;  // neighbours report from several threads
    return embed::embed_points(points_, options, pool, [&](std::string_view, std::size_t done, std::size_t total) {
      const std::scoped_lock lock(mutex);
      progress.update(done, total);
      return !interrupted();
    });
  }

  // ---- The result.

  Status write(const embed::Embedding& made) const {
    const embed::Matrix& layout = made.layout;
    if (output_.ends_with('/')) return write_projector(layout);
    const bool csv = output_.ends_with(".csv");
    if (output_.ends_with(".npy")) {
      const Shape shape = {static_cast<std::int64_t>(layout.rows), static_cast<std::int64_t>(layout.columns)};
      return save_npy(output_, view(layout.values, shape));
    }
    if (output_.empty() && json_) return Status::success();
    return write_rows(output_, layout, csv ? ',' : '\t', csv);
  }

  static Status write_rows(const std::string& path, const embed::Matrix& layout, char separator, bool header) {
    Result<Output> output = Output::open(path, Existing::replace);
    if (!output) return output.error();
    constexpr const char* kNames[] = {"x", "y", "z"};
    for (std::size_t k = 0; header && k < layout.columns; ++k) {
      if (k > 0) output->buffer() += separator;
      output->buffer() += layout.columns <= 3 ? kNames[k] : "d" + std::to_string(k);
    }
    if (header) output->buffer() += '\n';
    for (std::size_t i = 0; i < layout.rows; ++i) {
      for (std::size_t k = 0; k < layout.columns; ++k) {
        if (k > 0) output->buffer() += separator;
        char digits[32];
        const auto end = std::to_chars(digits, digits + sizeof digits, layout.row(i)[k]);
        output->buffer().append(digits, end.ptr);
      }
      output->buffer() += '\n';
      if (Status status = output->flush_some(); !status) return status;
    }
    return output->finish();
  }

  Status write_projector(const embed::Matrix& layout) const {
    const std::string directory = output_.substr(0, output_.find_last_not_of('/') + 1);
    if (Status status = base::make_new_directory(directory); !status) return status;
    embed::ProjectorEntry entry;
    entry.tensor_name = method_;
    entry.tensor_path = "tensors.tsv";
    entry.tensor_shape = {layout.rows, layout.columns};
    if (!metadata_.columns.empty()) entry.metadata_path = "metadata.tsv";
    if (Status status = write_rows(base::join_path(directory, entry.tensor_path), layout, '\t', false); !status) {
      return status;
    }
    if (!metadata_.columns.empty()) {
      std::string text;
      const auto add = [&](const std::vector<std::string>& cells) {
        for (std::size_t c = 0; c < cells.size(); ++c) text.append(c > 0 ? "\t" : "").append(cells[c]);
        text += '\n';
      };
      if (metadata_.columns.size() > 1) add(metadata_.columns);
      for (const auto& row : metadata_.rows) add(row);
      if (Status status = base::write_file(base::join_path(directory, entry.metadata_path), text); !status) {
        return status;
      }
    }
    return base::write_file(base::join_path(directory, embed::kProjectorConfig), embed::projector_config_text(entry));
  }

  void print_json(const embed::EmbeddingOptions& options, const embed::Embedding& made) const {
    formats::JsonWriter json;
    json.object().key("method").text(method_).key("metric").text(to_string(options.metric));
    json.key("points").integer(points_.rows).key("features").integer(points_.columns);
    json.key("dims").integer(made.layout.columns).key("iterations").integer(made.iterations);
    json.key("seed").integer(options.seed).key("seconds").number(made.seconds);
    json.key("explained_variance").array();
    for (double share : made.explained) json.number(share);
    json.end();
    const auto number_or_null = [&](const char* name, const std::optional<double>& value) {
      json.key(name);
      if (value) {
        json.number(*value);
      } else {
        json.null();
      }
    };
    number_or_null("perplexity", made.perplexity);
    number_or_null("kl_divergence", made.kl_divergence);
    number_or_null("trustworthiness", made.trust);
    json.key("trustworthiness_points").integer(made.trust_rows);
    print(json.end().take() + "\n");
  }

  static constexpr std::size_t kPointsOfAThread = 1000;
  static constexpr std::size_t kLargestText = std::size_t{8} << 30;

  std::string path_;
  std::string run_;
  std::string tag_;
  std::int64_t step_ = kLastStep;
  std::string tensor_;
  std::string method_ = "pca";
  std::int64_t dims_ = 2;
  double perplexity_ = 30;
  std::int64_t neighbors_ = 15;
  double min_distance_ = 0.1;
  std::int64_t iterations_ = 0;
  std::string metric_ = "euclidean";
  std::int64_t seed_ = 1;
  std::int64_t threads_ = 0;
  std::string output_;
  bool json_ = false;

  embed::Matrix points_;
  embed::Metadata metadata_;
};

}  // namespace

std::unique_ptr<Subcommand> make_embed_command() { return std::make_unique<Embed>(); }

}  // namespace sonde::cli
