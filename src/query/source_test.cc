// Questions that are answered from a source without a single file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/clock.h"
#include "query/query_testing.h"
#include "store/source_testing.h"

namespace sonde::query {
namespace {

using store::FakeLog;
using store::FakeRun;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class AnySource : public ::testing::Test {
 protected:
  // A run that exists from the start.
  std::shared_ptr<FakeRun> run(const std::string& name) {
    runs_.push_back(std::make_shared<FakeRun>(name));
    return runs_.back();
  }
  Api api(std::shared_ptr<Actions> actions = nullptr) {
    std::vector<Served> logs;
    logs.push_back({.label = "", .directory = "fake", .log = store::Access::log(std::make_shared<FakeLog>(runs_))});
    return Api(std::move(logs), std::move(actions));
  }
  static std::string get(const Api& api, std::string_view path, std::string_view query = "") {
    return api.answer({.method = Question::Method::get, .path = path, .query = query, .body = ""}).body;
  }
  static Answer post(const Api& api, std::string_view path, std::string_view body) {
    return api.answer({.method = Question::Method::post, .path = path, .query = "", .body = body, .may_write = true});
  }

  std::vector<std::shared_ptr<FakeRun>> runs_;
};

TEST_F(AnySource, DerivesFromTheJobSignsWhetherItIsRunning) {
  const double now = base::wall_seconds();
  run("a quiet")->signs = {.last_modified = now - 3600};
  run("b growing")->signs = {.last_modified = now};
  run("c quiet with a held ring")->signs = {.last_modified = now - 3600, .has_ring = true, .ring_is_held = true};
  run("d with a ring that nobody holds")->signs = {.last_modified = now, .has_ring = true};
  run("e ended in a crash")->signs = {.last_modified = now, .ended_in_crash = true};
  const Json answer(get(api(), "runs"));
  std::vector<std::string> states;
  for (std::size_t i = 0; i < answer.size("/runs"); ++i) {
    states.push_back(answer.text("/runs/" + std::to_string(i) + "/state"));
  }
  EXPECT_THAT(states, ElementsAre("finished", "live", "live", "died", "died"));
}

TEST_F(AnySource, TheFirstAnswerWaitsForARunThatIsBeingRead) {
  run("a")->unread = 3;
  const Json soon(get(api(), "start"));
  bool read = false;
  ASSERT_EQ(soon.at("/runs/runs/0/read").get(read), simdjson::SUCCESS);
  EXPECT_TRUE(read);
}

TEST_F(AnySource, TheFirstAnswerComesAlsoIfNoRunCanBeRead) {
  run("a")->unread = 1'000'000'000;
  const Json late(get(api(), "start"));
  bool read = true;
  ASSERT_EQ(late.at("/runs/runs/0/read").get(read), simdjson::SUCCESS);
  EXPECT_FALSE(read);
  EXPECT_EQ(late.size("/tags/tags"), 0U);
}

TEST_F(AnySource, GapsOfABudgetAndOthersAreDifferentAlerts) {
  const auto one = run("r");
  using Reason = RecordingGap::Reason;
  one->known_gaps = {{"", 1, 5, 3, Reason::budget, "full -> statistics"}, {"", 2, 9, 4, Reason::buffer_full, ""}};
  const std::string answer = get(api(), "alerts");
  EXPECT_THAT(answer, HasSubstr(R"("kind":"budget")"));
  EXPECT_THAT(answer, HasSubstr("3 recordings of tensors left out from step 1 to 5: budget: full -> statistics"));
  EXPECT_THAT(answer, HasSubstr(R"("kind":"dropped")"));
  EXPECT_THAT(answer, HasSubstr("4 recordings of tensors left out from step 2 to 9: the buffer was full"));
}

TEST_F(AnySource, DrawsTheColumnsOfTheSource) {
  run("r")->series["loss"] = {.steps = {1, 2, 3}, .wall_times = {10, 20, 30}, .values = {0.5, 0.25, 0.125}};
  const Answer answer =
      post(api(), "series", R"({"series":[{"run":"r","tag":"loss"},{"run":"r","tag":"no"}],"width":10})");
  const std::vector<ReadSeries> drawn = read_series(answer);
  ASSERT_EQ(drawn.size(), 2U);
  EXPECT_THAT(drawn[0].steps, ElementsAre(1, 2, 3));
  EXPECT_THAT(drawn[0].values, ElementsAre(0.5, 0.25, 0.125));
  EXPECT_EQ(drawn[1].status, 1U);
}

TEST_F(AnySource, ChangesGoThroughTheSource) {
  run("r");
  const Api api = this->api();
  EXPECT_EQ(post(api, "note", R"({"run":"r","note":"a bad one"})").status, 200);
  EXPECT_EQ(runs_[0]->known_note, "a bad one");
  EXPECT_EQ(post(api, "delete", R"({"run":"r"})").status, 200);
  EXPECT_EQ(Json(get(api, "runs")).size("/runs"), 0U);
}

TEST_F(AnySource, ListsProbesInTheOrderOfExecution) {
  const auto one = run("r");
  one->known_probes = {{.name = "conv",
                        .kind = Kind::activation,
                        .tag = "activation/conv",
                        .dtype = DType::bf16,
                        .shape = {2, 3},
                        .inputs = {},
                        .order = 0},
                       {.name = "attn",
                        .kind = Kind::activation,
                        .tag = "activation/attn",
                        .dtype = DType::f32,
                        .shape = {4},
                        .inputs = {"conv"},
                        .order = 1}};
  EXPECT_EQ(get(api(), "probes", "run=r"),
            R"({"run":"r","probes":[{"name":"conv","kind":"activation","tag":"activation/conv","dtype":"bf16",)"
            R"("shape":[2,3],"inputs":[],"order":0},{"name":"attn","kind":"activation","tag":"activation/attn",)"
            R"("dtype":"f32","shape":[4],"inputs":["conv"],"order":1}]})");
  EXPECT_THAT(get(api(), "probes", "run=x"), HasSubstr("there is no run 'x'"));
}

TEST_F(AnySource, TagsOfTensorsSayWhenTheyAreExecuted) {
  const auto one = run("r");
  one->series["loss"] = {.steps = {1}, .wall_times = {10}, .values = {0.5}};
  for (const std::string_view name : {"activation/out", "activation/out#1", "eval/activation/out", "by_hand"}) {
    Tag& tag = one->tags_of_tensors.emplace_back();
    tag.name = name;
    tag.kind = TagKind::histograms;
    tag.points = 1;
  }
  ProbeInfo& probe = one->known_probes.emplace_back();
  probe.name = "out";
  probe.tag = "activation/out";
  probe.order = 7;
  const Json answer(get(api(), "tags"));
  std::map<std::string, std::string> orders;
  for (std::size_t i = 0; i < answer.size("/tags"); ++i) {
    const std::string at = "/tags/" + std::to_string(i);
    orders[answer.text(at + "/tag")] = simdjson::minify(answer.at(at + "/order").value());
  }
  EXPECT_THAT(orders, ElementsAre(Pair("activation/out", "7"), Pair("activation/out#1", "7"), Pair("by_hand", "null"),
                                  Pair("eval/activation/out", "7"), Pair("loss", "null")));
}

}  // namespace
}  // namespace sonde::query
