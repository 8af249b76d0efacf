// The kernels compared with the scalar reference, over any bytes as a tensor of any dtype, offset and stride: the
// whole, and its merged parts. Derived values must be consistent as well.
//
// Input: dtype · byte offset · stride (signed) · columns · where to cut · elements
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "base/bytes.h"
#include "stats/derived.h"
#include "stats/reference.h"
#include "stats/summary.h"
#include "stats/summary_testing.h"
#include "tensor/convert.h"

namespace sonde::stats {
namespace {

void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

void require_same(const Summary& got, const TensorView& view, const char* what) {
  const std::string text = difference(got, reference_summary(*tensor::to_doubles(view)));
  require(text.empty(), std::string(what) + " of " + std::string(to_string(view.dtype)) + ": " + text);
}

// The view's first axis from `first` on, `count` indices of it.
TensorView rows(const TensorView& view, std::int64_t first, std::int64_t count) {
  TensorView part = view;
  part.shape[0] = count;
  part.data = static_cast<const std::byte*>(view.data) +
              first * view.strides[0] * static_cast<std::int64_t>(size_of(view.dtype));
  return part;
}

void check_parts(const TensorView& view, std::int64_t cut, const Histogram& whole) {
  Histogram histogram;
  Summary merged = *summarize(rows(view, 0, cut), histogram);
  merged.merge(*summarize(rows(view, cut, view.shape[0] - cut), histogram));
  require_same(merged, view, "the merged parts");
  require(histogram == whole, "the histogram of the parts is not that of the whole");
}

void check_derived(const Summary& summary, const Histogram& histogram) {
  if (summary.finite() == 0) return;
  double last = summary.min;
  for (const double q : {0.0, 0.01, 0.25, 0.5, 0.75, 0.99, 1.0}) {
    const double value = percentile(summary, histogram, q);
    require(value >= last && value <= summary.max, "percentiles do not ascend");
    last = value;
  }
  double total = 0;
  for (const Bucket& bucket : tensorboard_buckets(summary, histogram, 30)) {
    require(bucket.left <= bucket.right && bucket.count >= 0, "a bucket is inside out");
    total += bucket.count;
  }
  const auto finite = static_cast<double>(summary.finite());
  require(std::abs(total - finite) <= 1e-9 * finite, "buckets do not add up");
  for (const Target target : {Target::f16, Target::bf16, Target::f8_e4m3, Target::f8_e5m2}) {
    const CastRisk risk = cast_risk(summary, histogram, target);
    for (const Share& share : {risk.overflow, risk.underflow, risk.subnormal}) {
      require(share.low >= 0 && share.low <= share.high && share.high <= 1, "a share is out of bounds");
    }
  }
}

void check(base::ByteReader& reader, DType dtype) {
  const std::size_t offset = reader.get<std::uint8_t>() % 8U;
  const std::int64_t stride_byte = reader.get<std::uint8_t>();
  const std::int64_t stride = stride_byte < 128 ? stride_byte : stride_byte - 256;
  const std::int64_t columns = 1 + reader.get<std::uint8_t>() % 40;
  const std::int64_t cut = reader.get<std::uint8_t>();
  reader.take(std::min(offset, reader.remaining()));
  const base::Bytes elements = reader.take(reader.remaining());
  const auto count = static_cast<std::int64_t>(elements.size() / size_of(dtype));

  // Rows of `columns` elements, `stride` apart within a row, all inside the elements.
  const std::int64_t reach = std::abs(stride) * (columns - 1);
  if (count <= reach) return;
  const std::int64_t first = stride < 0 ? reach : 0;
  const std::int64_t step = stride == 1 ? columns : 1;
  const std::int64_t row_count = (count - reach - 1) / step + 1;
  const void* data = elements.data() + first * static_cast<std::int64_t>(size_of(dtype));
  const TensorView view = sonde::view(data, dtype, {row_count, columns}, {step, stride});

  Histogram histogram;
  const auto both = summarize(view, histogram);
  const auto alone = summarize(view);
  require(alone.ok() && both.ok(), "no summary");
  require_same(*alone, view, "the summary");
  require_same(*both, view, "the summary beside the histogram");
  require(histogram == reference_histogram(*tensor::to_doubles(view)), "the histogram is not that of the reference");
  check_parts(view, std::min(cut, row_count), histogram);
  check_derived(*both, histogram);
}

}  // namespace
}  // namespace sonde::stats

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sonde::base::ByteReader reader(std::as_bytes(std::span(data, size)));
  const auto dtype = static_cast<sonde::DType>(reader.get<std::uint8_t>() % (sonde::kDTypeCount - 2));  // not complex
  sonde::stats::check(reader, dtype);
  return 0;
}
