// What killed processes left: rings that become captures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <random>
#include <span>
#include <thread>

#include "base/crc32c.h"
#include "base/file.h"
#include "base/file_lock.h"
#include "base/fixed_file.h"
#include "base/input_file.h"
#include "base/process.h"
#include "formats/flight_layout.h"
#include "sonde/tensor_io.h"
#include "tensor_files/captures_testing.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A ring's file as a process leaves it; sinks/flight_ring.h has the writer that goes round.
class RingImage {
 public:
  explicit RingImage(std::vector<std::string> allowed = {})
      : file_(
            flight::encode_header({.host = "box", .pid = 42, .writer = "w.1", .start_time = 1.5}, kCapacity, allowed)) {
    file_.resize(flight::kHeaderBytes + kCapacity);
  }

  void add(std::int64_t number, const std::vector<float>& values, std::string_view name = "x") {
    std::string meta;
    flight::put_tensor_meta(meta, {.step = number,
                                   .wall_time = 10,
                                   .kind = Kind::input,
                                   .name = name,
                                   .shape = {static_cast<std::int64_t>(values.size())}});
    entry(flight::EntryType::tensor, meta, std::as_bytes(std::span(values)));
    ++tensors_;
  }
  void end_step(std::int64_t number, std::uint64_t dropped = 0) {
    std::string meta;
    flight::put_step_end_meta(meta, {.step = number, .wall_time = 20, .tensors = tensors_, .dropped = dropped});
    entry(flight::EntryType::step_end, meta, {});
    std::memcpy(file_.data() + flight::kEndOffset, &position_, sizeof position_);
    first_ = position_;
    tensors_ = 0;
  }
  std::string& file() { return file_; }

 private:
  static constexpr std::uint64_t kCapacity = 65536;

  void entry(flight::EntryType type, std::string_view meta, base::Bytes data) {
    auto* at = reinterpret_cast<std::byte*>(file_.data()) + flight::kHeaderBytes + position_;
    std::memcpy(at + flight::kUnit, meta.data(), meta.size());
    if (!data.empty()) std::memcpy(at + flight::kUnit + flight::round_up(meta.size()), data.data(), data.size());
    const flight::EntryHeader header = {.type = type,
                                        .sequence = ++sequence_,
                                        .position = position_,
                                        .step = first_,
                                        .size = flight::entry_size(meta.size(), data.size()),
                                        .data_bytes = data.size(),
                                        .meta_bytes = static_cast<std::uint32_t>(meta.size()),
                                        .body_checksum = base::crc32c_append(base::crc32c(base::as_bytes(meta)), data)};
    flight::store_entry_header(at, header);
    position_ += header.size;
  }

  std::string file_;
  std::uint64_t position_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t tensors_ = 0;
};

class Rings : public tensor_files::Captures {
 protected:
  std::string left(RingImage ring, std::string_view name = "flight-box-42-0.ring") {
    EXPECT_TRUE(base::write_file(dir_ / name, ring.file()).ok());
    return dir_ / name;
  }
  // Two steps of a tensor each; a bit of the second one's is not as it was.
  RingImage damaged_in_step_2() const {
    RingImage ring;
    for (const std::int64_t step : {1, 2}) {
      ring.add(step, values_);
      ring.end_step(step);
    }
    const std::size_t at = ring.file().rfind(std::string(reinterpret_cast<const char*>(values_.data()), 24));
    ring.file()[at] ^= 1;
    return ring;
  }
};

TEST_F(Rings, BecomeACaptureOfTheCrashAndAreRemoved) {
  RingImage ring({"mask"});
  ring.add(11, values_);
  ring.end_step(11);
  ring.add(12, bad_values_);
  ring.add(12, values_, "y");
  ring.end_step(12, 3);
  ring.add(13, values_);  // the process ended in this step
  const std::string ring_path = left(ring);
  const auto path = recover_ring(ring_path, dir_.path());
  ASSERT_TRUE(path.ok()) << path.error().message();
  EXPECT_EQ(*path, dir_ / "captures/1-crash");
  EXPECT_FALSE(std::filesystem::exists(ring_path));

  const Capture capture = opened(*path);
  EXPECT_EQ(capture.info().cause, CaptureInfo::Cause::crash);
  EXPECT_EQ(capture.info().reason, "crash");
  EXPECT_EQ(capture.info().step, 13);
  EXPECT_EQ(capture.info().wall_time, 10);
  EXPECT_EQ(capture.info().host, "box");
  EXPECT_EQ(capture.info().pid, 42U);
  EXPECT_EQ(capture.info().writer, "w.1");
  EXPECT_THAT(capture.info().allow_negative_infinity, ElementsAre("mask"));
  ASSERT_THAT(capture.steps(), SizeIs(3));
  EXPECT_TRUE(capture.steps()[1].complete);
  EXPECT_FALSE(capture.steps()[2].complete);
  ASSERT_THAT(capture.info().dropped, SizeIs(1));
  EXPECT_EQ(capture.info().dropped[0].first_step, 12);
  EXPECT_EQ(capture.info().dropped[0].count, 3U);
  const auto loaded = capture.step_file(capture.steps()[1])->load("input/x");
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(std::memcmp(loaded->data.data(), bad_values_.data(), sizeof(float) * 6), 0);
  EXPECT_EQ(find_origin(capture.info()).producers[0].key, "input/x");
}

TEST_F(Rings, ThatAreTornSaySo) {
  const auto path = recover_ring(left(damaged_in_step_2()), dir_.path());
  ASSERT_TRUE(path.ok()) << path.error().message();
  const Capture capture = opened(*path);
  const auto torn = std::ranges::find_if(
      capture.info().dropped, [](const CaptureGap& gap) { return gap.what.find("torn") != std::string::npos; });
  ASSERT_NE(torn, capture.info().dropped.end());
  EXPECT_EQ(torn->count, 1U);
  EXPECT_THAT(torn->reason, HasSubstr("checksum"));
}

TEST_F(Rings, DistinguishADamagedTensorFromOneThatDidNotFit) {
  const auto path = recover_ring(left(damaged_in_step_2()), dir_.path());
  ASSERT_TRUE(path.ok()) << path.error().message();
  const Capture capture = opened(*path);
  ASSERT_THAT(capture.info().dropped, SizeIs(2));
  const CaptureGap& gap = capture.info().dropped[1];
  EXPECT_EQ(gap.what, "tensors");
  EXPECT_EQ(gap.first_step, 2);
  EXPECT_EQ(gap.count, 1U);
  EXPECT_EQ(gap.reason, "damaged in the flight ring");
}

TEST_F(Rings, ThatCannotBeReadStayAndAreNamed) {
  RingImage ring;
  ring.add(1, values_);
  ring.end_step(1);
  std::ranges::fill(std::span(ring.file()).subspan(flight::kHeaderBytes, 1024), 'x');
  const std::string ring_path = left(ring);
  const Status status = recover_ring(ring_path, dir_.path()).status();
  EXPECT_EQ(status.code(), Code::corrupt);
  EXPECT_THAT(status.message(), HasSubstr("'" + ring_path + "': none of its entries can be read"));
  EXPECT_TRUE(std::filesystem::exists(ring_path));
  EXPECT_THAT(*list_captures(dir_.path()), IsEmpty());
}

TEST_F(Rings, ThatAreCopiesOfOneInUseAreNotTouched) {
  const std::string copy = dir_ / "copy.ring";
  {
    const flight::Identity identity = {base::host_name(), base::process_id(), "w.1", 1.5};
    std::string image = flight::encode_header(identity, 4096, {});
    image.resize(8192);
    auto ring = base::FixedFile::create(dir_ / "flight-box-1-", ".ring", image.size());
    ASSERT_TRUE(ring.ok()) << ring.error().message();
    ASSERT_TRUE(ring->write_at(0, base::as_bytes(image)));
    ASSERT_TRUE(base::write_file(copy, image).ok());
    const Status status = recover_ring(copy, dir_.path()).status();
    EXPECT_EQ(status.code(), Code::exhausted);
    EXPECT_THAT(status.message(), HasSubstr("process " + std::to_string(base::process_id()) + " on " +
                                            base::host_name() + ", which still runs"));
    EXPECT_TRUE(std::filesystem::exists(copy));
    // Another ring of the same process is not the one that was copied.
    image = flight::encode_header({base::host_name(), base::process_id(), "w.2", 2.5}, 4096, {});
    image.resize(8192);
    ASSERT_TRUE(base::write_file(dir_ / "other.ring", image).ok());
    EXPECT_TRUE(recover_ring(dir_ / "other.ring", dir_.path()).ok());
  }
  EXPECT_TRUE(recover_ring(copy, dir_.path()).ok()) << "nobody holds it any more";
}

TEST_F(Rings, OfAProcessThatEndedBeforeItRecordedBecomeAnEmptyCapture) {
  for (const std::string& file : {RingImage().file(), std::string(8192, '\0')}) {
    ASSERT_TRUE(base::write_file(dir_ / "flight-box-1-0.ring", file).ok());
    const auto path = recover_ring(dir_ / "flight-box-1-0.ring", dir_.path());
    ASSERT_TRUE(path.ok()) << path.error().message();
    EXPECT_THAT(opened(*path).steps(), IsEmpty());
    EXPECT_FALSE(std::filesystem::exists(dir_ / "flight-box-1-0.ring"));
  }
}

TEST_F(Rings, AreNotBlankFilesOfOtherNames) {
  for (const char* name : {"precious.txt", "flight-box-1.ring", "flight-box-1-.ring", "flight-box-x-0.ring",
                           "flight-box-1-0.ring.bak", "flight-.ring", "my-flight-box-1-0.ring"}) {
    for (const std::string& file : {std::string(), std::string(4096, '\0')}) {
      ASSERT_TRUE(base::write_file(dir_ / name, file).ok());
      const auto path = recover_ring(dir_ / name, dir_.path());
      ASSERT_FALSE(path) << name;
      EXPECT_THAT(path.error().message(), HasSubstr(name));
      EXPECT_THAT(path.error().message(), HasSubstr("not a readable flight ring"));
      EXPECT_EQ(*base::read_file(dir_ / name), file);
    }
  }
  EXPECT_FALSE(std::filesystem::exists(dir_ / "captures"));
}

TEST_F(Rings, OfAnotherVersionOrDamagedStayAndAreNamed) {
  for (const auto& [offset, code] : {std::pair(8, Code::unsupported), std::pair(0, Code::corrupt)}) {
    RingImage ring;
    ring.file()[static_cast<std::size_t>(offset)] ^= 0x40;
    const std::string ring_path = left(ring);
    const auto path = recover_ring(ring_path, dir_.path());
    ASSERT_FALSE(path.ok());
    EXPECT_EQ(path.error().code(), code);
    EXPECT_THAT(path.error().message(), HasSubstr(ring_path));
    EXPECT_TRUE(std::filesystem::exists(ring_path));
    EXPECT_THAT(*list_captures(dir_.path()), IsEmpty());
  }
}

TEST_F(Rings, WithALostHeaderAreNotMistakenForEmptyOnes) {
  RingImage ring;  // as after the end of the machine, which had not yet written the first page
  ring.add(1, values_);
  ring.end_step(1);
  std::ranges::fill(std::span(ring.file()).first(flight::kHeaderBytes), '\0');
  const std::string ring_path = left(ring);
  const Status status = recover_ring(ring_path, dir_.path()).status();
  EXPECT_EQ(status.code(), Code::corrupt);
  EXPECT_THAT(status.message(), HasSubstr(ring_path));
  EXPECT_TRUE(std::filesystem::exists(ring_path));
}

TEST_F(Rings, ThatAreDamagedAnywhereBecomeACaptureOrStayAndAreNamed) {
  RingImage ring({"mask"});
  for (int number = 1; number <= 4; ++number) {
    ring.add(number, number == 3 ? bad_values_ : values_);
    ring.add(number, values_, "y");
    ring.end_step(number);
  }
  const std::size_t used = flight::kHeaderBytes + 4096;
  std::mt19937 random(11);
  int recovered = 0;
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    RingImage damaged = ring;
    for (unsigned i = 0; i <= random() % 4; ++i) {
      // As often in the header as in the entries.
      const std::size_t below = random() % 2 == 0 ? 256 : used;
      damaged.file()[random() % below] = static_cast<char>(random());
    }
    if (random() % 4 == 0) damaged.file().resize(random() % damaged.file().size());
    const std::string ring_path = left(damaged);
    const auto path = recover_ring(ring_path, dir_.path());
    if (path) {
      ++recovered;
      const Capture capture = opened(*path);
      for (const CapturedStep& one : capture.steps()) {
        ASSERT_TRUE(one.file.empty() || capture.step_file(one).ok());
      }
      EXPECT_FALSE(find_origin(capture.info()).text().empty());
    } else {
      ++refused;
      ASSERT_THAT(path.status().message(), HasSubstr(ring_path));
      ASSERT_EQ(path.status().message().find('\n'), std::string::npos);
    }
    ASSERT_EQ(std::filesystem::exists(ring_path), !path.ok());
    std::filesystem::remove(ring_path);
    std::filesystem::remove_all(dir_ / "captures");
  }
  EXPECT_GT(recovered, 20);
  EXPECT_GT(refused, 20);
}

TEST_F(Rings, InUseAreNotTouched) {
  const std::string held = left(RingImage(), "flight-box-1-0.ring");
  const std::string free = left(RingImage(), "flight-box-2-0.ring");
  ASSERT_TRUE(base::write_file(dir_ / "flight-box-3.txt", "").ok());
  const auto lock = base::FileLock::acquire(held);
  ASSERT_TRUE(lock.ok());
  const auto abandoned = abandoned_rings(dir_.path());
  ASSERT_TRUE(abandoned.ok());
  EXPECT_THAT(*abandoned, ElementsAre(free));
  const auto path = recover_ring(held, dir_.path());
  ASSERT_FALSE(path.ok());
  EXPECT_EQ(path.error().code(), Code::exhausted);
  EXPECT_THAT(path.error().message(), HasSubstr("running process"));
  EXPECT_TRUE(std::filesystem::exists(held));
}

// A path at which processes start and end, and two others recover their rings.
TEST_F(Rings, OfALivingProcessAreNeverTakenForTheOneBeforeAtTheSamePath) {
  const std::string prefix = dir_ / "flight-box-1-";
  const std::string path = prefix + "0.ring";
  std::atomic<bool> done = false;
  std::atomic<int> captures = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!done) captures += recover_ring(path, dir_.path()).ok() ? 1 : 0;
    });
  }
  constexpr int kProcesses = 200;
  for (int i = 0; i < kProcesses; ++i) {
    auto ring = base::FixedFile::create(prefix, ".ring", 8192);
    if (!ring) {
      ADD_FAILURE() << ring.error().message();
      break;
    }
    EXPECT_EQ(ring->path(), path);
    const auto made = base::file_state(path);
    std::this_thread::sleep_for(std::chrono::microseconds(200));  // for others to go wrong
    const auto now = base::file_state(path);
    EXPECT_TRUE(made.ok() && now.ok() && made->same_file(*now)) << "process " << i;
    ring->release();
    while (base::file_state(path).ok()) std::this_thread::yield();
  }
  done = true;
  threads.clear();
  EXPECT_EQ(captures, kProcesses);
}

TEST_F(Rings, InASharedDirectoryBelongToTheRunThatHasTheirWriter) {
  ASSERT_TRUE(base::make_directories(dir_ / "run").ok() && base::make_directories(dir_ / "rings").ok());
  RingImage ring;  // of the writer w.1
  ring.add(1, values_);
  ring.end_step(1);
  const std::string path = left(ring, "rings/flight-box-42-0.ring");
  const auto found = [&] { return *tensor_files::abandoned_rings_of(dir_ / "run", dir_ / "rings"); };
  EXPECT_THAT(found(), IsEmpty());
  ASSERT_TRUE(base::write_file(dir_ / "run/events.out.tfevents.w.10", "").ok());
  EXPECT_THAT(found(), IsEmpty()) << "another writer";
  ASSERT_TRUE(base::write_file(dir_ / "run/events.out.tfevents.w.1.suffix", "").ok());
  EXPECT_THAT(found(), ElementsAre(path));
  EXPECT_TRUE(std::filesystem::exists(path)) << "it is only found";
}

TEST_F(Rings, InASharedDirectoryThatWereNeverUsedAreRemoved) {
  ASSERT_TRUE(base::make_directories(dir_ / "run").ok() && base::make_directories(dir_ / "rings").ok());
  const std::string blank(8192, '\0');
  std::string used = blank;
  used.back() = 1;
  const std::string mine = dir_ / ("rings/flight-" + base::host_name() + "-");
  const std::vector<std::string> stay = {mine + "2-0.ring",  // of a process that lives
                                         mine + "3-0.ring",  // not blank
                                         mine + "4.ring", mine + "x-0.ring", dir_ / "rings/flight-elsewhere-5-0.ring"};
  for (const std::string& path : stay) ASSERT_TRUE(base::write_file(path, path == stay[1] ? used : blank).ok());
  ASSERT_TRUE(base::write_file(mine + "1-0.ring", blank).ok() && base::write_file(mine + "1-17.ring", "").ok());
  const auto lock = base::FileLock::acquire(stay[0]);
  EXPECT_THAT(*tensor_files::abandoned_rings_of(dir_ / "run", dir_ / "rings"), IsEmpty());
  std::vector<std::string> left;
  for (const std::string& name : base::names_in(dir_ / "rings")) left.push_back(dir_ / ("rings/" + name));
  EXPECT_THAT(left, ::testing::UnorderedElementsAreArray(stay));
}

TEST_F(Rings, StayIfTheCaptureCannotBeWritten) {
  RingImage ring;
  ring.add(1, values_);
  ring.end_step(1);
  const std::string ring_path = left(ring);
  ASSERT_TRUE(base::write_file(dir_ / "captures", "in the way").ok());
  EXPECT_FALSE(recover_ring(ring_path, dir_.path()).ok());
  EXPECT_TRUE(std::filesystem::exists(ring_path));
}

TEST_F(Rings, ThatAreNotThereAreNamed) {
  const auto path = recover_ring(dir_ / "none.ring", dir_.path());
  ASSERT_FALSE(path.ok());
  EXPECT_EQ(path.error().code(), Code::not_found);
  EXPECT_THAT(path.error().message(), HasSubstr("none.ring"));
  EXPECT_EQ(abandoned_rings(dir_ / "none").error().code(), Code::not_found);
}

}  // namespace
}  // namespace sonde
