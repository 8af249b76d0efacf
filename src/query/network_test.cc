#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "formats/stats_record.h"
#include "query/network_tiles.h"
#include "query/query_testing.h"
#include "stats/summary.h"

namespace sonde::query {
namespace {

using index::append;
using testing::HasSubstr;

constexpr std::size_t kCells = 256;

// Activations "a" and "b", a weight and its update. The values of a step are +-size.
class Network {
 public:
  Network() {
    stats_record::put_definition(file_, {.id = 1, .name = "a"});
    stats_record::put_definition(file_, {.id = 2, .name = "b"});
    stats_record::put_definition(file_, {.id = 3, .kind = Kind::weight, .name = "k"});
    stats_record::put_definition(file_, {.id = 4, .kind = Kind::update, .name = "k"});
  }
  void add(int step, float a, float b) {
    stats_record::StepWriter writer(file_, step, index::kStart + step, false);
    put(writer, 1, a);
    put(writer, 2, b);
    put(writer, 3, 2);
    put(writer, 4, 0.5F * static_cast<float>(1 + step % 2));
    writer.end();
  }
  std::string take() { return std::exchange(file_, {}); }

 private:
  static void put(stats_record::StepWriter& writer, std::uint32_t id, float size) {
    const std::vector<float> values = {size, -size};
    writer.add({.id = id}, *stats::summarize(view(values)), nullptr);
  }
  std::string file_;
};

struct Tile {
  std::vector<std::uint32_t> status;
  std::vector<float> values;
  std::vector<std::uint8_t> flags;
};

Tile parse(const Answer& answer) {
  Tile tile;
  EXPECT_EQ(answer.status, 200) << answer.body;
  if (answer.status != 200) return tile;
  EXPECT_EQ(answer.body.substr(0, 4), "SNDT");
  std::uint32_t rows = 0;
  std::memcpy(&rows, answer.body.data() + 8, sizeof rows);
  tile.status.resize(rows);
  tile.values.resize(rows * kCells);
  tile.flags.resize(rows * kCells);
  const char* at = answer.body.data() + 16;
  std::memcpy(tile.status.data(), at, rows * 4);
  at += rows * 4;
  std::memcpy(tile.values.data(), at, tile.values.size() * 4);
  at += tile.values.size() * 4;
  std::memcpy(tile.flags.data(), at, tile.flags.size());
  EXPECT_EQ(answer.body.size(), 16 + rows * 4 + tile.flags.size() * 5);
  EXPECT_FALSE(answer.compress);
  return tile;
}

std::string question(std::string_view tags, std::string_view statistic, int level, int tile, std::string_view cell) {
  return std::string(R"({"run": "r", "tags": [)").append(tags).append(R"(], "statistic": ")").append(statistic) +
         R"(", "level": )" + std::to_string(level) + R"(, "tile": )" + std::to_string(tile) + R"(, "cell": ")" +
         std::string(cell) + "\"}";
}

TEST(NetworkTile, HasACellForEachStepOfTheLowestLevel) {
  base::TempDir dir;
  Network network;
  for (int step = 250; step < 260; ++step) network.add(step, static_cast<float>(step), step == 257 ? NAN : 1);
  append(dir / "r/stats.1.h.1.0.tfrecord", network.take());
  Asked asked(dir.path());
  const Tile first =
      parse(asked.post("network/tile", question(R"("activation/a", "none", "activation/b")", "rms", 0, 0, "mean")));
  EXPECT_EQ(first.status, (std::vector<std::uint32_t>{0, 1, 0}));
  EXPECT_EQ(first.values[250], 250);
  EXPECT_EQ(first.flags[250], 1);
  EXPECT_EQ(first.flags[249], 0);
  EXPECT_TRUE(std::isnan(first.values[249]));
  const Tile second = parse(asked.post("network/tile", question(R"("activation/b")", "rms", 0, 1, "mean")));
  EXPECT_EQ(second.values[0], 1);
  EXPECT_EQ(second.flags[1], 3) << "recorded, with NaN";
  EXPECT_EQ(second.flags[4], 0) << "after the last step";
}

TEST(NetworkTile, MergesStepsAtHigherLevels) {
  base::TempDir dir;
  Network network;
  for (int step = 0; step < 64; ++step) network.add(step, static_cast<float>(step), step == 20 ? INFINITY : 1);
  append(dir / "r/stats.1.h.1.0.tfrecord", network.take());
  Asked asked(dir.path());
  const auto values = [&](std::string_view cell) {
    return parse(asked.post("network/tile", question(R"("activation/a", "activation/b")", "rms", 4, 0, cell)));
  };
  EXPECT_EQ(values("mean").values[1], 23.5F);
  EXPECT_EQ(values("min").values[1], 16);
  EXPECT_EQ(values("max").values[1], 31);
  EXPECT_EQ(values("max").flags[kCells + 1], 5) << "an infinity is not hidden by its neighbours";
  EXPECT_EQ(values("max").flags[kCells + 2], 1);
}

TEST(NetworkTile, FollowsARunThatGrows) {
  base::TempDir dir;
  Network network;
  for (int step = 0; step < 40; ++step) network.add(step, 1, 1);
  append(dir / "r/stats.1.h.1.0.tfrecord", network.take());
  Asked asked(dir.path());
  const auto ask = [&](int level) {
    return parse(asked.post("network/tile", question(R"("activation/a")", "rms", level, 0, "max"))).values;
  };
  EXPECT_EQ(ask(3)[4], 1);
  EXPECT_TRUE(std::isnan(ask(3)[5]));
  for (int step = 40; step < 50; ++step) network.add(step, 5, 1);
  append(dir / "r/stats.1.h.1.0.tfrecord", network.take());
  asked.log().refresh();
  EXPECT_EQ(ask(3)[4], 1);
  EXPECT_EQ(ask(3)[5], 5);
  EXPECT_EQ(ask(0)[45], 5);
}

TEST(NetworkTile, MarksSpikesAgainstTheRowsOwnPast) {
  base::TempDir dir;
  Network network;
  for (int step = 0; step < 200; ++step) {
    const float noise = 1 + 0.1F * std::sin(static_cast<float>(step) * 1.7F);
    network.add(step, step == 150 ? 3 : noise, noise);
  }
  append(dir / "r/stats.1.h.1.0.tfrecord", network.take());
  Asked asked(dir.path());
  const Tile tile = parse(asked.post("network/tile", question(R"("activation/a")", "rms", 0, 0, "past")));
  EXPECT_TRUE(std::isnan(tile.values[3])) << "there is no past";
  EXPECT_GT(tile.values[150], Deviation::kSpike);
  EXPECT_EQ(tile.flags[150], 9);
  for (int step = 100; step < 200; ++step) {
    if (step == 150) continue;
    EXPECT_LT(std::abs(tile.values[static_cast<std::size_t>(step)]), 4) << step;
  }
}

TEST(NetworkTile, RatiosAreThoseOfTheSameStep) {
  base::TempDir dir;
  Network network;
  for (int step = 0; step < 8; ++step) network.add(step, 1, static_cast<float>(step + 1));
  append(dir / "r/stats.1.h.1.0.tfrecord", network.take());
  Asked asked(dir.path());
  const Tile updates = parse(
      asked.post("network/tile", question(R"("weight/k", "update/k", "activation/a")", "update_ratio", 0, 0, "mean")));
  EXPECT_EQ(updates.values[0], 0.25F);
  EXPECT_EQ(updates.values[1], 0.5F);
  EXPECT_EQ(updates.values[kCells + 1], 0.5F);
  EXPECT_TRUE(std::isnan(updates.values[2 * kCells])) << "an activation has no update";
  const Tile gains =
      parse(asked.post("network/tile", question(R"("activation/a", "activation/b")", "depth_gain", 0, 0, "mean")));
  EXPECT_TRUE(std::isnan(gains.values[2])) << "nothing is before the first";
  EXPECT_EQ(gains.values[kCells + 2], 3);
  const Tile drift = parse(asked.post("network/tile", question(R"("activation/b")", "drift", 0, 0, "mean")));
  EXPECT_EQ(drift.values[0], 0);
  EXPECT_EQ(drift.values[3], 3);
}

TEST(NetworkTile, RejectsInvalidRequests) {
  base::TempDir dir;
  Network network;
  network.add(0, 1, 1);
  append(dir / "r/stats.1.h.1.0.tfrecord", network.take());
  Asked asked(dir.path());
  const auto status = [&](std::string_view body) { return asked.post("network/tile", body).status; };
  EXPECT_EQ(status(question(R"("activation/a")", "colour", 0, 0, "mean")), 400);
  EXPECT_EQ(status(question(R"("activation/a")", "rms", 0, 0, "median")), 400);
  EXPECT_EQ(status(question(R"("activation/a")", "rms", 49, 0, "mean")), 400);
  EXPECT_EQ(status(question(R"("activation/a")", "rms", -1, 0, "mean")), 400);
  EXPECT_EQ(status(R"({"run": "x", "tags": [], "statistic": "rms"})"), 404);
  EXPECT_EQ(status(R"({"run": "r", "tags": [], "statistic": "rms", "tile": 9223372036854775807})"), 400);
  EXPECT_EQ(status(R"({"run": "r", "tags": [], "statistic": "rms", "level": 48, "tile": -3})"), 200);
}

TEST(NetworkCell, HasTheNumbersOfTheRecord) {
  base::TempDir dir;
  Network network;
  for (int step = 0; step < 100; step += 10) network.add(step, static_cast<float>(step + 1), 1);
  append(dir / "r/stats.1.h.1.0.tfrecord", network.take());
  Asked asked(dir.path());
  const Answer answer = asked.get("network/cell?run=r&tag=activation/a&statistic=rms&first=20&last=59&step=45");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"("steps":4)"));
  EXPECT_THAT(answer.body, HasSubstr(R"("lowest":21,"average":36,"highest":51,"step":40)"));
  EXPECT_THAT(answer.body, HasSubstr(R"("value":41)"));
  EXPECT_THAT(answer.body, HasSubstr(R"("min":-41,"max":41,"mean":0,"std":41,"sum_abs":82)"));
  // Between two records, the one before counts.
  EXPECT_THAT(asked.get("network/cell?run=r&tag=activation/a&statistic=rms&first=45&last=45").body,
              HasSubstr(R"("step":40)"));
  EXPECT_EQ(asked.get("network/cell?run=r&tag=none&statistic=rms").status, 404);
  EXPECT_EQ(asked.get("network/cell?run=r&tag=activation/a&statistic=rms&first=5&last=5&step=6").status, 400);
}

TEST(NetworkParting, IsTheFirstStepAndLayerThatDiffer) {
  base::TempDir dir;
  for (const bool fork : {false, true}) {
    Network network;
    for (int step = 0; step < 20; ++step) network.add(step, fork && step > 12 ? 2 : 1, fork && step >= 12 ? 2 : 1);
    append(dir / (fork ? "fork/stats.1.h.1.0.tfrecord" : "base/stats.1.h.1.0.tfrecord"), network.take());
  }
  Asked asked(dir.path());
  const Answer answer = asked.get("network/parting?a=base&b=fork");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(R"("step":12,"tag":"activation/b")"));
  EXPECT_THAT(asked.get("network/parting?a=base&b=base").body, HasSubstr(R"("parting":null)"));
  EXPECT_EQ(asked.get("network/parting?a=base&b=none").status, 404);
}

TEST(StatLine, IsDrawnLikeARecordedScalar) {
  base::TempDir dir;
  Network network;
  for (int step = 0; step < 5; ++step) network.add(step, static_cast<float>(step + 1), 1);
  append(dir / "r/stats.1.h.1.0.tfrecord", network.take());
  Asked asked(dir.path());
  const Answer table = asked.post("table", R"({"series": [{"run": "r", "tag": "stat:rms:activation/a"}], "step": 3})");
  EXPECT_THAT(table.body, HasSubstr(R"("step":3,"value":4)"));
  const Answer points = asked.get("scalars?run=r&tag=stat:update_ratio:weight/k&format=json");
  EXPECT_THAT(points.body, HasSubstr(",1,0.5]"));
  EXPECT_EQ(asked.get("scalars?run=r&tag=stat:colour:activation/a").status, 404);
  EXPECT_EQ(asked.get("scalars?run=r&tag=stat:rms:none").status, 404);
}

}  // namespace
}  // namespace sonde::query
