#include "server/lanes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>

namespace sonde::server {
namespace {

constexpr std::array<std::string_view, 8> kQuick = {"status",  "runs", "tags", "alerts",
                                                    "layouts", "arm",  "note", "delete"};

// Bytes of a body grow with the series it names: some 200 of them, each as wide as a screen.
constexpr std::size_t kFew = std::size_t{8'000} * 2'000;

// The number behind "width", wherever that stands; as many pixels as there are where nobody says.
std::size_t width_of(std::string_view body) noexcept {
  constexpr std::string_view kName = "\"width\"";
  std::size_t width = 800;
  const std::size_t at = body.find(kName);
  if (at == std::string_view::npos) return width;
  body.remove_prefix(at + kName.size());
  body.remove_prefix(std::min(body.find_first_not_of(" \t\r\n:"), body.size()));
  const std::string_view digits = body.substr(0, 5);
  std::from_chars(digits.data(), digits.data() + digits.size(), width);
  return width;
}

}  // namespace

Lane lane_of(const query::Question& question) noexcept {
  if (std::ranges::find(kQuick, question.path) != kQuick.end()) return Lane::quick;
  if (question.path == "scalars") return Lane::dear;
  return question.body.size() * width_of(question.body) > kFew ? Lane::dear : Lane::values;
}

}  // namespace sonde::server
