// For any bytes: no crash, no hang, all valid records are read, the damage is named.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>

#include "formats/tfevents_decode.h"
#include "index/index_testing.h"
#include "index/record_readers.h"
#include "index/run_index.h"
#include "tests/test_data.h"

namespace sonde::index {
namespace {

using tfrecord::RecordReader;

// A small log that holds everything that the real writers write.
std::string golden_file() {
  std::string all;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(SONDE_TEST_DATA) / "tensorboardx")) {
    if (entry.is_regular_file() && entry.file_size() < 20'000) all += *base::read_file(entry.path().string());
  }
  return all;
}

std::vector<std::pair<std::uint64_t, std::size_t>> records_of(std::string_view file) {
  std::vector<std::pair<std::uint64_t, std::size_t>> records;
  RecordReader reader(base::as_bytes(file), RecordReader::Tail::complete);
  while (reader.next() == RecordReader::Found::record) records.emplace_back(reader.offset(), reader.size());
  return records;
}

struct Found {
  std::map<std::uint64_t, std::size_t> records;  // that were used, by offset
  std::size_t damaged = 0;                       // bytes
  std::uint64_t first_damage = 0;
};

// What the index makes of a file, without the file system in between.
Found read_all(std::string_view bytes) {
  RunData run;
  run.files.emplace_back();
  EventReader events(run, 0);
  Found found;
  RecordReader reader(base::as_bytes(bytes), RecordReader::Tail::complete);
  for (auto what = reader.next(); what != RecordReader::Found::end; what = reader.next()) {
    if (what == RecordReader::Found::record) {
      found.records[reader.offset()] = reader.size();
      events.read(reader.offset(), reader.payload());
    } else {
      run.add_damage({0, reader.offset(), reader.size(), std::string(reader.reason())});
    }
  }
  for (const FoundDamage& damage : run.damage) {
    EXPECT_FALSE(damage.reason.empty());
    if (found.damaged == 0) found.first_damage = damage.offset;
    found.damaged += damage.size;
  }
  return found;
}

TEST(BadInput, EverySingleByteThatIsChangedCostsItsRecordOnlyAndIsNamed) {
  const std::string golden = golden_file();
  const auto records = records_of(golden);
  ASSERT_GT(records.size(), 10U);
  ASSERT_EQ(read_all(golden).damaged, 0U);
  std::string bytes = golden;
  std::size_t record = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    while (at >= records[record].first + records[record].second) ++record;
    for (const int change : {0x01, 0x80, 0xff}) {
      bytes[at] = static_cast<char>(golden[at] ^ change);
      const Found found = read_all(bytes);
      ASSERT_EQ(found.records.size(), records.size() - 1) << "byte " << at;
      ASSERT_FALSE(found.records.contains(records[record].first)) << "byte " << at;
      ASSERT_EQ(found.damaged, records[record].second) << "byte " << at;
      ASSERT_EQ(found.first_damage, records[record].first) << "byte " << at;
    }
    bytes[at] = golden[at];
  }
}

TEST(BadInput, EveryTruncationKeepsTheCompleteRecords) {
  base::TempDir dir;
  const std::string golden = golden_file().substr(0, 6000);
  const auto records = records_of(golden);
  ASSERT_GT(records.size(), 10U);
  const std::string path = dir / std::string(kEvents);
  RunIndex run("r", dir.path(), "");
  std::size_t whole = 0;
  for (std::size_t size = 0; size <= golden.size(); ++size) {
    if (size > 0) append(path, std::string_view(golden).substr(size - 1, 1));
    run.update();
    while (whole < records.size() && records[whole].first + records[whole].second <= size) ++whole;
    const std::uint64_t expected = whole == 0 ? 0 : records[whole - 1].first + records[whole - 1].second;
    const auto files = run.files();
    ASSERT_EQ(files.empty() ? 0 : files[0].read, expected) << "size " << size;
    ASSERT_TRUE(run.damage().empty()) << "size " << size;
  }
}

TEST(BadInput, DamageInAFileIsFoundInEveryWindowInWhichItIsRead) {
  base::TempDir dir;
  std::string file = version();
  std::vector<std::size_t> ends;
  for (int i = 0; i < 60'000; ++i) {  // several windows
    file += scalar("loss", i, i);
    ends.push_back(file.size());
  }
  std::size_t damaged = 0;
  for (std::size_t i = 500; i < ends.size(); i += 7001) {
    file[ends[i] - 10] ^= 1;       // in the payload
    file[ends[i - 100] + 3] ^= 1;  // in the length of the next record
    damaged += 2;
  }
  append(dir / "r/" + std::string(kEvents), file);
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(steps_of(run, "loss").size(), 60'000 - damaged);
  EXPECT_EQ(run.damage().size(), damaged);
}

TEST(BadInput, ImpossibleLengthsAllocateNothingAndAreNamed) {
  for (const std::uint64_t length : {std::uint64_t{1} << 63, ~std::uint64_t{0}, std::uint64_t{1} << 40}) {
    base::TempDir dir;
    std::string header;
    base::put(header, length);
    base::put(header, base::masked_crc32c(base::as_bytes(header)));
    append(dir / "r/" + std::string(kEvents),
           version() + scalar("loss", 0, 0) + header + std::string(1 << 20, 'x') + scalar("loss", 1, 1));
    const sonde::Run run = *open(dir.path()).run("r");
    EXPECT_EQ(steps_of(run, "loss"), (std::vector<std::int64_t>{0, 1}));
    ASSERT_FALSE(run.damage().empty());
    EXPECT_EQ(run.damage()[0].reason, "the length is impossible: over 2 GiB");
  }
}

TEST(BadInput, ALengthBeyondTheFileWaitsForTheRest) {
  base::TempDir dir;
  std::string header;
  base::put(header, std::uint64_t{1} << 30);
  base::put(header, base::masked_crc32c(base::as_bytes(header)));
  append(dir / "r/" + std::string(kEvents), version() + scalar("loss", 0, 0) + header + std::string(1 << 20, 'x'));
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(steps_of(run, "loss"), (std::vector<std::int64_t>{0}));
  EXPECT_TRUE(run.damage().empty());
  EXPECT_EQ(run.files()[0].error, "");
}

TEST(BadInput, ALogOfZeroBytesHasNoTags) {
  base::TempDir dir;
  append(dir / "r/" + std::string(kEvents), "");
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_TRUE(run.tags().empty());
  EXPECT_TRUE(run.damage().empty());
  EXPECT_EQ(run.start_time(), 0);
}

TEST(BadInput, AMissingDirectoryIsOneSentence) {
  base::TempDir dir;
  const auto log = Log::open(dir / "missing");
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code(), Code::not_found);
  EXPECT_EQ(log.error().message(), "cannot read the directory '" + dir / "missing" + "': No such file or directory");
  append(dir / "file", "x");
  EXPECT_FALSE(Log::open(dir / "file"));
}

// While it lives the process, with all of its threads, has the rights of an ordinary user. If the system does not let
// root switch users, as in some containers, root usually has no other rights either.
class OrdinaryUser {
 public:
  OrdinaryUser() : before_(::geteuid()) {
    constexpr uid_t kNobody = 65534;
    if (before_ == 0) (void)!::seteuid(kNobody);
  }
  ~OrdinaryUser() {
    if (::seteuid(before_) != 0) ADD_FAILURE() << "cannot become root again";
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;

 private:
  uid_t before_;
};

TEST(BadInput, UnreadableFilesAreNamedAndTheRestIsRead) {
  base::TempDir dir;
  append(dir / "closed/" + std::string(kEvents), version());
  append(dir / "r/events.out.tfevents.1", version() + scalar("loss", 0, 0));
  append(dir / "r/events.out.tfevents.2", version());
  using std::filesystem::perms;
  std::filesystem::permissions(
      dir.path(), perms::owner_all | perms::group_read | perms::group_exec | perms::others_read | perms::others_exec);
  std::filesystem::permissions(dir / "closed", std::filesystem::perms::none);
  std::filesystem::permissions(dir / "r/events.out.tfevents.2", std::filesystem::perms::none);
  {
    const OrdinaryUser user;
    if (::access((dir / "closed").c_str(), R_OK) == 0 && ::geteuid() == 0) return;  // who may read everything anyway
    const Log log = open(dir.path());
    log.wait();
    ASSERT_EQ(log.problems().size(), 1U);
    EXPECT_NE(log.problems()[0].find("closed': Permission denied"), std::string::npos);
    EXPECT_EQ(steps_of(*log.run("r"), "loss").size(), 1U);
    EXPECT_NE(log.run("r")->files()[1].error.find("Permission denied"), std::string::npos);
  }
  std::filesystem::permissions(dir / "closed", std::filesystem::perms::owner_all);
}

TEST(BadInput, AFileThatVanishesBetweenListingAndReadingIsNoError) {
  base::TempDir dir;
  append(dir / "r/" + std::string(kEvents), version() + scalar("loss", 0, 0));
  std::filesystem::create_symlink(dir / "gone", dir / "r/events.out.tfevents.9");
  Log log = open(dir.path());
  EXPECT_EQ(steps_of(*log.run("r"), "loss").size(), 1U);
  std::filesystem::remove(dir / "r/" + std::string(kEvents));
  log.refresh();
  EXPECT_TRUE(log.runs().empty());
}

TEST(BadInput, ADirectoryOrAPipeNamedLikeAnEventFileIsPassedOver) {
  base::TempDir dir;
  std::filesystem::create_directories(dir / "r/events.out.tfevents.directory");
  append(dir / "r/" + std::string(kEvents), version() + scalar("loss", 0, 0));
  ASSERT_EQ(::mkfifo((dir / "r/events.out.tfevents.pipe").c_str(), 0600), 0);
  const Log log = open(dir.path());
  EXPECT_EQ(log.runs().size(), 1U);
  EXPECT_EQ(steps_of(*log.run("r"), "loss").size(), 1U);
}

}  // namespace
}  // namespace sonde::index
