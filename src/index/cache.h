// A cache file of what was read of a run, so that opening the log again reads only new data.
//
//   offset  size
//   0       8     "SONDEIDX"
//   8       4     version of this layout
//   12      4     CRC-32C of everything behind it
//   16      ...   files, series, damage and gaps (cache.cc)
//
// A file of another version, with a wrong checksum or with anything inconsistent is ignored. The caller checks, from
// SourceFile, whether the log files are still those that were read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "index/run_data.h"
#include "sonde/status.h"

namespace sonde::index {

// The cache file of a run; its name is derived from the path of the run's directory, which is absolute and without
// links.
std::string cache_file(const std::string& cache_directory, const std::string& run_directory);

// Encodes and decodes a cache file. All columns must be packed. Decoding returns false, and leaves `run` undefined, if
// the file is not usable; columns point into the bytes, which `owner` keeps alive.
Result<std::string> encode_cache(const RunData& run);
bool decode_cache(base::Bytes bytes, const std::shared_ptr<const void>& owner, RunData& run);

Status save_cache(const std::string& path, const RunData& run);
bool load_cache(const std::string& path, RunData& run);

// Maximum total size of a user's cache files: $SONDE_CACHE_SIZE ("500MB", "0B" for no cache), or kCacheLimit if that is
// not set, or not a size.
inline constexpr std::uint64_t kCacheLimit = std::uint64_t{2} << 30;
std::uint64_t cache_limit() noexcept;

struct CacheUse {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};
CacheUse cache_use(const std::string& cache_directory);
// Removes the least recently used cache files until the others take at most `limit` bytes.
void prune_cache(const std::string& cache_directory, std::uint64_t limit);

}  // namespace sonde::index
