#include "index/column.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "index/extremes.h"
#include "index/ordered.h"

namespace sonde::index {
namespace {

constexpr std::size_t kPadding = 8;  // reading a packed number may touch this many bytes after the last one

// A line through the first and the last number, and the distance of the others from it. All arithmetic is modulo 2^64,
// so that it is always reversible.
struct Line {
  std::uint64_t base = 0;
  std::uint64_t slope = 0;
  std::uint8_t bits = 0;
};

Line fit(const std::uint64_t* numbers, std::size_t count) noexcept {
  Line line;
  if (count > 1) {
    const auto rise = static_cast<std::int64_t>(numbers[count - 1] - numbers[0]);
    line.slope = static_cast<std::uint64_t>(rise / static_cast<std::int64_t>(count - 1));
  }
  auto low = std::numeric_limits<std::int64_t>::max();
  auto high = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < count; ++i) {
    const auto rest = static_cast<std::int64_t>(numbers[i] - numbers[0] - i * line.slope);
    low = std::min(low, rest);
    high = std::max(high, rest);
  }
  line.base = numbers[0] + static_cast<std::uint64_t>(low);
  const auto width = std::bit_width(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low));
  line.bits = static_cast<std::uint8_t>(width > 56 ? 64 : width);  // so that one load of 8 bytes holds any number
  return line;
}

std::size_t packed_size(std::size_t count, unsigned bits) noexcept { return (count * bits + 7) / 8; }

// Whole words at a time: setting bits in memory one number after the other waits for each to be written.
void pack_numbers(const std::uint64_t* numbers, std::size_t count, const Line& line, std::byte* to) noexcept {
  if (line.bits == 0) return;
  std::uint64_t word = 0;
  unsigned used = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t rest = numbers[i] - line.base - i * line.slope;
    word |= rest << used;
    used += line.bits;
    if (used < 64) continue;
    std::memcpy(to, &word, sizeof word);
    to += sizeof word;
    used -= 64;
    word = used > 0 ? rest >> (line.bits - used) : 0;
  }
  std::memcpy(to, &word, (used + 7) / 8);
}

std::uint64_t unpack_one(const std::byte* from, std::size_t index, unsigned bits) noexcept {
  if (bits == 0) return 0;
  const std::size_t bit = index * bits;
  const std::uint64_t word = base::load<std::uint64_t>(from + bit / 8) >> (bit % 8);
  return bits == 64 ? word : word & ((std::uint64_t{1} << bits) - 1);
}

// Of number(0) to number(count - 1); several at a time, since one addition waits for the one before it.
template <class Number>
double sum_of(std::size_t count, Number number) noexcept {
  double sums[kLanes] = {};
  const std::size_t even = count - count % kLanes;
  for (std::size_t i = 0; i < even; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += number(i + lane);
  }
  for (std::size_t i = even; i < count; ++i) sums[0] += number(i);
  for (std::size_t lane = 1; lane < kLanes; ++lane) sums[0] += sums[lane];
  return sums[0];
}

void note_values(const double* values, std::size_t count, Column::Block& block) noexcept {
  const Extremes found = extremes_of(values, count);
  block.min = found.min;
  block.max = found.max;
  block.min_at = found.min_at;
  block.max_at = found.max_at;
  if (all_finite(values, count)) {
    block.sum = sum_of(count, [&](std::size_t i) { return values[i]; });
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const double value = values[i];
    if (std::isfinite(value)) {
      block.sum += value;
    } else {
      ++(std::isnan(value) ? block.nan : value > 0 ? block.positive_infinity : block.negative_infinity);
    }
  }
}

std::uint8_t value_bytes(const double* values, std::size_t count) noexcept {
  std::uint64_t different = 0;
  std::uint64_t inexact = 0;  // as floats; NaN is as good a float
  const auto first = std::bit_cast<std::uint64_t>(values[0]);
  for (std::size_t i = 0; i < count; ++i) {
    const double value = values[i];
    different |= std::bit_cast<std::uint64_t>(value) ^ first;
    inexact |= std::uint64_t{static_cast<double>(static_cast<float>(value)) != value && value == value};
  }
  return different == 0 ? 0 : inexact == 0 ? 4 : 8;
}

double value_one(const std::byte* from, std::size_t index, unsigned bytes) noexcept {
  if (bytes == 4) return base::load<float>(from + index * 4);
  return base::load<double>(from + (bytes == 8 ? index * 8 : 0));
}

std::size_t values_size(std::size_t count, unsigned bytes) noexcept { return bytes == 0 ? 8 : count * bytes; }

// The three parts of a block's data are consecutive: values, then steps, then times.
struct Places {
  const std::byte* values;
  const std::byte* steps;
  const std::byte* times;
};
Places places(const Column::Block& block, const std::byte* data) noexcept {
  const std::byte* steps = data + values_size(block.count, block.value_bytes);
  return {data, steps, steps + packed_size(block.count, block.step_bits)};
}
std::size_t data_size(const Column::Block& block) noexcept {
  return values_size(block.count, block.value_bytes) + packed_size(block.count, block.step_bits) +
         packed_size(block.count, block.time_bits) + kPadding;
}

std::int64_t step_in(const Column::Block& block, const std::byte* data, std::size_t i) noexcept {
  return static_cast<std::int64_t>(block.step_base + i * block.step_slope +
                                   unpack_one(places(block, data).steps, i, block.step_bits));
}
double time_in(const Column::Block& block, const std::byte* data, std::size_t i) noexcept {
  return from_ordered(block.time_base + i * block.time_slope +
                      unpack_one(places(block, data).times, i, block.time_bits));
}

}  // namespace

Column::Tail Column::make_tail(std::size_t capacity) {
  Tail tail;
  tail.memory = std::make_unique_for_overwrite<std::byte[]>(capacity * 3 * sizeof(double));
  tail.steps = new (tail.memory.get()) std::int64_t[capacity];
  tail.times = new (tail.memory.get() + capacity * sizeof(double)) double[capacity];
  tail.values = new (tail.memory.get() + capacity * 2 * sizeof(double)) double[capacity];
  return tail;
}

// Grows the tail, or packs it if it is a full block.
void Column::make_room() {
  if (packed_ % kBlock != 0) return reopen_last_block();
  if (tail_count_ == kBlock) return pack_tail();
  const std::size_t capacity = std::min(kBlock, std::max<std::size_t>(16, tail_capacity_ * 4));
  Tail larger = make_tail(capacity);
  std::copy_n(tail_.steps, tail_count_, larger.steps);
  std::copy_n(tail_.times, tail_count_, larger.times);
  std::copy_n(tail_.values, tail_count_, larger.values);
  tail_ = std::move(larger);
  tail_capacity_ = capacity;
}

void Column::reopen_last_block() {
  Points points;
  const std::size_t count = unpack(blocks_.size() - 1, points);
  tail_ = make_tail(kBlock);
  std::copy_n(points.steps, count, tail_.steps);
  std::copy_n(points.times, count, tail_.times);
  std::copy_n(points.values, count, tail_.values);
  tail_capacity_ = kBlock;
  tail_count_ = count;
  if (!owned_.empty() && owned_.back().get() == data_.back()) owned_.pop_back();
  blocks_.pop_back();
  data_.pop_back();
  packed_ -= count;
}

void Column::pack_tail() {
  const std::size_t count = tail_count_;
  if (count == 0) return;
  std::uint64_t steps[kBlock];
  std::uint64_t times[kBlock];
  for (std::size_t i = 0; i < count; ++i) {
    steps[i] = static_cast<std::uint64_t>(tail_.steps[i]);
    times[i] = ordered(tail_.times[i]);
  }
  Block block;
  block.first = {tail_.steps[0], tail_.times[0], tail_.values[0]};
  block.last = {tail_.steps[count - 1], tail_.times[count - 1], tail_.values[count - 1]};
  const Line step_line = fit(steps, count);
  const Line time_line = fit(times, count);
  block.step_base = step_line.base;
  block.step_slope = step_line.slope;
  block.step_bits = step_line.bits;
  block.time_base = time_line.base;
  block.time_slope = time_line.slope;
  block.time_bits = time_line.bits;
  block.times_ascend = std::is_sorted(times, times + count);
  block.count = static_cast<std::uint16_t>(count);
  const double* values = tail_.values;
  note_values(values, count, block);
  block.step_sum =
      sum_of(count, [&](std::size_t i) { return static_cast<double>(static_cast<std::int64_t>(steps[i] - steps[0])); });
  block.time_sum = sum_of(count, [&](std::size_t i) { return tail_.times[i] - tail_.times[0]; });
  block.value_bytes = value_bytes(values, count);
  block.bytes = static_cast<std::uint32_t>(data_size(block));

  auto data = std::make_unique_for_overwrite<std::byte[]>(block.bytes);
  const Places at = places(block, data.get());
  if (block.value_bytes == 4) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = static_cast<float>(values[i]);
      std::memcpy(data.get() + i * 4, &value, sizeof value);
    }
  } else {
    std::memcpy(data.get(), values, values_size(count, block.value_bytes));
  }
  pack_numbers(steps, count, step_line, data.get() + (at.steps - data.get()));
  pack_numbers(times, count, time_line, data.get() + (at.times - data.get()));

  std::memset(data.get() + block.bytes - kPadding, 0, kPadding);

  blocks_.push_back(block);
  data_.push_back(data.get());
  owned_.push_back(std::move(data));
  packed_ += count;
  tail_count_ = 0;
}

void Column::pack() {
  pack_tail();
  tail_ = {};
  tail_capacity_ = 0;
}

void Column::truncate(std::size_t count) {
  if (count >= size()) return;
  if (count < packed_) tail_count_ = 0;
  while (packed_ > count) {
    const std::size_t first = packed_ - blocks_.back().count;
    reopen_last_block();
    tail_count_ = count > first ? count - first : 0;
  }
  if (packed_ < count) tail_count_ = count - packed_;
  if (count > 0) last_step_ = step_at(count - 1);
}

bool Column::follows_last(std::int64_t step, double time) const noexcept {
  return step > last_step_ || (step == last_step_ && ordered(time) >= ordered(time_at(size() - 1)));
}

std::int64_t Column::step_at(std::size_t index) const noexcept {
  if (index >= packed_) return tail_.steps[index - packed_];
  const std::size_t b = index / kBlock;
  return step_in(blocks_[b], data_[b], index % kBlock);
}

double Column::time_at(std::size_t index) const noexcept {
  if (index >= packed_) return tail_.times[index - packed_];
  const std::size_t b = index / kBlock;
  return time_in(blocks_[b], data_[b], index % kBlock);
}

Point Column::at(std::size_t index) const noexcept {
  if (index >= packed_) {
    const std::size_t i = index - packed_;
    return {tail_.steps[i], tail_.times[i], tail_.values[i]};
  }
  const std::size_t b = index / kBlock;
  return {step_at(index), time_at(index), value_one(data_[b], index % kBlock, blocks_[b].value_bytes)};
}

std::size_t Column::unpack(std::size_t block, Points& to) const noexcept {
  if (block >= blocks_.size()) {
    std::copy_n(tail_.steps, tail_count_, to.steps);
    std::copy_n(tail_.times, tail_count_, to.times);
    std::copy_n(tail_.values, tail_count_, to.values);
    return tail_count_;
  }
  const Block& known = blocks_[block];
  const Places at = places(known, data_[block]);
  const std::size_t count = known.count;
  for (std::size_t i = 0; i < count; ++i) {
    to.steps[i] =
        static_cast<std::int64_t>(known.step_base + i * known.step_slope + unpack_one(at.steps, i, known.step_bits));
  }
  for (std::size_t i = 0; i < count; ++i) {
    to.times[i] = from_ordered(known.time_base + i * known.time_slope + unpack_one(at.times, i, known.time_bits));
  }
  return unpack_values(block, to.values);
}

std::size_t Column::unpack_steps(std::size_t block, std::int64_t* to) const noexcept {
  if (block >= blocks_.size()) {
    std::copy_n(tail_.steps, tail_count_, to);
    return tail_count_;
  }
  const Block& known = blocks_[block];
  for (std::size_t i = 0; i < known.count; ++i) to[i] = step_in(known, data_[block], i);
  return known.count;
}

std::size_t Column::unpack_values(std::size_t block, double* to) const noexcept {
  if (block >= blocks_.size()) {
    std::copy_n(tail_.values, tail_count_, to);
    return tail_count_;
  }
  const Block& known = blocks_[block];
  const std::byte* const values = places(known, data_[block]).values;
  const std::size_t count = known.count;
  if (known.value_bytes == 4) {
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<double>(base::load<float>(values + i * 4));
  } else {
    for (std::size_t i = 0; i < count; ++i) to[i] = value_one(values, i, known.value_bytes);
  }
  return count;
}

std::size_t Column::memory() const noexcept {
  std::size_t bytes = blocks_.capacity() * sizeof(Block) + data_.capacity() * sizeof(void*) +
                      owned_.capacity() * sizeof(void*) + tail_capacity_ * 24;
  for (const Block& block : blocks_) bytes += block.bytes;
  return bytes;
}

void Column::save(std::string& out) const {
  base::put_varint(out, blocks_.size());
  base::put(out, static_cast<std::uint8_t>(is_sorted_));
  out.append(reinterpret_cast<const char*>(blocks_.data()), blocks_.size() * sizeof(Block));
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    out.append(reinterpret_cast<const char*>(data_[i]), blocks_[i].bytes);
  }
}

bool Column::restore(base::ByteReader& from, std::shared_ptr<const void> owner) {
  const std::uint64_t blocks = from.varint();
  const bool is_sorted = from.get<std::uint8_t>() != 0;
  if (blocks > from.remaining() / sizeof(Block)) return false;
  const base::Bytes block_bytes = from.take(blocks * sizeof(Block));
  if (!from.ok()) return false;
  *this = Column();
  is_sorted_ = is_sorted;
  blocks_.resize(blocks);
  if (blocks > 0) std::memcpy(blocks_.data(), block_bytes.data(), block_bytes.size());
  data_.reserve(blocks);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    const bool full = block.count == kBlock || (i + 1 == blocks_.size() && block.count > 0 && block.count < kBlock);
    const bool known = (block.value_bytes == 0 || block.value_bytes == 4 || block.value_bytes == 8) &&
                       (block.step_bits <= 56 || block.step_bits == 64) &&
                       (block.time_bits <= 56 || block.time_bits == 64) && block.min_at < block.count &&
                       block.max_at < block.count;
    if (!full || !known || block.bytes != data_size(block)) return false;
    const base::Bytes data = from.take(block.bytes);
    if (!from.ok()) return false;
    data_.push_back(data.data());
    packed_ += block.count;
  }
  keep_ = std::move(owner);
  if (packed_ > 0) last_step_ = step_at(packed_ - 1);
  return true;
}

}  // namespace sonde::index
