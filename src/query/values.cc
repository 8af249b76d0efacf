// What was recorded at exact steps.
#include "query/answers.h"
#include "query/json_writer.h"

namespace sonde::query {
namespace {

struct Found {
  Catalogue::Item item;
  std::string tag;
  TagKind kind = TagKind::scalars;
};

// The tag that `run`, `tag` and `kind` name. Without a kind it is the first one that the tag has, of those that
// `wanted` lists.
Result<Found> find_tag(const Context& context, const Params& params) {
  const auto run = params.text("run");
  if (!run) return run.error();
  const auto tag = params.text("tag");
  if (!tag) return tag.error();
  const auto kind = params.kind();
  if (!kind) return kind.error();
  const auto item = context.catalogue->run(*run);
  if (!item) return item.error();
  for (const Tag& one : item->entry->run.tags()) {
    if (one.name == *tag && (!*kind || one.kind == **kind)) return Found{*item, *tag, one.kind};
  }
  return item->entry->run.tag(*tag, *kind ? **kind : TagKind::scalars).status();
}

}  // namespace

Result<Answer> answer_steps(const Context& context, const Params& params) {
  const auto found = find_tag(context, params);
  if (!found) return found.error();
  std::vector<std::int64_t> steps;
  std::vector<double> times;
  const Run& run = found->item.entry->run;
  if (found->kind == TagKind::scalars) {
    const auto scalars = run.scalars(found->tag);
    if (!scalars) return scalars.error();
    steps = scalars->steps;
    times = scalars->wall_times;
  } else {
    const auto values = run.values(found->tag, found->kind);
    if (!values) return values.error();
    for (const ValueRef& value : *values) {
      steps.push_back(value.step);
      times.push_back(value.wall_time);
    }
  }
  JsonWriter json;
  json.object().key("kind").text(to_string(found->kind));
  json.list("steps", steps, [&](std::int64_t step) { json.integer(step); });
  json.list("times", times, [&](double time) { json.number(time); }).end();
  return json_answer(json.take());
}

}  // namespace sonde::query
