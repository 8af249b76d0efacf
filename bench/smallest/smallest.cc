// What is the cost of the smallest process that records: open, one scalar, close?
//
// The program starts itself repeatedly: to record, and, as the floor, only to be loaded and linked.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cstring>

#include "measure.h"

extern char** environ;

namespace bench {
namespace {

struct Run {
  double milliseconds = 0;
  double megabytes = 0;  // resident, at most
};

Run start(const char* program, const char* what, const char* directory) {
  const char* arguments[] = {program, what, directory, nullptr};
  const double begin = seconds();
  pid_t child = 0;
  check(::posix_spawn(&child, program, nullptr, nullptr, const_cast<char**>(arguments), environ) == 0,
        "the program could not be started");
  int status = 0;
  rusage usage{};
  check(::wait4(child, &status, 0, &usage) == child && status == 0, "the process that records failed");
  return {(seconds() - begin) * 1e3, static_cast<double>(usage.ru_maxrss) * 1024e-6};
}

int record(const char* directory) {
  auto recorder = sonde::Recorder::open(directory);
  if (!recorder.ok()) return 1;
  recorder->scalar("loss", 1, 0);
  return recorder->close().ok() ? 0 : 1;
}

void measure(const char* program) {
  constexpr int kRuns = 60;
  std::vector<double> recording;
  std::vector<double> nothing;
  std::vector<double> memory;
  std::vector<double> loaded;
  for (int i = 0; i < kRuns; ++i) {
    const LogDirectory directory;
    const Run run = start(program, "record", directory.path().c_str());
    const Run floor = start(program, "nothing", directory.path().c_str());
    recording.push_back(run.milliseconds);
    memory.push_back(run.megabytes);
    nothing.push_back(floor.milliseconds);
    loaded.push_back(floor.megabytes);
  }
  report("time", median(recording), "ms");
  report("floor/time", median(nothing), "ms");
  report("resident", median(memory), "MB");
  report("floor/resident", median(loaded), "MB");
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "record") == 0) return bench::record(argv[2]);
  if (argc == 3) return 0;
  bench::measure("/proc/self/exe");
}
