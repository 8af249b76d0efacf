#include "formats/onnx_edit.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "formats/onnx_encode.h"
#include "formats/wire.h"
#include "formats/wire_reader.h"

namespace sonde::onnx {
namespace {

using wire::get_text;
using wire::pbf_reader;
using wire::put_bytes;
using wire::put_integer;
using wire::reader_of;

// Fields of the messages (see onnx.h).
constexpr std::uint32_t kGraph = 7;
constexpr std::uint32_t kNode = 1;
constexpr std::uint32_t kInitializer = 5;
constexpr std::uint32_t kInput = 11;
constexpr std::uint32_t kOutput = 12;
constexpr std::uint32_t kValueInfo = 13;

// Copies all fields of a message for which `edit` returns false.
template <class Edit>
void copy_fields(base::Bytes message, std::string& out, Edit edit) {
  const std::string_view text = base::as_text(message);
  pbf_reader reader = reader_of(message);
  const char* begin = text.data();
  while (reader.next()) {
    const std::uint32_t field = reader.tag();
    const bool bytes = reader.wire_type() == wire::pbf_wire_type::length_delimited;
    std::string_view content;
    if (bytes) {
      content = get_text(reader);
    } else {
      reader.skip();
    }
    const char* end = reader.data().data();
    if (!bytes || !edit(field, content)) out.append(begin, end);
    begin = end;
  }
}

using Infos = std::unordered_map<std::string_view, const ValueInfo*>;

Infos infos_of(const Graph& graph) {
  Infos infos;
  for (const auto* list : {&graph.values, &graph.inputs, &graph.outputs}) {
    for (const ValueInfo& info : *list) {
      if (info.type != 0 || !info.other.empty()) infos.insert_or_assign(info.name, &info);
    }
  }
  return infos;
}

// Whether a reader that demands types of outputs accepts this one: it names the elements and the rank.
bool is_complete(const ValueInfo& info) { return !info.other.empty() || (info.type != 0 && info.dims.has_value()); }

Result<std::string> output_info(const Infos& infos, std::string_view name, std::span<const TypedValue> types) {
  const auto found = infos.find(name);
  if (found != infos.end() && is_complete(*found->second)) return std::string(base::as_text(found->second->message));
  const auto typed = std::ranges::find(types, name, &TypedValue::name);
  if (typed != types.end() && typed->type != 0) return encode_value(name, typed->type, typed->shape);
  if (found != infos.end()) return std::string(base::as_text(found->second->message));
  return Status(Code::not_found, "the type of '" + std::string(name) + "' is not known");
}

bool gives(const Graph& graph, std::string_view value) {
  return std::ranges::any_of(graph.nodes,
                             [&](const Node& node) { return std::ranges::count(node.outputs, value) > 0; }) ||
         std::ranges::count(graph.inputs, value, &ValueInfo::name) > 0;
}

// A tensor whose elements were in another file, with them inside.
std::string embedded(const Initializer& tensor, base::Bytes elements) {
  std::string out;
  copy_fields(tensor.message, out, [](std::uint32_t field, std::string_view) { return field == 13 || field == 9; });
  put_integer(out, 14, 0);  // of a field that occurs twice the last counts
  put_bytes(out, 9, base::as_text(elements));
  return out;
}

std::string renamed_outputs(const Node& node, std::string_view suffix) {
  std::string out;
  copy_fields(node.message, out, [&](std::uint32_t field, std::string_view content) {
    if (field != 2) return false;
    put_bytes(out, 2, content.empty() ? "" : std::string(content).append(suffix));
    return true;
  });
  return out;
}

class NodesModel {
 public:
  NodesModel(const Model& model, std::span<const TypedValue> inputs, std::string_view suffix,
             const ReadExternal& read_external)
      : model_(model), inputs_(inputs), suffix_(suffix), read_external_(read_external) {
    for (const Initializer& each : model.graph.initializers) initializers_.emplace(each.name, &each);
  }

  Status add(const Node& node) {
    put_bytes(graph_, 1, renamed_outputs(node, suffix_));
    for (const std::string_view output : node.outputs) {
      // Nobody demands the type of an output.
      if (!output.empty()) put_bytes(outputs_, kOutput, encode_value(std::string(output).append(suffix_)));
    }
    for (const auto* read : {&node.inputs, &node.outer}) {
      for (const std::string_view name : *read) {
        if (name.empty() || !added_.insert(name).second) continue;
        if (Status status = add_value(name); !status) return status;
      }
    }
    return {};
  }

  std::string finish() {
    put_bytes(graph_, 2, "nodes");
    return encode_model(model_, graph_ + outputs_);
  }

 private:
  Status add_value(std::string_view name) {
    const auto found = initializers_.find(name);
    if (found == initializers_.end()) {
      const auto typed = std::ranges::find(inputs_, name, &TypedValue::name);
      if (typed == inputs_.end()) return {Code::not_found, "the type of '" + std::string(name) + "' is not known"};
      put_bytes(graph_, kInput, encode_value(name, typed->type, typed->shape));
      return {};
    }
    const Initializer& tensor = *found->second;
    if (!tensor.external) {
      put_bytes(graph_, 5, base::as_text(tensor.message));
      return {};
    }
    const Result<base::Bytes> elements = read_external_(*tensor.external);
    if (!elements) return elements.error();
    put_bytes(graph_, 5, embedded(tensor, *elements));
    return {};
  }

  const Model& model_;
  std::span<const TypedValue> inputs_;
  std::string_view suffix_;
  const ReadExternal& read_external_;
  std::unordered_map<std::string_view, const Initializer*> initializers_;
  std::unordered_set<std::string_view> added_;
  std::string graph_;
  std::string outputs_;
};

}  // namespace

Result<std::string> with_outputs(base::Bytes file, const Model& model, std::span<const std::string> outputs,
                                 std::span<const TypedValue> types) {
  const Infos infos = infos_of(model.graph);
  std::string appended;
  for (const std::string& name : outputs) {
    if (!gives(model.graph, name)) return Status(Code::not_found, "no node gives '" + name + "'");
    Result<std::string> info = output_info(infos, name, types);
    if (!info) return info.error();
    put_bytes(appended, kOutput, *info);
  }
  const auto chosen = [&](std::string_view name) { return std::ranges::count(outputs, name) > 0; };
  // What is known about a value is said once: of an output among the outputs, of another one among the values.
  for (const ValueInfo& info : model.graph.outputs) {
    const bool told = std::ranges::count(model.graph.values, info.name, &ValueInfo::name) > 0 ||
                      std::ranges::count(model.graph.inputs, info.name, &ValueInfo::name) > 0;
    if (!chosen(info.name) && !told) put_bytes(appended, kValueInfo, base::as_text(info.message));
  }
  std::string graph;
  std::string out;
  out.reserve(file.size() + appended.size() + 64);
  copy_fields(file, out, [&](std::uint32_t field, std::string_view content) {
    if (field != kGraph) return false;
    graph.clear();
    graph.reserve(content.size() + appended.size());
    copy_fields(base::as_bytes(content), graph, [&](std::uint32_t part, std::string_view message) {
      if (part != kValueInfo) return part == kOutput;
      pbf_reader info = reader_of(message);
      return info.next(1, wire::pbf_wire_type::length_delimited) && chosen(get_text(info));
    });
    graph += appended;
    put_bytes(out, kGraph, graph);
    return true;
  });
  return out;
}

std::string without_nodes(base::Bytes file, const Model& model, std::span<const std::size_t> nodes,
                          std::span<const std::string_view> outputs) {
  const Infos infos = infos_of(model.graph);
  std::string appended;
  for (const std::string_view name : outputs) {
    const auto found = infos.find(name);
    put_bytes(appended, kOutput,
              found == infos.end() ? encode_value(name) : std::string(base::as_text(found->second->message)));
  }
  const std::unordered_set<std::size_t> dropped(nodes.begin(), nodes.end());
  std::size_t node = 0;
  std::string out;
  copy_fields(file, out, [&](std::uint32_t field, std::string_view content) {
    if (field != kGraph) return false;
    std::string graph;
    copy_fields(base::as_bytes(content), graph, [&](std::uint32_t part, std::string_view) {
      return part == kOutput || (part == kNode && dropped.contains(node++));
    });
    put_bytes(out, kGraph, graph + std::exchange(appended, {}));
    return true;
  });
  return out;
}

std::string without_weights(base::Bytes file, const Model& model, std::size_t largest) {
  std::string out;
  std::size_t next = 0;
  copy_fields(file, out, [&](std::uint32_t field, std::string_view content) {
    if (field != kGraph) return false;
    std::string graph;
    copy_fields(base::as_bytes(content), graph, [&](std::uint32_t part, std::string_view message) {
      const std::vector<Initializer>& all = model.graph.initializers;
      // A damaged file may have two graphs, of which one counts.
      if (part != kInitializer || next == all.size() || base::as_text(all[next].message).data() != message.data()) {
        return false;
      }
      const Initializer& tensor = all[next++];
      if (tensor.elements() < 0 || tensor.dims.size() > kMaxRank) return false;
      if (tensor.message.size() <= largest && !tensor.external) return false;
      if (std::ranges::count(model.graph.inputs, tensor.name, &ValueInfo::name) == 0) {
        put_bytes(graph, kInput, encode_value(tensor.name, tensor.type, Shape(tensor.dims)));
      }
      return true;
    });
    put_bytes(out, kGraph, graph);
    return true;
  });
  return out;
}

Result<std::string> nodes_model(const Model& model, std::span<const std::size_t> nodes,
                                std::span<const TypedValue> inputs, std::string_view suffix,
                                const ReadExternal& read_external) {
  NodesModel made(model, inputs, suffix, read_external);
  for (const std::size_t node : nodes) {
    if (Status added = made.add(model.graph.nodes[node]); !added) return added;
  }
  return made.finish();
}

}  // namespace sonde::onnx
