# faio_find_liburing -- gives liburing::liburing: a CMake package where one is installed (Conan), else pkg-config (Debian and
# vcpkg ship only liburing.pc). Without it, faio_liburing_problem says what to do, and whoever asked decides; nothing otherwise.
# Used by our own build and by the installed package.
set(faio_liburing_problem "")
if(NOT TARGET liburing::liburing)
  find_package(liburing CONFIG QUIET)
endif()
if(NOT TARGET liburing::liburing)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(faio_liburing QUIET IMPORTED_TARGET GLOBAL liburing>=2.3)
  endif()
  if(TARGET PkgConfig::faio_liburing)
    add_library(liburing::liburing INTERFACE IMPORTED GLOBAL)
    target_link_libraries(liburing::liburing INTERFACE PkgConfig::faio_liburing)
  else()
    set(faio_liburing_problem
      "liburing 2.3 or newer was not found. Install it (Debian and Ubuntu: apt-get install liburing-dev pkg-config; Conan and vcpkg: liburing), or take only what does without it: queue, statemachine.")
  endif()
endif()
