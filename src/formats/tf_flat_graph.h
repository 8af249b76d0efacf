// A TensorFlow graph as one list of operations in order of execution: the functions that it calls are put in place of
// the calls. What control flow executes (If, While, Case) stays in its functions.
//
// A node keeps the name that it has in its function, as long as that names one node only; otherwise the names of the
// calls that lead to it stand before it: "StatefulPartitionedCall/Identity_3". Nodes `Identity` with which a function
// only returns a value are left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/saved_model.h"
#include "formats/tf_graph.h"

namespace sonde::formats::tf {

// Output `output` of nodes[node].
struct FlatTensor {
  std::size_t node = 0;
  std::int64_t output = 0;

  friend bool operator==(const FlatTensor&, const FlatTensor&) = default;
};

struct FlatNode {
  enum class Kind : std::uint8_t {
    operation,
    input,     // a placeholder
    constant,  // Const
    variable,  // a variable, or its handle
    read,      // passes the value of a variable or of a constant on
  };
  const NodeDef* definition = nullptr;
  Kind kind = Kind::operation;
  std::string name;
  std::vector<FlatTensor> inputs;  // without control dependencies
  std::string_view key;            // of a variable in the checkpoint; empty if nothing restores it
  bool assigned = false;           // a variable that the graph changes while it runs
};

struct FlatGraph {
  // A tensor under the name that users of the model give it.
  struct Port {
    std::string name;
    FlatTensor tensor;
    int type = 0;
    std::optional<std::vector<std::int64_t>> shape;
  };
  std::vector<FlatNode> nodes;  // each after those that it reads, but for the loops of TensorFlow 1
  std::vector<Port> inputs;
  std::vector<Port> outputs;

  // "name", or "name:1" for another output than the first.
  std::string tensor_name(const FlatTensor& tensor) const;
};

// What the outputs of a signature need. Fails with Code::corrupt if a reference names nothing, and with `unsupported`
// for functions that call themselves. The result refers to the graph's nodes.
Result<FlatGraph> flatten(const GraphDef& graph, const Signature& signature);
// A graph without signatures: its placeholders are the inputs, and what nothing reads are the outputs.
Result<FlatGraph> flatten(const GraphDef& graph);

// "If", "While" and the like.
bool is_control_flow(std::string_view op) noexcept;

}  // namespace sonde::formats::tf
