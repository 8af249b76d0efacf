// A value as stored in its file, for code that passes it on in another form.
#pragma once

#include <memory>
#include <string>

#include "formats/tfevents_decode.h"
#include "sonde/log.h"

namespace sonde::store {

struct RawValue {
  std::string payload;    // of the record, checksum verified
  tfevents::Event event;  // views into the payload, which is why this is returned by pointer
  std::size_t part = 0;

  // Only if the event is a summary; graphs and run metadata are event.bytes.
  const tfevents::Value& value() const noexcept { return event.values[part]; }
};

// Fails if the file was changed, or the run is not the one that returned `value`.
Result<std::unique_ptr<RawValue>> read_raw(const Run& run, const ValueRef& value);

}  // namespace sonde::store
