// What is done with the outputs of each pass: statistics, printed values, files. Where the runtime keeps the outputs
// during its next run, they are read meanwhile by two threads, one of which writes the files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/serial_queue.h"
#include "inspect/runtime.h"
#include "inspect_report.h"
#include "inspect_save.h"
#include "sonde/status.h"

namespace sonde::cli {

class PassReader {
 public:
  // Of how many runs in a row the runtime has to keep the outputs, so that nobody waits: one is read, one computed.
  static constexpr std::size_t kKeptRuns = 2;

  struct Options {
    LayerFiles* files = nullptr;  // null: nothing is saved
    bool print = false;
    bool channels_last = false;
  };
  explicit PassReader(Options options) : options_(options) {}

  // One pass after the other: `begin`, then `take` for each layer, then `end`. A report is read again only after
  // `finish`. Each may return the error of an earlier pass.
  void begin(std::string name);
  Status take(LayerReport& report, const inspect::Output& output);
  Status end();
  // Waits for all passes.
  Status finish();

 private:
  struct Taken {
    LayerReport* report;
    inspect::Output output;
  };
  struct Pass {
    std::string name;
    std::vector<Taken> kept;  // outputs that are read later
    bool begun = false;       // whether its files are
  };
  Status save(Pass& pass, const inspect::Output& output) const;
  Status summarize(const Pass& pass, const Taken& taken) const;

  Options options_;
  std::shared_ptr<Pass> pass_;  // the current one
  Status saved_;                // of the last pass
  Status summarized_;
  base::SerialQueue saving_{"save layers"};
  base::SerialQueue summarizing_{"read layers"};
};

}  // namespace sonde::cli
