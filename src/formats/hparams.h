// The metadata of TensorBoard's hyper-parameter plugin.
//
//   HParamsPluginData   one of experiment=2, session_start_info=3, session_end_info=4
//   Experiment          description=1, user=2, time_created_secs=3, hparam_infos=4 repeated { name=1 },
//                       metric_infos=5 repeated { name=1 { group=1, tag=2 } }
//   SessionStartInfo    hparams=1 map<string, google.protobuf.Value>, group_name=4, start_time_secs=5
//   SessionEndInfo      status=1 (1 success, 2 failure, 3 running), end_time_secs=2
//   Value               number=2 double, string=3, bool=4; the others are not values of hyper-parameters
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "formats/json_writer.h"
#include "sonde/status.h"

namespace sonde::hparams {

using Value = std::variant<std::monostate, bool, double, std::string>;  // monostate: none of these

void put_value(formats::JsonWriter& json, const Value& value);  // null where there is none

struct Experiment {
  std::string description;
  std::vector<std::string> hparams;  // names
  std::vector<std::string> metrics;  // tags of scalars
};
struct SessionStart {
  std::vector<std::pair<std::string, Value>> hparams;  // by name
  std::string group;
  double start_time = 0;  // seconds since 1970; 0: not known
};
struct SessionEnd {
  std::int64_t status = 0;
  double end_time = 0;
};
std::string_view status_text(std::int64_t status) noexcept;  // "success", "failure", "running", "unknown"

// At most one is set.
struct Content {
  std::optional<Experiment> experiment;
  std::optional<SessionStart> start;
  std::optional<SessionEnd> end;
};
// Code::corrupt where the bytes are not well-formed.
Result<Content> decode(std::string_view plugin_content);

}  // namespace sonde::hparams
