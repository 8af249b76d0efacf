// One function for each address of docs/api.md.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "query/api.h"
#include "query/catalogue.h"
#include "query/request.h"

namespace sonde::query {

// What an answer may need.
struct Context {
  const Runs& runs;
  std::shared_ptr<const Catalogue> catalogue;
  Actions* actions = nullptr;  // may be null
  bool may_write = false;
};

Result<Answer> answer_status(const Context& context, const Params& params);
Result<Answer> answer_runs(const Context& context, const Params& params);
Result<Answer> answer_tags(const Context& context, const Params& params);

Result<Answer> answer_series(const Context& context, const Body& body);

Result<Answer> answer_steps(const Context& context, const Params& params);

// A JSON answer with an ETag of its content.
Answer json_answer(std::string body);
// An ETag for what depends on a run and on the question.
std::string etag_of(const RunEntry& entry, std::uint64_t version, std::string_view question);
std::string etag_of_content(std::string_view content);

}  // namespace sonde::query
