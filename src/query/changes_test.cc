#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>

#include "query/query_testing.h"
#include "tensor_files/capture_files.h"

namespace sonde::query {
namespace {

using index::append;
using index::kEvents;
using index::scalar;
using index::version;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string run_file() { return version() + scalar("x", 1, 1); }

class Writing : public testing::Test {
 protected:
  Writing() {
    append(dir_ / "logs/a/" + std::string(kEvents), run_file());
    append(dir_ / "logs/a/below/" + std::string(kEvents), run_file());
  }
  std::string logs() const { return dir_ / "logs"; }
  std::vector<std::string> trash() const { return base::names_in(dir_ / "logs/.sonde-trash"); }
  base::TempDir dir_;
};

std::string note_of(const Asked& asked, int run = 0) {
  return Json(asked.get("runs").body).text("/runs/" + std::to_string(run) + "/note");
}

TEST_F(Writing, NeedsTheToken) {
  Asked asked(logs());
  for (const std::string_view path : {"note", "delete", "arm", "disarm"}) EXPECT_EQ(asked.post(path, "{}").status, 401);
  EXPECT_THAT(base::names_in(dir_ / "logs/a"), Not(Contains("note.md")));
}

TEST_F(Writing, ANoteIsAFileOfTheRun) {
  Asked asked(logs());
  const std::uint64_t before = asked.api().revision();
  EXPECT_EQ(asked.post("note", R"({"run":"a","note":"baseline"})", true).status, 200);
  EXPECT_EQ(*base::read_file(dir_ / "logs/a/note.md"), "baseline");
  EXPECT_EQ(note_of(asked), "baseline");
  EXPECT_THAT(Json(asked.api().change_since(before).data).texts("/runs"), ElementsAre("a"));
  EXPECT_EQ(asked.post("note", R"({"run":"a","note":""})", true).status, 200);
  EXPECT_EQ(note_of(asked), "");
  EXPECT_THAT(base::names_in(dir_ / "logs/a"), Not(Contains("note.md")));
  EXPECT_EQ(asked.post("note", R"({"run":"a","note":")" + std::string(65'537, 'x') + "\"}", true).status, 413);
  EXPECT_EQ(asked.post("note", R"({"run":"none","note":"x"})", true).status, 404);
}

TEST_F(Writing, ADeletedRunIsInTheTrashAndThoseBelowItStay) {
  append(dir_ / "logs/a/captures/1-x/capture.json", "{}");
  append(dir_ / "logs/a/flight-w.elsewhere", "/rings/flight-host-1-0.ring");
  append(dir_ / "logs/a/mine.txt", "kept");
  Asked asked(logs());
  EXPECT_EQ(asked.post("delete", R"({"run":"a"})", true).status, 200);
  const Json runs(asked.get("runs").body);
  ASSERT_EQ(runs.size("/runs"), 1U);
  EXPECT_EQ(runs.text("/runs/0/run"), "a/below");
  ASSERT_EQ(trash().size(), 1U);
  EXPECT_THAT(trash().front(), testing::EndsWith("-a"));
  EXPECT_THAT(base::names_in(dir_ / "logs/.sonde-trash/" + trash().front()),
              ElementsAre("captures", std::string(kEvents), "flight-w.elsewhere"));
  EXPECT_THAT(base::names_in(dir_ / "logs/a"), ElementsAre("below", "mine.txt"));
  EXPECT_EQ(Asked(logs()).log().runs().size(), 1U);  // the trash is not a run
}

TEST_F(Writing, TheDirectoryOfADeletedRunIsRemovedIfItIsEmpty) {
  Asked asked(logs());
  EXPECT_EQ(asked.post("delete", R"({"run":"a/below"})", true).status, 200);
  EXPECT_THAT(base::names_in(dir_ / "logs/a"), ElementsAre(std::string(kEvents)));
  EXPECT_EQ(asked.post("delete", R"({"run":"a/below"})", true).status, 404);
  EXPECT_EQ(asked.post("delete", R"({"run":"../x"})", true).status, 404);
}

TEST_F(Writing, NothingIsChangedThroughALinkThatLeadsOut) {
  append(dir_ / "outside/" + std::string(kEvents), run_file());
  std::filesystem::create_directory_symlink(dir_ / "outside", dir_ / "logs/link");
  Asked asked(logs());
  for (const std::string body : {R"({"run":"link","note":"x"})", R"({"run":"link"})"}) {
    const Answer answer = asked.post(body.find("note") != std::string::npos ? "note" : "delete", body, true);
    EXPECT_EQ(answer.status, 403);
    EXPECT_THAT(answer.body, HasSubstr("outside of the log directory"));
  }
  EXPECT_THAT(base::names_in(dir_ / "outside"), ElementsAre(std::string(kEvents)));
  EXPECT_THAT(trash(), IsEmpty());
}

TEST_F(Writing, NothingIsShownThroughALinkThatLeadsOut) {
  base::TempDir outside;
  CaptureInfo info;
  info.cause = CaptureInfo::Cause::trigger;
  info.reason = "secret";
  ASSERT_TRUE(tensor_files::write_capture(outside.path(), info, {}));
  const std::string far = outside / "captures/1-secret";
  std::filesystem::create_directories(dir_ / "logs/a/captures/2-inside");
  std::filesystem::create_directory_symlink(far, dir_ / "logs/a/captures/1-secret");
  std::filesystem::create_symlink(far + "/capture.json", dir_ / "logs/a/captures/2-inside/capture.json");
  std::filesystem::create_directory_symlink(outside / "captures", dir_ / "logs/a/below/captures");
  append(outside / "flight-host-1-1.ring", std::string(100, '\0'));
  std::filesystem::create_symlink(outside / "flight-host-1-1.ring", dir_ / "logs/a/flight-host-1-1.ring");
  EXPECT_EQ(Json(Asked(logs()).get("alerts").body).size("/alerts"), 4U) << "who reads only for themselves may";

  Asked asked(logs(), nullptr, {.cache = LogOptions::Cache::off, .links = LogOptions::Links::inside});
  EXPECT_EQ(Json(asked.get("alerts").body).size("/alerts"), 0U);
  EXPECT_EQ(Json(asked.get("runs").body).text("/runs/0/state"), "live");
  const auto problems = Json(asked.get("status").body).texts("/logs/0/problems");
  for (const char* name :
       {"a/captures/1-secret", "a/captures/2-inside/capture.json", "a/below/captures", "a/flight-host-1-1.ring"}) {
    EXPECT_THAT(problems, Contains("'" + logs() + "/" + name +
                                   "' is a link that leads out of the log directory: it is not read"));
  }
}

TEST_F(Writing, ANoteThatIsALinkIsNotRead) {
  append(dir_ / "secret", "secret");
  std::filesystem::create_symlink(dir_ / "secret", dir_ / "logs/a/note.md");
  Asked asked(logs());
  EXPECT_EQ(note_of(asked), "");
  EXPECT_EQ(asked.post("note", R"({"run":"a","note":"mine"})", true).status, 200);
  EXPECT_EQ(*base::read_file(dir_ / "secret"), "secret");
  EXPECT_EQ(note_of(asked), "mine");
}

TEST_F(Writing, ATrashThatLeadsOutIsRejected) {
  std::filesystem::create_directory(dir_ / "outside");
  std::filesystem::create_directory_symlink(dir_ / "outside", dir_ / "logs/.sonde-trash");
  Asked asked(logs());
  EXPECT_EQ(asked.post("delete", R"({"run":"a"})", true).status, 403);
  EXPECT_THAT(base::names_in(dir_ / "outside"), IsEmpty());
  EXPECT_THAT(base::names_in(dir_ / "logs/a"), Contains(std::string(kEvents)));
}

TEST_F(Writing, ARunThatCannotBeMovedCompletelyStaysInPlace) {
  // In the trash the path of the second file would be longer than paths can be.
  constexpr std::size_t kLongestPath = 4'096;
  std::string deep = dir_ / "deep";
  const std::string long_name = "events.out.tfevents.2" + std::string(200, 'x');
  const std::size_t most = kLongestPath - long_name.size() - 10;
  while (deep.size() + 202 < most) deep += "/" + std::string(200, 'd');
  deep += "/" + std::string(most - deep.size() - 1, 'd');
  append(deep + "/a/events.out.tfevents.1.host.1.0", run_file());
  append(deep + "/a/" + long_name, run_file());
  Asked asked(deep);
  ASSERT_EQ(asked.log().runs().size(), 1U);
  const Answer answer = asked.post("delete", R"({"run":"a"})", true);
  EXPECT_EQ(answer.status, 409);
  EXPECT_THAT(answer.body, HasSubstr("the run is unchanged"));
  EXPECT_THAT(base::names_in(deep + "/a"), ElementsAre("events.out.tfevents.1.host.1.0", long_name));
  EXPECT_THAT(base::names_in(deep + "/.sonde-trash"), IsEmpty());
}

class Remembering final : public Actions {
 public:
  Status arm(const std::string& run_directory, std::string_view when, std::int64_t before,
             std::int64_t after) override {
    if (when == "?") return {Code::invalid_argument, "that is no expression"};
    said = run_directory + " " + std::string(when) + " " + std::to_string(before) + " " + std::to_string(after);
    return Status::success();
  }
  Result<ArmedTriggers> armed(const std::string& /*run_directory*/) override {
    return ArmedTriggers{ArmedTriggers::Standing::in_force, "", {{"loss > 1", "spike", 5, 2}}};
  }
  Status disarm(const std::string& run_directory, std::size_t number, std::string_view when) override {
    if (number > 0) return {Code::not_found, "the triggers have changed meanwhile"};
    said = "disarm " + run_directory + " " + std::string(when);
    return Status::success();
  }
  std::string said;
};

TEST_F(Writing, ATriggerIsArmedByThoseWhoCan) {
  const auto actions = std::make_shared<Remembering>();
  Asked asked(logs(), actions);
  EXPECT_EQ(asked.post("arm", R"({"run":"a","when":"loss > 1","before":5,"after":2})", true).status, 200);
  EXPECT_EQ(actions->said, *base::real_path(dir_ / "logs/a") + " loss > 1 5 2");
  const Answer wrong = asked.post("arm", R"({"run":"a","when":"?"})", true);
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.body, HasSubstr("no expression"));
  EXPECT_EQ(asked.post("arm", R"({"run":"a","when":"x","before":-1})", true).status, 400);
  EXPECT_EQ(Asked(logs()).post("arm", R"({"run":"a","when":"x"})", true).status, 404);
}

TEST_F(Writing, ArmedTriggersAreListedAndDisarmed) {
  const auto actions = std::make_shared<Remembering>();
  Asked asked(logs(), actions);
  const Json list(asked.get("triggers?run=a").body);
  EXPECT_EQ(list.text("/standing"), "in force");
  EXPECT_EQ(list.text("/triggers/0/when"), "loss > 1");
  EXPECT_EQ(list.number("/triggers/0/before"), 5);
  EXPECT_EQ(asked.post("disarm", R"({"run":"a","number":0,"when":"loss > 1"})", true).status, 200);
  EXPECT_EQ(actions->said, "disarm " + logs() + "/a loss > 1");
  EXPECT_EQ(asked.post("disarm", R"({"run":"a","number":1,"when":"loss > 1"})", true).status, 404);
  EXPECT_EQ(asked.post("disarm", R"({"run":"a","when":"loss > 1"})", true).status, 400);
  EXPECT_EQ(Asked(logs()).get("triggers?run=a").status, 404);
}

TEST_F(Writing, NoTriggerIsArmedIfNoProcessRecords) {
  std::filesystem::last_write_time(dir_ / "logs/a/" + std::string(kEvents),
                                   std::filesystem::file_time_type::clock::now() - std::chrono::minutes(5));
  const auto actions = std::make_shared<Remembering>();
  const Answer answer = Asked(logs(), actions).post("arm", R"({"run":"a","when":"loss > 1"})", true);
  EXPECT_EQ(answer.status, 409);
  EXPECT_THAT(answer.body, HasSubstr("no process is recording the run 'a'"));
  EXPECT_EQ(actions->said, "");
}

}  // namespace
}  // namespace sonde::query
