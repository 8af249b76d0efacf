// Questions about log directories, answered as docs/api.md says. Knows no sockets: the server hands it the parts of a
// request, and anybody else could.
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
  std::string_view query;  // behind the question mark, encoded
  std::string_view body;
  bool may_write = false;  // whoever asks has shown the token
};

struct Answer {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::string etag;       // quoted; empty: none
  std::string file_name;  // of a download; empty: it is shown
};

// What an answer takes, as far as the question alone tells.
enum class Cost : std::uint8_t {
  quick,      // what there is, and what changes something
  values,     // what was recorded: a few charts, a picture
  expensive,  // hundreds of charts or histograms at once, every point of a series
};
// Takes the question apart as Api::answer does, but looks at no log. Any thread: it takes far less than a millisecond.
Cost cost_of(const Question& question) noexcept;

// What a page may change, done by those who can write. Any thread.
class Actions {
 public:
  virtual ~Actions() = default;
  virtual Status arm(const std::string& run_directory, std::string_view when, std::int64_t before,
                     std::int64_t after) = 0;
};

struct Served {
  std::string label;      // what its runs' names begin with; empty where it is the only one
  std::string directory;  // as the user named it
  Log log;
};

// What has changed since a revision, as one event of the stream.
struct Change {
  std::uint64_t revision = 0;
  std::string data;  // JSON, one line
};

class Api {
 public:
  // `actions` may be null: nothing can be armed then.
  Api(std::vector<Served> logs, std::shared_ptr<Actions> actions);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  // Any thread; may read files, so not on one that serves sockets. Never throws.
  Answer answer(const Question& question) const;

  // Grows when something new was read.
  std::uint64_t revision() const noexcept;
  // Returns when the revision is no longer `seen`, or when the time is over. Any thread, one is enough for all clients.
  std::uint64_t wait_for_change(std::uint64_t seen, std::chrono::milliseconds timeout) const;
  // Everything that is new since `seen`; a revision of another process counts as none.
  Change change_since(std::uint64_t seen) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace sonde::query
