// What does a recorder cost that is open while nothing is recorded? Beside it the floor: what the system takes for a
// thread that only sleeps, as long as the backend does between two looks.
#include <thread>

#include "measure.h"

namespace bench {
namespace {

using namespace std::chrono_literals;

double own_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void idle() {
  const LogDirectory directory;
  sonde::Recorder recorder = open(directory);
  recorder.scalar("loss", 0.5, 1);
  check_complete(recorder, 1, 0);
  std::this_thread::sleep_for(500ms);  // the backend slows its polling down

  const BackendClock backend;
  const double backend_before = backend.seconds();
  const double own_before = own_cpu_seconds();
  const double begin = seconds();
  while (seconds() - begin < 5) std::this_thread::sleep_for(10ms);
  const double time = seconds() - begin;
  report("idle", (backend.seconds() - backend_before) / time * 100, "% of a core");
  report("floor", (own_cpu_seconds() - own_before) / time * 100, "% of a core");
}

}  // namespace
}  // namespace bench

int main() { bench::idle(); }
