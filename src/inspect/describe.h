// The formats of saved models: how a file is recognised, and what it says about itself. describe.cc has the list.
#pragma once

#include <string>
#include <string_view>

#include "inspect/runtime.h"
#include "sonde/status.h"

namespace sonde::inspect {

// One format. `describe` gets the path of an existing file, or directory, and its errors name it.
struct Format {
  std::string_view name;  // as in Description::format
  std::string_view kind;  // for people: "ONNX model"
  // By its name: probing unknown bytes would take a text for a model, since most formats have no first bytes of their
  // own.
  bool (*recognises)(const std::string& path, bool directory);
  Result<Description> (*describe)(const std::string& path, const OpenOptions& options);
  bool runs_in_openvino;
};

// The format of a path; the error says that there is no such file, or which formats there are.
Result<const Format*> format_of(const std::string& path);
// Whether this existing path looks like a model, for programs that take several kinds of files.
bool is_model(const std::string& path);

Result<Description> describe_onnx(const std::string& path, const OpenOptions& options);  // describe_onnx.cc
// describe_tensorflow.cc
Result<Description> describe_saved_model(const std::string& path, const OpenOptions& options);
Result<Description> describe_frozen_graph(const std::string& path, const OpenOptions& options);
Result<Description> describe_tflite(const std::string& path, const OpenOptions& options);
Result<Description> describe_ir(const std::string& path, const OpenOptions& options);  // describe_ir.cc

}  // namespace sonde::inspect
