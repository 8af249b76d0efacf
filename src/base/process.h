// Facts about this process and its machine.
#pragma once

#include <cstdint>
#include <string>

namespace sonde {

// Short enough and safe to be part of a file name; "localhost" where the system does not say.
std::string host_name();
std::uint64_t process_id() noexcept;
// Processors that this process may use, at least 1.
int processor_count() noexcept;

}  // namespace sonde
