#include "base/temporary_file.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/file.h"
#include "base/input_file.h"

namespace sonde::base {
namespace {

TEST(TemporaryFile, ExistsAsLongAsTheObject) {
  std::string path;
  {
    Result<TemporaryFile> file = TemporaryFile::create("a.onnx", "content");
    ASSERT_TRUE(file) << file.status().message();
    path = file->path();
    EXPECT_TRUE(path.ends_with("a.onnx"));
    EXPECT_EQ(*read_file(path), "content");
    const TemporaryFile moved = std::move(*file);
    EXPECT_EQ(moved.path(), path);
  }
  EXPECT_FALSE(file_state(path));
}

TEST(TemporaryFile, HasANameOfItsOwn) { EXPECT_NE(temporary_path("x"), temporary_path("x")); }

}  // namespace
}  // namespace sonde::base
