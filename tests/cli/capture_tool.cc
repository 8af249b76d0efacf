// Creates captures and rings of a small network for the tests of `sonde captures` and `sonde recover`.
//
//   capture_tool nan RUN        a trigger's capture of the steps 118 to 123; in the last one a layer produces NaN
//   capture_tool manual RUN     a capture in which all is well
//   capture_tool unclear RUN    inputs are not declared, tensors were lost, and the first step is non-finite already
//   capture_tool crowded RUN    twenty tensors of each of the steps 114 to 123 did not fit into the ring, and of two
//                               steps before them none did
//   capture_tool empty RUN      a trigger's capture without a ring
//   capture_tool gaps RUN       gaps in the statistics, for two reasons, and changes of a budget
//   capture_tool ring DIR       a flight ring of five steps and half of a sixth, of a killed process
//   capture_tool hold DIR       the same, but the process says "ready" and lives until standard input ends
#include <csignal>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "formats/stats_record.h"
#include "sinks/flight_ring.h"
#include "tensor_files/capture_files.h"

namespace {

using namespace sonde;

constexpr double kTime = 1'700'000'000;

// A layer with its data and its weight; `broken` as if it had divided by zero.
class Network {
 public:
  explicit Network(bool broken) : out_(64, 1.5F), softmax_(8, 0.125F) {
    if (!broken) return;
    for (std::size_t i = 0; i < 5; ++i) out_[i * 7] = std::numeric_limits<float>::quiet_NaN();
    for (float& value : softmax_) value = std::numeric_limits<float>::quiet_NaN();
  }

  std::vector<flight::Tensor> tensors(bool declared) const {
    const auto tensor = [&](std::string name, Kind kind, std::vector<std::string> inputs, const TensorView& view) {
      return flight::Tensor{std::move(name), kind, 0, declared ? std::move(inputs) : std::vector<std::string>(), view};
    };
    return {tensor("images", Kind::input, {}, view(in_, {8, 16})),
            tensor("dense/kernel", Kind::weight, {"gradient/dense/kernel"}, view(kernel_, {16, 8})),
            tensor("dense/out", Kind::activation, {"images", "dense/kernel"}, view(out_, {8, 8})),
            tensor("softmax", Kind::activation, {"dense/out"}, view(softmax_))};
  }

 private:
  std::vector<float> in_ = std::vector<float>(128, 0.5F);
  std::vector<float> kernel_ = std::vector<float>(128, 0.25F);
  std::vector<float> out_;
  std::vector<float> softmax_;
};

const Network kHealthy(false);
const Network kBroken(true);

flight::Step step(std::int64_t number, bool broken, bool declared) {
  flight::Step made;
  made.step = number;
  made.complete = true;
  made.wall_time = kTime + static_cast<double>(number);
  made.scalars = {{"loss", broken ? std::numeric_limits<double>::quiet_NaN() : 0.5}};
  made.tensors = (broken ? kBroken : kHealthy).tensors(declared);
  return made;
}

int save(const std::string& mode, const std::string& run) {
  CaptureInfo info;
  info.reason = mode;
  info.step = 123;
  info.wall_time = kTime + 123;
  info.before = 5;
  info.host = "box";
  info.pid = 4711;
  info.writer = "1700000000.box.4711.0";
  std::vector<flight::Step> steps;
  if (mode == "nan") {
    info.when = "nonfinite('.*') or loss > 10";
    info.values = {{"nonfinite('.*')", 13}, {"loss", std::numeric_limits<double>::quiet_NaN()}};
    for (std::int64_t n = 118; n <= 123; ++n) steps.push_back(step(n, n == 123, true));
  } else if (mode == "manual") {
    info.cause = CaptureInfo::Cause::manual;
    for (std::int64_t n = 122; n <= 123; ++n) steps.push_back(step(n, false, true));
  } else if (mode == "crowded") {
    info.when = "loss > 10";
    info.dropped = {{"all tensors", 123, 123, 2, "the flight ring has no room for this many steps"}};
    for (std::int64_t n = 114; n <= 123; ++n) {
      steps.push_back(step(n, false, true));
      steps.back().dropped = 20;
    }
  } else if (mode == "empty") {
    info.when = "loss > 10";
    info.dropped = {{"all tensors", 123, 124, 0, "the policy has no flight ring"}};
  } else {
    info.when = "nonfinite('.*')";
    steps.push_back(step(123, true, false));
    steps.back().dropped = 17;
  }
  const Result<std::string> path = tensor_files::write_capture(run, std::move(info), tensor_files::each_of(steps));
  if (!path) return std::fprintf(stderr, "%s\n", path.error().message().c_str()), 1;
  return std::printf("%s\n", path->c_str()), 0;
}

int leave_gaps(const std::string& run) {
  using stats_record::GapReason;
  std::string file;
  stats_record::put_header(file, {.writer = "w", .host = "box", .pid = 4711, .start_time = kTime});
  for (std::int64_t n = 10; n < 20; ++n) {
    stats_record::put_gap(file, {.first_step = n, .last_step = n, .count = 20, .reason = GapReason::no_room});
  }
  stats_record::put_gap(file, {.first_step = 15, .last_step = 15, .reason = GapReason::budget, .detail = "full -> x"});
  stats_record::put_gap(file, {.first_step = 17, .last_step = 17, .count = 1, .reason = GapReason::rejected});
  stats_record::put_gap(file, {.first_step = 18, .last_step = 18, .reason = GapReason::write_error});
  const Status status = base::write_file(base::join_path(run, "stats.w.tfrecord"), file);
  return status.ok() ? 0 : (std::fprintf(stderr, "%s\n", status.message().c_str()), 1);
}

int leave_ring(const std::string& directory, bool hold) {
  auto ring = sinks::FlightRing::create({.directory = directory, .bytes = 1 << 20, .writer = "w"});
  if (!ring) return std::fprintf(stderr, "%s\n", ring.error().message().c_str()), 1;
  for (std::int64_t n = 11; n <= 16; ++n) {
    const sinks::Stamp stamp = {kTime + static_cast<double>(n), n};
    const auto tensors = (n == 15 ? kBroken : kHealthy).tensors(true);
    for (std::size_t i = 0; i < (n == 16 ? 2 : tensors.size()); ++i) {
      const flight::Tensor& one = tensors[i];
      (*ring)->add(stamp, false, {one.name, one.kind, one.occurrence, one.inputs, one.view});
    }
    const std::pair<std::string_view, double> loss = {"loss", 0.5};
    if (n < 16) (*ring)->end_step(stamp, false, {&loss, 1});
  }
  std::puts(hold ? "ready" : (*ring)->path().c_str());
  std::fflush(stdout);
  while (hold && std::getchar() != EOF) {
  }
  std::raise(SIGKILL);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3)
    return std::fputs("usage: capture_tool nan|manual|unclear|crowded|empty|gaps|ring|hold DIRECTORY\n", stderr), 2;
  const std::string mode = argv[1];
  if (mode == "gaps") return leave_gaps(argv[2]);
  return mode == "ring" || mode == "hold" ? leave_ring(argv[2], mode == "hold") : save(mode, argv[2]);
}
