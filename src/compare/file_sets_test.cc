#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/temp_dir_testing.h"
#include "compare/tensor_set.h"
#include "sonde/tensor_io.h"
#include "tensor/convert.h"

namespace sonde::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FileSets : public testing::Test {
 protected:
  std::vector<std::string> names(const std::string& path) {
    const auto set = open_tensor_files(path);
    if (!set) return {set.error().message()};
    std::vector<std::string> found;
    for (const Entry& entry : (*set)->entries()) found.push_back(entry.name);
    return found;
  }
  void save(const std::string& name) {
    std::filesystem::create_directories(std::filesystem::path(dir_ / name).parent_path());
    const std::vector<float> values = {1, 2};
    const TensorView tensor = view(values);
    if (name.ends_with(".npy")) {
      ASSERT_TRUE(save_npy(dir_ / name, tensor));
    } else if (name.ends_with(".npz")) {
      ASSERT_TRUE(save_npz(dir_ / name, {{"t", tensor}}));
    } else {
      ASSERT_TRUE(save_safetensors(dir_ / name, {{"t", tensor}}));
    }
  }

  base::TempDir dir_;
};

TEST_F(FileSets, NameTensorsByTheirPlaceInADirectory) {
  save("dump/conv/out.npy");
  save("dump/rest.npz");
  save("dump/deep/er/last.safetensors");
  EXPECT_THAT(names(dir_ / "dump"), testing::UnorderedElementsAre("conv/out", "rest/t", "deep/er/last/t"));
}

TEST_F(FileSets, ADirectoryWithOneArchiveHasItsNames) {
  save("dump/layers.npz");
  EXPECT_THAT(names(dir_ / "dump"), ElementsAre("t"));
}

TEST_F(FileSets, TwoNpyFilesHoldTheSameTensorWhateverTheirNames) {
  save("a.npy");
  EXPECT_THAT(names(dir_ / "a.npy"), ElementsAre("tensor"));
}

TEST_F(FileSets, LinksInACircleEnd) {
  save("dump/a.npy");
  std::filesystem::create_directory_symlink(dir_ / "dump", dir_ / "dump/again");
  EXPECT_THAT(names(dir_ / "dump"), ElementsAre("a"));
}

TEST_F(FileSets, SayWhatIsMissingOrDamaged) {
  std::filesystem::create_directories(dir_ / "empty");
  EXPECT_THAT(names(dir_ / "empty").front(), HasSubstr("there is no tensor in '"));
  ASSERT_TRUE(base::write_file(dir_ / "text.npy", "not an array"));
  EXPECT_THAT(names(dir_ / "text.npy").front(), HasSubstr("text.npy"));
  EXPECT_THAT(open_capture(dir_ / "empty").status().message(), HasSubstr("empty"));
  EXPECT_THAT(open_whole_tensors(dir_ / "empty").status().message(), HasSubstr("kept no tensor whole"));
}

TEST_F(FileSets, LoadTheValuesOfEachTensor) {
  save("dump/a.npy");
  save("dump/b.npz");
  const auto set = open_tensor_files(dir_ / "dump");
  ASSERT_TRUE(set);
  for (std::size_t i = 0; i < (*set)->entries().size(); ++i) {
    const auto loaded = (*set)->load(i);
    ASSERT_TRUE(loaded) << loaded.status().message();
    EXPECT_EQ(loaded->view.shape, Shape({2}));
    EXPECT_EQ(tensor::to_doubles(loaded->view)->at(1), 2);  // of a mapped file, so at any address
  }
}

}  // namespace
}  // namespace sonde::compare
