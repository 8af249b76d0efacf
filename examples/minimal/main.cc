// The example of the README, with changing values and a message if the log cannot be created.
#include <sonde/sonde.h>

#include <cmath>
#include <iostream>
#include <vector>

int main() {
  auto opened = sonde::Recorder::open("logs/minimal");  // nothing is thrown: a value, or the reason
  if (!opened) {
    std::cerr << opened.error().message() << '\n';
    return 1;
  }
  sonde::Recorder& rec = *opened;
  sonde::Scalar loss = rec.series("loss");      // resolve a name once; then tens of nanoseconds a call
  sonde::Probe out = rec.probe("dense_1/out");  // a place in the network

  std::vector<float> kernel(128, 1.0f), values(32 * 128);
  for (int n = 0; n < 100; ++n) {
    auto step = rec.step(n);  // ends with its scope; then its statistics are one record
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = kernel[i % 128] * std::sin(static_cast<float>(i));
    for (float& weight : kernel) weight *= 0.97f;

    if (out.wanted(step)) out.record(step, sonde::view(values, {32, 128}));
    rec.histogram("dense_1/kernel", sonde::view(kernel), n);
    loss.record(kernel[0] * kernel[0], n);  // (value, step); rec.scalar("loss", value, n) by name
  }
}
