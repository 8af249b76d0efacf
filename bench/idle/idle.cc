// What does a recorder cost that is open while nothing is recorded?
#include <thread>

#include "measure.h"

int main() {
  using namespace std::chrono_literals;
  const bench::LogDirectory directory;
  sonde::Recorder recorder = bench::open(directory);
  recorder.scalar("loss", 0.5, 1);
  bench::check_complete(recorder, 1, 0);
  std::this_thread::sleep_for(500ms);  // the backend slows its polling down

  const bench::BackendClock backend;
  const double cpu = backend.seconds();
  const double begin = bench::seconds();
  std::this_thread::sleep_for(5s);
  const double share = (backend.seconds() - cpu) / (bench::seconds() - begin);
  bench::report("idle", share * 100, "% of a core");
}
