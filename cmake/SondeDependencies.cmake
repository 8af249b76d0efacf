# System packages, by name. `make` installs them from tools/packages.txt.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_writer.hpp REQUIRED)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
# By pkg-config, since its CMake target would be named in the package of Sonde, where nothing private belongs.
pkg_check_modules(SIMDJSON REQUIRED IMPORTED_TARGET simdjson)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)  # only its headers, in one file
# A program that uses the library needs nothing of the server's dependencies.
set(SONDE_SERVING OFF)
if(SONDE_CLI OR SONDE_TESTS OR SONDE_FUZZ)
  set(SONDE_SERVING ON)
  pkg_check_modules(CMARK_GFM REQUIRED IMPORTED_TARGET libcmark-gfm)
  find_path(BOOST_INCLUDE_DIR boost/beast/http.hpp REQUIRED)  # only its headers, in one file of the server
endif()
if(SONDE_CLI)
  find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp REQUIRED)
  pkg_check_modules(SQLITE3 REQUIRED IMPORTED_TARGET sqlite3)
endif()
if(SONDE_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  find_package(Eigen3 REQUIRED NO_MODULE)  # only for sonde/eigen.h
  pkg_check_modules(SPNG REQUIRED IMPORTED_TARGET spng)
endif()
if(SONDE_BENCH)
  find_package(benchmark REQUIRED)
endif()
if(SONDE_TESTS OR SONDE_BENCH OR SONDE_FUZZ)
  pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)  # our regular expressions are compared with it
endif()

# Only TensorBoard's data server needs gRPC, so it is built if gRPC is installed. By pkg-config, since Debian 12 has
# CMake files for only half of it. No encryption is needed on loopback.
pkg_check_modules(GRPC QUIET IMPORTED_TARGET grpc++_unsecure protobuf)
find_program(PROTOC protoc)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin)
set(data_server_default OFF)
if(PROJECT_IS_TOP_LEVEL AND GRPC_FOUND AND PROTOC AND GRPC_CPP_PLUGIN)
  set(data_server_default ON)
endif()
option(SONDE_DATA_SERVER "Build TensorBoard's data server; needs gRPC" ${data_server_default})
if(SONDE_DATA_SERVER AND NOT (GRPC_FOUND AND PROTOC AND GRPC_CPP_PLUGIN))
  message(FATAL_ERROR "SONDE_DATA_SERVER needs gRPC and protobuf for C++ with their compilers; see tools/packages.txt")
endif()

# OpenVINO runs saved models, in a library of its own that is loaded when it is needed: src/inspect/openvino. It comes with
# `tools/setup openvino`; all build folders share it. Sanitizers would report what it does itself.
file(STRINGS tools/openvino.txt openvino_pinned REGEX "^openvino==")
string(REGEX REPLACE "^openvino==" "" SONDE_OPENVINO_VERSION "${openvino_pinned}")
string(REGEX REPLACE "^20([0-9]+)[.]([0-9]+)[.]([0-9]+)$" "libopenvino.so.\\1\\2\\3" SONDE_OPENVINO_LIBRARY "${SONDE_OPENVINO_VERSION}")
set(inspect_default OFF)
if(PROJECT_IS_TOP_LEVEL AND NOT SONDE_SANITIZE AND NOT SONDE_FUZZ)
  find_package(OpenVINO ${SONDE_OPENVINO_VERSION} EXACT QUIET COMPONENTS Runtime
    HINTS ${SONDE_SOURCE_DIR}/build/openvino/openvino/cmake)
  if(OpenVINO_FOUND)
    set(inspect_default ON)
  else()
    message(STATUS "OpenVINO ${SONDE_OPENVINO_VERSION} is not installed, so models are listed but not run; tools/setup openvino installs it")
  endif()
endif()
option(SONDE_INSPECT "Build the library that runs saved models; needs OpenVINO" ${inspect_default})
if(SONDE_INSPECT AND NOT OpenVINO_FOUND)
  find_package(OpenVINO ${SONDE_OPENVINO_VERSION} EXACT REQUIRED COMPONENTS Runtime
    HINTS ${SONDE_SOURCE_DIR}/build/openvino/openvino/cmake)
endif()
