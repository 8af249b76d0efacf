// Names of blobs: handed out with a list of blobs, and brought back to read one. Text that is safe in a URL.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sonde/log.h"
#include "sonde/status.h"

namespace sonde::data_server {

struct BlobKey {
  std::string run;
  std::string tag;
  TagKind kind = TagKind::tensors;
  ValueRef value;           // its wall time is not part of the key
  std::uint64_t index = 0;  // of the blob in its sequence

  std::string encode() const;
  // Code::invalid_argument where no encode() gave this text. What it names need not be there.
  static Result<BlobKey> decode(std::string_view text);
};

}  // namespace sonde::data_server
