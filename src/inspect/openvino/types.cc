#include "inspect/openvino/types.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::inspect {
namespace {

using Pair = std::pair<ov::element::Type_t, DType>;
constexpr std::array<Pair, 15> kPairs = {{{ov::element::Type_t::boolean, DType::boolean},
                                          {ov::element::Type_t::i8, DType::i8},
                                          {ov::element::Type_t::i16, DType::i16},
                                          {ov::element::Type_t::i32, DType::i32},
                                          {ov::element::Type_t::i64, DType::i64},
                                          {ov::element::Type_t::u8, DType::u8},
                                          {ov::element::Type_t::u16, DType::u16},
                                          {ov::element::Type_t::u32, DType::u32},
                                          {ov::element::Type_t::u64, DType::u64},
                                          {ov::element::Type_t::f8e4m3, DType::f8_e4m3},
                                          {ov::element::Type_t::f8e5m2, DType::f8_e5m2},
                                          {ov::element::Type_t::f16, DType::f16},
                                          {ov::element::Type_t::bf16, DType::bf16},
                                          {ov::element::Type_t::f32, DType::f32},
                                          {ov::element::Type_t::f64, DType::f64}}};

// Lines about places in OpenVINO's sources say nothing to its users.
bool is_noise(std::string_view line) {
  return line.empty() || line.starts_with("Exception from ") || line.starts_with("Check '") ||
         line.starts_with("While validating") || line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

std::optional<DType> dtype_of(const ov::element::Type& type) {
  const auto* found = std::ranges::find(kPairs, static_cast<ov::element::Type_t>(type), &Pair::first);
  return found == kPairs.end() ? std::nullopt : std::optional(found->second);
}

ov::element::Type element_of(DType dtype) {
  const auto* found = std::ranges::find(kPairs, dtype, &Pair::second);
  return found == kPairs.end() ? ov::element::Type_t::dynamic : found->first;
}

std::optional<TensorView> view_of(const ov::Tensor& tensor) {
  const std::optional<DType> dtype = dtype_of(tensor.get_element_type());
  const ov::Shape& shape = tensor.get_shape();
  if (!dtype || shape.size() > kMaxRank) return {};
  Shape dims;
  for (const std::size_t dim : shape) dims.push_back(static_cast<std::int64_t>(dim));
  return view(std::as_const(tensor).data(), *dtype, dims);
}

std::string reason_of(const std::exception& error) {
  const std::string text = error.what();
  std::string reason;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (is_noise(line)) continue;
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    reason.append(reason.empty() ? "" : " ").append(line);
  }
  if (reason.empty()) reason = text.substr(0, text.find('\n'));
  constexpr std::size_t kLongest = 600;
  if (reason.size() > kLongest) reason = reason.substr(0, kLongest) + "...";
  return reason;
}

}  // namespace sonde::inspect
