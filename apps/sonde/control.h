// How commands change a running job: they write RUN/control.toml, which its recorder looks at every quarter of a
// second, and the recorder answers in RUN/control.state (record/run_controller.cc). See policy/control_file.h for the
// file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/control_file.h"
#include "sonde/status.h"

namespace sonde::cli {

// What is in force besides the program's own policy, as its file says.
struct Control {
  std::string run;   // the directory
  std::string text;  // of control.toml; empty where there is none
  bool exists = false;
  policy::ControlFile content;
};

// Fails where `run` is not the directory of a run.
Status check_run(const std::string& run);
// Fails also where there is a control.toml that nobody understands, or one of another user: what that one wants must
// not become what this one says.
Result<Control> read_control(const std::string& run);
std::string control_path(const std::string& run);

// control.toml as it stands.
struct OwnText {
  std::string text;
  bool own = false;  // it is this user's; recorders of this user ignore others
};
Result<OwnText> read_own_control(const std::string& run);

// The text with one key of [control] set, everything else untouched. Fails where somebody has written [control] in a
// way that only a person can change.
Result<std::string> with_control_key(const std::string& text, std::string_view key, std::string_view value);

// The triggers that `sonde arm` has added, also those that earlier versions wrote as [[trigger]].
std::vector<TriggerPolicy> armed_triggers(const policy::ControlFile& content);
// The text with these added to it.
std::string with_armed(std::string text, const std::vector<TriggerPolicy>& triggers);

// What a running recorder has made of control.toml as it stands.
enum class Standing : std::uint8_t {
  in_force,
  refused,
  not_taken,  // no recorder has looked at it yet
};
struct State {
  Standing standing = Standing::not_taken;
  std::string but;  // why it was refused, or what of it could not be done
};
State state_of(const Control& control);

// What the recorder said.
struct Answer {
  bool applied = false;  // otherwise it was silent for two seconds: none runs, or none that may be controlled
  std::string but;       // what of it could not be done; empty: nothing
};
// Puts the text into place of what was read and waits for the answer. Where the recorder refuses it, the file is put
// back as it was and the error has its reason.
Result<Answer> put_control(const Control& before, const std::string& text);

// The end of a sentence about it: nothing where all is as asked, otherwise "; ..." with what is not.
std::string describe(const Answer& answer);

// Sleeps for a few milliseconds; false once `seconds` have passed since `start`, of monotonic_nanoseconds().
bool wait_a_little(std::uint64_t start, double seconds) noexcept;

}  // namespace sonde::cli
