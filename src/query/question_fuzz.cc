// Any bytes as a question: a line with the method and the address, then the body. Whatever it is, there is an answer
// that is no crash, no 500 and not endless.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/temp_dir_testing.h"
#include "formats/tfevents.h"
#include "formats/wire.h"
#include "query/api.h"

namespace {

using namespace sonde;

std::string some_events() {
  std::string file;
  tfevents::put_version_event(file, 1.7e9);
  for (int step = 0; step < 600; ++step) {
    std::string value;
    wire::put_bytes(value, 1, "loss");
    value += '\x15';
    base::put(value, step == 500 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(step % 7));
    std::string summary;
    wire::put_bytes(summary, 1, value);
    tfevents::put_summary_event(file, 1.7e9 + step, step, summary);
  }
  return file;
}

// A log with two runs, made once.
const query::Api& api() {
  static base::TempDir dir;
  static const query::Api made = [] {
    for (const char* run : {"a", "b/c"}) {
      if (!base::make_directories(dir / run)) std::abort();
      if (!base::write_file(base::join_path(dir / run, "events.out.tfevents.1.h.1.0"), some_events())) std::abort();
    }
    auto log = Log::open(dir.path(), {.threads = 1, .cache = LogOptions::Cache::off});
    if (!log) std::abort();
    log->wait();
    std::vector<query::Served> logs;
    logs.push_back({.label = "", .directory = dir.path(), .log = *log});
    return query::Api(std::move(logs), nullptr);
  }();
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  const std::string_view address = line.substr(line.empty() ? 0 : 1);
  const std::size_t mark = std::min(address.find('?'), address.size());
  query::Question question;
  question.method = line.starts_with('P') ? query::Question::Method::post : query::Question::Method::get;
  question.path = address.substr(0, mark);
  question.query = address.substr(std::min(address.size(), mark + 1));
  question.body = bytes.substr(std::min(bytes.size(), line.size() + 1));
  // Notes may be written, but the runs stay for the next question.
  question.may_write = question.path == "note" || question.path == "arm";
  const query::Answer answer = api().answer(question);
  constexpr std::size_t kEndless = std::size_t{64} << 20;
  if (answer.status < 200 || answer.status >= 500 || answer.body.empty() || answer.body.size() > kEndless) std::abort();
  if (answer.status != 200 && !answer.body.starts_with(R"({"error":")")) std::abort();
  return 0;
}
