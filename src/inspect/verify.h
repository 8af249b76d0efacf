// Whether looking at layers changes what a model computes, and whether what is shown is what the runtime used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inspect/runtime.h"
#include "sonde/status.h"
#include "sonde/tensor_io.h"

namespace sonde::inspect {

struct Difference {
  bool bitwise = false;    // the same bytes
  bool comparable = true;  // of the same type and shape, and of floats or integers
  // The largest distance in steps of the type; NaN on both sides is no distance, on one side the largest there is.
  std::uint64_t ulp = 0;
  double relative = 0;  // the norm of the difference over the norm of the first

  // The worse of both.
  void merge(const Difference& other);
};
// Both valid.
Difference difference(const TensorView& one, const TensorView& other);

// An output of the whole model, with and without taps.
struct VerifiedOutput {
  std::string name;
  Difference difference;
};

// An operation that reads a tapped layer, computed again from the value that was shown.
struct VerifiedConsumer {
  std::int64_t layer = 0;     // the tapped layer
  std::int64_t consumer = 0;  // the layer that was computed again
  Difference difference;      // to the value that the runtime gave for it
  // The shown value is not finite and gives a non-finite result, but the runtime's own result is finite.
  bool not_the_value_used = false;
  std::string skipped;  // why it was not computed again
};

struct Verification {
  std::size_t inputs = 1;  // that it was made with
  std::vector<VerifiedOutput> outputs;
  std::vector<VerifiedConsumer> consumers;
  std::string not_recomputed;  // why no consumer was computed again; empty if they were

  // With further inputs of the same model and layers: of each difference the worse one.
  void merge(const Verification& other);
};

// Runs the model without taps, with them, and with taps around their consumers. Afterwards nothing is selected.
Result<Verification> verify(Runtime& runtime, const OpenOptions& options, const std::vector<std::int64_t>& layers,
                            const std::vector<NamedView>& inputs);

}  // namespace sonde::inspect
