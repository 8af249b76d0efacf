#include "tensor_files/kept_tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/directory.h"
#include "base/file.h"
#include "base/temp_dir_testing.h"
#include "formats/run_layout.h"

namespace sonde::tensor_files {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class KeptTensorsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(base::make_directories(tensors()).ok()); }
  std::string tensors() const { return dir_ / "tensors"; }

  void keep(std::int64_t step, const std::string& writer, std::vector<std::string> names) {
    std::vector<NamedView> views;
    for (const std::string& name : names) views.push_back({name, view(values_, {2})});
    const std::string stem = run_layout::tensors_stem(step, false, writer);
    ASSERT_TRUE(save_safetensors(base::join_path(tensors(), stem + ".safetensors"), views).ok());
  }
  void keep_npy(std::int64_t step, const std::string& writer, const std::string& name) {
    const std::string folder = base::join_path(tensors(), run_layout::tensors_stem(step, false, writer));
    ASSERT_TRUE(base::make_directories(folder).ok());
    ASSERT_TRUE(save_npy(base::join_path(folder, name + ".npy"), view(values_, {2})).ok());
  }

  base::TempDir dir_;
  std::vector<float> values_ = {1, 2};
};

TEST_F(KeptTensorsTest, ListsEveryTensorWithItsSteps) {
  keep(1, "w", {"a", "b"});
  keep(20, "w", {"a"});
  keep_npy(3, "w", "c");
  const KeptTensors kept(dir_ / "");
  EXPECT_THAT(kept.list(), ElementsAre(KeptSeries{"a", 2, 1, 20}, KeptSeries{"b", 1, 1, 1}, KeptSeries{"c", 1, 3, 3}));
  EXPECT_THAT(kept.steps("a"), ElementsAre(1, 20));
  EXPECT_THAT(kept.tags(), ElementsAre("a", "b"));
}

TEST_F(KeptTensorsTest, AProgramListsWholeTensorsByTagAndStep) {
  keep(20, "1700000000.h.1.0", {"a"});
  keep(1, "1700000000.h.1.0", {"a", "b"});
  keep(1, "1700000009.h.2.0", {"a"});
  keep_npy(3, "1700000000.h.1.0", "c");
  const Result<WholeTensorList> list = list_whole_tensors(dir_ / "");
  ASSERT_TRUE(list);
  EXPECT_TRUE(list->unreadable.empty());
  std::vector<std::pair<std::string, std::int64_t>> found;
  for (const WholeTensor& tensor : list->tensors) {
    found.emplace_back(tensor.tag, tensor.step);
    EXPECT_EQ(TensorFile::open(tensor.path)->load(tensor.name)->shape, Shape{2}) << tensor.path;
  }
  EXPECT_THAT(found, ElementsAre(std::pair("a", 1), std::pair("a", 20), std::pair("b", 1), std::pair("c", 3)));
  EXPECT_THAT(list->tensors[0].path, HasSubstr("1700000009"));  // the one written last
}

TEST_F(KeptTensorsTest, AProgramIsToldWhichFilesItCannotRead) {
  keep(1, "w", {"a"});
  ASSERT_TRUE(
      base::write_file(base::join_path(tensors(), run_layout::tensors_stem(2, false, "w") + ".safetensors"), "x").ok());
  const Result<WholeTensorList> list = list_whole_tensors(dir_ / "");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->tensors.size(), 1u);
  ASSERT_EQ(list->unreadable.size(), 1u);
  EXPECT_THAT(list->unreadable[0].message(), HasSubstr("000000000002"));
  EXPECT_EQ(list_whole_tensors(dir_ / "none").error().code(), Code::not_found);
}

TEST_F(KeptTensorsTest, AProgramListsTables) {
  ASSERT_TRUE(base::make_directories(dir_ / "tables").ok());
  ASSERT_TRUE(base::write_file(dir_ / "tables/validation.w.csv", "step,row\n1,0\n").ok());
  EXPECT_THAT(*list_tables(dir_ / ""), ElementsAre(HasSubstr("tables/validation.w.csv")));
  EXPECT_EQ(list_tables(dir_ / "none").error().code(), Code::not_found);
}

TEST_F(KeptTensorsTest, TheLastOfAStepIsTheOneWrittenLast) {
  keep(5, "1700000000.h.1.0", {"a"});
  keep(5, "1700000009.h.2.0", {"a"});
  const KeptTensors kept(dir_ / "");
  const auto last = kept.last("a", 5);
  ASSERT_TRUE(last.has_value());
  EXPECT_THAT(last->path, HasSubstr("1700000009"));
  EXPECT_EQ(last->name, "a");
  EXPECT_FALSE(kept.last("a", 6).has_value());
}

TEST_F(KeptTensorsTest, ReportsFilesThatCannotBeRead) {
  keep(1, "w", {"a"});
  ASSERT_TRUE(base::write_file(base::join_path(tensors(), "000000000002.w.safetensors"), "damaged").ok());
  std::vector<std::string> unreadable;
  const KeptTensors kept(dir_ / "", "", [&](const Status& status) { unreadable.push_back(status.message()); });
  EXPECT_THAT(kept.list(), ElementsAre(KeptSeries{"a", 1, 1, 1}));
  EXPECT_THAT(unreadable, ElementsAre(HasSubstr("000000000002.w.safetensors")));
}

TEST_F(KeptTensorsTest, FollowsNoLinkIfNothingOutsideMayBeRead) {
  keep(1, "w", {"a"});
  const std::string target = base::join_path(tensors(), "000000000001.w.safetensors");
  std::filesystem::create_symlink(target, base::join_path(tensors(), "000000000002.w.safetensors"));
  EXPECT_THAT(KeptTensors(dir_ / "").steps("a"), ElementsAre(1, 2));
  EXPECT_THAT(KeptTensors(dir_ / "", dir_ / "").steps("a"), ElementsAre(1));
}

TEST_F(KeptTensorsTest, CountsTheRowsOfTables) {
  ASSERT_TRUE(base::make_directories(dir_ / "tables/deep").ok());
  ASSERT_TRUE(base::write_file(dir_ / "tables/deep/x.w.csv", "step,wall_time,a\n4,1,\"two\nlines\"\n7,2,b\n").ok());
  ASSERT_TRUE(base::write_file(dir_ / "tables/other.csv", "name,value\nx,1\n").ok());
  EXPECT_THAT(tables_of(dir_ / ""), ElementsAre(KeptSeries{"tables/deep/x.w.csv", 2, 4, 7}));
  EXPECT_THAT(table_paths(dir_ / ""), ElementsAre("tables/deep/x.w.csv", "tables/other.csv"));
}

TEST_F(KeptTensorsTest, ARunThatKeptNothingHasNothing) {
  const base::TempDir empty;
  EXPECT_TRUE(KeptTensors(empty / "").list().empty());
  EXPECT_TRUE(tables_of(empty / "").empty());
}

}  // namespace
}  // namespace sonde::tensor_files
