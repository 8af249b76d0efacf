// The example of the README: a loop that records a number, a histogram and the values of a layer.
#include <sonde/sonde.h>

#include <cmath>
#include <iostream>
#include <vector>

int main() {
  auto opened = sonde::Recorder::open("logs/minimal");
  if (!opened) {
    std::cerr << opened.error().message() << '\n';
    return 1;
  }
  sonde::Recorder& recorder = *opened;
  sonde::Scalar loss = recorder.series("loss");
  sonde::Probe out = recorder.probe("dense_1/out");

  std::vector<float> weights(128, 1.0f), values(32 * 128);
  for (int n = 0; n < 100; ++n) {
    auto step = recorder.step(n);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = weights[i % 128] * std::sin(static_cast<float>(i));
    for (float& weight : weights) weight *= 0.97f;

    if (out.wanted(step)) out.record(step, sonde::view(values, {32, 128}));
    recorder.histogram("dense_1/weights", sonde::view(weights), n);
    loss.record(weights[0] * weights[0], n);
  }
}
