// The word that lets somebody in.
#pragma once

#include <string>
#include <string_view>

#include "sonde/status.h"

namespace sonde::server {

// 192 bits from the system's own source, as 32 letters that may stand in an address.
Result<std::string> make_token();

// Fails where it could not stand in an address or a cookie as it is.
Status check_token(std::string_view token);

// Takes as long wherever the two differ, so that nobody can find a token letter by letter.
bool same_token(std::string_view given, std::string_view token) noexcept;

}  // namespace sonde::server
