#include "sonde/show.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/file.h"
#include "formats/png.h"
#include "render/array.h"
#include "render/console.h"
#include "render/image.h"
#include "stats/buckets.h"
#include "tensor/why_invalid.h"

namespace sonde {
namespace {

// The library never throws: what the standard library throws here is about memory.
template <class Do>
auto within_memory(Do what) -> decltype(what()) {
  try {
    return what();
  } catch (const std::exception&) {
    return Status(Code::exhausted, "there is not enough memory to show the tensor");
  }
}

Statistics public_form(const TensorView& tensor, const stats::Summary& summary, const stats::Histogram& histogram) {
  Statistics statistics;
  statistics.dtype = tensor.dtype;
  statistics.shape = tensor.shape;
  statistics.count = summary.count;
  statistics.nan = summary.nan;
  statistics.positive_infinity = summary.positive_infinity;
  statistics.negative_infinity = summary.negative_infinity;
  statistics.zeros = summary.zeros;
  statistics.negatives = summary.negatives;
  statistics.min = summary.min;
  statistics.max = summary.max;
  statistics.mean = summary.mean;
  statistics.m2 = summary.m2;
  statistics.sum_abs = summary.sum_abs;
  statistics.histogram.assign(histogram.bins().begin(), histogram.bins().end());
  return statistics;
}

}  // namespace

Result<Shown> show(std::string_view name, const TensorView& tensor, int buckets) {
  return within_memory([&]() -> Result<Shown> {
    if (buckets < 1) {
      return Status(Code::invalid_argument, "buckets is " + std::to_string(buckets) + ", but must be at least 1");
    }
    stats::Histogram histogram;
    const Result<stats::Summary> summary = stats::summarize(tensor, histogram);
    if (!summary) return summary.error();
    Shown shown;
    shown.line = render::one_line(name, tensor.dtype, tensor.shape, *summary, histogram);
    shown.statistics = public_form(tensor, *summary, histogram);
    if (summary->finite() == 0) return shown;
    for (const stats::Bucket& bucket : stats::tensorboard_buckets(tensor, *summary, histogram, buckets)) {
      shown.buckets.push_back({bucket.left, bucket.right, bucket.count});
    }
    return shown;
  });
}

Result<std::string> values_text(const TensorView& tensor, std::optional<int> summarize) {
  return within_memory([&]() -> Result<std::string> {
    if (!tensor.valid()) return Status(Code::invalid_argument, std::string(tensor::why_invalid(tensor)));
    render::ArrayOptions options;
    if (summarize) {
      options.threshold = *summarize < 0 ? render::ArrayOptions::kEverything : 0;
      options.edge_items = std::max(*summarize, 1);
    }
    return render::numpy_style(tensor, options);
  });
}

Status save_picture(std::string_view path, const TensorView& tensor, const ImageOptions& options,
                    std::optional<Layout> layout) {
  return within_memory([&]() -> Status {
    if (!tensor.valid()) {
      return {Code::invalid_argument, "the tensor cannot be drawn: " + std::string(tensor::why_invalid(tensor))};
    }
    const Result<render::Picture> picture = render::draw(tensor, layout, options);
    if (!picture) return picture.error();
    const Shape shape = {picture->height, picture->width, picture->channels};
    const Result<std::string> file = png::encode(view(picture->pixels, shape));
    if (!file) return file.error();
    return base::write_file(std::string(path), *file);
  });
}

}  // namespace sonde
