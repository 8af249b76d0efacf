#include "inspect/describe.h"

#include <algorithm>
#include <array>

#include "base/directory.h"
#include "base/file.h"
#include "base/input_file.h"
#include "inspect/worker.h"

namespace sonde::inspect {
namespace {

bool ends_with(const std::string& path, std::string_view extension) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return path.size() > extension.size() && std::equal(extension.rbegin(), extension.rend(), path.rbegin(),
                                                      [&](char wanted, char c) { return wanted == lower(c); });
}

// The directory, or the file in it.
bool is_saved_model(const std::string& path, bool directory) {
  constexpr std::string_view kFile = "saved_model.pb";
  if (directory) return base::file_state(base::join_path(path, kFile)).ok();
  return path == kFile || path.ends_with("/" + std::string(kFile));
}

constexpr std::array kFormats = {
    Format{"onnx", "ONNX (.onnx)", [](const std::string& path, bool dir) { return !dir && ends_with(path, ".onnx"); },
           describe_onnx, true},
    Format{"keras", "Keras (.keras, .h5)",
           [](const std::string& path, bool dir) { return !dir && worker_runtime_of(path) == "keras"; },
           describe_in_worker, false},
    Format{"torch_export", "torch.export (.pt2)",
           [](const std::string& path, bool dir) { return !dir && worker_runtime_of(path) == "torch"; },
           describe_in_worker, false},
    Format{"saved_model", "TensorFlow SavedModel (a directory with saved_model.pb)",
           [](const std::string& path, bool dir) { return is_saved_model(path, dir); }, describe_saved_model, true},
    Format{"frozen_graph", "frozen TensorFlow graph (.pb)",
           [](const std::string& path, bool dir) { return !dir && ends_with(path, ".pb"); }, describe_frozen_graph,
           true},
    Format{"tflite", "TFLite (.tflite)",
           [](const std::string& path, bool dir) { return !dir && ends_with(path, ".tflite"); }, describe_tflite, true},
    Format{"openvino", "OpenVINO IR (.xml)",
           [](const std::string& path, bool dir) { return !dir && ends_with(path, ".xml"); }, describe_ir, true},
};

const Format* find_format(const std::string& path, bool directory) {
  const auto* found =
      std::ranges::find_if(kFormats, [&](const Format& format) { return format.recognises(path, directory); });
  return found == kFormats.end() ? nullptr : found;
}

bool is_directory(const std::string& path) { return base::read_directory(path).ok(); }

}  // namespace

Result<const Format*> format_of(const std::string& path) {
  if (const Result<base::FileState> state = base::file_state(path); !state) return state.error();
  if (const Format* found = find_format(path, is_directory(path))) return found;
  if (ends_with(path, ".pt") || ends_with(path, ".pth")) {
    return Status(Code::unsupported,
                  "'" + path +
                      "' is a file of torch.save or TorchScript, which Sonde does not run: load it in Python, "
                      "and write the model with torch.export.save(torch.export.export(model, (x,)), "
                      "'model.pt2') or with torch.onnx.export; its tensors alone are shown by 'sonde show'");
  }
  std::string known;
  for (const Format& format : kFormats) known.append(known.empty() ? "" : ", ").append(format.kind);
  return Status(Code::unsupported, "'" + path + "' is not a model that Sonde knows by its name: " + known);
}

bool is_model(const std::string& path) { return find_format(path, is_directory(path)) != nullptr; }

Result<Description> describe_model(std::string_view path, const OpenOptions& options) {
  const std::string file(path);
  const Result<const Format*> format = format_of(file);
  if (!format) return format.error();
  return (*format)->describe(file, options);
}

}  // namespace sonde::inspect
