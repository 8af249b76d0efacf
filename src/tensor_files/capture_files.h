// Writing captures (sonde/capture.h): to a temporary directory that is renamed when it is complete.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "formats/flight.h"
#include "sonde/capture.h"

namespace sonde::tensor_files {

// Returns one step after the other, oldest first, and null after the last. Each is valid until the next call.
using NextStep = std::function<const flight::Step*()>;
NextStep each_of(std::span<const flight::Step> steps);  // which must outlive it

// Creates RUN/captures/<n>-<reason>/, n counting up over all captures of the run, from the steps of a flight ring; no
// steps if `next` is empty. `info` comes without its steps, which are filled in with the elements' counts; tensors that
// a step lost in the ring (flight::Step::dropped), or that no file can hold, are added to `dropped`. Returns the path
// of the directory. After an error, such as a full disk, nothing is left behind. Safe from any thread, also for several
// captures of one run at once.
Result<std::string> write_capture(const std::string& run_directory, CaptureInfo info, const NextStep& next);

// The abandoned rings in a directory that several runs share: those whose writer has its event file in this run. Rings
// of this machine that were never written to, and so belong to no run, are removed.
Result<std::vector<std::string>> abandoned_rings_of(const std::string& run_directory,
                                                    const std::string& ring_directory);

}  // namespace sonde::tensor_files
