#include "compare/permutation.h"

#include <algorithm>
#include <numeric>

namespace sonde::compare {
namespace {

constexpr std::size_t kMostOrders = 24;
constexpr int kMostAxes = 6;  // 720 orders

// How many neighbours stay neighbours.
int kept_sequences(const AxisOrder& order) noexcept {
  int kept = 0;
  for (std::size_t i = 1; i < order.size(); ++i) kept += order[i] == order[i - 1] + 1 ? 1 : 0;
  return kept;
}

}  // namespace

std::vector<AxisOrder> orders_between(const Shape& from, const Shape& to) {
  if (from.rank() != to.rank() || from.rank() < 2 || from.rank() > kMostAxes) return {};
  AxisOrder order(static_cast<std::size_t>(from.rank()));
  std::iota(order.begin(), order.end(), 0);
  const AxisOrder identity = order;
  std::vector<AxisOrder> found;
  do {
    bool fits = order != identity;
    for (int i = 0; fits && i < to.rank(); ++i) fits = from[order[static_cast<std::size_t>(i)]] == to[i];
    if (fits) found.push_back(order);
  } while (std::ranges::next_permutation(order).found);
  std::ranges::stable_sort(found, std::ranges::greater{}, kept_sequences);
  if (found.size() > kMostOrders) found.resize(kMostOrders);
  return found;
}

TensorView permuted(const TensorView& view, const AxisOrder& order) noexcept {
  TensorView result = view;
  for (std::size_t i = 0; i < order.size(); ++i) {
    result.shape[static_cast<int>(i)] = view.shape[order[i]];
    result.strides[static_cast<int>(i)] = view.strides[order[i]];
  }
  return result;
}

std::string permutation_text(const AxisOrder& order) {
  std::string text = "B permuted by (";
  for (std::size_t i = 0; i < order.size(); ++i) text.append(i == 0 ? "" : ", ").append(std::to_string(order[i]));
  text += ")";
  if (order == AxisOrder{0, 2, 3, 1}) text += ", as NCHW to NHWC";
  if (order == AxisOrder{0, 3, 1, 2}) text += ", as NHWC to NCHW";
  return text;
}

}  // namespace sonde::compare
