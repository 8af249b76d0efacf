// The rules by which logs are read, one test each.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <limits>
#include <set>

#include "formats/stats_record.h"
#include "formats/tfrecord.h"
#include "index/index_testing.h"
#include "stats/summary.h"

namespace sonde::index {
namespace {

using Steps = std::vector<std::int64_t>;
using Values = std::vector<double>;

TEST(Discovery, ARunIsADirectoryWithEventFilesNamedByItsPath) {
  base::TempDir dir;
  append(dir / std::string(kEvents), version());
  append(dir / "a/b/" + std::string(kEvents), version());
  append(dir / "a/anything.tfevents.anything", version());
  append(dir / "empty/readme.txt", "x");
  append(dir / "statistics/stats.1.tfrecord", "");
  std::vector<std::string> names;
  for (const sonde::Run& run : open(dir.path()).runs()) names.push_back(run.name());
  EXPECT_EQ(names, (std::vector<std::string>{".", "a", "a/b", "statistics"}));
}

TEST(Discovery, FollowsLinksButNotInCircles) {
  base::TempDir dir;
  base::TempDir elsewhere;
  append(dir / "run/" + std::string(kEvents), version() + scalar("loss", 1, 1));
  append(elsewhere / "far/" + std::string(kEvents), version());
  std::filesystem::create_directory_symlink(dir.path(), dir / "run/circle");
  std::filesystem::create_directory_symlink(elsewhere / "far", dir / "linked");
  std::filesystem::create_symlink(dir / "nowhere", dir / "broken");
  std::vector<std::string> names;
  for (const sonde::Run& run : open(dir.path()).runs()) names.push_back(run.name());
  EXPECT_EQ(names, (std::vector<std::string>{"linked", "run"}));
}

TEST(Discovery, LinksThatLeadOutAreNotFollowedWithInside) {
  base::TempDir dir;
  base::TempDir elsewhere;
  const std::string events(kEvents);
  append(dir / "run/" + events, version() + scalar("loss", 0, 1));
  append(elsewhere / "far/" + events, version() + scalar("loss", 0, 1));
  std::filesystem::create_directory_symlink(elsewhere / "far", dir / "out");
  std::filesystem::create_directory_symlink(dir / "run", dir / "in");
  std::filesystem::create_directory_symlink(dir.path(), elsewhere / "log");
  std::filesystem::create_directory(dir / "files");
  std::filesystem::create_symlink(elsewhere / "far/" + events, dir / "files/" + events);
  std::filesystem::create_symlink(elsewhere / "far/" + events, dir / "files/a picture");
  std::filesystem::create_directory(dir / "own");
  std::filesystem::create_symlink("../run/" + events, dir / "own/" + events);
  const auto names = [](const Log& log) {
    std::vector<std::string> found;
    for (const sonde::Run& run : log.runs()) found.push_back(run.name());
    return found;
  };
  const LogOptions inside = {.cache = LogOptions::Cache::off, .links = LogOptions::Links::inside};
  for (const std::string& path : {dir.path(), elsewhere / "log"}) {  // the log itself may be a link
    EXPECT_EQ(names(open(path)), (std::vector<std::string>{"files", "in", "out", "own", "run"}));
    const Log log = open(path, inside);
    EXPECT_EQ(names(log), (std::vector<std::string>{"in", "own", "run"}));
    for (const char* run : {"in", "own", "run"}) EXPECT_EQ(values_of(*log.run(run), "loss"), Values{1}) << run;
    const auto said = [&](const std::string& name) {
      return "'" + path + "/" + name + "' is a link that leads out of the log directory: it is not read";
    };
    EXPECT_EQ(log.problems(), (std::vector<std::string>{said("files/" + events), said("out")}));
    EXPECT_EQ(log.progress().bytes_found, log.progress().bytes_read);
  }
}

TEST(Discovery, ALinkThatLaterLeadsOutIsNoLongerFollowed) {
  base::TempDir dir;
  base::TempDir elsewhere;
  const std::string events(kEvents);
  append(dir / "run/" + events, version() + scalar("loss", 0, 1));
  append(elsewhere / events, version() + scalar("loss", 0, 2));
  std::filesystem::create_directory_symlink("run", dir / "link");
  std::filesystem::create_directory(dir / "files");
  std::filesystem::create_symlink("../run/" + events, dir / "files/" + events);
  Log log = open(dir.path(), {.cache = LogOptions::Cache::off, .links = LogOptions::Links::inside});
  log.wait();
  EXPECT_EQ(log.runs().size(), 3U);
  const sonde::Run linked = *log.run("link");
  for (const char* name : {"link", "files"}) std::filesystem::rename(dir / name, elsewhere / name);
  std::filesystem::create_directory_symlink(elsewhere.path(), dir / "link");
  std::filesystem::create_directory(dir / "files");
  std::filesystem::create_symlink(elsewhere / events, dir / "files/" + events);
  log.refresh();
  EXPECT_EQ(log.runs().size(), 1U);
  EXPECT_EQ(log.problems().size(), 2U);
  EXPECT_EQ(values_of(linked, "loss"), Values());
}

TEST(Discovery, LinksAcrossATreeDoNotMultiply) {
  base::TempDir dir;  // every directory links to every other: 10! paths
  constexpr int kCount = 10;
  for (int i = 0; i < kCount; ++i) append(dir / std::to_string(i) + "/" + std::string(kEvents), version());
  for (int i = 0; i < kCount; ++i) {
    for (int k = 0; k < kCount; ++k) {
      if (i != k) {
        std::filesystem::create_directory_symlink(dir / std::to_string(k),
                                                  dir / std::to_string(i) + "/" + std::to_string(k));
      }
    }
  }
  const Log log = open(dir.path());
  EXPECT_TRUE(log.run("9").ok());
  EXPECT_LT(log.runs().size(), 300U);
}

TEST(Discovery, RunsTakeNoFileDescriptors) {
  base::TempDir dir;
  const std::string file = version() + scalar("loss", 1, 1);
  constexpr std::size_t kRuns = 500;
  for (std::size_t i = 0; i < kRuns; ++i) {
    append(dir / "run_" + std::to_string(i) + "/" + std::string(kEvents), file);
  }
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few = {.rlim_cur = 40, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const Log log = open(dir.path(), {.cache = LogOptions::Cache::off, .follow = LogOptions::Follow::live});
  log.wait();
  std::size_t points = 0;
  for (const sonde::Run& run : log.runs()) {
    for (const LogFile& one : run.files()) EXPECT_EQ(one.error, "");
    for (const Tag& tag : run.tags()) points += tag.points;
  }
  EXPECT_EQ(points, kRuns);
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(SeveralFiles, AreOneRun) {
  base::TempDir dir;
  append(dir / "r/events.out.tfevents.1700000000.h.1.0", version() + scalar("loss", 0, 1) + scalar("loss", 1, 2));
  append(dir / "r/events.out.tfevents.1700000100.h.1.0", version() + scalar("loss", 2, 3) + scalar("other", 2, 4));
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(values_of(run, "loss"), (Values{1, 2, 3}));
  EXPECT_EQ(values_of(run, "other"), (Values{4}));
  EXPECT_EQ(run.files().size(), 2U);
}

TEST(SeveralWriters, AtTheSameTimeAreBothServedByAscendingStep) {
  base::TempDir dir;
  std::string one = version();
  std::string other = version();
  for (int i = 0; i < 6; ++i) (i % 2 == 0 ? one : other) += scalar("loss", i, i);
  append(dir / "r/events.out.tfevents.1700000000.h.1.0", one);
  append(dir / "r/events.out.tfevents.1700000000.h.2.0", other);
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(steps_of(run, "loss"), (Steps{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(steps_of(run, "loss", History::all), (Steps{0, 2, 4, 1, 3, 5}));
}

TEST(SeveralWriters, OfTheSameStepsLoseNothing) {
  base::TempDir dir;
  std::string rank0 = version();
  std::string rank1 = version();
  for (int i = 0; i < 5; ++i) {
    rank0 += scalar("loss", i, 10 + i, kStart + i);
    rank1 += scalar("loss", i, 20 + i, kStart + i + 0.5);  // begins later, and ends later
  }
  append(dir / "r/events.out.tfevents.1700000000.h.1.0", rank0);
  append(dir / "r/events.out.tfevents.1700000000.h.2.0", rank1);
  EXPECT_EQ(steps_of(*open(dir.path()).run("r"), "loss"), (Steps{0, 0, 1, 1, 2, 2, 3, 3, 4, 4}));
}

TEST(Restart, InANewFileServesTheNewestAndKeepsBoth) {
  base::TempDir dir;
  std::string first = version();
  for (int i = 0; i < 6; ++i) first += scalar("loss", i, i);
  std::string second = version(kStart + 1000);
  for (int i = 3; i < 8; ++i) second += scalar("loss", i, 100 + i, kStart + 1000 + i);
  append(dir / "r/events.out.tfevents.1700000000.h.1.0", first);
  append(dir / "r/events.out.tfevents.1700001000.h.1.0", second);
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(values_of(run, "loss"), (Values{0, 1, 2, 103, 104, 105, 106, 107}));
  EXPECT_EQ(steps_of(run, "loss", History::all), (Steps{0, 1, 2, 3, 4, 5, 3, 4, 5, 6, 7}));
  EXPECT_EQ(run.tag("loss", TagKind::scalars)->points, 8U);
}

TEST(Restart, SessionLogStartReplacesPointsFromItsStepForEveryTag) {
  base::TempDir dir;
  std::string first = version();
  for (int i = 0; i < 10; ++i) first += scalar("loss", i, i) + scalar("rare", i, i);
  append(dir / "r/events.out.tfevents.1700000000.h.1.0", first);
  // As torch writes it with purge_step: one START in a new file, then points beyond it.
  append(dir / "r/events.out.tfevents.1700001000.h.1.0",
         version(kStart + 1000) + session_start(4, kStart + 1000) + scalar("loss", 7, 70, kStart + 1001));
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(steps_of(run, "loss"), (Steps{0, 1, 2, 3, 7}));
  EXPECT_EQ(steps_of(run, "rare"), (Steps{0, 1, 2, 3})) << "also of a tag that is never written again";
  EXPECT_EQ(steps_of(run, "rare", History::all).size(), 10U);
}

TEST(Restart, SessionLogStartLeavesTheGraphAlone) {
  base::TempDir dir;  // as TensorFlow 1 begins every file
  std::string graph;
  tfevents::put_graph_event(graph, kStart, "graph");
  append(dir / "r/" + std::string(kEvents), version() + graph + session_start(0, kStart) + scalar("loss", 0, 1));
  const sonde::Run run = *open(dir.path()).run("r");
  const auto graphs = run.values("__run_graph__", TagKind::graphs);
  ASSERT_TRUE(graphs && graphs->size() == 1);
  EXPECT_EQ(*run.graph(graphs->at(0)), "graph");
}

TEST(Restart, RepeatingAStepIsNotARestart) {
  base::TempDir dir;  // a program that gives no step at all
  append(dir / "r/events.out.tfevents.1700000000.h.1.0", version(10) + scalar("x", 0, 1, 10) + scalar("x", 0, 2, 11));
  append(dir / "r/events.out.tfevents.1700000001.h.1.0", version(12) + scalar("x", 0, 3, 12) + scalar("x", 0, 4, 13));
  EXPECT_EQ(values_of(*open(dir.path()).run("r"), "x"), (Values{1, 2, 3, 4}));
}

TEST(DamagedRecord, IsSkippedAndReportedAndReadingContinues) {
  base::TempDir dir;
  const std::string head = version() + scalar("loss", 0, 0);
  std::string bad = scalar("loss", 1, 1);
  bad[bad.size() / 2] ^= 1;
  append(dir / "r/" + std::string(kEvents), head + bad + scalar("loss", 2, 2));
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(steps_of(run, "loss"), (Steps{0, 2}));
  const auto damage = run.damage();
  ASSERT_EQ(damage.size(), 1U);
  EXPECT_EQ(damage[0].offset, head.size());
  EXPECT_EQ(damage[0].size, bad.size());
  EXPECT_EQ(damage[0].reason, "the checksum of the payload is wrong");
  EXPECT_NE(damage[0].file.find(kEvents), std::string::npos);
}

TEST(DamagedRecord, OfGoodChecksumAndBadContentIsSkippedToo) {
  base::TempDir dir;
  std::string bad;
  tfrecord::put_record(bad, "\x2a\x7fnot a summary");
  append(dir / "r/" + std::string(kEvents), version() + scalar("loss", 0, 0) + bad + scalar("loss", 1, 1));
  append(dir / "s/" + std::string(kEvents), version() + scalar("loss", 0, 0));
  const Log log = open(dir.path());
  EXPECT_EQ(steps_of(*log.run("r"), "loss"), (Steps{0, 1}));
  EXPECT_EQ(log.run("r")->damage().size(), 1U);
  EXPECT_EQ(steps_of(*log.run("s"), "loss"), (Steps{0})) << "other runs are not touched";
}

TEST(TruncatedTail, WaitsForTheRest) {
  base::TempDir dir;
  const std::string path = dir / "r/" + std::string(kEvents);
  const std::string last = scalar("loss", 1, 1);
  append(path, version() + scalar("loss", 0, 0) + last.substr(0, 20));
  Log log = open(dir.path());
  EXPECT_EQ(steps_of(*log.run("r"), "loss"), (Steps{0}));
  EXPECT_TRUE(log.run("r")->damage().empty());
  EXPECT_EQ(log.run("r")->files()[0].size - log.run("r")->files()[0].read, 20U);
  append(path, last.substr(20));
  log.refresh();
  EXPECT_EQ(steps_of(*log.run("r"), "loss"), (Steps{0, 1}));
  EXPECT_TRUE(log.run("r")->damage().empty());
}

TEST(File, ThatIsReplacedIsReadAgain) {
  base::TempDir dir;
  const std::string path = dir / "r/" + std::string(kEvents);
  append(path, version() + scalar("loss", 0, 0) + scalar("loss", 1, 1));
  Log log = open(dir.path());
  log.wait();
  // Like rsync: written to a temporary file, then renamed.
  overwrite(dir / "temporary", version() + scalar("loss", 0, 50) + scalar("loss", 1, 51) + scalar("loss", 2, 52));
  std::filesystem::rename(dir / "temporary", path);
  log.refresh();
  EXPECT_EQ(values_of(*log.run("r"), "loss"), (Values{50, 51, 52}));
}

TEST(File, ThatIsOverwrittenInPlaceIsReadAgain) {
  base::TempDir dir;
  const std::string path = dir / "r/" + std::string(kEvents);
  append(path, version() + scalar("loss", 0, 0) + scalar("loss", 1, 1));
  Log log = open(dir.path());
  log.wait();
  overwrite(path, version() + scalar("loss", 0, 50) + scalar("loss", 1, 51) + scalar("loss", 2, 52));
  log.refresh();
  EXPECT_EQ(values_of(*log.run("r"), "loss"), (Values{50, 51, 52}));
}

TEST(File, ThatShrinksIsReadAgain) {
  base::TempDir dir;
  const std::string path = dir / "r/" + std::string(kEvents);
  const std::string head = version() + scalar("loss", 0, 0);
  append(path, head + scalar("loss", 1, 1));
  Log log = open(dir.path());
  log.wait();
  std::filesystem::resize_file(path, head.size());
  log.refresh();
  EXPECT_EQ(values_of(*log.run("r"), "loss"), (Values{0}));
}

TEST(File, ThatIsDeletedIsForgotten) {
  base::TempDir dir;
  append(dir / "r/events.out.tfevents.1.h", version() + scalar("loss", 0, 0));
  append(dir / "r/events.out.tfevents.2.h", version() + scalar("loss", 1, 1));
  append(dir / "s/" + std::string(kEvents), version());
  Log log = open(dir.path());
  log.wait();
  std::filesystem::remove(dir / "r/events.out.tfevents.1.h");
  std::filesystem::remove_all(dir / "s");
  log.refresh();
  EXPECT_EQ(steps_of(*log.run("r"), "loss"), (Steps{1}));
  EXPECT_EQ(log.runs().size(), 1U) << "a run without files is none";
}

TEST(Scalars, OfEveryNumericTypeAreRead) {
  base::TempDir dir;
  std::string file = version();
  const auto put = [&](std::string_view tag, const TensorView& view) {
    std::string summary;
    ASSERT_TRUE(tfevents::put_tensor(summary, tag, view, "scalars", "", tfevents::DataClass::scalar, true));
    tfevents::put_summary_event(file, kStart, 1, summary);
  };
  const auto number = [&]<class T>(std::string_view tag, T value) { put(tag, view(&value, Shape{})); };
  number("f64", 0.1);
  number("f32", 0.5F);
  number("i64", std::int64_t{-7});
  number("i32", std::int32_t{-6});
  number("u64", std::uint64_t{8});
  number("u8", std::uint8_t{200});
  number("bool", true);
  number("f16", Float16{0x3c00});
  number("bf16", BFloat16{0x4000});
  append(dir / "r/" + std::string(kEvents), file);
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(values_of(run, "f64"), (Values{0.1})) << "a double stays one";
  EXPECT_EQ(values_of(run, "f32"), (Values{0.5}));
  EXPECT_EQ(values_of(run, "i64"), (Values{-7}));
  EXPECT_EQ(values_of(run, "i32"), (Values{-6}));
  EXPECT_EQ(values_of(run, "u64"), (Values{8}));
  EXPECT_EQ(values_of(run, "u8"), (Values{200}));
  EXPECT_EQ(values_of(run, "bool"), (Values{1}));
  EXPECT_EQ(values_of(run, "f16"), (Values{1}));
  EXPECT_EQ(values_of(run, "bf16"), (Values{2}));
}

TEST(Scalars, KeepNonFiniteValues) {
  base::TempDir dir;
  const double infinity = std::numeric_limits<double>::infinity();
  append(dir / "r/" + std::string(kEvents), version() + scalar("x", 0, std::nan("")) + scalar("x", 1, infinity) +
                                                scalar("x", 2, -infinity) + scalar("x", 3, 1));
  const Values values = values_of(*open(dir.path()).run("r"), "x");
  ASSERT_EQ(values.size(), 4U);
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], infinity);
  EXPECT_EQ(values[2], -infinity);
}

TEST(Scalars, WithoutATimeAreStillThere) {
  base::TempDir dir;
  append(dir / "r/" + std::string(kEvents),
         version() + scalar("x", 0, 1) + scalar("x", 1, 2, std::nan("")) + scalar("x", 2, 3));
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(values_of(run, "x"), (Values{1, 2, 3}));
  EXPECT_EQ(run.draw("x", 100)->total, 3U);
  EXPECT_FALSE(run.draw("x", 2'000'000'000));
}

TEST(Scalars, OfARangeOfStepsOrTimes) {
  base::TempDir dir;
  std::string file = version();
  for (int i = 0; i < 1000; ++i) file += scalar("x", i * 2, i);
  append(dir / "r/" + std::string(kEvents), file);
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(run.scalars("x", {.first_step = 11, .last_step = 16})->steps, (Steps{12, 14, 16}));
  EXPECT_EQ(run.scalars("x", {.first_time = kStart + 1994})->steps, (Steps{1994, 1996, 1998}));
  EXPECT_EQ(run.scalars("x", {.first_step = 5000})->size(), 0U);
}

TEST(Scalars, OfAnUnknownNameNameTheNearest) {
  base::TempDir dir;
  append(dir / "train/" + std::string(kEvents), version() + scalar("loss", 0, 0));
  const Log log = open(dir.path());
  const auto missing = log.run("train")->scalars("los");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), Code::not_found);
  EXPECT_EQ(missing.error().message(), "the run 'train' has no tag 'los' of kind scalars; did you mean 'loss'?");
  EXPECT_NE(log.run("trian").error().message().find("did you mean 'train'?"), std::string::npos);
}

TEST(Tags, OfTwoKindsUnderOneNameAreBothKept) {
  base::TempDir dir;
  std::string summary;
  tfevents::put_text(summary, "x", "hello", true);
  std::string text;
  tfevents::put_summary_event(text, kStart, 1, summary);
  append(dir / "r/" + std::string(kEvents), version() + scalar("x", 0, 1) + text + scalar("x", 1, 2));
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(values_of(run, "x"), (Values{1, 2}));
  const auto values = run.values("x", TagKind::text);
  ASSERT_TRUE(values);
  EXPECT_EQ(run.text(values->at(0)).status().message(), "");
  EXPECT_EQ(*run.text(values->at(0)), (std::vector<std::string>{"hello"}));
}

TEST(UnknownPlugins, AreKeptAsTensors) {
  base::TempDir dir;
  const std::vector<std::int64_t> numbers = {1, -2, std::numeric_limits<std::int64_t>::max()};
  std::string summary;
  ASSERT_TRUE(
      tfevents::put_tensor(summary, "t", view(numbers), "my_plugin", "content", tfevents::DataClass::tensor, true));
  std::string event;
  tfevents::put_summary_event(event, kStart, 3, summary);
  append(dir / "r/" + std::string(kEvents), version() + event);
  const sonde::Run run = *open(dir.path()).run("r");
  const auto tag = run.tag("t", TagKind::tensors);
  ASSERT_TRUE(tag);
  EXPECT_EQ(tag->plugin, "my_plugin");
  EXPECT_EQ(tag->plugin_content, "content");
  const auto tensor = run.tensor(run.values("t", TagKind::tensors)->at(0));
  ASSERT_TRUE(tensor) << tensor.error().message();
  EXPECT_EQ(tensor->dtype, DType::i64);
  EXPECT_EQ(std::memcmp(tensor->data.data(), numbers.data(), 24), 0) << "64 bits do not pass through a double";
}

TEST(Values, ThatAreLargeAreReadFromTheFileWhenAsked) {
  base::TempDir dir;
  const std::string path = dir / "r/" + std::string(kEvents);
  const std::string png(3 << 20, 'p');  // larger than the window in which files are read
  std::string summary;
  tfevents::put_images(summary, "i", 4, 5, std::vector<std::string_view>{png}, true);
  std::string event;
  tfevents::put_summary_event(event, kStart, 7, summary);
  append(path, version() + scalar("x", 0, 1) + event + scalar("x", 1, 2));
  Log log = open(dir.path());
  const sonde::Run run = *log.run("r");
  EXPECT_EQ(values_of(run, "x"), (Values{1, 2}));
  const auto refs = run.values("i", TagKind::images);
  ASSERT_TRUE(refs);
  ASSERT_EQ(refs->size(), 1U);
  const auto images = run.images(refs->at(0));
  ASSERT_TRUE(images) << images.error().message();
  EXPECT_EQ(images->width, 4);
  EXPECT_EQ(images->files, (std::vector<std::string>{png}));
  EXPECT_FALSE(run.histogram(refs->at(0))) << "a value of another kind";

  overwrite(path, version());
  const auto changed = run.images(refs->at(0));
  ASSERT_FALSE(changed);
  EXPECT_NE(changed.error().message().find("was changed"), std::string::npos);
  std::filesystem::remove(path);
  EXPECT_FALSE(run.images(refs->at(0)));
}

TEST(Statistics, AreSeriesOfTheirTensors) {
  base::TempDir dir;
  std::string file;
  stats_record::put_header(file, {.writer = "w", .host = "h", .pid = 1, .start_time = kStart});
  stats_record::put_definition(
      file, {.id = 1, .kind = Kind::gradient, .form = {DType::f32, {2, 3}}, .name = "dense", .inputs = {}});
  for (int step = 0; step < 3; ++step) {
    stats_record::StepWriter writer(file, step, kStart + step, false);
    const std::vector<float> data = {static_cast<float>(step), 1, 2, -3, 4, 5};
    stats::Histogram histogram;
    writer.add({.id = 1}, *stats::summarize(view(data), histogram), &histogram);
    writer.end();
  }
  stats_record::put_gap(file, {.id = 1, .first_step = 4, .last_step = 5, .count = 2, .detail = "full"});
  append(dir / "r/stats.w.tfrecord", file);
  const sonde::Run run = *open(dir.path()).run("r");
  ASSERT_EQ(run.tags().size(), 1U);
  EXPECT_EQ(run.tags()[0].name, "gradient/dense");
  EXPECT_EQ(run.tags()[0].kind, TagKind::statistics);
  const auto statistics = run.statistics("gradient/dense", {.first_step = 1});
  ASSERT_TRUE(statistics) << statistics.error().message();
  ASSERT_EQ(statistics->size(), 2U);
  EXPECT_EQ(statistics->at(1).step, 2);
  EXPECT_EQ(statistics->at(1).min, -3);
  EXPECT_EQ(statistics->at(1).max, 5);
  EXPECT_EQ(statistics->at(1).count, 6U);
  EXPECT_EQ(statistics->at(1).shape, (Shape{2, 3}));
  double total = 0;
  for (const Bucket& bucket : statistics->at(1).histogram) total += bucket.count;
  EXPECT_EQ(total, 6);
  ASSERT_EQ(run.gaps().size(), 1U);
  EXPECT_EQ(run.gaps()[0].tensor, "gradient/dense");
  EXPECT_EQ(run.gaps()[0].reason, RecordingGap::Reason::buffer_full);
  EXPECT_EQ(run.gaps()[0].detail, "full");
}

// A file of a newer version: unknown kinds, reasons and records next to known ones.
TEST(Statistics, OfANewerVersionAreReadAsFarAsKnown) {
  base::TempDir dir;
  std::string file;
  const auto step = [&](int number, std::uint32_t id) {
    stats_record::StepWriter writer(file, number, kStart + number, false);
    const std::vector<float> data = {static_cast<float>(number), 1};
    writer.add({.id = id}, *stats::summarize(view(data)), nullptr);
    writer.end();
  };
  const auto unknown = [&](std::string_view payload) {
    const std::size_t record = tfrecord::begin_record(file);
    file += payload;
    tfrecord::end_record(file, record);
  };
  stats_record::put_header(file, {.writer = "w", .host = "h", .pid = 1, .start_time = kStart});
  stats_record::put_definition(file, {.id = 1, .kind = Kind{9}, .form = {DType::f32, {2}}, .name = "dense"});
  step(0, 1);
  unknown("\x01\x01\x09what this says");
  unknown("\x02\x01\x02what version 2 says");
  stats_record::put_gap(file, {.id = 1, .count = 2, .reason = static_cast<stats_record::GapReason>(77)});
  stats_record::put_definition(file, {.id = 2, .kind = Kind::weight, .form = {DType::f32, {2}}, .name = "dense"});
  step(1, 2);
  append(dir / "r/stats.w.tfrecord", file);
  const sonde::Run run = *open(dir.path()).run("r");
  std::vector<std::string> names;
  for (const Tag& tag : run.tags()) names.push_back(tag.name);
  EXPECT_EQ(names, (std::vector<std::string>{"kind 9/dense", "weight/dense"}));
  EXPECT_EQ(run.statistics("kind 9/dense")->at(0).max, 1);
  EXPECT_EQ(run.statistics("weight/dense")->at(0).step, 1);
  EXPECT_EQ(run.gaps().size(), 1U);
  // Skipped records are named, and not called corrupt.
  ASSERT_EQ(run.damage().size(), 2U);
  EXPECT_EQ(run.damage()[0].reason, "a record of type 9, written by a newer Sonde, which this version does not know");
  EXPECT_EQ(run.damage()[1].reason,
            "statistics of version 2 and grid 1, written by a newer Sonde, which this version does not know");
}

// Whether the last of many runs is answered for while others are still to be read: never, if they were read in order.
bool is_answered_early(const std::string& directory) {
  const Log log = open(directory, {.threads = 1, .cache = LogOptions::Cache::off});
  EXPECT_EQ(values_of(*log.run("z"), "loss"), (Values{5}));
  const bool early = !log.progress().done();
  log.wait();
  EXPECT_TRUE(log.progress().done());
  EXPECT_EQ(log.progress().bytes_read, log.progress().bytes_found);
  return early;
}

TEST(LazyOrder, RequestedRunsAreReadFirst) {
  base::TempDir dir;
  std::string large = version();
  for (int i = 0; i < 100'000; ++i) large += scalar("x", i, i);
  for (int i = 0; i < 20; ++i) append(dir / "a" + std::to_string(i) + "/" + std::string(kEvents), large);
  append(dir / "z/" + std::string(kEvents), version() + scalar("loss", 1, 5));
  bool early = false;  // on a busy machine all may be read before this thread comes to ask: it tries again
  for (int attempt = 0; attempt < 50 && !early; ++attempt) early = is_answered_early(dir.path());
  EXPECT_TRUE(early);
}

TEST(Run, OutlivesItsLog) {
  base::TempDir dir;
  append(dir / "r/" + std::string(kEvents), version() + scalar("loss", 1, 5));
  std::vector<sonde::Run> runs;
  {
    const Log log = open(dir.path());
    runs = log.runs();
  }
  EXPECT_EQ(values_of(runs.at(0), "loss"), (Values{5}));
}

}  // namespace
}  // namespace sonde::index
