// Records one series, "x", in the ways in which its points are not in the order of their steps. The value of a point is
// its step.
//
//   order_recorder threads RUN COUNT       eight threads that share a counter
//   order_recorder fork RUN COUNT          COUNT points by a process, then the same steps by each of three forked
//                                          children, and COUNT more by itself when they have ended
//   order_recorder steps RUN FIRST LAST    one process, these steps
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "sonde/sonde.h"

namespace {

int failed(const sonde::Status& status) { return std::fprintf(stderr, "%s\n", status.message().c_str()), 1; }

void record(const sonde::Scalar& series, std::int64_t first, std::int64_t last) {
  for (std::int64_t step = first; step <= last; ++step) series.record(static_cast<double>(step), step);
}

void record_from_threads(const sonde::Scalar& series, std::int64_t count) {
  std::atomic<std::int64_t> next = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (std::int64_t step = next++; step < count; step = next++) series.record(static_cast<double>(step), step);
    });
  }
}

int record_from_children(sonde::Recorder& recorder, const sonde::Scalar& series, std::int64_t count) {
  record(series, 0, count - 1);
  for (int i = 0; i < 3; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      record(series, 0, count - 1);
      ::_exit(recorder.close().ok() ? 0 : 1);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0)
      return std::fputs("a child failed\n", stderr), 1;
  }
  record(series, count, 2 * count - 1);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (argc != (mode == "steps" ? 5 : 4)) {
    return std::fputs("usage: order_recorder threads|fork RUN COUNT | steps RUN FIRST LAST\n", stderr), 2;
  }
  auto recorder = sonde::Recorder::open(argv[2]);
  if (!recorder) return failed(recorder.error());
  const sonde::Scalar series = recorder->series("x");
  int code = 0;
  if (mode == "threads") record_from_threads(series, std::atoll(argv[3]));
  if (mode == "fork") code = record_from_children(*recorder, series, std::atoll(argv[3]));
  if (mode == "steps") record(series, std::atoll(argv[3]), std::atoll(argv[4]));
  if (const sonde::Status status = recorder->close(); !status.ok()) return failed(status);
  return code;
}
