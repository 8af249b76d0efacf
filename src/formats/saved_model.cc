#include "formats/saved_model.h"

#include <algorithm>

#include "formats/tf_wire.h"

namespace sonde::formats::tf {
namespace {

using wire::decode_entry;
using wire::decode_shape;
using wire::get_bytes;
using wire::get_text;
using wire::integer;
using wire::pbf_reader;
using wire::reader_of;
using wire::text;

TensorInfo decode_info(std::string_view entry_message) {
  const auto [key, message] = decode_entry(entry_message);
  TensorInfo info;
  info.key = key;
  info.shape.emplace();
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(1): info.tensor = get_text(reader); break;
      case integer(2): info.type = reader.get_int32(); break;
      case text(3): info.shape = decode_shape(get_text(reader)); break;
      default: reader.skip();
    }
  }
  return info;
}

Signature decode_signature(std::string_view entry_message) {
  const auto [name, message] = decode_entry(entry_message);
  Signature signature;
  signature.name = name;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(1): signature.inputs.push_back(decode_info(get_text(reader))); break;
      case text(2): signature.outputs.push_back(decode_info(get_text(reader))); break;
      default: reader.skip();
    }
  }
  std::ranges::stable_sort(signature.inputs, {}, &TensorInfo::key);
  std::ranges::stable_sort(signature.outputs, {}, &TensorInfo::key);
  return signature;
}

void decode_meta_info(std::string_view message, MetaGraph& graph) {
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(4): graph.tags.push_back(get_text(reader)); break;
      case text(5): graph.tensorflow_version = get_text(reader); break;
      default: reader.skip();
    }
  }
}

Result<MetaGraph> decode_meta_graph(std::string_view message) {
  MetaGraph graph;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(1): decode_meta_info(get_text(reader), graph); break;
      case text(2): {
        Result<GraphDef> decoded = decode_graph(get_bytes(reader));
        if (!decoded) return decoded.error();
        graph.graph = *std::move(decoded);
        break;
      }
      case text(5): graph.signatures.push_back(decode_signature(get_text(reader))); break;
      default: reader.skip();
    }
  }
  std::ranges::stable_sort(graph.signatures, {}, &Signature::name);
  return graph;
}

}  // namespace

Result<SavedModel> decode_saved_model(base::Bytes bytes) {
  SavedModel model;
  try {
    for (pbf_reader reader = reader_of(bytes); reader.next();) {
      if (reader.tag_and_type() == text(2)) {
        Result<MetaGraph> graph = decode_meta_graph(get_text(reader));
        if (!graph) return graph.error();
        model.graphs.push_back(*std::move(graph));
      } else {
        reader.skip();
      }
    }
  } catch (const protozero::exception& error) {
    return Status(Code::corrupt, std::string("not well-formed protobuf: ") + error.what());
  }
  if (model.graphs.empty()) return Status(Code::corrupt, "it holds no graph");
  return model;
}

}  // namespace sonde::formats::tf
