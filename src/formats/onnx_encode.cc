#include "formats/onnx_encode.h"

#include "formats/wire.h"

namespace sonde::onnx {

using wire::put_bytes;
using wire::put_integer;

std::string encode_value(std::string_view name, std::int32_t type, const std::optional<Shape>& shape) {
  std::string info;
  put_bytes(info, 1, name);
  if (type == 0) return info;
  std::string tensor;
  put_integer(tensor, 1, type);
  if (shape) {
    std::string dims;
    for (const std::int64_t size : *shape) {
      std::string dim;
      if (size >= 0) put_integer(dim, 1, size);
      put_bytes(dims, 1, dim);
    }
    put_bytes(tensor, 2, dims);
  }
  std::string type_proto;
  put_bytes(type_proto, 1, tensor);
  put_bytes(info, 2, type_proto);
  return info;
}

std::string encode_model(const Model& model, std::string_view graph) {
  std::string out;
  put_integer(out, 1, model.ir_version);
  put_bytes(out, 7, graph);
  for (const auto& [domain, version] : model.opsets) {
    std::string opset;
    put_bytes(opset, 1, domain);
    put_integer(opset, 2, version);
    put_bytes(out, 8, opset);
  }
  for (const Function& function : model.functions) put_bytes(out, 25, base::as_text(function.message));
  return out;
}

}  // namespace sonde::onnx
