// A probe as JSON, the same in the API and in `sonde ls --json`.
#pragma once

#include "formats/json_writer.h"
#include "sonde/log.h"

namespace sonde::store {

inline void put_probe(formats::JsonWriter& json, const ProbeInfo& probe) {
  json.object().key("name").text(probe.name).key("kind").text(to_string(probe.kind));
  json.key("tag").text(probe.tag).key("dtype").text(to_string(probe.dtype)).key("shape").shape(probe.shape);
  json.key("inputs").texts(probe.inputs).key("order").integer(probe.order).end();
}

}  // namespace sonde::store
