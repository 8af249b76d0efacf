// capture.json: what a capture holds and why it was made (sonde/capture.h), as one JSON object.
//
//   {"version":1, "cause":"trigger|manual|crash", "reason":"nan", "when":"loss > 1", "step":123, "wall_time":1.7e9,
//    "values":[{"expression":"loss","value":4.2}], "before":5, "after":2, "host":"...", "pid":1, "writer":"...",
//    "steps":[{"step":123, "evaluation":false, "complete":true, "wall_time":1.7e9, "file":"000000000123.safetensors",
//              "scalars":[{"name":"loss","value":4.2}],
//              "tensors":[{"key":"activation/a", "name":"a", "kind":"activation", "occurrence":0, "inputs":["b"],
//                          "dtype":"f32", "shape":[2,3], "count":6, "nan":0, "positive_infinity":0,
//                          "negative_infinity":0}]}],
//    "dropped":[{"what":"...", "first_step":1, "last_step":2, "count":3, "reason":"..."}],
//    "allow_negative_infinity":["..."],
//    "origin":{"found":true, "producers":[{"key":"activation/a", "kind":"activation", "step":123,
//              "evaluation":false, "count":6, "nan":1, "infinite":0, "inputs":["..."], "unseen":["..."]}],
//              "propagators":["..."], "caveats":["..."]}}
//
// NaN and infinities are the strings "NaN", "Infinity" and "-Infinity". The version grows when older readers would
// misinterpret the file; readers ignore unknown keys.
#pragma once

#include <string>
#include <string_view>

#include "formats/json_writer.h"
#include "sonde/capture.h"
#include "sonde/status.h"

namespace sonde::capture_json {

inline constexpr std::uint64_t kVersion = 1;

// Invalid UTF-8 bytes are dropped. The origin is written for other programs; it is derived from the rest.
std::string encode(const CaptureInfo& capture, const Origin& origin);
// Only the members, into an object that the caller has begun.
void put_members(formats::JsonWriter& json, const CaptureInfo& capture, const Origin& origin);

// Everything except the origin. `unsupported` for a newer version, `corrupt` if something is missing or wrong.
Result<CaptureInfo> decode(std::string_view json);

}  // namespace sonde::capture_json
