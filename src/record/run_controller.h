// Looks after a running recorder a few times a second, on the backend thread: the control file that others write, and
// the budget.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/input_file.h"
#include "policy/budget.h"
#include "sonde/policy.h"

namespace sonde::record {

class Channel;
class Output;

class RunController {
 public:
  explicit RunController(Channel& channel);

  // Takes a control file that is there before the recorder has begun, and answers it when it has an output.
  void begin();
  void begun(const Output& output);

  // `now` is monotonic, in ns.
  void poll(Output& output, std::uint64_t now, double wall_time);
  // Before a step is written: whether the disk still has room for whole tensors, and for any.
  void look_at_disk(Output& output, double wall_time);
  // Why the disk has no room for a capture of so many bytes; empty where it has.
  std::string lacks_disk(Output& output, double wall_time, std::uint64_t bytes);

 private:
  void look_at_control(Output& output, double wall_time);
  std::optional<std::string> changed_control();
  void refuse(const std::string& text, const Status& why);
  void answer(const std::string& text, const Status& status, const Status& ring);
  void take_budget(Output& output, double wall_time);
  void look_at_budget(Output& output, std::uint64_t now, double wall_time);
  void set_level(Output& output, double wall_time, const policy::BudgetKeeper::Change& change);
  std::uint64_t disk_bytes(const Output& output, std::uint64_t now);

  Channel& channel_;
  const std::string control_path_;
  std::uint64_t last_look_ = 0;  // ns

  std::optional<FileState> control_;  // as it was when it was read
  std::int64_t fired_ = 0;            // the last [control] fire that was seen
  struct First {
    std::string text;
    Status status;
  };
  std::optional<First> first_;  // the file that was there at the beginning, until it is answered

  std::uint64_t engine_version_ = 0;  // whose budget is kept
  std::optional<policy::BudgetKeeper> keeper_;
  std::uint64_t disk_ = 0;          // bytes when the directory was looked at last, without checkpoints
  std::uint64_t disk_written_ = 0;  // of the tally, at that time
  std::uint64_t disk_look_ = 0;     // ns
};

}  // namespace sonde::record
