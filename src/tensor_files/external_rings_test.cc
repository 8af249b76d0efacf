#include "tensor_files/external_rings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "base/directory.h"
#include "base/file.h"
#include "base/process.h"
#include "base/temp_dir_testing.h"

namespace sonde::tensor_files {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ExternalRings : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(base::make_directories(run_).ok());
    ASSERT_TRUE(base::write_file(ring_, "ring").ok());
  }
  base::TempDir dir_;
  const std::string run_ = dir_ / "run";
  const std::string ring_ = *base::real_path(dir_.path()) + "/flight-" + base::host_name() + "-1-0.ring";
  const std::string note_ = dir_ / "run/flight-w.1.elsewhere";
};

TEST_F(ExternalRings, AreFoundAsLongAsTheyAreThere) {
  EXPECT_THAT(external_rings(run_), IsEmpty());
  const std::array rings = {dir_ / ("flight-" + base::host_name() + "-1-1.ring"), ring_};
  ASSERT_TRUE(note_external_rings(run_, "w.1", rings).ok());
  ASSERT_TRUE(note_external_rings(run_, "w.2", {&ring_, 1}).ok());
  EXPECT_THAT(external_rings(run_), ElementsAre(ring_));
  ASSERT_TRUE(note_external_rings(run_, "w.1", {}).ok());
  EXPECT_FALSE(base::file_state(note_).ok());
  EXPECT_THAT(external_rings(run_), ElementsAre(ring_));
  ASSERT_TRUE(base::remove_file(ring_).ok());
  EXPECT_THAT(external_rings(run_), IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(run_)) << "what names no ring any more is removed";
}

TEST_F(ExternalRings, OfAnotherMachineStayNoted) {
  const std::string other = dir_ / "flight-elsewhere-1-0.ring";
  ASSERT_TRUE(note_external_rings(run_, "w.1", {&other, 1}).ok());
  EXPECT_THAT(external_rings(run_), IsEmpty());
  EXPECT_TRUE(base::file_state(note_).ok());
}

TEST_F(ExternalRings, IgnoreOtherFiles) {
  ASSERT_TRUE(base::write_file(dir_ / "run/flight-w.elsewhere", "relative.ring\n" + note_ + "\n\n").ok());
  EXPECT_THAT(external_rings(run_), IsEmpty());
  ASSERT_TRUE(base::write_file(dir_ / "real", ring_ + "\n").ok());
  std::filesystem::create_symlink(dir_ / "real", note_);
  EXPECT_THAT(external_rings(run_), IsEmpty());
  std::filesystem::remove(note_);
  ASSERT_TRUE(note_external_rings(run_, "w.1", {&ring_, 1}).ok());
  if (::chown(note_.c_str(), 12345, static_cast<gid_t>(-1)) != 0) return;  // not everybody may give files away
  EXPECT_THAT(external_rings(run_), IsEmpty());
}

}  // namespace
}  // namespace sonde::tensor_files
