// What `sonde diff` compares: two sides, each a model, files, a capture or a run, for each input of the models.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "compare/model_set.h"
#include "compare/tensor_set.h"
#include "inspect/inputs.h"
#include "inspect/runtime.h"
#include "sonde/status.h"

namespace sonde::cli {

enum class SideKind : std::uint8_t { tensors, capture, run, model };
// What a path names, by what is in it.
Result<SideKind> side_kind(const std::string& path);

class DiffSides {
 public:
  struct Side {
    std::string path;
    SideKind kind = SideKind::tensors;
  };
  // Opens the first model, if there is one, and finds the files of its inputs. Both models get the same values.
  static Result<DiffSides> open(Side a, Side b, const inspect::InputOptions& options);

  std::size_t inputs() const noexcept { return source_ ? source_->batches() : 1; }

  // The tensors of both sides for one input.
  struct Pair {
    std::string input;                            // its name
    std::unique_ptr<inspect::InputBatch> values;  // of the models
    std::unique_ptr<compare::TensorSet> a;
    std::unique_ptr<compare::TensorSet> b;
    compare::ModelSet* model_a = nullptr;  // the same as `a`, if it is a model
    compare::ModelSet* model_b = nullptr;
  };
  // Runs the models. Their runtimes stay open if there are several inputs, and otherwise one is open at a time.
  Result<Pair> load(std::size_t input);

 private:
  struct Opened {
    Side side;
    inspect::ModelName model;
    std::unique_ptr<inspect::Runtime> runtime;
  };
  Status open_runtime(Opened& side) const;
  Result<std::unique_ptr<compare::TensorSet>> load(Opened& side, const Pair& pair, compare::ModelSet*& model);
  Result<std::unique_ptr<compare::TensorSet>> load_files(const Side& side, const std::string& input) const;
  Result<std::vector<NamedView>> inputs_of(const inspect::Description& model, const inspect::InputBatch& values) const;

  Opened a_;
  Opened b_;
  std::optional<inspect::Description> first_;  // the model whose inputs the files name
  std::optional<inspect::InputSource> source_;
};

}  // namespace sonde::cli
