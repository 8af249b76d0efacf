#include "tensor/rows.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "tensor/copy.h"

namespace sonde::tensor {
namespace {

// splitmix64: a good 64-bit mixer without state to keep.
std::uint64_t next_random(std::uint64_t& state) noexcept {
  std::uint64_t z = state += 0x9E3779B97F4A7C15U;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
  z = (z ^ z >> 27) * 0x94D049BB133111EBU;
  return z ^ z >> 31;
}

TensorView row(const TensorView& view, std::int64_t index) noexcept {
  TensorView one = view;
  one.shape[0] = 1;
  const auto offset = index * view.strides[0] * static_cast<std::int64_t>(size_of(view.dtype));
  one.data = static_cast<const std::byte*>(view.data) + offset;
  return one;
}

}  // namespace

TensorView first_rows(const TensorView& view, std::int64_t rows) noexcept {
  TensorView some = view;
  if (view.shape.rank() > 0) some.shape[0] = std::min(view.shape[0], rows);
  return some;
}

std::vector<std::int64_t> random_rows(std::int64_t total, std::int64_t rows, std::uint64_t seed) {
  std::vector<std::int64_t> chosen;
  if (rows >= total) {
    chosen.resize(static_cast<std::size_t>(std::max<std::int64_t>(total, 0)));
    std::iota(chosen.begin(), chosen.end(), 0);
    return chosen;
  }
  // Floyd's: as many draws as rows, each subset as likely as any other.
  std::unordered_set<std::int64_t> taken;
  for (std::int64_t last = total - rows; last < total; ++last) {
    const auto drawn = static_cast<std::int64_t>(next_random(seed) % static_cast<std::uint64_t>(last + 1));
    taken.insert(taken.contains(drawn) ? last : drawn);
  }
  chosen.assign(taken.begin(), taken.end());
  std::ranges::sort(chosen);
  return chosen;
}

std::size_t row_bytes(const TensorView& view, std::size_t rows) noexcept {
  return view.shape[0] == 0 ? 0 : byte_size(view) / static_cast<std::size_t>(view.shape[0]) * rows;
}

TensorView copy_rows(const TensorView& view, std::span<const std::int64_t> rows, void* out) noexcept {
  const std::size_t bytes = row_bytes(view, 1);
  auto* to = static_cast<std::byte*>(out);
  for (const std::int64_t index : rows) {
    copy_dense(row(view, index), to);
    to += bytes;
  }
  Shape shape = view.shape;
  shape[0] = static_cast<std::int64_t>(rows.size());
  return sonde::view(out, view.dtype, shape);
}

}  // namespace sonde::tensor
