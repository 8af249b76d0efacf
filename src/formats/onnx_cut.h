// A model of some operations of another ONNX model, each cut off from the others: it reads values that the caller
// gives, and not what another operation computes. So each can be computed again from recorded inputs, all in one run.
//
// The outputs have their names; an input `x` of an operation becomes the input `in:x` of the model. An operation with
// graphs inside that read values around it gets a model of its own, in which all names stay.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx.h"
#include "formats/onnx_edit.h"
#include "sonde/status.h"
#include "sonde/tensor.h"

namespace sonde::onnx {

inline constexpr std::string_view kCutPrefix = "in:";

// The value that an operation reads, valid until the model is made; none: it is not known.
using GiveValue = std::function<std::optional<TensorView>(std::string_view name)>;

class Cutter {
 public:
  // The model and its bytes must outlive it. Weights in other files become part of the new model.
  explicit Cutter(const Model& model, ReadExternal read_external = {});

  // Whether the operation that computes this value can only be the first and last of a cutter.
  bool needs_own_model(std::string_view output) const;
  // Adds the operation that computes this value. Fails with a reason, half a sentence, if it cannot stand alone: a
  // value is not known, or a weight cannot be read. Small integers, which are often shapes or axes that a runtime must
  // know before it runs, become constants.
  Status add(std::string_view output, const GiveValue& give);

  struct Input {
    std::string name;   // with the prefix
    std::string value;  // in the whole model
    TensorView tensor;
  };
  const std::vector<Input>& inputs() const noexcept { return inputs_; }
  std::size_t size() const noexcept { return nodes_; }          // operations so far
  std::size_t bytes() const noexcept { return graph_.size(); }  // of the new model so far, about
  // The bytes of the new model.
  std::string encode() const;

 private:
  Status add_input(std::string_view name, const GiveValue& give, std::string& renamed);
  Status add_constant(std::string_view name);

  const Model& model_;
  const ReadExternal read_external_;
  bool keeps_names_ = false;  // it holds an operation that needs its own model
  std::vector<Input> inputs_;
  std::vector<std::string> added_;  // names of constants, inputs and operations that are in it
  std::string graph_;               // fields of the GraphProto
  std::string outputs_;
  std::size_t nodes_ = 0;
};

}  // namespace sonde::onnx
