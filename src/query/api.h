// Answers questions about log directories, as documented in docs/api.md. Knows no sockets: the server passes it the
// parts of a request.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/log.h"

namespace sonde::query {

struct Question {
  enum class Method : std::uint8_t { get, post } method = Method::get;
  std::string_view path;   // below api/: "runs"
  std::string_view query;  // after the question mark, encoded
  std::string_view body;
  bool may_write = false;  // the client has presented the token
};

struct Answer {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::string etag;       // quoted; empty: none
  std::string file_name;  // of a download; empty: it is displayed
  bool compress = true;   // if the client accepts it
};

// The cost of an answer, estimated from the question alone.
enum class Cost : std::uint8_t {
  quick,      // structure, and requests that change something
  values,     // recorded values: a few charts, a picture
  expensive,  // hundreds of charts or histograms at once, every point of a series
};
// Parses the question as Api::answer does, but reads no log. Any thread: it takes far less than a millisecond.
Cost cost_of(const Question& question) noexcept;

// A trigger that somebody added to a running job.
struct ArmedTrigger {
  std::string when;  // its expression, that of its rule if it is one
  std::string name;  // part of the names of its captures; may be empty
  std::int64_t before = 0;
  std::int64_t after = 0;
};
struct ArmedTriggers {
  enum class Standing : std::uint8_t { in_force, refused, not_read } standing = Standing::not_read;
  std::string but;  // why the recorder has rejected them, or which part it cannot do
  std::vector<ArmedTrigger> triggers;
};

// Changes that the page may request, done by the writing modules. Any thread.
class Actions {
 public:
  virtual ~Actions() = default;
  virtual Result<ArmedTriggers> armed(const std::string& run_directory) = 0;
  // Removes a trigger by its place in armed(); fails if another one is there now.
  virtual Status disarm(const std::string& run_directory, std::size_t number, std::string_view when) = 0;
  virtual Status arm(const std::string& run_directory, std::string_view when, std::int64_t before,
                     std::int64_t after) = 0;
};

struct Served {
  std::string label;      // prefix of its runs' names; empty if it is the only one
  std::string directory;  // as the user named it
  Log log;
};

// The changes since a revision, as one event of the stream.
struct Change {
  std::uint64_t revision = 0;
  std::string data;  // JSON, one line
};

class Api {
 public:
  // `actions` may be null: then no trigger can be armed.
  Api(std::vector<Served> logs, std::shared_ptr<Actions> actions);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  // Any thread; may read files, so not on one that serves sockets. Never throws.
  Answer answer(const Question& question) const;

  // Grows when something new was read.
  std::uint64_t revision() const noexcept;
  // Returns when the revision differs from `seen`, or after the timeout. Any thread; one is enough for all clients.
  std::uint64_t wait_for_change(std::uint64_t seen, std::chrono::milliseconds timeout) const;
  // Everything that is new since `seen`; a revision of another process counts as none.
  Change change_since(std::uint64_t seen) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace sonde::query
