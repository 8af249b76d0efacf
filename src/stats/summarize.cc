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
#include "tensor/why_invalid.h"

namespace sonde::stats {
namespace {

// Shorter runs are gathered into full blocks: a block has its own cost.
constexpr std::int64_t kDirectRun = 256;

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
      : buffers_(scratch.buffers<T>()), tables_(scratch.tables), histogram_(histogram) {
    if (tables_.pending() != 0) tables_.clear();  // memory ran out in the last pass
  }

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
  tensor::for_each_run(view, [&](const std::byte* at, std::int64_t count, std::int64_t stride) {
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
    return {Code::invalid_argument, "the tensor cannot be summarised: " + std::string(tensor::why_invalid(view))};
  }
  if (tensor::is_complex(view.dtype)) {
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

}  // namespace

Result<Summary> summarize(const TensorView& view) { return summarize_checked(view, nullptr); }

Result<Summary> summarize(const TensorView& view, Histogram& histogram) { return summarize_checked(view, &histogram); }

}  // namespace sonde::stats
