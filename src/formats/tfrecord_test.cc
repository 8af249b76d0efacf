#include "formats/tfrecord.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

namespace sonde::tfrecord {
namespace {

using Found = RecordReader::Found;
using Tail = RecordReader::Tail;
using testing::ElementsAre;

struct Scan {
  std::vector<std::string> payloads;
  std::vector<std::uint64_t> offsets;
  std::vector<std::tuple<std::uint64_t, std::size_t, std::string>> damage;  // offset, size, reason
  bool partial = false;
  std::uint64_t stopped_at = 0;
};

Scan scan(std::string_view bytes, Tail tail = Tail::growing) {
  Scan result;
  RecordReader reader(base::as_bytes(bytes), tail);
  std::uint64_t expected_offset = 0;
  for (;;) {
    const Found found = reader.next();
    EXPECT_EQ(reader.offset(), expected_offset) << "nothing may be passed over in silence";
    expected_offset += reader.size();
    result.stopped_at = reader.offset();
    if (found == Found::record) {
      result.payloads.emplace_back(base::as_text(reader.payload()));
      result.offsets.push_back(reader.offset());
    } else if (found == Found::damage) {
      result.damage.emplace_back(reader.offset(), reader.size(), reader.reason());
    } else {
      result.partial = found == Found::partial;
      EXPECT_EQ(reader.next(), found) << "the end stays the end";
      EXPECT_EQ(expected_offset, bytes.size());
      return result;
    }
  }
}

std::string three_records() {
  std::string file;
  put_record(file, "first");
  put_record(file, "");
  put_record(file, std::string(700, 'x'));
  return file;
}

// What tensorboard.summary.writer.record_writer.RecordWriter makes of b"abc".
TEST(Tfrecord, FramesAsTensorBoardDoes) {
  std::string file;
  put_record(file, "abc");
  EXPECT_EQ(file, std::string("\x03\0\0\0\0\0\0\0\xb0\x99\x49\x0e"
                              "abc"
                              "\x6e\x57\xf1\x21",
                              19));
}

TEST(Tfrecord, WritesTheSameInPlaceAsFromACopy) {
  std::string copied = "before";
  put_record(copied, "payload");
  std::string in_place = "before";
  const std::size_t record = begin_record(in_place);
  in_place += "pay";
  in_place += "load";
  end_record(in_place, record);
  EXPECT_EQ(in_place, copied);
}

TEST(RecordReader, GivesEveryRecordWithItsOffset) {
  const Scan found = scan(three_records());
  EXPECT_THAT(found.payloads, ElementsAre("first", "", std::string(700, 'x')));
  EXPECT_THAT(found.offsets, ElementsAre(0, 21, 37));
  EXPECT_TRUE(found.damage.empty());
  EXPECT_FALSE(found.partial);
}

TEST(RecordReader, FindsNothingInAnEmptyFile) {
  const Scan found = scan("");
  EXPECT_TRUE(found.payloads.empty());
  EXPECT_FALSE(found.partial);
}

TEST(RecordReader, ShiftsOffsetsByTheBase) {
  const std::string file = three_records();
  RecordReader reader(base::as_bytes(file).subspan(21), Tail::growing, 21);
  ASSERT_EQ(reader.next(), Found::record);
  EXPECT_EQ(reader.offset(), 21u);
}

TEST(RecordReader, WaitsAtEveryTruncation) {
  const std::string file = three_records();
  const std::vector<std::size_t> ends = {0, 21, 37, 753};
  for (std::size_t size = 0; size < file.size(); ++size) {
    const Scan found = scan(std::string_view(file).substr(0, size));
    std::size_t whole = 0;
    while (ends[whole + 1] <= size) ++whole;
    ASSERT_EQ(found.payloads.size(), whole) << size;
    ASSERT_TRUE(found.damage.empty()) << size;
    ASSERT_EQ(found.partial, ends[whole] != size) << size;
    ASSERT_EQ(found.stopped_at, ends[whole]) << "it must go on from the record's beginning";
  }
}

TEST(RecordReader, ReadsEverythingBeforeAndAfterASingleDamagedByte) {
  std::string file;
  for (const char* payload : {"one", "two", "three", "four"}) put_record(file, payload);
  const std::vector<std::size_t> begins = {0, 19, 38, 59};
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = file;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      std::size_t hit = 3;
      while (begins[hit] > at) --hit;
      for (const Tail tail : {Tail::growing, Tail::complete}) {
        const Scan found = scan(damaged, tail);
        // The last record's broken length leaves a few bytes in which a record may still begin.
        ASSERT_GE(found.damage.size(), 1u) << at;
        ASSERT_EQ(std::get<0>(found.damage.front()), begins[hit]) << at;
        ASSERT_EQ(found.payloads.size(), 3u) << at;
        std::size_t i = 0;
        for (std::size_t record = 0; record < 4; ++record) {
          if (record == hit) continue;
          ASSERT_EQ(found.offsets[i++], begins[record]) << at;
        }
        ASSERT_FALSE(tail == Tail::complete && found.partial) << at;
      }
    }
  }
}

TEST(RecordReader, NamesWhatIsWrong) {
  std::string file = three_records();
  file[2] = 'x';
  EXPECT_EQ(std::get<2>(scan(file).damage.at(0)), "the checksum of the length is wrong");
  file = three_records();
  file[14] = 'x';
  EXPECT_EQ(std::get<2>(scan(file).damage.at(0)), "the checksum of the payload is wrong");
  file = three_records();
  file.pop_back();
  EXPECT_EQ(std::get<2>(scan(file, Tail::complete).damage.at(0)), "the file ends in the middle of a record");
}

TEST(RecordReader, FindsRecordsAfterMissingBytes) {
  std::string file;
  put_record(file, std::string(100, 'a'));
  file.resize(60);  // torn, and then somebody continued
  put_record(file, "after");
  put_record(file, std::string(200, 'b'));
  EXPECT_THAT(scan(file).payloads, ElementsAre("after", std::string(200, 'b')));
}

TEST(RecordReader, FindsRecordsInsideACutOffOneOfACompleteFile) {
  std::string file;
  put_record(file, std::string(1000, 'a'));
  file.resize(60);
  put_record(file, "after");
  EXPECT_TRUE(scan(file, Tail::growing).partial);
  EXPECT_THAT(scan(file, Tail::complete).payloads, ElementsAre("after"));
}

TEST(RecordReader, ContinuesAfterZeros) {
  std::string file = three_records();
  file.append(5000, '\0');
  put_record(file, "after");
  const Scan found = scan(file);
  EXPECT_EQ(found.payloads.back(), "after");
  ASSERT_EQ(found.damage.size(), 1u);
  EXPECT_EQ(std::get<1>(found.damage[0]), 5000u);
}

TEST(RecordReader, ContinuesASearchWithTheBytesThatFollow) {
  std::string file(40, '\xee');
  const Scan first = scan(file);
  ASSERT_TRUE(first.partial);
  put_record(file, "after");
  RecordReader reader(base::as_bytes(file).subspan(first.stopped_at), Tail::growing, first.stopped_at);
  ASSERT_EQ(reader.next(), Found::damage);
  ASSERT_EQ(reader.next(), Found::record);
  EXPECT_EQ(reader.offset(), 40u);
}

TEST(RecordReader, BelievesNoHugeLength) {
  for (const std::uint64_t length : {~std::uint64_t{0}, ~std::uint64_t{0} - 15, std::uint64_t{1} << 63}) {
    std::string file;
    base::put(file, length);
    base::put(file, base::masked_crc32c(base::as_bytes(file)));
    file += "payload";
    EXPECT_TRUE(scan(file, Tail::growing).partial);
    EXPECT_EQ(scan(file, Tail::complete).damage.size(), 1u);
  }
}

}  // namespace
}  // namespace sonde::tfrecord
