#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "stats/bins.h"
#include "stats/float_environment.h"
#include "stats/gather.h"
#include "stats/kernels.h"
#include "stats/reference.h"
#include "stats/summary.h"
#include "tensor/convert.h"
#include "tensor/copy.h"

namespace sonde::stats {
namespace {

// Shorter runs are gathered into full blocks: a block has a cost of its own.
constexpr std::int64_t kDirectRun = 256;

// Along an axis whose neighbours in memory are its own elements (the channels of NHWC), this many indices are
// summarised at once, so that each cache line is read once and not once for every index.
constexpr std::int64_t kTile = 16;
constexpr std::int64_t kMaxAxis = std::int64_t{1} << 24;

template <class T>
struct Buffers {
  alignas(64) std::array<T, kBlock> gathered;
  alignas(64) std::array<T, kBlock> finite;
};

// Kept by each thread that summarises, and reused.
struct Scratch {
  Buffers<float> floats;
  Buffers<double> doubles;
  BinTables tables;

  template <class T>
  Buffers<T>& buffers() noexcept {
    if constexpr (sizeof(T) == sizeof(float)) {
      return floats;
    } else {
      return doubles;
    }
  }
};

Scratch& scratch() {
  thread_local const auto kept = std::make_unique<Scratch>();
  return *kept;
}

Summary summary_of(const BlockSums& sums, std::size_t count) noexcept {
  const auto n = static_cast<double>(count);
  Summary summary;
  summary.count = count;
  summary.zeros = sums.zeros;
  summary.negatives = sums.negatives;
  summary.min = sums.min + 0.0;  // not -0, so that equal data give equal bits
  summary.max = sums.max + 0.0;
  summary.mean = std::clamp(sums.shift + sums.sum / n, sums.min, sums.max);
  summary.m2 = std::max(0.0, sums.squares - sums.sum * (sums.sum / n));
  summary.sum_abs = sums.sum_abs;
  return summary;
}

// Adds blocks of T to a summary and, where `histogram` is not null, to the tables, which `finish` drains into it.
template <class T>
class Pass {
 public:
  Pass(Scratch& scratch, Histogram* histogram) noexcept
      : buffers_(scratch.buffers<T>()), tables_(scratch.tables), histogram_(histogram) {}

  void add_dense(const T* values, std::size_t count) {
    for (std::size_t i = 0; i < count; i += kBlock) add_block(values + i, std::min(kBlock, count - i));
  }

  void add_run(DType dtype, const std::byte* at, std::int64_t count, std::int64_t stride) {
    const auto step = stride * static_cast<std::int64_t>(size_of(dtype));
    while (count > 0) {
      const std::int64_t piece = std::min(count, static_cast<std::int64_t>(kBlock - gathered_));
      gather(dtype, at, piece, stride, buffers_.gathered.data() + gathered_);
      gathered_ += static_cast<std::size_t>(piece);
      at += piece * step;
      count -= piece;
      if (gathered_ == kBlock) flush();
    }
  }

  Summary finish() {
    flush();
    if (histogram_ != nullptr) drain();
    return summary_;
  }

  // At most kBlock values.
  void add_block(const T* values, std::size_t count) {
    BlockSums sums = sum(values, count);
    if (!std::isfinite(sums.squares)) {
      NonFinite rest;
      const std::size_t kept = take_finite(values, count, buffers_.finite.data(), rest);
      summary_.count += count - kept;
      summary_.nan += rest.nan;
      summary_.positive_infinity += rest.positive_infinity;
      summary_.negative_infinity += rest.negative_infinity;
      if (kept == 0) return;
      count = kept;
      values = buffers_.finite.data();
      sums = sum(values, count);
    }
    Summary block = summary_of(sums, count);
    if constexpr (sizeof(T) == sizeof(double)) {  // the sums of finite floats always fit a double
      if (!std::isfinite(sums.squares)) block = reference_summary({values, count});
    }
    summary_.merge(block);
    if (histogram_ == nullptr) return;
    if (tables_.pending() + count > BinTables::kMaxPending) drain();
    tables_.add(values, count, sums);
  }

 private:
  BlockSums sum(const T* values, std::size_t count) noexcept {
    return sum_block(values, count, histogram_ != nullptr ? Smallest::find : Smallest::skip);
  }

  void flush() {
    if (gathered_ > 0) add_block(buffers_.gathered.data(), gathered_);
    gathered_ = 0;
  }

  void drain() {
    tables_.drain(summary_.zeros - drained_zeros_, *histogram_);
    drained_zeros_ = summary_.zeros;
  }

  Buffers<T>& buffers_;
  BinTables& tables_;
  Histogram* histogram_;
  Summary summary_;
  std::size_t gathered_ = 0;
  std::uint64_t drained_zeros_ = 0;
};

template <class T>
bool aligned(const void* data) noexcept {
  return reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0;
}

template <class T>
Summary summarize_values(const TensorView& view, Histogram* histogram) {
  Pass<T> pass(scratch(), histogram);
  for_each_run(view, [&](const std::byte* at, std::int64_t count, std::int64_t stride) {
    if (view.dtype == dtype_of<T> && stride == 1 && count >= kDirectRun && aligned<T>(at)) {
      pass.add_dense(reinterpret_cast<const T*>(at), static_cast<std::size_t>(count));
    } else {
      pass.add_run(view.dtype, at, count, stride);
    }
  });
  return pass.finish();
}

[[gnu::noinline]] Summary summarize_any(const TensorView& view, Histogram* histogram) {
  return is_float_exact(view.dtype) ? summarize_values<float>(view, histogram)
                                    : summarize_values<double>(view, histogram);
}

Status check(const TensorView& view) {
  if (!view.valid()) {
    return {Code::invalid_argument, "the tensor cannot be summarised because its shape does not match its data"};
  }
  if (is_complex(view.dtype)) {
    return {Code::unsupported, "a tensor of " + std::string(to_string(view.dtype)) +
                                   " cannot be summarised because complex numbers have no order; pass its real and "
                                   "imaginary parts or its magnitude"};
  }
  return Status::success();
}

Result<Summary> summarize_checked(const TensorView& view, Histogram* histogram) {
  if (Status status = check(view); !status) return status;
  const FloatEnvironment environment;
  return summarize_any(view, histogram);
}

// `view` without `axis`, at the given index of it.
TensorView slice(const TensorView& view, int axis, std::int64_t index) noexcept {
  TensorView result = view;
  result.shape = {};
  result.strides = {};
  for (int i = 0; i < view.shape.rank(); ++i) {
    if (i == axis) continue;
    result.shape.push_back(view.shape[i]);
    result.strides.push_back(view.strides[i]);
  }
  const auto offset = index * view.strides[axis] * static_cast<std::int64_t>(size_of(view.dtype));
  result.data = static_cast<const std::byte*>(view.data) + offset;
  return result;
}

// Whether neighbours along the axis are closer in memory than those along any other.
bool is_innermost(const TensorView& view, int axis) noexcept {
  const std::int64_t own = std::abs(view.strides[axis]);
  for (int i = 0; i < view.shape.rank(); ++i) {
    if (i != axis && view.shape[i] > 1 && std::abs(view.strides[i]) < own) return false;
  }
  return true;
}

// The indices from `first` on of an innermost axis, at most kTile of them: rows along the axis become the columns of a
// small buffer, and those are the blocks.
template <class T>
void summarize_tile(const TensorView& view, int axis, std::int64_t first, std::span<Summary> out) {
  constexpr std::size_t kColumn = kBlock / kTile;
  std::vector<Pass<T>> passes(out.size(), Pass<T>(scratch(), nullptr));
  T* const columns = scratch().buffers<T>().gathered.data();
  std::size_t filled = 0;
  const auto flush = [&] {
    for (std::size_t k = 0; k < out.size(); ++k) passes[k].add_block(columns + k * kColumn, filled);
    filled = 0;
  };
  for_each_run(slice(view, axis, first), [&](const std::byte* at, std::int64_t count, std::int64_t stride) {
    const auto step = stride * static_cast<std::int64_t>(size_of(view.dtype));
    std::array<T, kTile> row;
    for (std::int64_t i = 0; i < count; ++i) {
      gather(view.dtype, at + i * step, static_cast<std::int64_t>(out.size()), view.strides[axis], row.data());
      for (std::size_t k = 0; k < out.size(); ++k) columns[k * kColumn + filled] = row[k];
      if (++filled == kColumn) flush();
    }
  });
  if (filled > 0) flush();
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = passes[k].finish();
}

[[gnu::noinline]] void summarize_indices(const TensorView& view, int axis, std::span<Summary> out) {
  if (!is_innermost(view, axis)) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = summarize_any(slice(view, axis, static_cast<std::int64_t>(i)), nullptr);
    }
    return;
  }
  for (std::size_t first = 0; first < out.size(); first += kTile) {
    const auto tile = out.subspan(first, std::min<std::size_t>(kTile, out.size() - first));
    if (is_float_exact(view.dtype)) {
      summarize_tile<float>(view, axis, static_cast<std::int64_t>(first), tile);
    } else {
      summarize_tile<double>(view, axis, static_cast<std::int64_t>(first), tile);
    }
  }
}

}  // namespace

Result<Summary> summarize(const TensorView& view) { return summarize_checked(view, nullptr); }

Result<Summary> summarize(const TensorView& view, Histogram& histogram) { return summarize_checked(view, &histogram); }

Result<std::vector<Summary>> summarize_axis(const TensorView& view, int axis) {
  if (Status status = check(view); !status) return status;
  const int rank = view.shape.rank();
  if (axis < -rank || axis >= rank) {
    return Status(Code::invalid_argument, "axis " + std::to_string(axis) + " does not exist in a tensor with " +
                                              std::to_string(rank) + (rank == 1 ? " dimension" : " dimensions"));
  }
  if (axis < 0) axis += rank;
  if (view.shape[axis] > kMaxAxis) {
    return Status(Code::unsupported, "axis " + std::to_string(axis) + " has " + std::to_string(view.shape[axis]) +
                                         " indices, more than the " + std::to_string(kMaxAxis) +
                                         " that can be summarised one by one");
  }
  std::vector<Summary> result(static_cast<std::size_t>(view.shape[axis]));
  const FloatEnvironment environment;
  summarize_indices(view, axis, result);
  return result;
}

}  // namespace sonde::stats
