// Writes the flight ring (formats/flight.h): allocated in full when it is made, locked while the process lives, removed
// when it is closed in order. Written by system calls: a file that is cut short costs the ring, not the process.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/flight.h"
#include "sinks/values.h"
#include "sonde/status.h"

namespace sonde::sinks {

// Steps of a ring that can be read as long as this lives, see below.
class FlightPin;
struct PinnedStep;

// Calls come from the backend thread.
class FlightRing {
 public:
  struct Options {
    std::string directory;    // where the file goes
    std::uint64_t bytes = 0;  // of the whole file, at least 8192; 0: default_bytes()
    std::int64_t steps = 0;   // no more than the last so many; 0: as many as fit
    std::string writer = {};
    std::vector<std::string> allow_negative_infinity = {};  // as many as fit into the header
    std::uint64_t aside = 0;  // bytes of steps that are pinned, but no longer in the ring; 0: as many as the ring has
  };
  // The error says what to do: no space for so many bytes, a file system without mapping.
  static Result<std::unique_ptr<FlightRing>> create(const Options& options);
  ~FlightRing();  // as abandon()

  // 256 MiB, or less where the kernel would write the ring back all the time: half of its background dirty limit.
  static std::uint64_t default_bytes();

  // A tensor of the step in progress. It overwrites the oldest steps, but never the step itself: where that leaves no
  // room the tensor is left out and counted in the step. Allocates nothing, unless a step is pinned.
  // Several may be in progress at the same time: a training step, whose `pass` is 0, and passes of evaluation or
  // inference, each with a number of its own. Where there is no room for all, passes lose their oldest tensors to the
  // others, and count them; the training step loses none. A training step whose end never comes is one that was not
  // completed as soon as the next one begins.
  struct Entry {
    std::string_view name;
    Kind kind = Kind::activation;
    std::uint32_t occurrence = 0;
    std::span<const std::string> inputs = {};
    TensorView view;  // may be strided
  };
  bool add(const Stamp& stamp, bool evaluation, const Entry& tensor, std::uint32_t pass = 0);
  // Where room is short, the last scalars are left out.
  void end_step(const Stamp& stamp, bool evaluation, std::span<const std::pair<std::string_view, double>> scalars,
                std::uint32_t pass = 0);

  // How many training steps, and passes of inference, have ended since the ring was made, whether there was room for
  // them or not.
  std::uint64_t ended() const noexcept;
  // Of these, counted from 0, what is still there of the first-th to the last-th, and the evaluation passes among them.
  // Not by the steps' own numbers: they may go back.
  FlightPin pin(std::uint64_t first, std::uint64_t last);
  // Likewise, in addition to what it has.
  void pin_more(FlightPin& pin, std::uint64_t first, std::uint64_t last);

  void set_allowed(std::span<const std::string> allow_negative_infinity);

  const std::string& path() const noexcept;
  std::uint64_t bytes() const noexcept;
  std::uint64_t dropped() const noexcept;  // tensors, for want of room

  // The file has been cut short, or could not be written: what it holds is not whole, and nothing is added any more.
  bool lost() const noexcept;

  Status close();           // removes the file
  void abandon() noexcept;  // leaves it, unclean, and lets go: what the end of the process does. In a forked child

 private:
  friend class FlightPin;
  friend struct PinnedStep;
  struct State;
  explicit FlightRing(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

// The ring goes on meanwhile: a step that it must overwrite is copied aside first, as long as there is room for that.
// It may be moved to, read and destroyed by another thread, and must not outlive the ring.
class FlightPin {
 public:
  FlightPin() noexcept;
  FlightPin(FlightPin&&) noexcept;
  FlightPin& operator=(FlightPin&&) noexcept;
  ~FlightPin();
  // The next step, oldest first, of which it lets go; null behind the last. It holds until the next call. One that the
  // ring could not keep has lost its tensors and says how many (flight::Step::overwritten).
  const flight::Step* next();
  std::uint64_t training_steps() const noexcept { return training_steps_; }  // that were pinned

 private:
  friend class FlightRing;
  void let_go() noexcept;

  std::shared_ptr<FlightRing::State> ring_;
  std::deque<std::shared_ptr<PinnedStep>> steps_;  // still to be read, oldest first
  std::uint64_t training_steps_ = 0;
  // The step that was read last: where its bytes are, aside or, if they were in the ring, copied.
  std::shared_ptr<PinnedStep> aside_;
  std::vector<std::byte> bytes_;
  flight::Step step_;
};

}  // namespace sonde::sinks
