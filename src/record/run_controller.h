// Reads the control file, a few times per second and on the backend thread, and answers it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/input_file.h"
#include "record/budget_controller.h"
#include "record/error_queue.h"
#include "record/policy_in_force.h"

namespace sonde::record {

class Steps;

class RunController {
 public:
  // `policy` and `errors` must outlive it.
  RunController(std::string run_directory, PolicyInForce& policy, ErrorQueue& errors);

  // Applies a control file that exists before the recorder starts, and answers it when steps can be recorded.
  void begin();
  void begun(const Steps& steps);

  void poll(Steps& steps, BudgetController& budget, double wall_time);
  // Says that the policy of the file is in force, when its flight ring is there too or is known not to come.
  void answer_pending(const Steps& steps);

 private:
  void take(const std::string& text, Steps& steps, BudgetController& budget, double wall_time);
  std::optional<std::string> changed_control();
  void refuse(const std::string& text, const Status& why);
  void answer(const std::string& text, const Status& status, const Status& ring);

  const std::string directory_;
  const std::string control_path_;
  PolicyInForce& policy_;
  ErrorQueue& errors_;

  std::optional<base::FileState> control_;  // when it was last read
  std::int64_t fired_ = 0;                  // the last [control] fire that was seen
  std::optional<std::string> pending_;      // the text of the file that is in force and was not answered
  struct First {
    std::string text;
    Status status;
  };
  std::optional<First> first_;  // the file that existed at the start, until it is answered
};

}  // namespace sonde::record
