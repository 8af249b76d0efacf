// Fewer points of a series, and which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sonde/log.h"
#include "sonde/status.h"

namespace sonde::data_server {

// Which of `size` points to show where at most `limit` are asked for: all of them, or as many as asked for, evenly
// spread, with the first and the last; the last alone where `limit` is 1.
std::vector<std::size_t> evenly(std::size_t size, std::size_t limit);

// At most `limit` points of a series of scalars, by ascending step: all of them, or those that a line of that many
// points needs to look like the whole - the first, the last, and the smallest and largest in between. Something that is
// not finite stays visible.
Result<Scalars> sample(const Run& run, const Tag& tag, std::uint64_t limit);

}  // namespace sonde::data_server
