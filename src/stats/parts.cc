#include "stats/parts.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "tensor/copy.h"

namespace sonde::stats {
namespace {

// Indices from `first` on of an axis, `count` of them.
TensorView piece(const TensorView& view, int axis, std::int64_t first, std::int64_t count) noexcept {
  TensorView result = view;
  result.shape[axis] = count;
  result.data = static_cast<const std::byte*>(view.data) +
                first * view.strides[axis] * static_cast<std::int64_t>(size_of(view.dtype));
  return result;
}

TensorView flat(const TensorView& view, std::int64_t elements) noexcept {
  return sonde::view(view.data, view.dtype, {elements});
}

}  // namespace

std::vector<TensorView> parts_of(const TensorView& view) {
  const std::int64_t elements = view.size();
  if (elements <= kPartElements) return {view};
  const TensorView whole = view.contiguous() ? flat(view, elements) : view;
  int axis = 0;
  while (whole.shape[axis] == 1) ++axis;
  const std::int64_t length = whole.shape[axis];
  const std::int64_t step = std::max<std::int64_t>(1, kPartElements / (elements / length));
  std::vector<TensorView> parts;
  parts.reserve(static_cast<std::size_t>((length + step - 1) / step));
  for (std::int64_t first = 0; first < length; first += step) {
    parts.push_back(piece(whole, axis, first, std::min(step, length - first)));
  }
  return parts;
}

Result<Summary> summarize(const TensorView& view, Histogram* histogram, base::TaskPool& pool) {
  if (!view.valid() || view.size() <= kPartElements) {
    return histogram != nullptr ? summarize(view, *histogram) : summarize(view);
  }
  struct Part {
    Status status;
    Summary summary;
    Histogram histogram;
  };
  const std::vector<TensorView> views = parts_of(view);
  std::vector<Part> parts(views.size());
  pool.run(views.size(), [&](std::size_t i) {
    auto summary = histogram != nullptr ? summarize(views[i], parts[i].histogram) : summarize(views[i]);
    if (summary) {
      parts[i].summary = *summary;
    } else {
      parts[i].status = summary.error();
    }
  });
  Summary merged;
  for (Part& part : parts) {
    if (!part.status.ok()) return part.status;
    merged.merge(part.summary);
    if (histogram != nullptr) histogram->merge(std::move(part.histogram));
  }
  return merged;
}

}  // namespace sonde::stats
