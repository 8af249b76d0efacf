#include "server/token.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace sonde::server {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t kMostLetters = 256;

bool is_plain(char c) noexcept { return kLetters.find(c) != std::string_view::npos || c == '.' || c == '~'; }

}  // namespace

Result<std::string> make_token() {
  std::array<std::uint8_t, 32> bytes{};
  // So few bytes are never given in parts.
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return Status(Code::io, "cannot get random numbers for a token: " +
                                std::error_code(errno, std::generic_category()).message());
  }
  std::string token;
  for (const std::uint8_t byte : bytes) token += kLetters[byte % kLetters.size()];
  return token;
}

Status check_token(std::string_view token) {
  if (token.empty()) return {Code::invalid_argument, "a token must not be empty"};
  if (token.size() > kMostLetters) {
    return {Code::invalid_argument,
            "a token has at most " + std::to_string(kMostLetters) + " letters, not " + std::to_string(token.size())};
  }
  if (!std::ranges::all_of(token, is_plain)) {
    return {Code::invalid_argument, "a token may contain only letters, digits, '-', '_', '.' and '~'"};
  }
  return Status::success();
}

bool same_token(std::string_view given, std::string_view token) noexcept {
  if (token.empty()) return false;  // there is no token, so none matches
  // The length of the token may be known; its content may not.
  unsigned difference = given.size() == token.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    difference |= static_cast<unsigned>(static_cast<unsigned char>(given[i]) ^
                                        static_cast<unsigned char>(token[i % token.size()]));
  }
  return difference == 0;
}

}  // namespace sonde::server
