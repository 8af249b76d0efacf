// Facts about processes and their machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

// Short enough and safe to be part of a file name; "localhost" where the system does not say.
std::string host_name();
std::uint64_t process_id() noexcept;
// Processors that this process may use, at least 1.
int processor_count() noexcept;
// What a process of this machine has open, as the system names it: a file under the name by which it was opened, with
// " (deleted)" behind it where that is gone. Empty where the system does not tell.
std::vector<std::string> open_files(std::uint64_t pid);

}  // namespace sonde
