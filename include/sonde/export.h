// Marks the symbols that the shared library exports; all others are hidden. All other headers include this one first,
// so it also states which C++ version they need.
#pragma once

#if __cplusplus < 202002L
#error "Sonde needs C++20: compile with -std=c++20, or in CMake with target_compile_features(... cxx_std_20)."
#endif

#if defined(__GNUC__)
#define SONDE_API __attribute__((visibility("default")))
#else
#define SONDE_API
#endif
