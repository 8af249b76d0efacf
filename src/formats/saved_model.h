// TensorFlow's SavedModel: the file saved_model.pb of a directory that also has variables/ (formats/tensor_bundle.h).
//
//   SavedModel          saved_model_schema_version=1, meta_graphs=2 repeated MetaGraphDef
//   MetaGraphDef        meta_info_def=1 { tags=4 repeated string, tensorflow_version=5 }, graph_def=2,
//                       saver_def=3 { restore_op_name=3 }, signature_def=5 map<string, SignatureDef>
//   SignatureDef        inputs=1 and outputs=2 map<string, TensorInfo>, method_name=3
//   TensorInfo          name=1 ("node:0"), dtype=2, tensor_shape=3, coo_sparse=4
//
// Texts are views of the bytes.
#pragma once

#include <string_view>
#include <vector>

#include "formats/tf_graph.h"

namespace sonde::formats::tf {

// A tensor of the graph under the name that users of a signature give it.
struct TensorInfo {
  std::string_view key;
  std::string_view tensor;  // empty: a sparse or composite tensor, which is several
  int type = 0;
  std::optional<std::vector<std::int64_t>> shape;  // none: unknown rank; -1: unknown size
};

struct Signature {
  std::string_view name;
  std::vector<TensorInfo> inputs;  // by key
  std::vector<TensorInfo> outputs;
};

struct MetaGraph {
  std::vector<std::string_view> tags;
  std::string_view tensorflow_version;
  std::vector<Signature> signatures;  // by name
  GraphDef graph;
};

struct SavedModel {
  std::vector<MetaGraph> graphs;
};
// Code::corrupt, with the reason, if the bytes are not well-formed or hold no graph.
Result<SavedModel> decode_saved_model(base::Bytes bytes);

}  // namespace sonde::formats::tf
