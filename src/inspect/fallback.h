// A model that OpenVINO cannot run, because it lacks an operation or a type, runs in onnxruntime where that is
// installed.
#pragma once

#include <functional>
#include <memory>

#include "inspect/runtime.h"
#include "sonde/status.h"

namespace sonde::inspect {

// Opens a model, or says why not.
using Open = std::function<Result<std::unique_ptr<Runtime>>()>;

// Uses the runtime that `first` opens. If that cannot open or run the model (Code::unsupported), and has given no
// output yet, the one of `second` takes over, and its RuntimeInfo::note says why. If that cannot be opened either, the
// error is the one of the first.
Result<std::unique_ptr<Runtime>> open_with_fallback(const Open& first, Open second);

}  // namespace sonde::inspect
