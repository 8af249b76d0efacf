// Records into the directory that it is given, as a user of the installed library would.
#include <sonde/sonde.h>

#include <cstdint>
#include <iostream>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto opened = sonde::Recorder::open(argv[1]);
  if (!opened) {
    std::cerr << opened.error().message() << '\n';
    return 1;
  }
  sonde::Recorder& rec = *opened;
  const std::vector<float> values(32 * 128, 0.5F);
  for (std::int64_t n = 0; n < 10; ++n) {
    const auto step = rec.step(n);
    rec.scalar("loss", 1.0 / static_cast<double>(n + 1), n);
    rec.histogram("dense_1/kernel", sonde::view(values, {32, 128}), n);
  }
  const sonde::Status closed = rec.close();
  if (!closed) std::cerr << closed.message() << '\n';
  return closed ? 0 : 1;
}
