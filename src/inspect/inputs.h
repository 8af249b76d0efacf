// Values for the inputs of a model: from files, or random.
//
//   InputOptions options{.files = {"x.npy", "mask=mask.npy"}};
//   auto source = InputSource::open(description, options);
//   for (std::size_t i = 0; i < source->batches(); ++i) {
//     auto batch = source->load(i);
//     runtime->run(batch->views(), ...);
//   }
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inspect/runtime.h"
#include "sonde/status.h"
#include "sonde/tensor_io.h"

namespace sonde::inspect {

struct InputOptions {
  // "FILE" or "NAME=FILE". npy and CSV hold one input, npz and safetensors the inputs of their names, PNG one picture.
  // A directory holds one such file for each pass, in the order of their names.
  std::vector<std::string> files;
  // Instead of files: floats are drawn from N(0, 1), truth values with equal chances. Sizes that the input decides
  // are 1.
  std::optional<std::int64_t> seed;
  // Smallest and largest random integer.
  std::optional<std::pair<std::int64_t, std::int64_t>> range;
};

// The values of one pass. Moving it keeps views valid.
class InputBatch {
 public:
  const std::string& name() const noexcept { return name_; }  // "x" of x.npy; "random"
  // Valid as long as the batch.
  const std::vector<NamedView>& views() const noexcept { return views_; }

 private:
  friend class InputSource;
  std::string name_;
  std::vector<TensorFile> files_;
  std::deque<Tensor> tensors_;
  std::deque<std::string> names_;
  std::vector<NamedView> views_;
};

class InputSource {
 public:
  // Finds the files and says which input is missing; reads no values.
  static Result<InputSource> open(const Description& model, const InputOptions& options);

  std::size_t batches() const noexcept { return batches_.size(); }
  // Reads the values and checks their types and shapes against the model: "input 'x' of 'm.onnx' is f32[?,8], but
  // 'x.npy' holds f64[2,8]".
  Result<InputBatch> load(std::size_t batch) const;

 private:
  struct File {
    std::string input;  // empty: the file's own names decide
    std::string path;
  };
  struct Batch {
    std::string name;
    std::vector<File> files;
  };
  Status add_directory(const std::string& input, const std::string& path);
  Status add_file(InputBatch& batch, const File& file) const;
  Status add(InputBatch& batch, const std::string& input, const TensorView& given, const std::string& path) const;
  Result<InputBatch> random() const;
  Status check_complete(const InputBatch& batch) const;
  const Value* find(const std::string& name) const;

  std::string model_;
  std::vector<Value> inputs_;
  InputOptions options_;
  std::vector<Batch> batches_;
};

// "f32[?,3,224,224]", as messages about inputs and lists of layers show a value's type; "?" for what is not known.
std::string type_text(const Value& value);
// Whether a tensor has the type and the shape that the value's declaration asks for.
bool accepts(const Value& value, const TensorView& given);

}  // namespace sonde::inspect
