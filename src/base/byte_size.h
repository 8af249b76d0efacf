// Sizes as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde::base {

// "256MiB", "20 GB", "1.5GiB", "100B": bytes. KB, MB, GB, TB are powers of 1000; KiB, MiB, GiB, TiB of 1024. Empty if
// the text is not such a size, or above 2^62.
std::optional<std::uint64_t> parse_byte_size(std::string_view text) noexcept;

}  // namespace sonde::base
