// What a library with a runtime exports: one C function that gives this table. Program and library are built from the
// same sources; the version tells whether they were.
#pragma once

#include <memory>

#include "inspect/runtime.h"
#include "sonde/status.h"

namespace sonde::inspect {

struct Plugin {
  const char* sonde_version;
  // Loads the model that `description` describes. Throws nothing.
  Result<std::unique_ptr<Runtime>> (*open)(Description description, const OpenOptions& options) noexcept;
};

// The name and the type of the function.
inline constexpr const char* kOpenvinoFunction = "sonde_openvino_plugin";
using PluginFunction = const Plugin* (*)();

}  // namespace sonde::inspect
