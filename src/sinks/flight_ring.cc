#include "sinks/flight_ring.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/fixed_file.h"
#include "base/process.h"
#include "base/system_limits.h"
#include "formats/flight_layout.h"
#include "formats/run_layout.h"
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

// Room that tensors leave for each step in progress, so that its end always fits: an entry without scalars, and the
// same again if it does not fit before the end of the file.
constexpr std::uint64_t kLeastStepEnd = flight::entry_size(kUnit, 0);
constexpr std::uint64_t kReserve = 2 * kLeastStepEnd;

// For a training step and an evaluation pass there is always room, whether they have begun or not.
constexpr std::uint64_t reserve_for(std::size_t in_progress) noexcept {
  return std::max<std::uint64_t>(in_progress, 2) * kReserve;
}

// Copied and checksummed piece by piece, while it is in the cache.
constexpr std::size_t kPiece = std::size_t{128} << 10;

// A step with data in the ring.
struct Kept {
  std::uint64_t first = 0;  // position of its first entry
  std::uint64_t last = 0;   // after its last one
  std::int64_t step = 0;
  bool evaluation = false;
  std::uint32_t pass = 0;
  std::uint64_t ended = 0;    // training steps that had ended before it did; of an evaluation pass: when it began
  std::uint64_t tensors = 0;  // recorded in it
  enum class Phase : std::uint8_t { in_progress, complete, given_up } phase = Phase::in_progress;
  std::shared_ptr<PinnedStep> pinned = {};  // once it was pinned
};

// The steps in the ring, in the order of their first entries. Each has a number that stays. Allocates only to grow.
class Directory {
 public:
  std::size_t size() const noexcept { return steps_.size() - gone_; }
  bool empty() const noexcept { return size() == 0; }
  // The i-th from the oldest one.
  const Kept& operator[](std::size_t i) const noexcept { return steps_[gone_ + i]; }
  Kept& operator[](std::size_t i) noexcept { return steps_[gone_ + i]; }

  // So that the next one needs no memory.
  void make_place() {
    if (steps_.size() == steps_.capacity()) steps_.reserve(std::max<std::size_t>(64, 2 * steps_.size()));
  }
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

// A step in progress, of training, evaluation or inference.
struct Open {
  std::int64_t step = 0;
  bool evaluation = false;
  std::uint32_t pass = 0;
  std::optional<std::uint64_t> number;  // in the directory, once it has data in the ring
  std::uint64_t tensors = 0;
  std::uint64_t dropped = 0;
  std::uint64_t lost = 0;  // before they reached the ring
};

}  // namespace

// A pinned step. The thread that reads it and the one that wants its place in the ring meet here.
struct PinnedStep {
  explicit PinnedStep(const Kept& of)
      : first(of.first), size(of.last - of.first), step(of.step), evaluation(of.evaluation), tensors(of.tensors) {}

  void pin();
  void unpin(FlightRing::State& ring);
  void unpin_locked(FlightRing::State& ring) noexcept;
  bool is_pinned();
  void copy_from_ring(const FlightRing::State& ring, std::byte* to) const noexcept;
  // Its place in the ring is about to be overwritten.
  void leave_ring(FlightRing::State& ring);

  const std::uint64_t first;  // position
  const std::uint64_t size;   // bytes
  const std::int64_t step;
  const bool evaluation;
  const std::uint64_t tensors;
  std::mutex mutex;  // guards the following members
  std::uint64_t pins = 0;
  enum class Place : std::uint8_t { in_ring, in_memory, lost } place = Place::in_ring;
  std::unique_ptr<std::byte[]> copy;  // once it is copied to memory
};

struct FlightRing::State {
  State(base::FixedFile made, flight::Identity owner, const Options& options)
      : file(std::move(made)),
        capacity(file.size() - kHeaderBytes),
        identity(std::move(owner)),
        most_steps(options.steps),
        most_copied_bytes(options.copy_bytes == 0 ? capacity : options.copy_bytes) {
    meta.reserve(4096);
    open.reserve(16);
  }

  // The step, which is begun if it is new.
  Open& open_step(const Stamp& stamp, bool evaluation, std::uint32_t pass);
  Open* find(bool evaluation, std::uint32_t pass) noexcept;
  bool add(const Stamp& stamp, bool evaluation, const Entry& tensor, std::uint32_t pass);
  void end_step(const Stamp& stamp, bool evaluation, std::span<const std::pair<std::string_view, double>> scalars,
                std::uint32_t pass);
  bool make_room(std::uint64_t size, std::uint64_t reserve, const Open& step);
  void give_up(std::size_t count, std::uint64_t new_begin);
  void begin_anew(Open& step) noexcept;
  void keep_to_limit();
  EntryHeader start_entry(EntryType type, std::uint64_t size, Open& step);
  void finish_entry(const EntryHeader& header, Open& step);
  std::uint64_t filler_before(std::uint64_t size) const noexcept;

  // The position of the next entry in the file.
  std::uint64_t next() const noexcept { return kHeaderBytes + position % capacity; }
  // A failed write is the end of the ring: see FlightRing::lost.
  void write(std::uint64_t offset, base::Bytes bytes) noexcept { lost = !file.write_at(offset, bytes) || lost; }
  void write_position(std::uint64_t offset, std::uint64_t value) noexcept {
    write(offset, std::as_bytes(std::span(&value, 1)));
  }
  void write_entry_header(const EntryHeader& header) noexcept {
    alignas(kUnit) std::byte bytes[kUnit];
    flight::store_entry_header(bytes, header);
    write(next(), bytes);
  }
  std::uint32_t write_with_checksum(const TensorView& view, std::uint64_t offset, std::uint32_t crc);

  base::FixedFile file;
  std::uint64_t capacity;        // bytes for entries; 0 once it is closed
  bool lost = false;             // the file does not have what was written
  std::string header_page;       // as in the file, without the two positions
  std::vector<std::byte> dense;  // elements of a strided tensor
  const flight::Identity identity;
  const std::int64_t most_steps;
  const std::uint64_t most_copied_bytes;
  std::uint64_t begin = 0;     // as in the file
  std::uint64_t position = 0;  // position of the next entry; at most the capacity after `begin`
  std::uint64_t sequence = 0;  // of the last entry
  Directory kept;
  std::vector<Open> open;  // steps in progress
  std::string meta;        // the description that is being written
  std::uint64_t dropped = 0;
  std::uint64_t ended = 0;                      // training steps
  std::atomic<std::uint64_t> copied_bytes = 0;  // of pinned steps; other threads subtract them
};

// Bytes that stay unused where an entry does not fit in front of the end of the file.
std::uint64_t FlightRing::State::filler_before(std::uint64_t size) const noexcept {
  const std::uint64_t room = capacity - position % capacity;
  return size > room ? room : 0;
}

// Releases the first `count` steps; the rest begins at `new_begin`.
void FlightRing::State::give_up(std::size_t count, std::uint64_t new_begin) {
  for (std::size_t i = 0; i < count; ++i) {
    if (kept[i].pinned) kept[i].pinned->leave_ring(*this);
    if (kept[i].phase == Kept::Phase::in_progress) begin_anew(*find(kept[i].evaluation, kept[i].pass));
  }
  kept.pop_front(count);
  if (new_begin == begin) return;
  begin = new_begin;
  write_position(flight::kBeginOffset, begin);  // only then are the bytes free
}

// Its data in the ring is lost; later data is kept.
void FlightRing::State::begin_anew(Open& step) noexcept {
  step.dropped += step.tensors;
  dropped += step.tensors;
  step.tensors = 0;
  step.number.reset();
}

// Gives up as many of the oldest steps as it takes, or none if that would not help. A pass that continues for longer
// than the ring lasts makes way for other steps, but not for itself; a training step makes way for nothing.
bool FlightRing::State::make_room(std::uint64_t size, std::uint64_t reserve, const Open& step) {
  if (size > capacity) return false;
  const std::uint64_t start = position + filler_before(size);
  for (std::size_t count = 0;; ++count) {
    const bool all = count == kept.size();
    const std::uint64_t from = all ? start : count == 0 ? begin : kept[count].first;
    if (start + size + reserve <= from + capacity) {
      give_up(count, from);
      if (all) position = start;  // no filler is needed before the kept steps
      return true;
    }
    if (all) return false;
    const Kept& oldest = kept[count];
    const bool itself = oldest.evaluation == step.evaluation && oldest.pass == step.pass;
    const bool training = !oldest.evaluation && oldest.pass == 0;
    if (oldest.phase == Kept::Phase::in_progress && (itself || training)) return false;
  }
}

void FlightRing::State::keep_to_limit() {
  if (most_steps <= 0) return;
  std::size_t closed = kept.size();
  for (const Open& step : open) closed -= step.number ? 1U : 0U;
  std::size_t count = 0;
  // Pinned steps may stay as long as there is room.
  const auto may_go = [](const Kept& step) {
    return step.phase != Kept::Phase::in_progress && !(step.pinned && step.pinned->is_pinned());
  };
  while (closed - count > static_cast<std::uint64_t>(most_steps) && may_go(kept[count])) ++count;
  if (count > 0) give_up(count, count < kept.size() ? kept[count].first : position);
}

// After make_room. Writes a filler if one is needed, and adds the step to the directory.
EntryHeader FlightRing::State::start_entry(EntryType type, std::uint64_t size, Open& step) {
  if (const std::uint64_t filler = filler_before(size); filler > 0) {
    write_entry_header(
        {.type = EntryType::filler, .sequence = ++sequence, .position = position, .step = position, .size = filler});
    position += filler;
  }
  if (!step.number) {
    step.number = kept.push_back({.first = position,
                                  .last = position,
                                  .step = step.step,
                                  .evaluation = step.evaluation,
                                  .pass = step.pass,
                                  .ended = ended});
  }
  return {.type = type,
          .sequence = ++sequence,
          .position = position,
          .step = kept.numbered(*step.number).first,
          .size = size,
          .meta_bytes = static_cast<std::uint32_t>(meta.size())};
}

void FlightRing::State::finish_entry(const EntryHeader& header, Open& step) {
  write_entry_header(header);
  position += header.size;
  kept.numbered(*step.number).last = position;
}

Open* FlightRing::State::find(bool evaluation, std::uint32_t pass) noexcept {
  const auto found =
      std::ranges::find_if(open, [&](const Open& step) { return step.evaluation == evaluation && step.pass == pass; });
  return found == open.end() ? nullptr : &*found;
}

Open& FlightRing::State::open_step(const Stamp& stamp, bool evaluation, std::uint32_t pass) {
  Open* step = find(evaluation, pass);
  if (step != nullptr && step->step == stamp.step) return *step;
  if (step != nullptr && step->number) kept.numbered(*step->number).phase = Kept::Phase::given_up;
  if (step == nullptr) step = &open.emplace_back();
  *step = {.step = stamp.step, .evaluation = evaluation, .pass = pass, .number = {}};
  return *step;
}

bool FlightRing::State::add(const Stamp& stamp, bool evaluation, const Entry& tensor, std::uint32_t pass) {
  Open& step = open_step(stamp, evaluation, pass);
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
    if (!tensor.view.contiguous() && dense.size() < tensor::byte_size(tensor.view))
      dense.resize(tensor::byte_size(tensor.view));
    kept.make_place();  // from here on nothing needs memory, so that no entry stays half written
    fits = make_room(flight::entry_size(meta.size(), tensor::byte_size(tensor.view)), reserve_for(open.size()), step);
  }
  if (!fits) {
    ++step.dropped;
    ++dropped;
    return false;
  }
  EntryHeader header =
      start_entry(EntryType::tensor, flight::entry_size(meta.size(), tensor::byte_size(tensor.view)), step);
  header.data_bytes = tensor::byte_size(tensor.view);
  const std::uint64_t to = next() + kUnit;
  write(to, base::as_bytes(meta));
  header.body_checksum =
      write_with_checksum(tensor.view, to + flight::round_up(meta.size()), base::crc32c(base::as_bytes(meta)));
  finish_entry(header, step);
  ++step.tensors;
  return true;
}

std::uint32_t FlightRing::State::write_with_checksum(const TensorView& view, std::uint64_t offset, std::uint32_t crc) {
  base::Bytes bytes(static_cast<const std::byte*>(view.data), tensor::byte_size(view));
  if (!view.contiguous()) {
    tensor::copy_dense(view, dense.data());
    bytes = base::Bytes(dense).first(bytes.size());
  }
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(kPiece, bytes.size()))) {
    const base::Bytes piece = bytes.first(std::min(kPiece, bytes.size()));
    crc = base::crc32c_append(crc, piece);
    write(offset, piece);
    offset += piece.size();
  }
  return crc;
}

void FlightRing::State::end_step(const Stamp& stamp, bool evaluation,
                                 std::span<const std::pair<std::string_view, double>> scalars, std::uint32_t pass) {
  Open& step = open_step(stamp, evaluation, pass);
  const std::uint64_t reserve = (open.size() - 1) * kReserve;  // for the others
  bool fits = false;
  try {
    kept.make_place();
    for (;; scalars = scalars.first(scalars.size() / 2)) {
      meta.clear();
      flight::put_step_end_meta(meta, {.step = stamp.step,
                                       .evaluation = evaluation,
                                       .wall_time = stamp.wall_time,
                                       .tensors = step.tensors,
                                       .dropped = step.dropped,
                                       .scalars = scalars,
                                       .lost = step.lost});
      fits = make_room(flight::entry_size(meta.size(), 0), reserve, step);
      if (fits || scalars.empty()) break;
    }
  } catch (...) {  // out of memory: the ring does not get the step
    dropped += step.tensors;
  }
  if (fits) {
    EntryHeader header = start_entry(EntryType::step_end, flight::entry_size(meta.size(), 0), step);
    header.body_checksum = base::crc32c(base::as_bytes(meta));
    write(next() + kUnit, base::as_bytes(meta));
    finish_entry(header, step);
    lost = lost || !file.is_whole();
    write_position(flight::kEndOffset, position);
  }
  if (step.number) {
    Kept& ended_step = kept.numbered(*step.number);
    ended_step.phase = fits ? Kept::Phase::complete : Kept::Phase::given_up;
    ended_step.tensors = step.tensors + step.dropped;
    if (!evaluation) ended_step.ended = ended;
  }
  step = std::move(open.back());  // which may be itself
  open.pop_back();
  if (!evaluation) ++ended;
  keep_to_limit();
}

// ---- The public classes.

Result<std::unique_ptr<FlightRing>> FlightRing::create(const Options& options) {
  const std::uint64_t wanted = options.bytes == 0 ? default_bytes() : options.bytes;
  if (wanted < kLeastBytes) {
    return Status(Code::invalid_argument, "a flight ring of " + std::to_string(wanted) +
                                              " bytes is too small: set [flight] size to at least " +
                                              std::to_string(kLeastBytes));
  }
  const flight::Identity identity = {.host = base::host_name(),
                                     .pid = base::process_id(),
                                     .writer = options.writer,
                                     .start_time = base::wall_seconds()};
  const std::string prefix = base::join_path(options.directory, run_layout::ring_prefix(identity.host, identity.pid));
  Result<base::FixedFile> file =
      base::FixedFile::create(prefix, std::string(run_layout::kRing), wanted / kUnit * kUnit);
  if (!file) {
    return Status(file.error().code(), "there is no flight ring: " + file.error().message() +
                                           "; set a smaller [flight] size, or [flight] dir to another local disk");
  }
  std::string path;
  try {
    path = file->path();
    auto state = std::make_shared<State>(*std::move(file), identity, options);
    state->header_page = flight::encode_header(identity, state->capacity, options.allow_negative_infinity);
    // Its magic last: a reader that finds the magic finds the whole header.
    state->write(sizeof(std::uint64_t), base::as_bytes(state->header_page).subspan(sizeof(std::uint64_t)));
    state->write(0, base::as_bytes(state->header_page).first(sizeof(std::uint64_t)));
    if (state->lost) {
      (void)state->file.remove();
      return Status(Code::io, "there is no flight ring: '" + path + "' cannot be written");
    }
    return std::unique_ptr<FlightRing>(new FlightRing(std::move(state)));
  } catch (...) {  // out of memory
    (void)(file->size() > 0 ? file->remove() : base::remove_file(path));
    throw;
  }
}

FlightRing::FlightRing(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

FlightRing::~FlightRing() { abandon(); }

std::uint64_t FlightRing::default_bytes() {
  const std::uint64_t limit = base::background_dirty_limit().value_or(2 * kDefaultBytes);
  return std::clamp(limit / 2 / kMiB * kMiB, kLeastDefaultBytes, kDefaultBytes);
}

bool FlightRing::add(const Stamp& stamp, bool evaluation, const Entry& tensor, std::uint32_t pass) {
  return state_->capacity > 0 && !state_->lost && state_->add(stamp, evaluation, tensor, pass);
}

void FlightRing::lose(const Stamp& stamp, bool evaluation, std::uint64_t tensors, std::uint32_t pass) {
  if (state_->capacity > 0) state_->open_step(stamp, evaluation, pass).lost += tensors;
}

void FlightRing::end_step(const Stamp& stamp, bool evaluation,
                          std::span<const std::pair<std::string_view, double>> scalars, std::uint32_t pass) {
  if (state_->capacity > 0) state_->end_step(stamp, evaluation, scalars, pass);
}

void FlightRing::set_allowed(std::span<const std::string> allow_negative_infinity) {
  if (state_->capacity == 0) return;
  std::string& page = state_->header_page;
  flight::replace_selectors(std::as_writable_bytes(std::span(page)), state_->identity, allow_negative_infinity);
  // Only then the word that says which of the two copies counts.
  state_->write(flight::kTextsOffset, base::as_bytes(page).subspan(flight::kTextsOffset));
  state_->write(flight::kTextBytesOffset,
                base::as_bytes(page).subspan(flight::kTextBytesOffset, sizeof(std::uint64_t)));
}

const std::string& FlightRing::path() const noexcept { return state_->file.path(); }
std::uint64_t FlightRing::bytes() const noexcept { return state_->file.size(); }
bool FlightRing::lost() const noexcept { return state_->lost; }
std::uint64_t FlightRing::dropped() const noexcept { return state_->dropped; }

Status FlightRing::close() {
  state_->capacity = 0;
  return state_->file.remove();
}

void FlightRing::abandon() noexcept {
  state_->capacity = 0;
  state_->file.release();
}

std::uint64_t FlightRing::ended() const noexcept { return state_->ended; }

// ---- Pins.

FlightPin FlightRing::pin(std::uint64_t first, std::uint64_t last) {
  FlightPin pin;
  pin_more(pin, first, last);
  return pin;
}

void FlightRing::pin_more(FlightPin& pin, std::uint64_t first, std::uint64_t last) {
  pin.ring_ = state_;
  for (std::size_t i = 0; i < state_->kept.size(); ++i) {
    Kept& step = state_->kept[i];
    if (step.phase != Kept::Phase::complete || step.ended < first || step.ended > last) continue;
    const auto position = [](const auto& pinned) { return pinned->first; };
    const auto place = std::ranges::lower_bound(pin.steps_, step.first, {}, position);
    if (place != pin.steps_.end() && (*place)->first == step.first) continue;
    if (!step.pinned) step.pinned = std::make_shared<PinnedStep>(step);
    pin.steps_.insert(place, step.pinned);
    step.pinned->pin();
    if (!step.evaluation) ++pin.training_steps_;
  }
}

void PinnedStep::pin() {
  const std::scoped_lock lock(mutex);
  ++pins;
}

void PinnedStep::unpin(FlightRing::State& ring) {
  const std::scoped_lock lock(mutex);
  unpin_locked(ring);
}

void PinnedStep::unpin_locked(FlightRing::State& ring) noexcept {
  if (--pins > 0 || !copy) return;
  copy.reset();
  ring.copied_bytes.fetch_sub(size, std::memory_order_relaxed);
}

bool PinnedStep::is_pinned() {
  const std::scoped_lock lock(mutex);
  return pins > 0;
}

// What somebody has cut off reads as zeros, which are no entries.
void PinnedStep::copy_from_ring(const FlightRing::State& ring, std::byte* to) const noexcept {
  const std::uint64_t at = first % ring.capacity;
  const std::uint64_t until_end = std::min(size, ring.capacity - at);
  if (!ring.file.read_at(kHeaderBytes + at, {to, until_end})) std::memset(to, 0, until_end);
  if (!ring.file.read_at(kHeaderBytes, {to + until_end, size - until_end})) {
    std::memset(to + until_end, 0, size - until_end);
  }
}

void PinnedStep::leave_ring(FlightRing::State& ring) {
  const std::scoped_lock lock(mutex);  // others hold it for as long as it takes to copy the step
  place = Place::lost;
  if (pins == 0 || ring.copied_bytes.load(std::memory_order_relaxed) + size > ring.most_copied_bytes) return;
  copy.reset(new (std::nothrow) std::byte[size]);
  if (!copy) return;
  ring.copied_bytes.fetch_add(size, std::memory_order_relaxed);
  copy_from_ring(ring, copy.get());
  place = Place::in_memory;
}

FlightPin::FlightPin() noexcept = default;
FlightPin::FlightPin(FlightPin&& other) noexcept { *this = std::move(other); }
FlightPin& FlightPin::operator=(FlightPin&& other) noexcept {
  let_go();
  ring_ = std::move(other.ring_);
  steps_ = std::exchange(other.steps_, {});
  read_ = std::exchange(other.read_, 0);
  training_steps_ = other.training_steps_;
  copied_ = std::move(other.copied_);
  bytes_ = std::move(other.bytes_);
  step_ = std::move(other.step_);
  return *this;
}
FlightPin::~FlightPin() { let_go(); }

void FlightPin::let_go() noexcept {
  if (copied_) std::exchange(copied_, nullptr)->unpin(*ring_);
  for (; read_ < steps_.size(); ++read_) steps_[read_]->unpin(*ring_);
  steps_.clear();
  read_ = 0;
}

const flight::Step* FlightPin::next() {
  if (copied_) std::exchange(copied_, nullptr)->unpin(*ring_);
  if (read_ == steps_.size()) return nullptr;
  if (bytes_.size() < steps_[read_]->size) bytes_.resize(steps_[read_]->size);  // first: it may throw
  const std::shared_ptr<PinnedStep> pinned = std::move(steps_[read_++]);
  base::Bytes bytes;
  {
    const std::scoped_lock lock(pinned->mutex);
    switch (pinned->place) {
      case PinnedStep::Place::in_ring:
        pinned->copy_from_ring(*ring_, bytes_.data());
        pinned->unpin_locked(*ring_);
        bytes = base::Bytes(bytes_).first(pinned->size);
        break;
      case PinnedStep::Place::in_memory:
        copied_ = pinned;
        bytes = base::Bytes(pinned->copy.get(), pinned->size);
        break;
      case PinnedStep::Place::lost:
        pinned->unpin_locked(*ring_);
        step_ = {};
        step_.step = pinned->step;
        step_.evaluation = pinned->evaluation;
        step_.complete = true;
        step_.dropped = pinned->tensors;
        step_.overwritten = true;
        step_.position = pinned->first;
        return &step_;
    }
  }
  step_ = flight::read_step(bytes, pinned->first, ring_->capacity);
  return &step_;
}

}  // namespace sonde::sinks
