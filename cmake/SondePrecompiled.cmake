# Sanitizer builds parse the headers of the standard library and of GoogleTest once (docs/decisions/0041). The release build
# does not: it is what proves that every file includes what it uses.
#   sonde_precompile(TARGET HEADERS)    HEADERS: sonde_precompiled, or sonde_test_precompiled for what links sonde_test_options

set(SONDE_PRECOMPILED OFF)
if(SONDE_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(SONDE_PRECOMPILED ON)
endif()

function(sonde_precompile target headers)
  if(SONDE_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

if(SONDE_PRECOMPILED)
  # So that the compiler cache works with them: no times in the file, and ccache has to be allowed to.
  target_compile_options(sonde_common_options INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
  # RE2 and gRPC ask for this option, and all users of a precompiled header must have the same.
  target_compile_options(sonde_common_options INTERFACE -pthread)
  if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache$")
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
  set(common <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <cstdint> <cstdio> <cstdlib> <cstring> <deque>
    <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <string> <string_view>
    <unordered_map> <unordered_set> <utility> <variant> <vector>)
  file(CONFIGURE OUTPUT generated/precompiled.cc CONTENT "")
  add_library(sonde_precompiled OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/generated/precompiled.cc)
  target_link_libraries(sonde_precompiled PRIVATE sonde_options)
  target_precompile_headers(sonde_precompiled PRIVATE ${common})
  if(SONDE_TESTS)
    add_library(sonde_test_precompiled OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/generated/precompiled.cc)
    target_link_libraries(sonde_test_precompiled PRIVATE sonde_test_options GTest::gmock)
    target_precompile_headers(sonde_test_precompiled PRIVATE ${common} <thread> <gtest/gtest.h> <gmock/gmock.h>)
  endif()
endif()
