// What the page may change: a trigger, a note, and a run that is put into the trash.
#include "base/clock.h"
#include "query/answers.h"
#include "store/access.h"

namespace sonde::query {
namespace {

Answer done() {
  Answer answer;
  answer.body = R"({"ok":true})";
  return answer;
}

store::LogSource& log_of(const Context& context, const RunEntry& entry) {
  return store::Access::source(context.runs.logs()[entry.log].log);
}

}  // namespace

Result<Answer> answer_note(const Context& context, const Body& body) {
  if (body.note.size() > store::kLongestNote) return Status(Code::exhausted, "a note has at most 64 KiB");
  const auto item = context.catalogue->run(body.run);
  if (!item) return item.error();
  const RunEntry& entry = *item->entry;
  if (Status status = log_of(context, entry).set_note(entry.run.name(), body.note); !status) return status;
  entry.edited();
  context.runs.look_again();
  return done();
}

Result<Answer> answer_delete(const Context& context, const Body& body) {
  const auto item = context.catalogue->run(body.run);
  if (!item) return item.error();
  const RunEntry& entry = *item->entry;
  if (Status status = log_of(context, entry).remove_run(entry.run.name()); !status) return status;
  return done();
}

Result<Answer> answer_disarm(const Context& context, const Body& body) {
  if (context.actions == nullptr) return Status(Code::unsupported, "triggers cannot be disarmed on this server");
  const auto item = context.catalogue->run(body.run);
  if (!item) return item.error();
  const RunEntry& entry = *item->entry;
  const Result<std::string> directory = log_of(context, entry).control_directory(entry.run.name());
  if (!directory) return directory.error();
  const auto number = static_cast<std::size_t>(body.number);
  if (Status status = context.actions->disarm(*directory, number, body.when); !status) return status;
  return done();
}

Result<Answer> answer_arm(const Context& context, const Body& body) {
  if (context.actions == nullptr) return Status(Code::unsupported, "triggers cannot be armed on this server");
  const auto item = context.catalogue->run(body.run);
  if (!item) return item.error();
  const RunEntry& entry = *item->entry;
  const Result<std::string> directory = log_of(context, entry).control_directory(entry.run.name());
  if (!directory) return directory.error();
  if (entry.pulse(base::wall_seconds()).state != RunState::live) {
    return Status(Code::io,
                  "no process is recording the run " + in_quotes(entry.name) +
                      ": its files have not changed for 30 s; to arm a job that starts later, use 'sonde arm'");
  }
  if (Status status = context.actions->arm(*directory, body.when, body.before, body.after); !status) return status;
  return done();
}

}  // namespace sonde::query
