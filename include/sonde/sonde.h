// Sonde: records what happens inside a neural network. This header brings the whole public interface.
#pragma once

#include "sonde/checkpoint.h"  // IWYU pragma: export
#include "sonde/graph.h"       // IWYU pragma: export
#include "sonde/options.h"     // IWYU pragma: export
#include "sonde/policy.h"      // IWYU pragma: export
#include "sonde/recorder.h"    // IWYU pragma: export
#include "sonde/status.h"      // IWYU pragma: export
#include "sonde/summaries.h"   // IWYU pragma: export
#include "sonde/tensor.h"      // IWYU pragma: export
