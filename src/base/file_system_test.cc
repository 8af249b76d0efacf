// Every file operation of this module, failed in every way: existing files stay complete, leftovers are removed, the
// error names the file, and everything continues when the fault is over.
#include "base/file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/directory.h"
#include "base/faults_testing.h"
#include "base/file.h"
#include "base/fixed_file.h"
#include "base/input_file.h"
#include "base/numbered_directory.h"
#include "base/replace_file.h"
#include "base/small_disk_testing.h"
#include "base/temp_dir_testing.h"

namespace sonde::base {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string kNew(100'000, 'n');

TEST(Faults, FailTheOperationThatIsAskedForAndNoOther) {
  const TempDir dir;
  Faults faults;
  faults.add({.operation = FileOperation::write, .error = EIO, .nth = 2, .path = "log"});
  auto file = AppendFile::create(dir / "log");
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(write_file(dir / "other", "x").ok());
  EXPECT_TRUE(file->append("one").ok());
  EXPECT_EQ(file->append("two").message(), "cannot write '" + (dir / "log") + "': Input/output error");
  EXPECT_TRUE(file->append("three").ok());
  EXPECT_EQ(*read_file(dir / "log"), "onethree");
  EXPECT_EQ(faults.fired(), 1U);
  EXPECT_EQ(faults.seen(FileOperation::write), 4U);
}

TEST(Faults, CanLastUntilTheyAreCleared) {
  const TempDir dir;
  Faults faults;
  faults.add({.operation = FileOperation::write, .error = ENOSPC, .persistent = true});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(write_file(dir / "x", "text").code(), Code::no_space);
  EXPECT_EQ(faults.fired(), 3U);
  faults.clear();
  EXPECT_TRUE(write_file(dir / "x", "text").ok());
}

TEST(Faults, AreGoneWithTheirObject) {
  const TempDir dir;
  {
    Faults faults;
    faults.add({.operation = FileOperation::open, .error = EMFILE, .persistent = true});
    EXPECT_FALSE(write_file(dir / "x", "text").ok());
  }
  EXPECT_TRUE(write_file(dir / "x", "text").ok());
}

TEST(SmallDisk, FillsUpAndRegainsRemovedSpace) {
  test_on_small_disk(64 << 10, [](SmallDisk& disk) {
    const std::string block(40 << 10, 'x');
    if (!write_file(disk / "a", block).ok()) return 1;
    if (write_file(disk / "b", block).code() != Code::no_space) return 2;
    if (names_in(disk.path()) != std::vector<std::string>{"a"}) return 3;
    if (!remove_file(disk / "a").ok() || !write_file(disk / "b", block).ok()) return 4;
    disk.fill();
    if (write_file(disk / "c", "text").code() != Code::no_space) return 5;
    disk.free();
    return write_file(disk / "c", "text").ok() ? 0 : 6;
  });
}

// The final name holds the old content, or the complete new one.
TEST(EveryFault, LeavesAReplacedFileWhole) {
  const auto met = for_each_fault([](Faults& faults, Fault fault) {
    const TempDir dir;
    const std::string path = dir / "data";
    ASSERT_TRUE(write_file(path, "old").ok());
    fault.path = dir.path();
    faults.add(fault);
    const bool synced = fault.nth % 2 == 0;
    const Status status = [&]() -> Status {
      auto file = ReplaceFile::create(path);
      if (!file) return file.error();
      for (const char* piece : {"a", "b"}) {
        if (Status appended = file->append(piece + kNew); !appended) return appended;
      }
      return synced ? file->commit_synced() : file->commit();
    }();
    const bool fired = faults.fired() > 0;
    faults.clear();
    const std::string content = *read_file(path);
    ASSERT_THAT(content, AnyOf("old", "a" + kNew + "b" + kNew));
    if (status.ok()) {
      EXPECT_NE(content, "old");
    } else {
      EXPECT_THAT(status.message(), HasSubstr(dir.path()));
      EXPECT_THAT(status.message(), Not(HasSubstr(".part-")));
      EXPECT_FALSE(fault.harmless()) << status.message();
    }
    const bool could_remove = fault.operation != FileOperation::remove;
    if (could_remove) {
      EXPECT_THAT(names_in(dir.path()), ElementsAre("data"));
    }
    const bool matters = fault.operation == FileOperation::write || fault.operation == FileOperation::rename;
    if (fired && matters && !fault.harmless()) {
      EXPECT_FALSE(status.ok());
    }
    ASSERT_TRUE(write_file(path, "later").ok());
    EXPECT_EQ(*read_file(path), "later");
  });
  EXPECT_GT(met, 50U);
}

TEST(EveryFault, LeavesWholeRecordsInAFileThatGrows) {
  const auto met = for_each_fault([](Faults& faults, Fault fault) {
    const TempDir dir;
    const std::string path = dir / "log";
    fault.path = path;
    faults.add(fault);
    std::string expected;
    bool refused = false;
    {
      auto file = AppendFile::create(path);
      if (!file) {
        EXPECT_THAT(file.error().message(), HasSubstr(path));
        EXPECT_FALSE(fault.harmless());
        return;
      }
      for (const char* record : {"[first]", "[second]", "[third]"}) {
        const Status status = file->append(record);
        if (status.ok()) expected += record;
        refused = refused || !status.ok();
        if (!status.ok()) {
          EXPECT_THAT(status.message(), HasSubstr(path));
        }
        EXPECT_EQ(file->size(), expected.size());
      }
      faults.clear();
      ASSERT_TRUE(file->append("[last]").ok());
    }
    EXPECT_EQ(*read_file(path), expected + "[last]");
    if (fault.harmless()) {
      EXPECT_FALSE(refused);
    }
  });
  EXPECT_GT(met, 20U);
}

// The second fault is the worst one: the half-written record cannot be removed at once.
TEST(AppendFile, NeverAppendsAfterHalfARecord) {
  const TempDir dir;
  Faults faults;
  auto file = AppendFile::create(dir / "log");
  ASSERT_TRUE(file.ok() && file->append("[first]").ok());
  faults.add({.operation = FileOperation::write, .error = ENOSPC, .half_first = true, .path = "log"});
  faults.add({.operation = FileOperation::truncate, .error = EIO, .persistent = true, .path = "log"});
  EXPECT_EQ(file->append("[second]").code(), Code::no_space);
  EXPECT_EQ(file->append("[third]").message(),
            "cannot truncate half a record in '" + (dir / "log") + "': Input/output error");
  faults.clear();
  ASSERT_TRUE(file->append("[fourth]").ok());
  EXPECT_EQ(*read_file(dir / "log"), "[first][fourth]");
}

TEST(EveryFault, LeavesANumberedDirectoryWholeOrNotThere) {
  const auto met = for_each_fault([](Faults& faults, Fault fault) {
    const TempDir dir;
    const std::string parent = dir / "below/captures";
    fault.path = dir.path();
    faults.add(fault);
    const Status status = [&]() -> Status {
      auto made = NumberedDirectory::create(parent);
      if (!made) return made.error();
      if (Status written = write_file(join_path(made->path(), "file"), "text"); !written) return written;
      return made->commit("x");
    }();
    faults.clear();
    if (status.ok()) {
      EXPECT_EQ(*read_file(join_path(parent, "1-x/file")), "text");
    } else {
      EXPECT_FALSE(fault.harmless()) << status.message();
      EXPECT_THAT(status.message(), HasSubstr(dir.path()));
      if (fault.operation != FileOperation::remove) {
        EXPECT_THAT(names_in(parent), IsEmpty());
      }
    }
    auto next = NumberedDirectory::create(parent);
    ASSERT_TRUE(next.ok() && next->commit("next").ok());
    for (const std::string& name : names_in(parent)) EXPECT_THAT(name, Not(StartsWith(".part-")));
  });
  EXPECT_GT(met, 20U);
}

TEST(EveryFault, LeavesNoRingThatCouldNotBeCreated) {
  const auto met = for_each_fault([](Faults& faults, Fault fault) {
    const TempDir dir;
    fault.path = dir.path();
    faults.add(fault);
    {
      auto mapping = FixedFile::create(dir / "flight-", ".ring", 8192);
      if (mapping.ok()) {
        EXPECT_EQ(mapping->size(), 8192U);
        faults.clear();
        EXPECT_TRUE(mapping->remove().ok());
      } else {
        EXPECT_FALSE(fault.harmless()) << mapping.error().message();
        EXPECT_THAT(mapping.error().message(), HasSubstr(dir.path()));
      }
    }
    if (fault.operation != FileOperation::remove) {
      EXPECT_THAT(names_in(dir.path()), IsEmpty());
    }
    faults.clear();
    EXPECT_TRUE(FixedFile::create(dir / "flight-", ".ring", 8192).ok());
  });
  EXPECT_GT(met, 10U);
}

TEST(EveryFault, OfAReaderIsHarmlessOrAnErrorThatNamesTheFile) {
  const auto met = for_each_fault([](Faults& faults, Fault fault) {
    const TempDir dir;
    ASSERT_TRUE(write_file(dir / "data", kNew).ok());
    fault.path = dir.path();
    faults.add(fault);
    const auto check = [&](const Status& status) {
      if (status.ok()) return;
      EXPECT_FALSE(fault.harmless()) << status.message();
      EXPECT_THAT(status.message(), HasSubstr(dir.path()));
    };
    const auto whole = read_file(dir / "data");
    check(whole.status());
    if (whole.ok()) {
      EXPECT_EQ(*whole, kNew);
    }
    const auto mapped = MappedFile::open(dir / "data");
    check(mapped.status());
    if (mapped.ok()) {
      EXPECT_EQ(mapped->bytes().size(), kNew.size());
    }
    const auto input = InputFile::open(dir / "data");
    check(input.status());
    if (input.ok()) {
      const auto some = input->read_up_to(200'000);
      check(some.status());
      if (some.ok()) {
        EXPECT_EQ(*some, kNew);
      }
    }
    const auto names = read_directory(dir.path());
    check(names.status());
    if (names.ok()) {
      EXPECT_EQ(names->entries.size(), 1U);
    }
  });
  EXPECT_GT(met, 10U);
}

TEST(EveryFault, OfDirectoriesIsAnErrorThatNamesThem) {
  const auto met = for_each_fault([](Faults& faults, Fault fault) {
    const TempDir dir;
    ASSERT_TRUE(write_file(dir / "from", "x").ok());
    fault.path = dir.path();
    faults.add(fault);
    for (const Status& status :
         {make_directories(dir / "a/b/c"), make_private_directory(dir / "d/e"), make_new_directory(dir / "f"),
          remove_empty_directory(dir / "f"), move_entry(dir / "from", dir / "to"), remove_file(dir / "to")}) {
      if (status.ok()) continue;
      EXPECT_FALSE(fault.harmless()) << status.message();
      EXPECT_THAT(status.message(), HasSubstr(dir.path()));
    }
    faults.clear();
    EXPECT_TRUE(make_directories(dir / "a/b/c").ok());
    EXPECT_TRUE(file_state(dir / "a/b/c").ok());
  });
  EXPECT_GT(met, 15U);
}

}  // namespace
}  // namespace sonde::base
