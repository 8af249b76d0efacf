// Writes the flight ring (formats/flight.h): fully allocated when it is created, locked while the process lives,
// removed when it is closed. Written by system calls: truncating the file costs the ring, not the process.
#pragma once

#include <cstdint>
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

// Keeps steps of a ring readable as long as it lives, see below.
class FlightPin;
struct PinnedStep;

// Calls come from the backend thread.
class FlightRing {
 public:
  struct Options {
    std::string directory;    // where the file goes
    std::uint64_t bytes = 0;  // of the whole file, at least 8192; 0: default_bytes()
    std::int64_t steps = 0;   // at most the last N steps; 0: as many as fit
    std::string writer = {};
    std::vector<std::string> allow_negative_infinity = {};  // as many as fit into the header
    std::uint64_t copy_bytes = 0;  // maximum bytes of pinned steps copied out of the ring; 0: as many as the ring has
  };
  // The error says what to do: not enough space, or the file system does not support it.
  static Result<std::unique_ptr<FlightRing>> create(const Options& options);
  ~FlightRing();  // like abandon()

  // 256 MiB, or less if the kernel would write the ring back constantly: half of its background dirty limit.
  static std::uint64_t default_bytes();

  // Adds a tensor of the current step. It overwrites the oldest steps, but never the step itself: if that leaves no
  // room the tensor is left out and counted in the step. Allocates nothing, unless a step is pinned.
  // Several steps may be in progress at the same time: a training step, whose `pass` is 0, and passes of evaluation or
  // inference, each with its own number. If there is no room for all, passes lose their oldest tensors to the others,
  // and count them; the training step loses none. A training step without an end counts as incomplete as soon as the
  // next one begins.
  struct Entry {
    std::string_view name;
    Kind kind = Kind::activation;
    std::uint32_t occurrence = 0;
    std::span<const std::string> inputs = {};
    TensorView view;  // may be strided
  };
  bool add(const Stamp& stamp, bool evaluation, const Entry& tensor, std::uint32_t pass = 0);
  // Counts tensors of the current step that were dropped before they reached the ring.
  void lose(const Stamp& stamp, bool evaluation, std::uint64_t tensors, std::uint32_t pass = 0);
  // If room is short, the last scalars are left out.
  void end_step(const Stamp& stamp, bool evaluation, std::span<const std::pair<std::string_view, double>> scalars,
                std::uint32_t pass = 0);

  // The number of training steps and passes of inference that have ended since the ring was created, whether they fit
  // or not.
  std::uint64_t ended() const noexcept;
  // Pins what is left of the first-th to the last-th of these, counted from 0, and the evaluation passes among them.
  // Not by the steps' own numbers, which may go back.
  FlightPin pin(std::uint64_t first, std::uint64_t last);
  // Adds more steps to a pin in the same way.
  void pin_more(FlightPin& pin, std::uint64_t first, std::uint64_t last);

  void set_allowed(std::span<const std::string> allow_negative_infinity);

  const std::string& path() const noexcept;
  std::uint64_t bytes() const noexcept;
  std::uint64_t dropped() const noexcept;  // tensors that did not fit

  // The file was truncated, or could not be written: it is incomplete, and nothing more is added.
  bool lost() const noexcept;

  Status close();           // removes the file
  void abandon() noexcept;  // closes the file without removing it, like the end of the process. For a forked child

 private:
  friend class FlightPin;
  friend struct PinnedStep;
  struct State;
  explicit FlightRing(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

// The ring continues meanwhile: a step that it must overwrite is copied to memory first, as long as there is room for
// that. Another thread may own, read and destroy it; it must not outlive the ring.
class FlightPin {
 public:
  FlightPin() noexcept;
  FlightPin(FlightPin&&) noexcept;
  FlightPin& operator=(FlightPin&&) noexcept;
  ~FlightPin();
  // The next step, oldest first, which is then unpinned; null after the last. It is valid until the next call. A step
  // that the ring could not keep has lost its tensors and says how many (flight::Step::overwritten).
  const flight::Step* next();
  std::uint64_t training_steps() const noexcept { return training_steps_; }  // that were pinned

 private:
  friend class FlightRing;
  void let_go() noexcept;

  std::shared_ptr<FlightRing::State> ring_;
  std::vector<std::shared_ptr<PinnedStep>> steps_;  // oldest first; null once it is read
  std::size_t read_ = 0;                            // of these
  std::uint64_t training_steps_ = 0;
  // The last step that was read: its bytes, copied to memory earlier or now.
  std::shared_ptr<PinnedStep> copied_;
  std::vector<std::byte> bytes_;
  flight::Step step_;
};

}  // namespace sonde::sinks
