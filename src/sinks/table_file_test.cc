#include "sinks/table_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <deque>
#include <limits>

#include "base/temp_dir_testing.h"
#include "formats/csv.h"

namespace sonde::sinks {
namespace {

using ::testing::HasSubstr;
using Column = TableFile::Column;

class TableFileTest : public ::testing::Test {
 protected:
  std::string content(std::string_view name) const {
    const auto text = base::read_file(dir_ / name);
    return text.ok() ? *text : text.error().message();
  }

  base::TempDir dir_;
  Tally tally_;
  TableFile file_{dir_ / "tables/validation.csv", tally_};
};

TEST_F(TableFileTest, HasOneHeaderAndThenRows) {
  const std::vector<std::int64_t> labels = {7, 3};
  const std::vector<float> outputs = {0.02F, 0.98F, NAN, -INFINITY};
  const std::vector<Column> columns = {{"label", view(labels)}, {"output", view(outputs, {2, 2})}};
  ASSERT_TRUE(file_.append({.wall_time = 1763267295.5, .step = 100}, columns).ok());
  ASSERT_TRUE(file_.append({.wall_time = 1763267296.25, .step = -1}, columns, 1).ok());
  EXPECT_EQ(content("tables/validation.csv"),
            "step,wall_time,row,label,output[0],output[1]\n"
            "100,1763267295.5,0,7,0.02,0.98\n"
            "100,1763267295.5,1,3,NaN,-Infinity\n"
            "-1,1763267296.25,0,7,0.02,0.98\n");
  EXPECT_EQ(tally_.bytes_written, content("tables/validation.csv").size());
}

TEST_F(TableFileTest, NumbersRowsAsTheBatchDoes) {
  const std::vector<float> values = {1, 2};
  const std::vector<Column> columns = {{"x", view(values)}};
  const std::vector<std::int64_t> numbers = {3, 61};
  ASSERT_TRUE(file_.append({.step = 1}, columns, numbers).ok());
  EXPECT_EQ(content("tables/validation.csv"), "step,wall_time,row,x\n1,0,3,1\n1,0,61,2\n");
  const Status wrong = file_.append({.step = 2}, columns, std::span(numbers).first(1));
  EXPECT_EQ(wrong.code(), Code::invalid_argument);
  EXPECT_THAT(wrong.message(), HasSubstr("tables/validation.csv': 2 rows came with this many row numbers: 1"));
  EXPECT_EQ(content("tables/validation.csv"), "step,wall_time,row,x\n1,0,3,1\n1,0,61,2\n");
}

TEST_F(TableFileTest, KeepsEveryDigitOfEveryType) {
  const std::vector<std::uint64_t> large = {std::numeric_limits<std::uint64_t>::max()};
  const std::vector<double> precise = {0.1 + 0.2};
  const std::vector<BFloat16> half = {{0x3f80}};
  const bool yes[] = {true};
  const float scalar = 0.1F;
  ASSERT_TRUE(file_
                  .append({.step = 1}, std::vector<Column>{{"large", view(large)},
                                                           {"precise", view(precise)},
                                                           {"half", view(half)},
                                                           {"yes", view(yes)},
                                                           {"scalar", view(&scalar, Shape{})}})
                  .ok());
  EXPECT_THAT(content("tables/validation.csv"),
              HasSubstr("\n1,0,0,18446744073709551615,0.30000000000000004,1,1,0.1\n"));
}

TEST_F(TableFileTest, QuotesNamesThatNeedIt) {
  const std::vector<float> values = {1, 2};
  ASSERT_TRUE(file_.append({}, std::vector<Column>{{"a, \"b\"\n", view(values, {1, 2})}}).ok());
  const auto rows = csv::decode(content("tables/validation.csv"));
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)[0][4], "a, \"b\"\n[1]");
  EXPECT_EQ((*rows)[1][4], "2");
}

TEST_F(TableFileTest, OtherColumnsBeginANewFile) {
  const std::vector<float> values = {1, 2};
  const std::vector<Column> narrow = {{"x", view(values)}};
  const std::vector<Column> wide = {{"x", view(values, {1, 2})}};
  ASSERT_TRUE(file_.append({.step = 1}, narrow).ok() && file_.append({.step = 2}, wide).ok());
  ASSERT_TRUE(file_.append({.step = 3}, wide).ok() && file_.append({.step = 4}, narrow).ok());
  EXPECT_EQ(content("tables/validation.csv"), "step,wall_time,row,x\n1,0,0,1\n1,0,1,2\n");
  EXPECT_EQ(content("tables/validation.1.csv"), "step,wall_time,row,x[0],x[1]\n2,0,0,1,2\n3,0,0,1,2\n");
  EXPECT_EQ(content("tables/validation.2.csv"), "step,wall_time,row,x\n4,0,0,1\n4,0,1,2\n");
  EXPECT_EQ(file_.path(), dir_ / "tables/validation.2.csv");
}

TEST_F(TableFileTest, AnExistingFileIsNotTouched) {
  ASSERT_TRUE(base::make_directories(dir_ / "tables").ok());
  ASSERT_TRUE(base::write_file(dir_ / "tables/validation.csv", "mine").ok());
  const float value = 1;
  ASSERT_TRUE(file_.append({}, std::vector<Column>{{"x", view(&value, {1})}}).ok());
  EXPECT_EQ(content("tables/validation.csv"), "mine");
  EXPECT_EQ(content("tables/validation.1.csv"), "step,wall_time,row,x\n0,0,0,1\n");
}

TEST_F(TableFileTest, ColumnsThatDoNotFitAddNothing) {
  const std::vector<float> values(6);
  const Status status =
      file_.append({}, std::vector<Column>{{"a", view(values.data(), {2})}, {"b", view(values.data(), {3})}});
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_THAT(status.message(), HasSubstr("tables/validation.csv': the column 'b' has 3 rows, but 'a' has 2"));
  EXPECT_TRUE(file_.append({}, std::vector<Column>{}).ok());
  EXPECT_TRUE(file_.append({}, std::vector<Column>{{"none", view(values.data(), {0})}}).ok());
  EXPECT_THAT(content("tables/validation.csv"), HasSubstr("No such file")) << "nothing is made for nothing";
}

// A file size limit simulates a full disk.
TEST_F(TableFileTest, AFullDiskLeavesNoPartialRows) {
  const std::vector<float> values(3, 1.5F);
  const std::vector<Column> columns = {{"x", view(values)}};
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit tiny = {30, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &tiny);
    const Status refused = file_.append({.step = 1}, columns);
    const bool right = refused.code() == Code::no_space && tally_.write_errors == 1 && tally_.lost_records == 3 &&
                       refused.message().find("validation.csv") != std::string::npos;
    const rlimit enough = {RLIM_INFINITY, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &enough);
    ::_exit(right && file_.append({.step = 2}, columns).ok() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(content("tables/validation.csv"), "step,wall_time,row,x\n2,0,0,1.5\n2,0,1,1.5\n2,0,2,1.5\n");
}

std::size_t open_descriptors() { return base::names_in("/proc/self/fd").size(); }

TEST_F(TableFileTest, TablesWithoutNumberLeaveTheProgramItsDescriptors) {
  constexpr std::size_t kTables = 200;
  const std::vector<float> values = {1, 2};
  const std::vector<Column> narrow = {{"x", view(values)}};
  const std::vector<Column> wide = {{"x", view(values, {1, 2})}};
  const std::size_t before = open_descriptors();
  {
    std::deque<TableFile> tables;
    for (std::size_t i = 0; i < kTables; ++i) {
      tables.emplace_back(dir_ / (std::to_string(i) + ".csv"), tally_);
    }
    for (TableFile& table : tables) ASSERT_TRUE(table.append({.step = 1}, narrow).ok());
    for (TableFile& table : tables) ASSERT_TRUE(table.append({.step = 2}, narrow).ok());
    for (TableFile& table : tables) ASSERT_TRUE(table.append({.step = 3}, wide).ok());
    EXPECT_EQ(open_descriptors(), before);
  }
  for (std::size_t i = 0; i < kTables; ++i) {
    const std::string stem = std::to_string(i);
    ASSERT_EQ(content(stem + ".csv"), "step,wall_time,row,x\n1,0,0,1\n1,0,1,2\n2,0,0,1\n2,0,1,2\n");
    ASSERT_EQ(content(stem + ".1.csv"), "step,wall_time,row,x[0],x[1]\n3,0,0,1,2\n");
  }
  EXPECT_EQ(base::names_in(dir_.path()).size(), 2 * kTables) << "no temporary file stays";
  EXPECT_EQ(tally_.write_errors, 0U);
}

TEST_F(TableFileTest, StartsAgainIfTheFileWasDeleted) {
  const std::vector<float> values = {1};
  const std::vector<Column> columns = {{"x", view(values)}};
  ASSERT_TRUE(file_.append({.step = 1}, columns).ok());
  std::filesystem::remove(file_.path());
  ASSERT_TRUE(file_.append({.step = 2}, columns).ok());
  EXPECT_EQ(*base::read_file(file_.path()), "step,wall_time,row,x\n2,0,0,1\n");
}

TEST_F(TableFileTest, FollowsNoLinkThatTookItsPlace) {
  const std::vector<float> values = {1};
  const std::vector<Column> columns = {{"x", view(values)}};
  ASSERT_TRUE(file_.append({.step = 1}, columns).ok());
  ASSERT_TRUE(base::write_file(dir_ / "other", "kept").ok());
  std::filesystem::remove(file_.path());
  std::filesystem::create_symlink(dir_ / "other", file_.path());
  EXPECT_FALSE(file_.append({.step = 2}, columns).ok());
  EXPECT_EQ(content("other"), "kept");
}

TEST_F(TableFileTest, FailedRowsKeepTheEarlierOnes) {
  const std::vector<float> values(3, 1.5F);
  const std::vector<Column> columns = {{"x", view(values)}};
  ASSERT_TRUE(file_.append({.step = 1}, columns).ok());
  const std::string first = content("tables/validation.csv");
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit tiny = {first.size() + 5, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &tiny);
    const Status refused = file_.append({.step = 2}, columns);
    ::_exit(refused.code() == Code::no_space && tally_.lost_records == 3 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(content("tables/validation.csv"), first);
  EXPECT_EQ(base::names_in(dir_ / "tables").size(), 1U);
}

}  // namespace
}  // namespace sonde::sinks
