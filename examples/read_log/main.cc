// Reads a log: its content, the last loss and its range, and the newest histogram. The log may be one of TensorBoard,
// or of the example `minimal`: read_log logs
#include <sonde/log.h>

#include <algorithm>
#include <iostream>

namespace {

void print_loss(const sonde::Run& run) {
  const auto loss = run.scalars("loss");  // columns: steps, wall_times, values
  if (!loss || loss->size() == 0) return;
  const auto [smallest, largest] = std::ranges::minmax(loss->values);
  std::cout << "  loss is " << loss->values.back() << " at step " << loss->steps.back() << ", was between " << smallest
            << " and " << largest << '\n';
}

void print_newest_histogram(const sonde::Run& run, const sonde::Tag& tag) {
  const auto values = run.values(tag.name, tag.kind);  // where they are in their files
  if (!values || values->empty()) return;
  const auto buckets = run.histogram(values->back());  // read now
  if (!buckets) {
    std::cerr << buckets.error().message() << '\n';
    return;
  }
  double count = 0;
  for (const sonde::Bucket& bucket : *buckets) count += bucket.count;
  std::cout << "  " << tag.name << " at step " << values->back().step << ": " << count << " values in "
            << buckets->size() << " buckets\n";
}

}  // namespace

int main(int argc, char** argv) {
  const auto log = sonde::Log::open(argc > 1 ? argv[1] : "logs");  // at once; runs are read in the background
  if (!log) {
    std::cerr << log.error().message() << '\n';
    return 1;
  }
  for (const sonde::Run& run : log->runs()) {
    std::cout << run.name() << '\n';
    for (const sonde::Tag& tag : run.tags()) {
      std::cout << "  " << tag.name << ": " << to_string(tag.kind) << ", " << tag.points << " points\n";
      if (tag.kind == sonde::TagKind::histograms) print_newest_histogram(run, tag);
    }
    print_loss(run);
  }
}
