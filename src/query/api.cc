#include "query/api.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <span>
#include <utility>

#include "formats/json_writer.h"
#include "query/answers.h"

namespace sonde::query {
namespace {

constexpr std::chrono::milliseconds kForAllRuns{100};
constexpr std::chrono::milliseconds kForFirstRun{500};

using Method = Question::Method;
using Names = std::span<const std::string_view>;

// An address: its parameters, and the function that answers.
struct Route {
  std::string_view path;
  std::array<std::string_view, 8> known = {};     // parameters, or members of the body
  std::array<std::string_view, 3> required = {};  // members of the body
  Result<Answer> (*get)(const Context&, const Params&) = nullptr;
  Result<Answer> (*post)(const Context&, const Body&) = nullptr;
  std::array<std::string_view, 4> parts = {};  // or: the answers of these addresses, in one object
  bool writes = false;
  bool kept = false;         // the same until the next revision, and worth keeping until then
  Cost cost = Cost::values;  // the least that it takes
  std::int64_t many = 0;     // `most` above which it is expensive; 0: it never is
};

constexpr Route kRoutes[] = {
    {.path = "start", .parts = {"status", "runs", "tags", "layouts"}, .cost = Cost::quick},
    {.path = "status", .get = answer_status, .cost = Cost::quick},
    {.path = "runs", .get = answer_runs, .kept = true, .cost = Cost::quick},
    {.path = "tags", .known = {"runs", "tags", "kind"}, .get = answer_tags, .kept = true, .cost = Cost::quick},
    {.path = "probes", .known = {"run"}, .get = answer_probes, .kept = true, .cost = Cost::quick},
    {.path = "alerts", .get = answer_alerts, .kept = true, .cost = Cost::quick},
    {.path = "captures", .get = answer_captures, .kept = true, .cost = Cost::quick},
    {.path = "capture", .known = {"run", "name"}, .get = answer_capture},
    {.path = "capture/growth", .known = {"run", "name", "key"}, .get = answer_growth},
    {.path = "triggers", .known = {"run"}, .get = answer_triggers},
    {.path = "layouts", .get = answer_layouts, .kept = true, .cost = Cost::quick},
    {.path = "series", .known = {"axis", "range", "width", "smooth"}, .required = {"series"}, .post = answer_series},
    {.path = "bands", .known = {"axis", "range", "width"}, .required = {"groups"}, .post = answer_bands},
    {.path = "table", .known = {"step", "range", "smooth"}, .required = {"series"}, .post = answer_table},
    {.path = "scalars",
     .known = {"run", "tag", "format", "first", "last"},
     .get = answer_scalars,
     .cost = Cost::expensive},
    {.path = "steps", .known = {"run", "tag", "kind"}, .get = answer_steps},
    {.path = "histograms",
     .known = {"run", "tag", "kind", "step", "first", "last", "most"},
     .get = answer_histograms,
     .many = 100},
    {.path = "statistics", .known = {"run", "tag", "first", "last", "most"}, .get = answer_statistics, .many = 1'000},
    {.path = "statistics/map",
     .known = {"range", "width"},
     .required = {"run", "tags", "statistic"},
     .post = answer_statistics_map},
    {.path = "network/tile",
     .known = {"level", "tile", "cell"},
     .required = {"run", "tags", "statistic"},
     .post = answer_network_tile},
    {.path = "network/cell", .known = {"run", "tag", "statistic", "first", "last", "step"}, .get = answer_network_cell},
    {.path = "network/parting", .known = {"a", "b"}, .get = answer_network_parting, .cost = Cost::expensive},
    {.path = "media", .known = {"run", "tag", "kind", "step"}, .get = answer_media},
    {.path = "image", .known = {"run", "tag", "step", "index"}, .get = answer_image},
    {.path = "audio", .known = {"run", "tag", "step", "index"}, .get = answer_audio},
    {.path = "pr_curve", .known = {"run", "tag", "step"}, .get = answer_pr_curve},
    {.path = "arm",
     .known = {"before", "after"},
     .required = {"run", "when"},
     .post = answer_arm,
     .writes = true,
     .cost = Cost::quick},
    {.path = "disarm",
     .required = {"run", "number", "when"},
     .post = answer_disarm,
     .writes = true,
     .cost = Cost::quick},
    {.path = "note", .required = {"run", "note"}, .post = answer_note, .writes = true, .cost = Cost::quick},
    {.path = "delete", .required = {"run"}, .post = answer_delete, .writes = true, .cost = Cost::quick},
};

// The names that exist.
template <std::size_t Size>
Names used(const std::array<std::string_view, Size>& names) {
  std::size_t count = 0;
  while (count < Size && !names[count].empty()) ++count;
  return Names(names).first(count);
}

int status_of(Code code) noexcept {
  switch (code) {
    case Code::ok: return 200;
    case Code::invalid_argument: return 400;
    case Code::permission_denied: return 403;
    case Code::exhausted: return 413;
    case Code::io:
    case Code::no_space: return 409;
    case Code::not_found:
    case Code::corrupt:
    case Code::unsupported:
    case Code::closed: return 404;
  }
  return 404;
}

Answer error_answer(int status, std::string_view message) {
  Answer answer;
  answer.status = status;
  formats::JsonWriter json;
  json.object().key("error").text(message).end();
  answer.body = json.take();
  return answer;
}

Result<Answer> ask(const Route& route, const Context& context, const Question& question) {
  if (route.get != nullptr) {
    const Result<Params> params = Params::parse(question.query, used(route.known));
    if (!params) return params.error();
    return route.get(context, *params);
  }
  const Result<Params> none = Params::parse(question.query, {});
  if (!none) return none.error();
  const Result<Body> body = Body::parse(question.body, used(route.required), used(route.known));
  if (!body) return body.error();
  return route.post(context, *body);
}

// Whether it covers more than a page shows at once. Invalid requests are rejected soon.
bool is_expensive(const Route& route, const Question& question) {
  constexpr std::size_t kLongBody = std::size_t{64} << 10;        // a thousand series
  constexpr std::size_t kManyColumns = std::size_t{200} * 2'000;  // of pixels: charts as wide as a screen
  if (route.many > 0) {
    const Result<Params> params = Params::parse(question.query, used(route.known));
    const Result<std::int64_t> most = params ? params->integer("most", 0, 0, INT64_MAX) : params.error();
    return most && *most > route.many;
  }
  if (route.post == nullptr) return false;
  if (question.body.size() > kLongBody) return true;
  const Result<Body> body = Body::parse(question.body, used(route.required), used(route.known));
  if (!body) return false;
  std::size_t series = body->series.size() + body->tags.size() / 4;  // tags of a map are quicker than lines
  for (const GroupName& group : body->groups) series += group.runs.size();
  return series * static_cast<std::size_t>(body->width) > kManyColumns;
}

// From the content: equal answers have equal tags, whichever process has answered.
std::string etag_of(std::string_view content) {
  std::uint64_t hash = 0x9e3779b97f4a7c15 ^ content.size();
  for (std::size_t at = 0; at < content.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, content.data() + at, std::min<std::size_t>(8, content.size() - at));
    hash = (hash ^ word) * 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
  }
  return std::to_string(hash).insert(0, 1, '"') + '"';
}

// Answers of the present revision: many clients ask the same, and often.
class KeptAnswers {
 public:
  std::shared_ptr<const Answer> find(const Question& question, std::uint64_t revision) {
    const std::lock_guard lock(mutex_);
    if (revision != revision_) return nullptr;
    const auto found = answers_.find(key_of(question));
    return found != answers_.end() ? found->second : nullptr;
  }
  void keep(const Question& question, std::uint64_t revision, std::shared_ptr<const Answer> answer) {
    constexpr std::size_t kMost = 16;
    constexpr std::size_t kLargest = std::size_t{16} << 20;
    if (answer->body.size() > kLargest) return;
    const std::lock_guard lock(mutex_);
    if (revision < revision_) return;
    if (revision > revision_ || answers_.size() >= kMost) answers_.clear();
    revision_ = revision;
    answers_.insert_or_assign(key_of(question), std::move(answer));
  }

 private:
  static std::string key_of(const Question& question) {
    return std::string(question.path).append("?").append(question.query);
  }

  std::mutex mutex_;
  std::uint64_t revision_ = 0;
  std::map<std::string, std::shared_ptr<const Answer>, std::less<>> answers_;
};

}  // namespace

Cost cost_of(const Question& question) noexcept {
  try {
    const auto* const route = std::ranges::find(kRoutes, question.path, &Route::path);
    if (route == std::end(kRoutes)) return Cost::values;
    return route->cost == Cost::values && is_expensive(*route, question) ? Cost::expensive : route->cost;
  } catch (const std::exception&) {
    return Cost::expensive;
  }
}

class Api::State {
 public:
  State(std::vector<Served> logs, std::shared_ptr<Actions> those_who_write)
      : runs(std::move(logs)), actions(std::move(those_who_write)) {}

  Answer answer(const Question& question) const {
    for (const Route& route : kRoutes) {
      if (route.path != question.path) continue;
      const bool is_get = route.post == nullptr;
      if ((question.method == Method::get) != is_get) {
        return error_answer(405, std::string(route.path) + " needs " + (is_get ? "GET" : "POST"));
      }
      if (route.writes && !question.may_write) {
        return error_answer(401, "a change needs the token that 'sonde serve' has printed");
      }
      // Right after the start there is nothing to show yet, and reading takes less time than a browser needs to ask
      // again.
      if (!used(route.parts).empty()) runs.wait_for_first_runs(kForAllRuns, kForFirstRun);
      const Context context = {runs, runs.now(), actions.get(), question.may_write, averages_, tiles_};
      return *answer_now(route, context, question);
    }
    return error_answer(404, "there is no " + in_quotes(question.path) + "; docs/api.md lists all addresses");
  }

  Runs runs;
  std::shared_ptr<Actions> actions;

 private:
  std::shared_ptr<const Answer> answer_now(const Route& route, const Context& context, const Question& question) const {
    const std::uint64_t revision = context.catalogue->revision;
    if (route.kept) {
      if (auto known = kept_.find(question, revision)) return known;
    }
    Result<Answer> made =
        used(route.parts).empty() ? ask(route, context, question) : together(route, context, question);
    if (!made) {
      return std::make_shared<const Answer>(error_answer(status_of(made.error().code()), made.error().message()));
    }
    if (route.post == nullptr) made->etag = etag_of(made->body);
    auto answer = std::make_shared<const Answer>(*std::move(made));
    if (route.kept) kept_.keep(question, revision, answer);
    return answer;
  }

  // Several answers of one moment.
  Result<Answer> together(const Route& route, const Context& context, const Question& question) const {
    if (const Result<Params> none = Params::parse(question.query, {}); !none) return none.error();
    formats::JsonWriter json;
    json.object();
    for (const std::string_view part : used(route.parts)) {
      const auto* const its = std::ranges::find(kRoutes, part, &Route::path);
      Question asked = question;
      asked.path = part;
      json.key(part).raw(answer_now(*its, context, asked)->body);
    }
    return json_answer(json.end().take());
  }

  mutable SmoothedCache averages_;
  mutable NetworkTiles tiles_;
  mutable KeptAnswers kept_;
};

Api::Api(std::vector<Served> logs, std::shared_ptr<Actions> actions)
    : state_(std::make_unique<State>(std::move(logs), std::move(actions))) {}
Api::~Api() = default;

Answer Api::answer(const Question& question) const {
  try {
    return state_->answer(question);
  } catch (const std::bad_alloc&) {
    return error_answer(413, "there is not enough memory for this answer; ask for less");
  } catch (const std::exception& error) {
    return error_answer(400, std::string("the question cannot be answered: ") + error.what());
  }
}

std::uint64_t Api::revision() const noexcept {
  try {
    return state_->runs.now()->revision;
  } catch (const std::exception&) {
    return 0;
  }
}
std::uint64_t Api::wait_for_change(std::uint64_t seen, std::chrono::milliseconds timeout) const {
  return state_->runs.wait_for_change(seen, timeout);
}
Change Api::change_since(std::uint64_t seen) const { return state_->runs.change_since(seen); }

}  // namespace sonde::query
