# mutant -- a copy of a real header with one mistake in it, which a model must find.
#
#   faio_add_mutant(name  MODEL deque  HEADER libs/queue/include/faio/queue/deque.hpp  FIND [[...]] REPLACE [[...]] [RUN model...])
#
# The copy comes before the real header in the include path of a second build of <MODEL>_model.cpp; the test passes when a model
# fails. FIND must stand in the header exactly once (FIND2 and REPLACE2 for a mistake in two places): a mutant that no longer fits
# its header is an error when configuring, not a test that silently tests nothing.

# Each is a program of its own, and most are found at once: -O1 without debug information takes 40% less to compile than -O2 with it, and the same to run,
# since the explorer itself is always at -O2; -O0 runs half as long again. (Five of them, processor seconds, g++ 12: 6.2 + 7.0 to 3.7 + 6.7; -O0 3.2 + 10.9.)
add_model_main(faio_mutant_main -O1 -g0)
# The explorer's own headers are read once for all mutants: they are many, small, and nothing of what is mutated is among these.
target_precompile_headers(faio_mutant_main PRIVATE model.hpp)

function(faio_mutate text_var header find replace)
  string(FIND "${${text_var}}" "${find}" first)
  string(FIND "${${text_var}}" "${find}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "mutant: this text must stand exactly once in ${header}:\n${find}")
  endif()
  string(REPLACE "${find}" "${replace}" changed "${${text_var}}")
  set(${text_var} "${changed}" PARENT_SCOPE)
endfunction()

function(faio_add_mutant name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MODEL;HEADER;FIND;REPLACE;FIND2;REPLACE2" "RUN")
  set(source "${PROJECT_SOURCE_DIR}/${arg_HEADER}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  file(READ "${source}" text)
  faio_mutate(text ${arg_HEADER} "${arg_FIND}" "${arg_REPLACE}")
  if(DEFINED arg_FIND2)
    faio_mutate(text ${arg_HEADER} "${arg_FIND2}" "${arg_REPLACE2}")
  endif()
  set(place "${CMAKE_CURRENT_BINARY_DIR}/mutants/${name}")
  set(model ${arg_MODEL}_model.cpp)
  string(REGEX REPLACE ".*/include/" "" inside "${arg_HEADER}")
  if(arg_HEADER MATCHES "^tests/explorer/models/")
    # A header of the models is found beside the source: so the source stands beside the mistake.
    get_filename_component(inside "${arg_HEADER}" NAME)
    configure_file(${model} "${place}/${model}" COPYONLY)
    set(model "${place}/${model}")
  endif()
  file(CONFIGURE OUTPUT "${place}/${inside}" CONTENT "${text}" @ONLY)

  set(target mutant_${name})
  add_executable(${target} ${model})
  target_include_directories(${target} BEFORE PRIVATE "${place}" "${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE faio_mutant_main)
  target_precompile_headers(${target} REUSE_FROM faio_mutant_main)
  target_compile_options(${target} PRIVATE -w)  # a mistake may leave a name unused
  add_test(NAME mutant.${name} COMMAND ${target} --must-fail ${arg_RUN})
  set_tests_properties(mutant.${name} PROPERTIES LABELS mutant TIMEOUT 300)
endfunction()
