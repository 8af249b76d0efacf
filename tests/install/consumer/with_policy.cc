// Records into the given directory with a policy. With SONDE_DISABLED nothing reads the policy.
#include <sonde/sonde.h>

#include <cstdint>
#include <iostream>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto policy = sonde::Policy::parse("[[watch]]\ntensors = \"out\"\n");
  const sonde::Status checked = policy ? policy->check() : policy.error();
  auto opened = checked ? sonde::Recorder::open(argv[1], {.policy = *policy}) : checked;
  if (!opened) {
    std::cerr << opened.error().message() << '\n';
    return 1;
  }
  sonde::Recorder& rec = *opened;
  // Only a program that records knows that there is no such file, and what a policy is.
  const bool looks = !sonde::Policy::load("nowhere.toml").ok() && policy->watches.size() == 1;
  if (looks != rec.enabled()) return 3;
  const sonde::Probe out = rec.probe("out");
  const std::vector<float> values(8, 0.5F);
  for (std::int64_t n = 0; n < 10; ++n) {
    const auto step = rec.step(n);
    if (out.wanted(step)) out.record(step, sonde::view(values, {8}));
  }
  return rec.close() ? 0 : 1;
}
