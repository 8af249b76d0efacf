// What the worker process answers, one line of JSON at a time. python/sonde/_worker.py describes the lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/runtime.h"
#include "sonde/status.h"

namespace sonde::inspect {

inline constexpr std::int64_t kWorkerProtocol = 1;

struct WorkerTime {
  std::string layer;  // its name, if the runtime knows it
  std::string node;   // name of the operation in the file, if the runtime kept it
  std::string name;
  std::int64_t nanoseconds = 0;
};

struct WorkerAnswer {
  enum class Kind : std::uint8_t { hello, layer, result, done, error };
  Kind kind = Kind::done;
  std::uint64_t bytes = 0;  // that follow the line

  std::int64_t protocol = 0;  // hello
  std::string package;        // hello: version of the Python package
  std::string interpreter;    // hello: its path

  std::int64_t place = 0;  // layer: among the selected ones
  std::string name;        // result
  std::string missing;     // layer, result: why there is no tensor

  Status error;  // error

  std::int64_t model = -1;                 // done, after open
  RuntimeInfo info;                        // done, after open
  std::optional<Description> description;  // done, after open: if the worker is the one that knows
  std::vector<WorkerTime> times;           // done, after times
};

// A line that is no answer is `corrupt`.
Result<WorkerAnswer> parse_worker_answer(std::string_view line);

}  // namespace sonde::inspect
