// A model of some operations of another ONNX model, each cut off from the others: it reads values that the caller
// gives, and not what another operation computes. So each can be computed again from recorded inputs, all in one run.
//
// The outputs have their names; an input `x` of an operation becomes the input `in:x` of the model.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx.h"
#include "sonde/status.h"
#include "sonde/tensor.h"

namespace sonde::onnx {

inline constexpr std::string_view kCutPrefix = "in:";

// The value that an operation reads, valid until the model is made; none: it is not known.
using GiveValue = std::function<std::optional<TensorView>(std::string_view name)>;

class Cutter {
 public:
  // The model and its bytes must outlive it.
  explicit Cutter(const Model& model);

  // Adds the operation that computes this value. Fails with a reason, half a sentence, if it cannot stand alone: a
  // value is not known, a weight is in another file, it is a function of the model. Small integers, which are often
  // shapes or axes that a runtime must know before it runs, become constants.
  Status add(std::string_view output, const GiveValue& give);

  struct Input {
    std::string name;   // with the prefix
    std::string value;  // in the whole model
    TensorView tensor;
  };
  const std::vector<Input>& inputs() const noexcept { return inputs_; }
  std::size_t size() const noexcept { return nodes_; }  // operations so far
  // The bytes of the new model.
  std::string encode() const;

 private:
  Status add_input(std::string_view name, const GiveValue& give, std::string& renamed);
  Status add_constant(std::string_view name);

  const Model& model_;
  std::vector<Input> inputs_;
  std::vector<std::string> added_;  // names of constants, inputs and operations that are in it
  std::string graph_;               // fields of the GraphProto
  std::string outputs_;
  std::size_t nodes_ = 0;
};

}  // namespace sonde::onnx
