# faio_library -- makes a library of the map from its name, its dependencies and its files.
#
#   faio_add_library(queue)                                          header-only: no SOURCES
#   faio_add_library(ioengine SOURCES src/engine.cpp DEPENDS liburing::liburing)
#
# gives the target faio::<name>, installed as the component <name> with its headers below include/faio/<name>/, and adds
# tests/ and bench/ beside the calling CMakeLists.txt where they are switched on.
include_guard(GLOBAL)
include(GNUInstallDirs)

# What each library may use: the arrows of the map, and the only place that says so. The dependency check in ci/ reads it.
set(FAIO_USES_queue "")
set(FAIO_USES_statemachine "")
set(FAIO_USES_ioengine "")
set(FAIO_USES_scheduler queue statemachine ioengine)
set(FAIO_USES_context scheduler)
set(FAIO_USES_sync context)
set(FAIO_USES_net context)
set(FAIO_USES_fs context)
set(FAIO_USES_process context)
set(FAIO_USES_faio context sync net fs process)

# Adds those of the named libraries that FAIO_COMPONENTS asks for, with what they need; names that are not there are an error.
function(faio_add_libraries)
  set(wanted ${FAIO_COMPONENTS})
  if("all" IN_LIST wanted)
    set(wanted ${ARGN})
  endif()
  set(closed "")
  while(wanted)
    list(POP_FRONT wanted name)
    if(NOT name IN_LIST ARGN)
      if(name IN_LIST FAIO_COMPONENTS)
        string(REPLACE ";" ", " known "${ARGN}")
        message(FATAL_ERROR "faio: FAIO_COMPONENTS names '${name}', which is not a library of faio; there are: ${known}")
      endif()
      continue()
    endif()
    list(APPEND closed ${name})
    list(APPEND wanted ${FAIO_USES_${name}})
    list(REMOVE_ITEM wanted ${closed})
  endwhile()
  foreach(name IN LISTS ARGN)
    if(name IN_LIST closed)
      add_subdirectory(libs/${name})
    endif()
  endforeach()
endfunction()

# The flags of our own build. Never on an INTERFACE: a user's warnings are the user's.
function(faio_use_our_flags target)
  if(FAIO_DEVELOPER_WARNINGS)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wshadow -Werror)
  endif()
  if(FAIO_SANITIZE)
    # No recovery: by default undefined behaviour is printed, and the test passes.
    target_compile_options(${target} PRIVATE -fsanitize=${FAIO_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${FAIO_SANITIZE})
  endif()
endfunction()

function(faio_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS")
  set(target faio_${name})
  if(arg_SOURCES)
    add_library(${target} ${arg_SOURCES})
    set(scope PUBLIC)
    faio_use_our_flags(${target})
    set_target_properties(${target} PROPERTIES
      CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
      INSTALL_RPATH "$ORIGIN"  # they find each other in any prefix
      DEFINE_SYMBOL "")        # static and shared compile to the same objects
    if(NOT DEFINED CMAKE_POSITION_INDEPENDENT_CODE)  # a static library may end up in a shared one
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(faio::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} OUTPUT_NAME faio_${name})
  target_compile_features(${target} ${scope} cxx_std_23)

  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/include/*.hpp")
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS include FILES ${headers})

  foreach(used IN LISTS FAIO_USES_${name})
    if(TARGET faio_${used})
      target_link_libraries(${target} ${scope} faio::${used})
    endif()
  endforeach()
  target_link_libraries(${target} ${scope} ${arg_DEPENDS})
  if(arg_PRIVATE_DEPENDS)
    target_link_libraries(${target} PRIVATE ${arg_PRIVATE_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY FAIO_LIBRARIES ${name})

  if(FAIO_BUILD_TESTS AND EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/tests/CMakeLists.txt")
    add_subdirectory(tests)
  endif()
  if(FAIO_BUILD_BENCH AND EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/bench/CMakeLists.txt")
    add_subdirectory(bench)
  endif()
endfunction()
