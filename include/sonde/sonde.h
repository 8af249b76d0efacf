// Sonde records what happens inside a neural network. This header includes the whole public interface, recording and
// reading. Views of Eigen's matrices are in sonde/eigen.h, which needs Eigen.
#pragma once

#include "sonde/export.h"  // rejects an older C++ with a clear message

#if __cplusplus >= 202002L
#include "sonde/capture.h"     // IWYU pragma: export
#include "sonde/checkpoint.h"  // IWYU pragma: export
#include "sonde/graph.h"       // IWYU pragma: export
#include "sonde/kept.h"        // IWYU pragma: export
#include "sonde/log.h"         // IWYU pragma: export
#include "sonde/model.h"       // IWYU pragma: export
#include "sonde/options.h"     // IWYU pragma: export
#include "sonde/policy.h"      // IWYU pragma: export
#include "sonde/recorder.h"    // IWYU pragma: export
#include "sonde/show.h"        // IWYU pragma: export
#include "sonde/statistics.h"  // IWYU pragma: export
#include "sonde/status.h"      // IWYU pragma: export
#include "sonde/summaries.h"   // IWYU pragma: export
#include "sonde/tensor.h"      // IWYU pragma: export
#include "sonde/tensor_io.h"   // IWYU pragma: export
#endif
