// Log::open: the embedded index as the source of a log.
#include "sonde/log.h"

#include <utility>

#include "index/log_index.h"
#include "store/access.h"

namespace sonde {

Result<Log> Log::open(std::string_view directory, const LogOptions& options) {
  auto index = index::LogIndex::open(std::string(directory), options);
  if (!index) return index.error();
  return store::Access::log(std::move(*index));
}

}  // namespace sonde
