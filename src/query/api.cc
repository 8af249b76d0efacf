#include "query/api.h"

#include <array>
#include <new>
#include <span>
#include <utility>

#include "query/answers.h"
#include "query/json_writer.h"

namespace sonde::query {
namespace {

using Method = Question::Method;
using Names = std::span<const std::string_view>;

// An address: what it takes, and who answers.
struct Route {
  std::string_view path;
  std::array<std::string_view, 8> known = {};     // parameters, or members of the body
  std::array<std::string_view, 3> required = {};  // members of the body
  Result<Answer> (*get)(const Context&, const Params&) = nullptr;
  Result<Answer> (*post)(const Context&, const Body&) = nullptr;
  bool writes = false;
};

constexpr Route kRoutes[] = {
    {.path = "status", .get = answer_status},
    {.path = "runs", .get = answer_runs},
    {.path = "tags", .known = {"runs", "tags", "kind"}, .get = answer_tags},
    {.path = "series", .known = {"axis", "range", "width", "smooth"}, .required = {"series"}, .post = answer_series},
    {.path = "steps", .known = {"run", "tag", "kind"}, .get = answer_steps},
};

// The names that are there.
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
  JsonWriter json;
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

}  // namespace

class Api::State {
 public:
  State(std::vector<Served> logs, std::shared_ptr<Actions> those_who_write)
      : runs(std::move(logs)), actions(std::move(those_who_write)) {}

  Answer answer(const Question& question) const {
    for (const Route& route : kRoutes) {
      if (route.path != question.path) continue;
      const bool is_get = route.get != nullptr;
      if ((question.method == Method::get) != is_get) {
        return error_answer(405, std::string(route.path) + " is asked with " + (is_get ? "GET" : "POST"));
      }
      if (route.writes && !question.may_write) {
        return error_answer(401, "this changes something, which needs the token that 'sonde serve' has printed");
      }
      const Context context = {runs, runs.now(), actions.get(), question.may_write};
      Result<Answer> answer = ask(route, context, question);
      if (answer) return *std::move(answer);
      return error_answer(status_of(answer.error().code()), answer.error().message());
    }
    return error_answer(404, "there is no " + in_quotes(question.path) + " here; docs/api.md lists what is");
  }

  Runs runs;
  std::shared_ptr<Actions> actions;
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
