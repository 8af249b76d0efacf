#include "inspect/tensorflow_model.h"

#include <algorithm>
#include <utility>

#include "formats/tf_dtype.h"

namespace sonde::inspect {
namespace {

namespace tf = formats::tf;

constexpr std::string_view kFile = "saved_model.pb";
constexpr std::string_view kVariables = "variables/variables";

Status in_file(const std::string& path, const Status& status) {
  return {status.code(), "cannot read '" + path + "': " + status.message()};
}

// "__saved_model_init_op" and the like are not for users.
bool is_internal(const tf::Signature& signature) noexcept { return signature.name.starts_with("__"); }

std::string list_of(const tf::MetaGraph& graph) {
  std::string names;
  for (const tf::Signature& signature : graph.signatures) {
    if (is_internal(signature)) continue;
    names += (names.empty() ? "'" : ", '") + std::string(signature.name) + "'";
  }
  return names.empty() ? "none" : names;
}

Result<const tf::Signature*> choose(const tf::MetaGraph& graph, std::string_view name, const std::string& path) {
  const auto named = [&](std::string_view wanted) -> const tf::Signature* {
    const auto found = std::ranges::find(graph.signatures, wanted, &tf::Signature::name);
    return found == graph.signatures.end() ? nullptr : &*found;
  };
  if (!name.empty()) {
    if (const tf::Signature* found = named(name)) return found;
    return Status(Code::not_found,
                  "'" + path + "' has no signature '" + std::string(name) + "'; it has " + list_of(graph));
  }
  if (const tf::Signature* found = named("serving_default")) return found;
  const tf::Signature* only = nullptr;
  for (const tf::Signature& signature : graph.signatures) {
    if (is_internal(signature)) continue;
    if (only != nullptr) {
      return Status(Code::invalid_argument,
                    "'" + path + "' has several signatures; name one with --signature: " + list_of(graph));
    }
    only = &signature;
  }
  if (only == nullptr) {
    return Status(Code::unsupported, "'" + path +
                                         "' has no signature; save the model with one (tf.saved_model.save(..., "
                                         "signatures=...)), or export it with model.export");
  }
  return only;
}

// A training graph may stand beside the one for serving.
const tf::MetaGraph& choose(const tf::SavedModel& model) {
  const auto serving = std::ranges::find_if(model.graphs, [](const tf::MetaGraph& graph) {
    return std::ranges::find(graph.tags, "serve") != graph.tags.end();
  });
  return serving == model.graphs.end() ? model.graphs.front() : *serving;
}

}  // namespace

Result<std::unique_ptr<TensorFlowModel>> TensorFlowModel::open_saved_model(const std::string& path,
                                                                           std::string_view signature) {
  std::string directory = path;
  if (directory.ends_with(kFile)) directory.resize(directory.size() - kFile.size());
  if (directory.empty()) directory = ".";
  while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
  const std::string file = base::join_path(directory, kFile);
  Result<base::MappedFile> mapped = base::MappedFile::open(file);
  if (!mapped) {
    if (mapped.error().code() != Code::not_found) return mapped.error();
    return Status(Code::not_found, "'" + directory + "' is no SavedModel: it has no file saved_model.pb");
  }
  std::unique_ptr<TensorFlowModel> model(new TensorFlowModel(directory, *std::move(mapped)));
  Result<tf::SavedModel> saved = tf::decode_saved_model(model->file_.bytes());
  if (!saved) return in_file(file, saved.error());
  model->saved_ = *std::move(saved);
  const tf::MetaGraph& graph = choose(model->saved_);
  const Result<const tf::Signature*> chosen = choose(graph, signature, directory);
  if (!chosen) return chosen.error();
  model->signature_ = (*chosen)->name;
  model->graph_ = &graph.graph;
  Result<tf::FlatGraph> flat = tf::flatten(graph.graph, **chosen);
  if (!flat) return in_file(file, flat.error());
  model->flat_ = *std::move(flat);
  return model;
}

Result<std::unique_ptr<TensorFlowModel>> TensorFlowModel::open_graph(const std::string& path) {
  Result<base::MappedFile> mapped = base::MappedFile::open(path);
  if (!mapped) return mapped.error();
  std::unique_ptr<TensorFlowModel> model(new TensorFlowModel(path, *std::move(mapped)));
  Result<tf::GraphDef> graph = tf::decode_graph(model->file_.bytes());
  if (!graph) return in_file(path, graph.error());
  const bool named =
      std::ranges::all_of(graph->nodes, [](const tf::NodeDef& node) { return !node.name.empty() && !node.op.empty(); });
  if (graph->nodes.empty() || !named) {
    return Status(Code::corrupt, "'" + path + "' is no TensorFlow graph (GraphDef): it has no operations");
  }
  model->frozen_ = *std::move(graph);
  model->graph_ = &model->frozen_;
  Result<tf::FlatGraph> flat = tf::flatten(model->frozen_);
  if (!flat) return in_file(path, flat.error());
  model->flat_ = *std::move(flat);
  return model;
}

Status TensorFlowModel::open_variables() {
  if (bundle_) return Status::success();
  const std::string file = base::join_path(path_, std::string(kVariables) + ".index");
  const Result<base::MappedFile> index = base::MappedFile::open(file);
  if (!index) {
    return {index.error().code(), index.error().message() + "; the variables of the SavedModel are missing"};
  }
  Result<tf::TensorBundle> bundle = tf::decode_tensor_bundle(index->bytes());
  if (!bundle) return in_file(file, bundle.error());
  bundle_ = *std::move(bundle);
  return Status::success();
}

Status TensorFlowModel::check_variables() {
  for (const tf::FlatNode& node : flat_.nodes) {
    if (node.kind != tf::FlatNode::Kind::variable) continue;
    if (const Result<base::Bytes> bytes = variable(node); !bytes) return bytes.error();
  }
  return Status::success();
}

Result<base::Bytes> TensorFlowModel::variable(const tf::FlatNode& node) {
  const std::string name = "variable '" + node.name + "' of '" + path_ + "'";
  if (signature_.empty()) {
    return Status(Code::unsupported, name + " has no value; freeze the graph before it is saved");
  }
  if (Status status = open_variables(); !status) return status;
  const tf::BundleEntry* entry = node.key.empty() ? nullptr : bundle_->find(node.key);
  if (entry == nullptr) {
    return Status(Code::not_found, name + " is not in variables/variables.index; save the model again");
  }
  if (entry->sliced) return Status(Code::unsupported, name + " is stored in parts, which is not supported");
  const auto dtype = formats::dtype_of_tf(entry->type);
  const auto count = tf::element_count(entry->shape);
  if (!dtype || !count) return Status(Code::unsupported, name + " is not a tensor of numbers");
  const std::string file = tf::shard_name(base::join_path(path_, kVariables), entry->shard, bundle_->shards);
  auto shard = shards_.find(entry->shard);
  if (shard == shards_.end()) {
    Result<base::MappedFile> mapped = base::MappedFile::open(file);
    if (!mapped) return mapped.error();
    shard = shards_.emplace(entry->shard, *std::move(mapped)).first;
  }
  const base::Bytes bytes = shard->second.bytes();
  const std::uint64_t element = size_of(*dtype);
  if (entry->offset > bytes.size() || entry->size > bytes.size() - entry->offset ||
      entry->size / element != static_cast<std::uint64_t>(*count) || entry->size % element != 0) {
    return Status(Code::corrupt, "'" + file + "' is cut off or damaged: " + name + " does not fit into it");
  }
  return bytes.subspan(entry->offset, entry->size);
}

}  // namespace sonde::inspect
