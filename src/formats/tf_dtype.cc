#include "formats/tf_dtype.h"

#include <array>
#include <string_view>

namespace sonde::formats {
namespace {

// By DType.
constexpr std::array<int, kDTypeCount> kNumbers = {
    10,  // boolean
    6,   // i8
    5,   // i16
    3,   // i32
    9,   // i64
    4,   // u8
    17,  // u16
    22,  // u32
    23,  // u64
    25,  // f8_e4m3
    24,  // f8_e5m2
    19,  // f16
    14,  // bf16
    1,   // f32
    2,   // f64
    8,   // c64
    18,  // c128
};

constexpr std::size_t kInverseSize = 26;
constexpr std::uint8_t kNone = 0xff;
constexpr auto kInverse = [] {
  std::array<std::uint8_t, kInverseSize> inverse{};
  inverse.fill(kNone);
  for (std::size_t i = 0; i < kNumbers.size(); ++i) {
    inverse[static_cast<std::size_t>(kNumbers[i])] = static_cast<std::uint8_t>(i);
  }
  return inverse;
}();

// By number.
constexpr std::array<std::string_view, kInverseSize> kNames = {
    "INVALID",    "FLOAT", "DOUBLE",   "INT32",   "UINT8",  "INT16",    "INT8",        "STRING",       "COMPLEX64",
    "INT64",      "BOOL",  "QINT8",    "QUINT8",  "QINT32", "BFLOAT16", "QINT16",      "QUINT16",      "UINT16",
    "COMPLEX128", "HALF",  "RESOURCE", "VARIANT", "UINT32", "UINT64",   "FLOAT8_E5M2", "FLOAT8_E4M3FN"};
constexpr int kReference = 100;  // is added for a reference to the type

}  // namespace

int tf_dtype(DType dtype) noexcept { return kNumbers[static_cast<std::size_t>(dtype)]; }

std::optional<DType> dtype_of_tf(int tf_dtype) noexcept {
  const auto number = static_cast<std::size_t>(tf_dtype);  // a negative one becomes huge
  if (number >= kInverseSize || kInverse[number] == kNone) return std::nullopt;
  return static_cast<DType>(kInverse[number]);
}

std::string tf_dtype_text(int tf_dtype) {
  const bool reference = tf_dtype > kReference;
  const auto number = static_cast<std::size_t>(reference ? tf_dtype - kReference : tf_dtype);
  if (number >= kNames.size()) return std::to_string(tf_dtype);
  return "DT_" + std::string(kNames[number]) + (reference ? "_REF" : "");
}

}  // namespace sonde::formats
