// How commands change a running job: they write RUN/control.toml, which its recorder checks every 250 ms, and the
// recorder answers in RUN/control.state (record/run_controller.cc). See policy/control_file.h for the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/control_file.h"
#include "sonde/status.h"

namespace sonde::cli {

// The changes to the program's own policy that are in force, from the file.
struct Control {
  std::string run;   // the directory
  std::string text;  // of control.toml; empty if there is none
  bool exists = false;
  policy::ControlFile content;
};

// Fails if `run` is not the directory of a run.
Status check_run(const std::string& run);
// Also fails if control.toml cannot be parsed, or belongs to another user: this user's command must not adopt what
// another user wrote there.
Result<Control> read_control(const std::string& run);
std::string control_path(const std::string& run);

// control.toml as it is now.
struct OwnText {
  std::string text;
  bool own = false;  // it belongs to this user; this user's recorders ignore others
};
Result<OwnText> read_own_control(const std::string& run);

// The text with one key of [control] set, everything else untouched. Fails if [control] is written in a way that cannot
// be edited automatically.
Result<std::string> with_control_key(const std::string& text, std::string_view key, std::string_view value);

// The triggers that `sonde arm` has added, including those that earlier versions wrote as [[trigger]].
std::vector<TriggerPolicy> armed_triggers(const policy::ControlFile& content);
// The text without them, everything else untouched. Fails if they are written in a way that cannot be edited
// automatically.
Result<std::string> without_armed(const Control& control);
// The text with these triggers added.
std::string with_armed(std::string text, const std::vector<TriggerPolicy>& triggers);

// The running recorder's answer to the current control.toml.
enum class Standing : std::uint8_t {
  in_force,
  refused,
  not_taken,  // no recorder has read it yet
};
struct State {
  Standing standing = Standing::not_taken;
  std::string but;  // why it was rejected, or which part could not be done
};
State state_of(const Control& control);

// What the recorder said.
struct Answer {
  bool applied = false;  // otherwise there was no answer for two seconds: no recorder runs, or none with live control
  std::string but;       // which part could not be done; empty: everything was done
};
// Replaces the file and waits for the answer. If the recorder rejects it, the old file is restored and the error has
// the reason.
Result<Answer> put_control(const Control& before, const std::string& text);

// The end of a sentence about the answer: empty if everything was done, otherwise "; ..." with the rest.
std::string describe(const Answer& answer);

// Sleeps for a few milliseconds; false once `seconds` have passed since `start`, from monotonic_nanoseconds().
bool wait_a_little(std::uint64_t start, double seconds) noexcept;

}  // namespace sonde::cli
