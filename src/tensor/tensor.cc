#include "sonde/tensor.h"

#include <array>

namespace sonde {
namespace {

struct Traits {
  std::string_view name;
  std::size_t size;
};
constexpr std::array<Traits, kDTypeCount> kTraits = {{
    {"bool", 1},
    {"i8", 1},
    {"i16", 2},
    {"i32", 4},
    {"i64", 8},
    {"u8", 1},
    {"u16", 2},
    {"u32", 4},
    {"u64", 8},
    {"f8_e4m3", 1},
    {"f8_e5m2", 1},
    {"f16", 2},
    {"bf16", 2},
    {"f32", 4},
    {"f64", 8},
    {"c64", 8},
    {"c128", 16},
}};

const Traits& traits(DType dtype) noexcept {
  const auto index = static_cast<std::size_t>(dtype);
  return kTraits[index < kTraits.size() ? index : 0];
}

}  // namespace

std::string_view to_string(DType dtype) noexcept { return traits(dtype).name; }

std::size_t size_of(DType dtype) noexcept { return traits(dtype).size; }

}  // namespace sonde
