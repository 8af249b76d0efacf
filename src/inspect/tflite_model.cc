#include "inspect/tflite_model.h"

#include <algorithm>
#include <utility>

namespace sonde::inspect {
namespace {

namespace tflite = formats::tflite;

std::string names_of(const std::vector<tflite::Signature>& signatures) {
  std::string names;
  for (const tflite::Signature& each : signatures)
    names += (names.empty() ? "'" : ", '") + std::string(each.name) + "'";
  return names.empty() ? "none" : names;
}

Result<std::size_t> subgraph_of(const tflite::Model& model, const std::string& path, const std::string& name) {
  if (name.empty()) {
    if (model.signatures.size() > 1) {
      return Status(Code::invalid_argument,
                    "'" + path + "' has several signatures; name one with --signature: " + names_of(model.signatures));
    }
    return model.signatures.empty() ? std::size_t{0} : model.signatures[0].subgraph;
  }
  const auto found = std::ranges::find(model.signatures, name, &tflite::Signature::name);
  if (found == model.signatures.end()) {
    return Status(Code::not_found,
                  "'" + path + "' has no signature '" + name + "'; it has " + names_of(model.signatures));
  }
  return found->subgraph;
}

}  // namespace

Result<LiteModel> open_tflite(const std::string& path, const std::string& signature) {
  Result<base::MappedFile> file = base::MappedFile::open(path);
  if (!file) return file.error();
  Result<tflite::Model> model = tflite::decode_tflite(file->bytes());
  if (!model) return Status(model.error().code(), "cannot read '" + path + "': " + model.error().message());
  const Result<std::size_t> subgraph = subgraph_of(*model, path, signature);
  if (!subgraph) return subgraph.error();
  return LiteModel{*std::move(file), *std::move(model), *subgraph};
}

}  // namespace sonde::inspect
