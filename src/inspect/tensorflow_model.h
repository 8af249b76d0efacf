// The files of a TensorFlow model, mapped: a SavedModel's directory, or a frozen graph.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "formats/saved_model.h"
#include "formats/tensor_bundle.h"
#include "formats/tf_flat_graph.h"
#include "sonde/status.h"

namespace sonde::inspect {

class TensorFlowModel {
 public:
  // The path of a directory, or of a saved_model.pb in one. An empty signature is "serving_default", or the only one
  // that is not internal. Reads no variables.
  static Result<std::unique_ptr<TensorFlowModel>> open_saved_model(const std::string& path, std::string_view signature);
  // The path of a GraphDef.
  static Result<std::unique_ptr<TensorFlowModel>> open_graph(const std::string& path);

  const formats::tf::GraphDef& graph() const noexcept { return *graph_; }
  const formats::tf::FlatGraph& flat() const noexcept { return flat_; }
  const std::string& path() const noexcept { return path_; }
  // Of the signature that is open; empty for a graph.
  const std::string& signature() const noexcept { return signature_; }

  // The elements of a variable of the flat graph, in the mapped file. Maps a file when it is first needed; the error
  // says which variable or file is missing.
  Result<base::Bytes> variable(const formats::tf::FlatNode& node);
  // Whether all variables that the flat graph reads are there.
  Status check_variables();

 private:
  TensorFlowModel(std::string path, base::MappedFile file) : path_(std::move(path)), file_(std::move(file)) {}
  Status open_variables();

  std::string path_;
  std::string signature_;
  base::MappedFile file_;
  formats::tf::SavedModel saved_;
  formats::tf::GraphDef frozen_;
  const formats::tf::GraphDef* graph_ = nullptr;
  formats::tf::FlatGraph flat_;
  std::optional<formats::tf::TensorBundle> bundle_;
  std::map<std::int64_t, base::MappedFile> shards_;
};

}  // namespace sonde::inspect
