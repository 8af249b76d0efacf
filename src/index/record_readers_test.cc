#include "index/record_readers.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "formats/tfevents.h"
#include "formats/tfrecord.h"
#include "index/index_testing.h"

namespace sonde::index {
namespace {

// Bytes with an unreadable part in the middle: reading it crashes.
class PartlyHidden {
 public:
  PartlyHidden(const std::string& bytes, std::size_t hidden_from, std::size_t hidden_to) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    size_ = (bytes.size() / page + 2) * page;
    memory_ =
        static_cast<std::byte*>(::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::memcpy(memory_, bytes.data(), bytes.size());
    bytes_ = base::Bytes(memory_, bytes.size());
    const std::size_t first = (hidden_from + page - 1) / page * page;
    pages_ = hidden_to / page - first / page;
    EXPECT_EQ(::mprotect(memory_ + first, pages_ * page, PROT_NONE), 0);
  }
  ~PartlyHidden() { ::munmap(memory_, size_); }
  PartlyHidden(const PartlyHidden&) = delete;
  PartlyHidden& operator=(const PartlyHidden&) = delete;
  base::Bytes bytes() const { return bytes_; }
  std::size_t pages() const { return pages_; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;
  std::size_t pages_ = 0;
  base::Bytes bytes_;
};

// The payload of the one record in a file.
std::string payload_of(const std::string& file) {
  tfrecord::RecordReader reader(base::as_bytes(file));
  EXPECT_EQ(reader.next(), tfrecord::RecordReader::Found::record);
  return std::string(base::as_text(reader.payload()));
}

TEST(Payload, OfAnImageIsNotLookedAt) {
  const std::string blob(100'000, 'x');
  std::string summary;
  const std::vector<std::string_view> pictures = {blob};
  tfevents::put_images(summary, "picture", 8, 8, pictures, true);
  std::string file;
  tfevents::put_summary_event(file, kStart, 3, summary);
  const std::string payload = payload_of(file);
  const std::size_t at = payload.find(blob);
  ASSERT_NE(at, std::string::npos);
  const PartlyHidden hidden(payload, at, at + blob.size());
  ASSERT_GE(hidden.pages(), 20U);
  RunData run;
  run.files.emplace_back();
  EventReader(run, 0).read(0, hidden.bytes());
  ASSERT_EQ(run.series().size(), 1U);
  EXPECT_EQ(run.series().front().tag, "picture");
  EXPECT_EQ(run.series().front().kind, TagKind::images);
}

// A histogram has three numbers per bucket; only the outermost fields are parsed.
TEST(Payload, OfAHistogramIsNotLookedAt) {
  const std::vector<stats::Bucket> buckets(10'000, stats::Bucket{1, 2, 3});
  std::string summary;
  tfevents::put_histogram(summary, "weights", buckets, true);
  std::string file;
  tfevents::put_summary_event(file, kStart, 3, summary);
  const std::string payload = payload_of(file);
  std::string bucket;
  for (const double number : {1.0, 2.0, 3.0}) base::put(bucket, number);
  const std::size_t at = payload.find(bucket);
  ASSERT_NE(at, std::string::npos);
  const PartlyHidden hidden(payload, at, payload.rfind(bucket));
  ASSERT_GE(hidden.pages(), 50U);
  RunData run;
  run.files.emplace_back();
  EventReader(run, 0).read(0, hidden.bytes());
  ASSERT_EQ(run.series().size(), 1U);
  EXPECT_EQ(run.series().front().kind, TagKind::histograms);
}

}  // namespace
}  // namespace sonde::index
