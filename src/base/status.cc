#include "sonde/status.h"

namespace sonde {

std::string_view to_string(Code code) noexcept {
  switch (code) {
    case Code::ok: return "ok";
    case Code::invalid_argument: return "invalid_argument";
    case Code::not_found: return "not_found";
    case Code::permission_denied: return "permission_denied";
    case Code::no_space: return "no_space";
    case Code::io: return "io";
    case Code::corrupt: return "corrupt";
    case Code::unsupported: return "unsupported";
    case Code::closed: return "closed";
    case Code::exhausted: return "exhausted";
  }
  return "unknown";
}

}  // namespace sonde
