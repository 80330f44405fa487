# faio_test -- makes a test, a bench or an example program from a name, its files and what it links.
#
#   faio_add_test(local_queue_test SOURCES local_queue_test.cpp LINKS faio::queue [LABELS slow])
#   faio_add_bench(queue_bench SOURCES ... LINKS ...)          Google Benchmark, not a test
#   faio_add_example(first_queue SOURCES first.cpp LINKS ...)  a program that is itself the test: exit code 0 passes
include_guard(GLOBAL)

function(faio_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS;LABELS;OPTIONS")
  add_executable(${name} ${arg_SOURCES})
  target_compile_features(${name} PRIVATE cxx_std_23)
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(${name} PRIVATE ${arg_LINKS})
  target_compile_options(${name} PRIVATE ${FAIO_TEST_OPTIONS} ${arg_OPTIONS})
  faio_use_our_flags(${name})
endfunction()

# What nearly every test includes is read once for all of them where FAIO_PRECOMPILE is on: a third less to compile. The optimised builds do without,
# and so find the file that does not include what it uses. Tests only: g++ 12 forgets that a precompiled header is the system's, and warns of what it
# thinks it sees there.
function(faio_precompile name links)
  set(shared faio_precompiled)
  set(headers <gtest/gtest.h> <algorithm> <atomic> <chrono> <functional> <memory> <mutex> <optional> <string> <thread> <vector>)
  if("${links}" MATCHES "faio::(context|sync|net|fs|process|faio)")
    string(APPEND shared _of_the_runtime)
    list(APPEND headers <faio/context/context.hpp>)
  endif()
  if(NOT TARGET ${shared})
    file(WRITE ${PROJECT_BINARY_DIR}/${shared}.cpp "")
    add_library(${shared} OBJECT ${PROJECT_BINARY_DIR}/${shared}.cpp)
    target_compile_features(${shared} PRIVATE cxx_std_23)
    set_target_properties(${shared} PROPERTIES CXX_EXTENSIONS OFF)
    target_link_libraries(${shared} PRIVATE GTest::gmock ${links})
    target_compile_options(${shared} PRIVATE ${FAIO_TEST_OPTIONS})
    faio_use_our_flags(${shared})
    target_precompile_headers(${shared} PRIVATE ${headers})
  endif()
  target_precompile_headers(${name} REUSE_FROM ${shared})
endfunction()

function(faio_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LINKS;LABELS;OPTIONS")
  find_package(GTest REQUIRED)
  include(GoogleTest)
  faio_program(${name} SOURCES ${arg_SOURCES} LINKS ${arg_LINKS} GTest::gmock GTest::gtest_main OPTIONS ${arg_OPTIONS})
  if(FAIO_PRECOMPILE AND arg_LINKS MATCHES "faio::" AND NOT arg_OPTIONS)  # other options make other headers
    faio_precompile(${name} "${arg_LINKS}")
  endif()
  set(timeout 300)
  if(arg_TIMEOUT)
    set(timeout ${arg_TIMEOUT})
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT ${timeout} LABELS "${arg_LABELS}")
endfunction()

function(faio_add_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
  find_package(benchmark REQUIRED)
  faio_program(${name} SOURCES ${arg_SOURCES} LINKS ${arg_LINKS} benchmark::benchmark)
endfunction()

function(faio_add_example name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
  faio_program(${name} SOURCES ${arg_SOURCES} LINKS ${arg_LINKS})
  if(FAIO_BUILD_TESTS)
    add_test(NAME example.${name} COMMAND ${name})
    set_tests_properties(example.${name} PROPERTIES TIMEOUT 60)
  endif()
endfunction()
