#include "compare/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "stats/float_environment.h"
#include "stats/gather.h"
#include "stats/kernels.h"
#include "tensor/convert.h"
#include "tensor/copy.h"
#include "tensor/tensor_data.h"
#include "tensor/why_invalid.h"

namespace sonde::compare {
namespace {

constexpr std::int64_t kPartElements = std::int64_t{1} << 18;

// Digits of a float, to choose between two of the same size.
int mantissa_bits(DType dtype) noexcept {
  switch (dtype) {
    case DType::f8_e5m2: return 2;
    case DType::f8_e4m3: return 3;
    case DType::bf16: return 7;
    case DType::f16: return 10;
    case DType::f32: return 23;
    default: return 52;
  }
}

// Complex numbers as twice as many real ones.
TensorView as_real(const TensorView& dense) noexcept {
  const DType dtype = dense.dtype == DType::c64 ? DType::f32 : dense.dtype == DType::c128 ? DType::f64 : dense.dtype;
  return view(dense.data, dtype, {dense.size() * (tensor::is_complex(dense.dtype) ? 2 : 1)});
}

// Elements of any real type as doubles.
void to_doubles(DType dtype, const std::byte* at, std::size_t count, double* out) noexcept {
  if (!stats::is_float_exact(dtype)) {
    stats::gather(dtype, at, static_cast<std::int64_t>(count), 1, out);
    return;
  }
  std::array<float, kBlock> floats;
  stats::gather(dtype, at, static_cast<std::int64_t>(count), 1, floats.data());
  std::copy_n(floats.begin(), count, out);
}

// Rounds a block to the type in which it is compared.
void cast(DType from, DType to, const std::byte* at, std::size_t count, std::byte* out) noexcept {
  std::array<double, kBlock> values;
  to_doubles(from, at, count, values.data());
  const auto put = [&](auto convert) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = convert(values[i]);
      std::memcpy(out + i * sizeof value, &value, sizeof value);
    }
  };
  // By way of float: f64 rounds twice, which moves a value by at most one unit in the last place of the small type.
  switch (to) {
    case DType::f8_e4m3: return put([](double x) { return tensor::to_float8_e4m3(static_cast<float>(x)); });
    case DType::f8_e5m2: return put([](double x) { return tensor::to_float8_e5m2(static_cast<float>(x)); });
    case DType::f16: return put([](double x) { return tensor::to_float16(static_cast<float>(x)); });
    case DType::bf16: return put([](double x) { return tensor::to_bfloat16(static_cast<float>(x)); });
    case DType::f32: return put([](double x) { return static_cast<float>(x); });
    default: return put([](double x) { return x; });
  }
}

// One side of a comparison, block by block in the common type, aligned.
class BlockReader {
 public:
  BlockReader(const TensorView& flat, DType type) noexcept
      : data_(static_cast<const std::byte*>(flat.data)), from_(flat.dtype), type_(type) {}

  // Valid until the next call.
  const std::byte* block(std::int64_t first, std::size_t count) noexcept {
    const std::size_t size = size_of(from_);
    const std::byte* at = data_ + static_cast<std::size_t>(first) * size;
    if (from_ != type_) {
      cast(from_, type_, at, count, buffer_.data());
      return buffer_.data();
    }
    if (reinterpret_cast<std::uintptr_t>(at) % size == 0) return at;
    std::memcpy(buffer_.data(), at, count * size);
    return buffer_.data();
  }

 private:
  const std::byte* data_;
  DType from_;
  DType type_;
  alignas(64) std::array<std::byte, kBlock * sizeof(double)> buffer_;
};

template <class T>
const T* as(const std::byte* data) noexcept {
  return reinterpret_cast<const T*>(data);
}

std::optional<std::uint64_t> ulp(DType type, const std::byte* a, const std::byte* b, std::size_t count) noexcept {
  if (!is_float(type)) return std::nullopt;
  switch (size_of(type)) {
    case 1: return largest_ulp(as<std::int8_t>(a), as<std::int8_t>(b), count);
    case 2: return largest_ulp(as<std::int16_t>(a), as<std::int16_t>(b), count);
    case 4: return largest_ulp(as<std::int32_t>(a), as<std::int32_t>(b), count);
    default: return largest_ulp(as<std::int64_t>(a), as<std::int64_t>(b), count);
  }
}

// The sums again where doubles overflow or vanish.
template <class T>
void sum_again(const T* a, const T* b, std::size_t count, Metrics& into) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const long double x = a[i];
    const long double y = b[i];
    into.squares += (x - y) * (x - y);
    into.squares_a += x * x;
    into.squares_b += y * y;
    into.product += x * y;
  }
}

// Compares the blocks of one part.
class Pass {
 public:
  Pass(const TensorView& a, const TensorView& b, DType type, const Limits& limits) noexcept
      : a_(a, type), b_(b, type), type_(type), limits_(limits) {
    if (is_float(type)) metrics_.max_ulp = 0;
  }

  Metrics run(std::int64_t first, std::int64_t end) noexcept {
    for (std::int64_t at = first; at < end; at += std::int64_t{kBlock}) {
      add(at, static_cast<std::size_t>(std::min<std::int64_t>(kBlock, end - at)));
    }
    return metrics_;
  }

 private:
  void add(std::int64_t first, std::size_t count) noexcept {
    first_ = first;
    const std::byte* a = a_.block(first, count);
    const std::byte* b = b_.block(first, count);
    switch (type_) {
      case DType::f32: return add_values(as<float>(a), as<float>(b), a, b, count);
      case DType::f64: return add_values(as<double>(a), as<double>(b), a, b, count);
      case DType::f16:
        stats::widen_f16(as<std::uint16_t>(a), count, floats_a_.data());
        stats::widen_f16(as<std::uint16_t>(b), count, floats_b_.data());
        return add_values(floats_a_.data(), floats_b_.data(), a, b, count);
      case DType::bf16:
        stats::widen_bf16(as<std::uint16_t>(a), count, floats_a_.data());
        stats::widen_bf16(as<std::uint16_t>(b), count, floats_b_.data());
        return add_values(floats_a_.data(), floats_b_.data(), a, b, count);
      default: break;
    }
    to_doubles(type_, a, count, doubles_a_.data());
    to_doubles(type_, b, count, doubles_b_.data());
    add_values(doubles_a_.data(), doubles_b_.data(), a, b, count);
    if (type_ == DType::i64) correct<std::int64_t>(a, b, count);
    if (type_ == DType::u64) correct<std::uint64_t>(a, b, count);
  }

  template <class T>
  void add_values(const T* a, const T* b, const std::byte* bits_a, const std::byte* bits_b,
                  std::size_t count) noexcept {
    metrics_.count += count;
    if (add_finite(a, b, bits_a, bits_b, count)) return;
    add_mixed(a, b, bits_a, bits_b, count);
  }

  // Returns false, and adds nothing, if not all sums are finite numbers of full precision.
  template <class T>
  bool add_finite(const T* a, const T* b, const std::byte* bits_a, const std::byte* bits_b,
                  std::size_t count) noexcept {
    const BlockDifference block = compare_block(a, b, count, limits_);
    if (!std::isfinite(block.squares_a + block.squares_b + block.squares)) return false;
    if constexpr (sizeof(T) == sizeof(double)) {  // squares of floats never vanish
      constexpr double kVanishing = 1e-200;
      if (block.squares < kVanishing && block.max_abs > 0) return false;
      if (block.squares_a + block.squares_b < kVanishing && block.max_abs > 0) return false;
    }
    metrics_.squares += block.squares;
    metrics_.squares_a += block.squares_a;
    metrics_.squares_b += block.squares_b;
    metrics_.product += block.product;
    add_largest(block, bits_a, bits_b, count);
    return true;
  }

  void add_largest(const BlockDifference& block, const std::byte* bits_a, const std::byte* bits_b,
                   std::size_t count) noexcept {
    metrics_.finite += count;
    if (block.max_abs > metrics_.max_abs) {
      metrics_.max_abs = block.max_abs;
      metrics_.worst = first_;
    }
    metrics_.max_rel = std::max(metrics_.max_rel, block.max_rel);
    metrics_.max_excess = std::max(metrics_.max_excess, block.max_excess);
    metrics_.different += block.different;
    metrics_.outside += block.outside;
    if (block.different == 0) return;
    if (const auto distance = ulp(type_, bits_a, bits_b, count)) {
      metrics_.max_ulp = std::max(*metrics_.max_ulp, *distance);
    }
  }

  // A block with values that are not finite, or whose sums need more than doubles.
  template <class T>
  void add_mixed(const T* a, const T* b, const std::byte* bits_a, const std::byte* bits_b, std::size_t count) noexcept {
    const std::size_t size = size_of(type_);
    std::array<T, kBlock> finite_a;
    std::array<T, kBlock> finite_b;
    alignas(8) std::array<std::byte, kBlock * sizeof(double)> kept_a;
    alignas(8) std::array<std::byte, kBlock * sizeof(double)> kept_b;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const bool a_is_finite = std::isfinite(a[i]);
      const bool b_is_finite = std::isfinite(b[i]);
      if (a_is_finite && b_is_finite) {
        finite_a[kept] = a[i];
        finite_b[kept] = b[i];
        std::memcpy(kept_a.data() + kept * size, bits_a + i * size, size);
        std::memcpy(kept_b.data() + kept * size, bits_b + i * size, size);
        ++kept;
        continue;
      }
      metrics_.non_finite_a += a_is_finite ? 0U : 1U;
      metrics_.non_finite_b += b_is_finite ? 0U : 1U;
      const bool equal = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
      metrics_.non_finite_differ += equal ? 0U : 1U;
      metrics_.different += equal ? 0U : 1U;
      metrics_.outside += equal ? 0U : 1U;
    }
    if (kept == 0 || add_finite(finite_a.data(), finite_b.data(), kept_a.data(), kept_b.data(), kept)) return;
    sum_again(finite_a.data(), finite_b.data(), kept, metrics_);
    add_largest(compare_block(finite_a.data(), finite_b.data(), kept, limits_), kept_a.data(), kept_b.data(), kept);
  }

  // Integers beyond 2^53 that differ may be the same double.
  template <class T>
  void correct(const std::byte* a, const std::byte* b, std::size_t count) noexcept {
    const T* x = as<T>(a);
    const T* y = as<T>(b);
    for (std::size_t i = 0; i < count; ++i) {
      if (x[i] == y[i] || static_cast<double>(x[i]) != static_cast<double>(y[i])) continue;
      const auto larger = static_cast<std::uint64_t>(std::max(x[i], y[i]));
      const auto smaller = static_cast<std::uint64_t>(std::min(x[i], y[i]));
      const auto distance = static_cast<double>(larger - smaller);
      ++metrics_.different;
      metrics_.squares += static_cast<long double>(distance) * distance;
      metrics_.outside += distance > limits_.atol + limits_.rtol * std::abs(static_cast<double>(y[i])) ? 1U : 0U;
      metrics_.max_rel = std::max(metrics_.max_rel, distance / std::abs(static_cast<double>(y[i])));
      if (distance > metrics_.max_abs) {
        metrics_.max_abs = distance;
        metrics_.worst = first_;
      }
    }
  }

  BlockReader a_;
  BlockReader b_;
  const DType type_;
  const Limits limits_;
  Metrics metrics_;
  std::int64_t first_ = 0;  // of the block
  alignas(64) std::array<float, kBlock> floats_a_;
  alignas(64) std::array<float, kBlock> floats_b_;
  alignas(64) std::array<double, kBlock> doubles_a_;
  alignas(64) std::array<double, kBlock> doubles_b_;
};

// Turns the first index of the block with the largest difference into the index itself.
void locate_worst(const TensorView& a, const TensorView& b, DType type, Metrics& metrics) noexcept {
  if (metrics.worst < 0) return;
  const auto count = static_cast<std::size_t>(
      std::min<std::int64_t>(kBlock, static_cast<std::int64_t>(metrics.count) - metrics.worst));
  const auto side_a = std::make_unique<BlockReader>(a, type);
  const auto side_b = std::make_unique<BlockReader>(b, type);
  const std::byte* at_a = side_a->block(metrics.worst, count);
  const std::byte* at_b = side_b->block(metrics.worst, count);
  double largest = -1;
  std::int64_t found = metrics.worst;
  for (std::size_t i = 0; i < count; ++i) {
    const double distance = std::abs(tensor::element_as_double(at_a + i * size_of(type), type) -
                                     tensor::element_as_double(at_b + i * size_of(type), type));
    if (std::isfinite(distance) && distance > largest) {
      largest = distance;
      found = metrics.worst + static_cast<std::int64_t>(i);
    }
  }
  metrics.worst = found;
}

// The compiler must not move its arithmetic out of the environment.
[[gnu::noinline]] Metrics measure_part(const TensorView& a, const TensorView& b, DType type, const Limits& limits,
                                       std::int64_t first, std::int64_t end) {
  const auto pass = std::make_unique<Pass>(a, b, type, limits);
  return pass->run(first, end);
}

Status check(const TensorView& view, std::string_view side) {
  if (view.valid()) return Status::success();
  return {Code::invalid_argument,
          "the tensor of " + std::string(side) + " cannot be read: " + std::string(tensor::why_invalid(view))};
}

}  // namespace

double Metrics::norm_relative() const noexcept {
  if (squares == 0) return 0;
  return static_cast<double>(std::sqrt(squares) / std::sqrt(squares_b));
}

double Metrics::rmse() const noexcept {
  return finite == 0 ? 0 : static_cast<double>(std::sqrt(squares / static_cast<long double>(finite)));
}

double Metrics::cosine() const noexcept {
  if (squares_a == 0 && squares_b == 0) return 1;
  if (squares_a == 0 || squares_b == 0) return 0;
  if (squares == 0) return 1;
  return std::clamp(static_cast<double>(product / (std::sqrt(squares_a) * std::sqrt(squares_b))), -1.0, 1.0);
}

double Metrics::sqnr() const noexcept {
  if (squares == 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(10 * std::log10(squares_b / squares));
}

void Metrics::merge(const Metrics& other) noexcept {
  count += other.count;
  different += other.different;
  outside += other.outside;
  finite += other.finite;
  non_finite_a += other.non_finite_a;
  non_finite_b += other.non_finite_b;
  non_finite_differ += other.non_finite_differ;
  squares += other.squares;
  squares_a += other.squares_a;
  squares_b += other.squares_b;
  product += other.product;
  if (other.max_abs > max_abs) {
    max_abs = other.max_abs;
    worst = other.worst;
  }
  max_rel = std::max(max_rel, other.max_rel);
  max_excess = std::max(max_excess, other.max_excess);
  if (other.max_ulp) max_ulp = std::max(max_ulp.value_or(0), *other.max_ulp);
}

DType common_type(DType a, DType b) noexcept {
  if (a == b) return a;
  if (!is_float(a) || !is_float(b)) return DType::f64;
  if (size_of(a) != size_of(b)) return size_of(a) < size_of(b) ? a : b;
  return mantissa_bits(a) < mantissa_bits(b) ? a : b;
}

std::string cast_text(DType a, DType b) {
  if (a == b) return {};
  const DType type = common_type(a, b);
  const std::string both = std::string(to_string(a)) + " and " + std::string(to_string(b));
  if (!is_float(a) || !is_float(b)) return both + " compared as numbers";
  const bool a_is_cast = type == b;
  return std::string(a_is_cast ? "A" : "B") + " cast from " + std::string(to_string(a_is_cast ? a : b)) + " to " +
         std::string(to_string(type));
}

Tensor rounded_to(DType type, const TensorView& view) {
  const Tensor dense = tensor::to_tensor(view);
  Tensor made;
  made.dtype = type;
  made.shape = view.shape;
  made.data.resize(static_cast<std::size_t>(view.size()) * size_of(type));
  const auto count = static_cast<std::size_t>(view.size());
  for (std::size_t first = 0; first < count; first += kBlock) {
    cast(view.dtype, type, reinterpret_cast<const std::byte*>(dense.data.data()) + first * size_of(view.dtype),
         std::min<std::size_t>(kBlock, count - first),
         reinterpret_cast<std::byte*>(made.data.data()) + first * size_of(type));
  }
  return made;
}

Result<Metrics> measure(const TensorView& a, const TensorView& b, const Limits& limits, base::TaskPool& pool) {
  if (Status status = check(a, "A"); !status) return status;
  if (Status status = check(b, "B"); !status) return status;
  if (a.shape != b.shape) return Status{Code::invalid_argument, "the two tensors have different shapes"};
  if (a.dtype != b.dtype && (tensor::is_complex(a.dtype) || tensor::is_complex(b.dtype))) {
    return Status{Code::unsupported, "complex numbers of " + std::string(to_string(a.dtype)) + " and " +
                                         std::string(to_string(b.dtype)) + " cannot be compared with each other"};
  }
  Tensor dense_a;
  Tensor dense_b;
  if (!a.contiguous()) dense_a = tensor::to_tensor(a);
  if (!b.contiguous()) dense_b = tensor::to_tensor(b);
  const TensorView flat_a = as_real(a.contiguous() ? a : dense_a.view());
  const TensorView flat_b = as_real(b.contiguous() ? b : dense_b.view());
  const DType type = common_type(flat_a.dtype, flat_b.dtype);
  const std::int64_t count = flat_a.size();
  const auto parts = static_cast<std::size_t>((count + kPartElements - 1) / kPartElements);
  std::vector<Metrics> results(parts);
  pool.run(parts, [&](std::size_t i) {
    const stats::FloatEnvironment environment;
    const std::int64_t first = static_cast<std::int64_t>(i) * kPartElements;
    results[i] = measure_part(flat_a, flat_b, type, limits, first, std::min(count, first + kPartElements));
  });
  Metrics metrics;
  if (is_float(type)) metrics.max_ulp = 0;
  for (const Metrics& part : results) metrics.merge(part);
  locate_worst(flat_a, flat_b, type, metrics);
  return metrics;
}

}  // namespace sonde::compare
