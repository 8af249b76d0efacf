# A room is one folder of src/ and one object library. `sonde_room` makes the library from the folder's sources, and
# from the files beside them the room's tests, benchmarks and fuzzers:
#   foo.cc -> sonde_<room>, *_test.cc -> <room>_test, *_bench.cc -> <room>_bench, foo_fuzz.cc -> foo_fuzz
#
#   sonde_room(stats ROOMS base tensor LIBRARIES hwy TEST_LIBRARIES rapidcheck)
#
# ROOMS are the rooms it may include, directly or not; tools/check_layers holds the sources to the same list. A room
# that is APART is for the command alone, and no part of the library.

set(SONDE_ROOMS "" CACHE INTERNAL "every room of the library, lower ones first")

# All objects and libraries of the named rooms, for something that is linked as a whole.
function(sonde_link_rooms target)
  foreach(room IN LISTS ARGN)
    if(NOT TARGET sonde_${room})  # a room of headers only
      continue()
    endif()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:sonde_${room}>)
    target_link_libraries(${target} PRIVATE ${SONDE_ROOM_${room}_LIBRARIES})
  endforeach()
  target_link_libraries(${target} PRIVATE Threads::Threads)
  target_include_directories(${target} PRIVATE ${SONDE_SOURCE_DIR}/include ${SONDE_SOURCE_DIR}/src)
endfunction()

function(sonde_room room)
  cmake_parse_arguments(ARG "APART" "" "ROOMS;LIBRARIES;TEST_LIBRARIES" ${ARGN})
  set(dir ${CMAKE_CURRENT_SOURCE_DIR})
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cc)
  file(GLOB tests CONFIGURE_DEPENDS ${dir}/*_test.cc)
  file(GLOB benches CONFIGURE_DEPENDS ${dir}/*_bench.cc)
  file(GLOB fuzzers CONFIGURE_DEPENDS ${dir}/*_fuzz.cc)
  list(REMOVE_ITEM sources ${tests} ${benches} ${fuzzers})

  if(sources)
    add_library(sonde_${room} OBJECT ${sources})
    target_link_libraries(sonde_${room} PRIVATE sonde_options ${ARG_LIBRARIES})
    target_include_directories(sonde_${room} PRIVATE ${SONDE_SOURCE_DIR}/include ${SONDE_SOURCE_DIR}/src)
    set(SONDE_ROOM_${room}_LIBRARIES "${ARG_LIBRARIES}" CACHE INTERNAL "")
    if(NOT ARG_APART)
      set(SONDE_ROOMS "${SONDE_ROOMS};${room}" CACHE INTERNAL "")
    endif()
  endif()

  if(SONDE_TESTS AND tests)
    add_executable(${room}_test ${tests})
    target_link_libraries(${room}_test PRIVATE sonde_options GTest::gmock GTest::gtest_main ${ARG_TEST_LIBRARIES})
    # They are compiled more often than they run long: the rooms' own code is as the build type says.
    if(SONDE_SANITIZE)
      target_compile_options(${room}_test PRIVATE -O0)
    else()
      target_compile_options(${room}_test PRIVATE $<$<CONFIG:Release>:-O1>)
    endif()
    target_compile_definitions(${room}_test PRIVATE SONDE_TEST_DATA="${SONDE_SOURCE_DIR}/tests/data")
    sonde_link_rooms(${room}_test ${ARG_ROOMS} ${room})
    gtest_discover_tests(${room}_test DISCOVERY_MODE PRE_TEST PROPERTIES LABELS ${room} TIMEOUT 300)
    add_dependencies(tests ${room}_test)
  endif()
  if(SONDE_BENCH AND benches)
    add_executable(${room}_bench ${benches})
    target_link_libraries(${room}_bench PRIVATE sonde_options benchmark::benchmark_main)
    sonde_link_rooms(${room}_bench ${ARG_ROOMS} ${room})
    add_dependencies(benches ${room}_bench)
  endif()
  if(SONDE_FUZZ OR SONDE_TESTS)
    foreach(file IN LISTS fuzzers)
      sonde_fuzzer(${file} ROOMS ${ARG_ROOMS} ${room})
    endforeach()
  endif()
endfunction()

# With SONDE_FUZZ a libFuzzer program; otherwise a program that replays the kept corpus, run as a test.
function(sonde_fuzzer file)
  cmake_parse_arguments(ARG "" "" "ROOMS" ${ARGN})
  get_filename_component(name ${file} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" corpus ${name})
  add_executable(${name} ${file})
  target_link_libraries(${name} PRIVATE sonde_options)
  sonde_link_rooms(${name} ${ARG_ROOMS})
  if(SONDE_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${name})
  else()
    target_sources(${name} PRIVATE ${SONDE_SOURCE_DIR}/tests/replay_corpus.cc)
    add_test(NAME Corpus.${corpus} COMMAND ${name} ${SONDE_SOURCE_DIR}/tests/corpus/${corpus})
    set_tests_properties(Corpus.${corpus} PROPERTIES LABELS fuzz TIMEOUT 120)
    add_dependencies(tests ${name})
  endif()
endfunction()
