// Writes `stats.<writer>.tfrecord` (formats/stats_record.h): one record per step. The file is created with the first
// step or gap. Gaps are written with the next flush, and again if the file then loses them; they also cover records
// that any other file of the recorder has lost (Tally). If the same failure repeats, gaps become fewer and longer: each
// stands for as many records as all before it together. The remaining ones are written with close.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/stats_record.h"
#include "sinks/record_file.h"
#include "sinks/sink.h"

namespace sonde::sinks {

class StatsFile final : public Sink {
 public:
  StatsFile(std::string path, stats_record::Header header, Tally& tally);

  Status write(const Stamp&, std::span<const Value>) override { return Status::success(); }
  Status end_step(const StepEnd& step) override;
  Status lose(const Loss& loss) override;
  Status flush() override;
  Status close() override;

 private:
  Status append(const StepEnd& step);
  struct PendingGap {
    stats_record::Gap gap;
    std::optional<std::uint64_t> end;  // its end in the file, once it is in the buffer
  };
  using GapKey = std::pair<stats_record::GapReason, std::optional<std::uint32_t>>;
  struct Defined {
    stats_record::Form form;
    bool said = false;  // in the file, or in the buffer
  };
  void begin();
  void repeat_if_needed();
  void define(const ProbeName& probe, const stats_record::Form& form);
  void add_gap(stats_record::Gap gap);
  void put_gaps(bool all) noexcept;
  void put_gap(PendingGap& pending, bool all);
  // RecordFile::whole.
  template <class Append>
  auto whole(Append&& append);
  Status checked(Status status);  // after each call of file_ that may write or lose records

  static constexpr std::size_t kMostGaps = 1000;

  RecordFile file_;
  Tally& tally_;
  stats_record::Header header_;
  bool begun_ = false;
  std::vector<std::optional<Defined>> defined_;  // by the probe's id
  std::vector<PendingGap> gaps_;                 // not known to be in the file
  std::map<GapKey, std::uint64_t> told_;         // number of records that gaps were written for
  std::uint64_t losses_ = 0;                     // of the file, as counted in gaps_
};

}  // namespace sonde::sinks
