// Facts about processes and their machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::base {

// Short and safe enough to be part of a file name; "localhost" if the system does not know.
std::string host_name();
std::uint64_t process_id() noexcept;
// Processors that this process may use, at least 1.
int processor_count() noexcept;
// The open files of a process of this machine: each under the name by which it was opened, followed by " (deleted)" if
// it was deleted. Empty if the system does not tell.
std::vector<std::string> open_files(std::uint64_t pid);

}  // namespace sonde::base
