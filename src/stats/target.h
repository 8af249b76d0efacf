// Which instruction set the kernels use on this machine.
#pragma once

#include <string>

namespace sonde::stats {

// Highway's name of it: "AVX3", "AVX2", "SSE4" ...
std::string simd_target();

}  // namespace sonde::stats
