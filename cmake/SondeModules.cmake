# A module is one folder of src/ and one object library. `sonde_module` creates the library from the folder's sources,
# and from the other files the module's tests, benchmarks and fuzzers:
#   foo.cc -> sonde_<module>, *_test.cc -> <module>_test, *_bench.cc -> <module>_bench, foo_fuzz.cc -> foo_fuzz
#
#   sonde_module(stats MODULES base tensor LIBRARIES hwy TEST_LIBRARIES rapidcheck)
#
# MODULES are the modules it may include, directly or not; tools/check_layers checks the sources against the same list.
# A module that is APART is only for the command, and not part of the library. TEST_MODULES are for the tests,
# benchmarks and fuzzers, and so are ORACLES: libraries that the module is compared with.

set(SONDE_MODULES "" CACHE INTERNAL "every module of the library, lower ones first")

# All objects and libraries of the named modules, for a target that is linked as a whole.
function(sonde_link_modules target)
  foreach(module IN LISTS ARGN)
    if(NOT TARGET sonde_${module})  # a module of headers only
      continue()
    endif()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:sonde_${module}>)
    target_link_libraries(${target} PRIVATE ${SONDE_MODULE_${module}_LIBRARIES})
  endforeach()
  target_link_libraries(${target} PRIVATE Threads::Threads)
  target_include_directories(${target} PRIVATE ${SONDE_SOURCE_DIR}/include ${SONDE_SOURCE_DIR}/src)
endfunction()

function(sonde_module module)
  cmake_parse_arguments(ARG "APART" "" "MODULES;TEST_MODULES;LIBRARIES;TEST_LIBRARIES;ORACLES" ${ARGN})
  set(dir ${CMAKE_CURRENT_SOURCE_DIR})
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cc)
  file(GLOB tests CONFIGURE_DEPENDS ${dir}/*_test.cc)
  file(GLOB benches CONFIGURE_DEPENDS ${dir}/*_bench.cc)
  file(GLOB fuzzers CONFIGURE_DEPENDS ${dir}/*_fuzz.cc)
  list(REMOVE_ITEM sources ${tests} ${benches} ${fuzzers})
  if(SONDE_SANITIZE STREQUAL "thread")  # it has an operator new of its own, which no program can replace
    list(FILTER tests EXCLUDE REGEX "/memory_faults_test\\.cc$")
  endif()

  if(sources)
    add_library(sonde_${module} OBJECT ${sources})
    target_link_libraries(sonde_${module} PRIVATE sonde_options ${ARG_LIBRARIES})
    target_include_directories(sonde_${module} PRIVATE ${SONDE_SOURCE_DIR}/include ${SONDE_SOURCE_DIR}/src)
    sonde_precompile(sonde_${module} sonde_precompiled)
    set(SONDE_MODULE_${module}_LIBRARIES "${ARG_LIBRARIES}" CACHE INTERNAL "")
    if(NOT ARG_APART)
      set(SONDE_MODULES "${SONDE_MODULES};${module}" CACHE INTERNAL "")
    endif()
  endif()

  if(SONDE_TESTS AND tests)
    add_executable(${module}_test ${tests})
    target_link_libraries(${module}_test PRIVATE sonde_test_options GTest::gmock GTest::gtest_main ${ARG_TEST_LIBRARIES} ${ARG_ORACLES})
    sonde_precompile(${module}_test sonde_test_precompiled)
    target_include_directories(${module}_test PRIVATE ${CMAKE_BINARY_DIR}/generated)
    sonde_link_modules(${module}_test ${ARG_MODULES} ${ARG_TEST_MODULES} ${module})
    gtest_discover_tests(${module}_test DISCOVERY_MODE PRE_TEST PROPERTIES LABELS ${module} TIMEOUT 300)
    add_dependencies(tests ${module}_test)
  endif()
  if(SONDE_BENCH AND benches)
    add_executable(${module}_bench ${benches})
    target_link_libraries(${module}_bench PRIVATE sonde_options benchmark::benchmark_main ${ARG_ORACLES})
    sonde_link_modules(${module}_bench ${ARG_MODULES} ${ARG_TEST_MODULES} ${module})
    add_dependencies(benches ${module}_bench)
  endif()
  if(SONDE_FUZZ OR SONDE_TESTS)
    foreach(file IN LISTS fuzzers)
      sonde_fuzzer(${file} MODULES ${ARG_MODULES} ${ARG_TEST_MODULES} ${module} LIBRARIES ${ARG_ORACLES})
    endforeach()
  endif()
endfunction()

# With SONDE_FUZZ a libFuzzer program, otherwise a program that can only replay. With SONDE_TESTS a test replays the kept
# corpus with it.
function(sonde_fuzzer file)
  cmake_parse_arguments(ARG "" "" "MODULES;LIBRARIES" ${ARGN})
  get_filename_component(name ${file} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" corpus ${name})
  add_executable(${name} ${file})
  target_link_libraries(${name} PRIVATE sonde_options ${ARG_LIBRARIES})
  sonde_link_modules(${name} ${ARG_MODULES})
  sonde_precompile(${name} sonde_precompiled)
  set(replay)
  if(SONDE_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${name})
    set(replay -runs=0)
  else()
    target_sources(${name} PRIVATE ${SONDE_SOURCE_DIR}/tests/replay_corpus.cc)
  endif()
  if(SONDE_TESTS)
    add_test(NAME Corpus.${corpus} COMMAND ${name} ${replay} ${SONDE_SOURCE_DIR}/tests/corpus/${corpus})
    set_tests_properties(Corpus.${corpus} PROPERTIES LABELS fuzz TIMEOUT 120)
    add_dependencies(tests ${name})
  endif()
endfunction()
