#include "inspect_passes.h"

#include <utility>

#include "render/array.h"

namespace sonde::cli {

void PassReader::begin(std::string name) {
  pass_ = std::make_shared<Pass>();
  pass_->name = std::move(name);
}

Status PassReader::take(LayerReport& report, const inspect::Output& output) {
  Taken taken{&report, output};
  if (output.kept >= kKeptRuns || !output.tensor) {
    pass_->kept.push_back(std::move(taken));
    return {};
  }
  // The earlier pass ends before this one begins.
  if (Status finished = finish(); !finished) return finished;
  if (Status saved = save(*pass_, output); !saved) return saved;
  return summarize(*pass_, taken);
}

Status PassReader::end() {
  // The run after this one takes the memory of the last one.
  if (Status finished = finish(); !finished) return finished;
  saving_.push([this, pass = pass_] {
    for (const Taken& taken : pass->kept) {
      if (saved_) saved_ = save(*pass, taken.output);
    }
    if (saved_ && pass->begun) saved_ = options_.files->end();
  });
  summarizing_.push([this, pass = pass_] {
    for (const Taken& taken : pass->kept) {
      if (summarized_) summarized_ = summarize(*pass, taken);
    }
  });
  pass_.reset();
  return {};
}

Status PassReader::finish() {
  saving_.wait();
  summarizing_.wait();
  return saved_ ? summarized_ : saved_;
}

Status PassReader::save(Pass& pass, const inspect::Output& output) const {
  if (options_.files == nullptr) return {};
  if (!std::exchange(pass.begun, true)) options_.files->begin(pass.name);
  return output.tensor ? options_.files->add(output) : Status::success();
}

Status PassReader::summarize(const Pass& pass, const Taken& taken) const {
  taken.report->missing = taken.output.missing;
  if (!taken.output.tensor) return {};
  const TensorView& tensor = *taken.output.tensor;
  if (options_.print) taken.report->values.emplace_back(pass.name, render::numpy_style(tensor));
  return taken.report->add(tensor, options_.channels_last);
}

}  // namespace sonde::cli
