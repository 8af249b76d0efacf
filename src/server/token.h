// The access token.
#pragma once

#include <string>
#include <string_view>

#include "sonde/status.h"

namespace sonde::server {

// 192 bits from the system's random source, as 32 characters that are valid in an address.
Result<std::string> make_token();

// Fails if it is not valid in an address or a cookie.
Status check_token(std::string_view token);

// Takes the same time wherever the two differ, so that nobody can guess a token letter by letter.
bool same_token(std::string_view given, std::string_view token) noexcept;

}  // namespace sonde::server
