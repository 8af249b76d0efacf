#include "sinks/flight_ring.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/file.h"
#include "base/process.h"
#include "base/shared_mapping.h"
#include "base/system_limits.h"
#include "formats/flight_layout.h"
#include "tensor/copy.h"

namespace sonde::sinks {
namespace {

using flight::EntryHeader;
using flight::EntryType;
using flight::kHeaderBytes;
using flight::kUnit;

constexpr std::uint64_t kLeastBytes = 2 * kHeaderBytes;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kDefaultBytes = 256 * kMiB;
constexpr std::uint64_t kLeastDefaultBytes = 16 * kMiB;
constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

// Room that tensors leave, so that the ends of a training and an evaluation step always fit: an entry without scalars,
// and as much again where it does not fit in front of the end of the file.
constexpr std::uint64_t kLeastStepEnd = flight::entry_size(kUnit, 0);
constexpr std::uint64_t kReserve = std::uint64_t{2} * 2 * kLeastStepEnd;

// Copied and checksummed piece by piece, while it is in the cache.
constexpr std::size_t kPiece = std::size_t{128} << 10;

// A step of which something is in the ring.
struct Kept {
  std::uint64_t first = 0;  // position of its first entry
  std::uint64_t last = 0;   // behind its last one
  std::int64_t step = 0;
  bool evaluation = false;
  std::uint64_t ended = 0;  // training steps that had ended when it began
  enum class Phase : std::uint8_t { in_progress, complete, given_up } phase = Phase::in_progress;
};

// The steps in the ring, in the order of their first entries. Each has a number that stays. Allocates only to grow.
class Directory {
 public:
  std::size_t size() const noexcept { return steps_.size() - gone_; }
  bool empty() const noexcept { return size() == 0; }
  // The i-th from the oldest one.
  const Kept& operator[](std::size_t i) const noexcept { return steps_[gone_ + i]; }

  std::uint64_t push_back(const Kept& step) {
    steps_.push_back(step);
    return first_number_ + size() - 1;
  }
  Kept& numbered(std::uint64_t number) noexcept { return steps_[gone_ + (number - first_number_)]; }
  void pop_front(std::size_t count) {
    gone_ += count;
    first_number_ += count;
    if (gone_ * 2 < steps_.size()) return;
    steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(gone_));
    gone_ = 0;
  }

 private:
  std::vector<Kept> steps_;
  std::size_t gone_ = 0;  // at the front of steps_
  std::uint64_t first_number_ = 0;
};

// The step in progress, of training or of evaluation.
struct Open {
  std::int64_t step = 0;
  bool evaluation = false;
  std::optional<std::uint64_t> number;  // in the directory, once something of it is in the ring
  std::uint64_t tensors = 0;
  std::uint64_t dropped = 0;
};

std::uint32_t copy_with_checksum(const TensorView& view, std::byte* to, std::uint32_t crc) noexcept {
  const std::size_t bytes = byte_size(view);
  if (!view.contiguous()) {
    copy_dense(view, to);
    return crc32c_append(crc, Bytes(to, bytes));
  }
  const auto* from = static_cast<const std::byte*>(view.data);
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t piece = std::min(kPiece, bytes - done);
    std::memcpy(to + done, from + done, piece);
    crc = crc32c_append(crc, Bytes(to + done, piece));
    done += piece;
  }
  return crc;
}

}  // namespace

struct FlightRing::State {
  State(SharedMapping made, const Options& options)
      : mapping(std::move(made)), entries(mapping.bytes().subspan(kHeaderBytes)), most_steps(options.steps) {
    meta.reserve(4096);
  }

  void begin_step(const Stamp& stamp, bool evaluation);
  bool add(const Stamp& stamp, bool evaluation, const Entry& tensor);
  void end_step(const Stamp& stamp, bool evaluation, std::span<const std::pair<std::string_view, double>> scalars);
  bool make_room(std::uint64_t size, std::uint64_t reserve);
  bool may_go(const Kept& step) const noexcept;
  void give_up(std::size_t count, std::uint64_t new_begin);
  void keep_to_limit();
  EntryHeader start_entry(EntryType type, std::uint64_t size, Open& step);
  void finish_entry(const EntryHeader& header, Open& step);
  std::uint64_t filler_before(std::uint64_t size) const noexcept;
  void unpin(std::uint64_t from);

  std::byte* next() const noexcept { return entries.data() + position % entries.size(); }
  std::atomic_ref<std::uint64_t> shared(std::uint64_t offset) const noexcept {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(mapping.bytes().data() + offset));
  }

  SharedMapping mapping;
  std::span<std::byte> entries;
  std::int64_t most_steps;
  std::uint64_t begin = 0;     // as in the file
  std::uint64_t position = 0;  // where the next entry goes; never more than the capacity behind `begin`
  std::uint64_t sequence = 0;  // of the last entry
  Directory kept;
  std::optional<Open> open[2];  // training, evaluation
  std::string meta;             // the description that is being written
  std::uint64_t dropped = 0;
  std::uint64_t ended = 0;  // training steps

  // The one thing that other threads touch: where the oldest pinned step begins. `pins_mutex` guards the rest.
  std::atomic<std::uint64_t> pinned_from = kNone;
  std::mutex pins_mutex;
  std::vector<std::uint64_t> pins;
};

// Bytes that stay unused where an entry does not fit in front of the end of the file.
std::uint64_t FlightRing::State::filler_before(std::uint64_t size) const noexcept {
  const std::uint64_t room = entries.size() - position % entries.size();
  return size > room ? room : 0;
}

// The first so many steps are no longer kept; what is kept begins there.
void FlightRing::State::give_up(std::size_t count, std::uint64_t new_begin) {
  kept.pop_front(count);
  if (new_begin == begin) return;
  begin = new_begin;
  // An exchange, as nothing that follows may be moved before it: only then are the bytes free.
  shared(flight::kBeginOffset).exchange(begin, std::memory_order_acq_rel);
}

// Gives up as many of the oldest steps as it takes, or none if that would not help.
bool FlightRing::State::make_room(std::uint64_t size, std::uint64_t reserve) {
  if (size > entries.size()) return false;
  const std::uint64_t start = position + filler_before(size);
  for (std::size_t count = 0;; ++count) {
    const bool all = count == kept.size();
    const std::uint64_t from = all ? start : count == 0 ? begin : kept[count].first;
    if (start + size + reserve <= from + entries.size()) {
      give_up(count, from);
      if (all) position = start;  // no filler is needed in front of what is kept
      return true;
    }
    if (all || !may_go(kept[count])) return false;
  }
}

bool FlightRing::State::may_go(const Kept& step) const noexcept {
  return step.phase != Kept::Phase::in_progress && step.first < pinned_from.load(std::memory_order_acquire);
}

void FlightRing::State::keep_to_limit() {
  if (most_steps <= 0) return;
  std::size_t closed = kept.size();
  for (const std::optional<Open>& step : open) closed -= step && step->number ? 1U : 0U;
  std::size_t count = 0;
  while (closed - count > static_cast<std::uint64_t>(most_steps) && may_go(kept[count])) ++count;
  if (count > 0) give_up(count, count < kept.size() ? kept[count].first : position);
}

// After make_room. Writes the filler where one is needed, and puts the step into the directory.
EntryHeader FlightRing::State::start_entry(EntryType type, std::uint64_t size, Open& step) {
  if (const std::uint64_t filler = filler_before(size); filler > 0) {
    flight::store_entry_header(
        next(),
        {.type = EntryType::filler, .sequence = ++sequence, .position = position, .step = position, .size = filler});
    position += filler;
  }
  if (!step.number) {
    step.number = kept.push_back(
        {.first = position, .last = position, .step = step.step, .evaluation = step.evaluation, .ended = ended});
  }
  return {.type = type,
          .sequence = ++sequence,
          .position = position,
          .step = kept.numbered(*step.number).first,
          .size = size,
          .meta_bytes = static_cast<std::uint32_t>(meta.size())};
}

void FlightRing::State::finish_entry(const EntryHeader& header, Open& step) {
  flight::store_entry_header(next(), header);
  position += header.size;
  kept.numbered(*step.number).last = position;
}

void FlightRing::State::begin_step(const Stamp& stamp, bool evaluation) {
  std::optional<Open>& step = open[evaluation ? 1 : 0];
  if (step && step->step == stamp.step) return;
  if (step && step->number) kept.numbered(*step->number).phase = Kept::Phase::given_up;
  step.emplace();
  step->step = stamp.step;
  step->evaluation = evaluation;
}

bool FlightRing::State::add(const Stamp& stamp, bool evaluation, const Entry& tensor) {
  begin_step(stamp, evaluation);
  Open& step = *open[evaluation ? 1 : 0];
  bool fits = tensor.view.valid();
  if (fits) {
    meta.clear();
    flight::put_tensor_meta(meta, {.step = stamp.step,
                                   .evaluation = evaluation,
                                   .wall_time = stamp.wall_time,
                                   .kind = tensor.kind,
                                   .occurrence = tensor.occurrence,
                                   .name = tensor.name,
                                   .inputs = tensor.inputs,
                                   .dtype = tensor.view.dtype,
                                   .shape = tensor.view.shape});
    fits = make_room(flight::entry_size(meta.size(), byte_size(tensor.view)), kReserve);
  }
  if (!fits) {
    ++step.dropped;
    ++dropped;
    return false;
  }
  EntryHeader header = start_entry(EntryType::tensor, flight::entry_size(meta.size(), byte_size(tensor.view)), step);
  header.data_bytes = byte_size(tensor.view);
  std::byte* to = next() + kUnit;
  std::memcpy(to, meta.data(), meta.size());
  header.body_checksum = copy_with_checksum(tensor.view, to + flight::round_up(meta.size()), crc32c(as_bytes(meta)));
  finish_entry(header, step);
  ++step.tensors;
  return true;
}

void FlightRing::State::end_step(const Stamp& stamp, bool evaluation,
                                 std::span<const std::pair<std::string_view, double>> scalars) {
  begin_step(stamp, evaluation);
  Open& step = *open[evaluation ? 1 : 0];
  const std::uint64_t reserve = open[evaluation ? 0 : 1] ? kReserve / 2 : 0;  // for the other one
  bool fits = false;
  for (;; scalars = scalars.first(scalars.size() / 2)) {
    meta.clear();
    flight::put_step_end_meta(meta, {.step = stamp.step,
                                     .evaluation = evaluation,
                                     .wall_time = stamp.wall_time,
                                     .tensors = step.tensors,
                                     .dropped = step.dropped,
                                     .scalars = scalars});
    fits = make_room(flight::entry_size(meta.size(), 0), reserve);
    if (fits || scalars.empty()) break;
  }
  if (fits) {
    EntryHeader header = start_entry(EntryType::step_end, flight::entry_size(meta.size(), 0), step);
    header.body_checksum = crc32c(as_bytes(meta));
    std::memcpy(next() + kUnit, meta.data(), meta.size());
    finish_entry(header, step);
    shared(flight::kEndOffset).store(position, std::memory_order_release);
  }
  if (step.number) kept.numbered(*step.number).phase = fits ? Kept::Phase::complete : Kept::Phase::given_up;
  open[evaluation ? 1 : 0].reset();
  if (!evaluation) ++ended;
  keep_to_limit();
}

void FlightRing::State::unpin(std::uint64_t from) {
  const std::scoped_lock lock(pins_mutex);
  pins.erase(std::ranges::find(pins, from));
  // Releases what the pin's thread has read, before the backend writes over it.
  pinned_from.store(pins.empty() ? kNone : std::ranges::min(pins), std::memory_order_release);
}

// ---- The public classes.

Result<std::unique_ptr<FlightRing>> FlightRing::create(const Options& options) {
  const std::uint64_t wanted = options.bytes == 0 ? default_bytes() : options.bytes;
  if (wanted < kLeastBytes) {
    return Status(Code::invalid_argument, "a flight ring of " + std::to_string(wanted) +
                                              " bytes is too small: set [flight] size to at least " +
                                              std::to_string(kLeastBytes));
  }
  const flight::Identity identity = {
      .host = host_name(), .pid = process_id(), .writer = options.writer, .start_time = wall_seconds()};
  const std::string prefix =
      join_path(options.directory, "flight-" + identity.host + "-" + std::to_string(identity.pid) + "-");
  Result<SharedMapping> mapping = SharedMapping::create(prefix, ".ring", wanted / kUnit * kUnit);
  if (!mapping) {
    return Status(mapping.error().code(), "there is no flight ring: " + mapping.error().message() +
                                              "; set a smaller [flight] size, or [flight] dir to another local disk");
  }
  auto state = std::make_shared<State>(*std::move(mapping), options);
  flight::store_header(state->mapping.bytes(),
                       flight::encode_header(identity, state->entries.size(), options.allow_negative_infinity));
  return std::unique_ptr<FlightRing>(new FlightRing(std::move(state)));
}

FlightRing::FlightRing(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

FlightRing::~FlightRing() { abandon(); }

std::uint64_t FlightRing::default_bytes() {
  const std::uint64_t limit = background_dirty_limit().value_or(2 * kDefaultBytes);
  return std::clamp(limit / 2 / kMiB * kMiB, kLeastDefaultBytes, kDefaultBytes);
}

bool FlightRing::add(const Stamp& stamp, bool evaluation, const Entry& tensor) {
  return !state_->entries.empty() && state_->add(stamp, evaluation, tensor);
}

void FlightRing::end_step(const Stamp& stamp, bool evaluation,
                          std::span<const std::pair<std::string_view, double>> scalars) {
  if (!state_->entries.empty()) state_->end_step(stamp, evaluation, scalars);
}

const std::string& FlightRing::path() const noexcept { return state_->mapping.path(); }
std::uint64_t FlightRing::bytes() const noexcept { return state_->mapping.bytes().size(); }
std::uint64_t FlightRing::dropped() const noexcept { return state_->dropped; }

Status FlightRing::close() {
  state_->entries = {};
  return state_->mapping.remove();
}

void FlightRing::abandon() noexcept {
  state_->entries = {};
  state_->mapping.release();
}

struct FlightPin::Range {
  std::shared_ptr<FlightRing::State> ring;
  Bytes entries;
  std::uint64_t from = kNone;  // positions
  std::uint64_t to = 0;
  std::vector<std::uint64_t> steps;  // of the first entries of those that are pinned, ascending
  std::uint64_t training_steps = 0;
};

std::uint64_t FlightRing::ended() const noexcept { return state_->ended; }

FlightPin FlightRing::pin(std::uint64_t first, std::uint64_t last) {
  auto range = std::make_unique<FlightPin::Range>();
  range->ring = state_;
  range->entries = state_->entries;
  for (std::size_t i = 0; i < state_->kept.size(); ++i) {
    const Kept& step = state_->kept[i];
    if (step.phase != Kept::Phase::complete || step.ended < first || step.ended > last) continue;
    range->from = std::min(range->from, step.first);
    range->to = std::max(range->to, step.last);
    range->steps.push_back(step.first);
    if (!step.evaluation) ++range->training_steps;
  }
  if (range->from != kNone) {
    const std::scoped_lock lock(state_->pins_mutex);
    state_->pins.push_back(range->from);
    state_->pinned_from.store(std::ranges::min(state_->pins), std::memory_order_release);
  }
  return FlightPin(std::move(range));
}

FlightPin::FlightPin(std::unique_ptr<Range> range) noexcept : range_(std::move(range)) {}
FlightPin::FlightPin(FlightPin&&) noexcept = default;
FlightPin& FlightPin::operator=(FlightPin&& other) noexcept {
  std::swap(range_, other.range_);
  return *this;
}
FlightPin::~FlightPin() {
  if (range_ != nullptr && range_->from != kNone) range_->ring->unpin(range_->from);
}

std::vector<flight::Step> FlightPin::steps() const {
  if (range_ == nullptr || range_->from == kNone) return {};
  std::uint64_t torn = 0;
  std::vector<flight::Step> steps = flight::read_steps(range_->entries, range_->from, range_->to, range_->to, torn);
  // Between them there may be others, while an evaluation pass goes on.
  std::erase_if(steps, [&](const flight::Step& step) {
    return !step.complete || !std::ranges::binary_search(range_->steps, step.position);
  });
  return steps;
}

std::uint64_t FlightPin::training_steps() const noexcept { return range_ == nullptr ? 0 : range_->training_steps; }

}  // namespace sonde::sinks
