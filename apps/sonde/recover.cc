// sonde recover: saves the last steps of a killed process, from the ring that it left behind.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/directory.h"
#include "base/file.h"
#include "base/file_lock.h"
#include "capture_text.h"
#include "formats/run_layout.h"
#include "sonde/capture.h"
#include "subcommand.h"
#include "tensor_files/external_rings.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

class Recover final : public Subcommand {
 public:
  Recover()
      : Subcommand({.name = "recover",
                    .usage = "recover RUN [options]",
                    .summary = "save the last steps of a killed process",
                    .details =
                        "A process with a flight ring keeps its last steps in a file in its run, or where "
                        "[flight] dir of its policy says. If the process was killed, this command turns the file "
                        "into a capture, as the next start of the job would do, and removes it. It does not "
                        "touch the ring of a running process.",
                    .examples = {"sonde recover logs/train",
                                 "sonde recover logs/train --ring rings/flight-host-4711-0.ring"}}) {}

  void setup(Flags& flags) override {
    flags.argument(run_, "RUN", "the directory of a run");
    flags.path_option(ring_, "--ring", "FILE", "only this ring (all abandoned rings of RUN)");
  }

  int run() override {
    if (const Result<base::Directory> directory = base::read_directory(run_); !directory)
      return fail(directory.error());
    if (!ring_.empty()) return recover(ring_);
    const Result<std::vector<std::string>> rings = abandoned_rings(run_);
    if (!rings) return fail(rings.error());
    int code = kSuccess;
    for (const std::string& ring : *rings) code = std::max(code, recover(ring));
    const std::vector<std::string> held = others(*rings);
    if (held.empty() && rings->empty()) {
      print("No process left a ring in '" + harmless(run_) + "': there is nothing to recover.\n");
    }
    if (held.empty()) return code;
    const std::string sentence = std::string(held.size() == 1 ? "the ring " : "the rings ") + listed(held) +
                                 (held.size() == 1 ? " belongs to a running process: it can become a capture"
                                                   : " belong to running processes: they can become captures") +
                                 " after the process ends";
    if (rings->empty()) return fail(sentence);
    note(sentence);
    return code;
  }

 private:
  int recover(const std::string& ring) {
    const Result<std::string> path = recover_ring(ring, run_);
    if (!path) return fail(path.error());
    const Result<Capture> capture = Capture::open(*path);
    if (!capture) return fail(capture.error());
    print(styled(harmless(*path), Style::bold, color_) + "  from " + harmless(ring) + "\n\n" +
          capture_text(*capture, files_of(*capture), color_));
    return kSuccess;
  }

  // The rings of the run that are not abandoned.
  std::vector<std::string> others(const std::vector<std::string>& left) const {
    std::vector<std::string> found;
    const Result<base::Directory> directory = base::read_directory(run_);
    if (!directory) return found;
    for (const base::DirectoryEntry& entry : directory->entries) {
      const std::string path = base::join_path(run_, entry.name);
      if (entry.type == base::DirectoryEntry::Type::file && run_layout::is_ring(entry.name) &&
          !std::ranges::count(left, path)) {
        found.push_back(path);
      }
    }
    for (const std::string& path : tensor_files::external_rings(run_)) {
      if (const Result<bool> locked = base::is_locked(path); locked && *locked) found.push_back(path);
    }
    return found;
  }

  std::string run_;
  std::string ring_;
  bool color_ = colored(stdout);
};

}  // namespace

std::unique_ptr<Subcommand> make_recover_command() { return std::make_unique<Recover>(); }

}  // namespace sonde::cli
