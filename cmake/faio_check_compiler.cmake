# faio_check_compiler -- sets faio_compiler_problem to a sentence that says what to do when the compiler cannot compile faio,
# else to nothing. Used by our own build and by the installed package.
set(faio_compiler_problem "")
set(_faio_remedy "Choose one with CMAKE_CXX_COMPILER or CXX, in a fresh build directory (Debian and Ubuntu: apt-get install g++-12, CXX=g++-12).")
if(NOT CMAKE_CXX_COMPILER_LOADED)
  set(faio_compiler_problem "faio is C++: add CXX to the LANGUAGES of project().")
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  set(faio_compiler_problem "faio is C++23 and needs g++ 12 or newer; this is g++ ${CMAKE_CXX_COMPILER_VERSION}. ${_faio_remedy}")
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19)
  # Before 19, clang does not see std::expected in libstdc++.
  set(faio_compiler_problem "faio is C++23 and needs clang 19 or newer; this is clang ${CMAKE_CXX_COMPILER_VERSION}. ${_faio_remedy}")
endif()
if(NOT faio_compiler_problem AND NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(faio_compiler_problem "faio is for Linux; this build is for ${CMAKE_SYSTEM_NAME}.")
endif()
