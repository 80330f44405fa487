# faio_install -- install rules: a target file for each library, so that find_package loads only what was asked for. Shared
# libraries are the component runtime, everything else is dev.
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY FAIO_LIBRARIES)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/faio")

foreach(name IN LISTS libraries)
  install(TARGETS faio_${name} EXPORT faio_${name}_targets
    FILE_SET HEADERS COMPONENT dev
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev)
  install(EXPORT faio_${name}_targets NAMESPACE faio:: FILE faio_${name}_targets.cmake DESTINATION ${package_dir} COMPONENT dev)
  export(EXPORT faio_${name}_targets NAMESPACE faio:: FILE "${PROJECT_BINARY_DIR}/faio_${name}_targets.cmake")
endforeach()

# What each library needs, written down for the config file; faio_add_libraries built all of it.
set(FAIO_MAP "")
foreach(name IN LISTS libraries)
  string(APPEND FAIO_MAP "set(_faio_uses_${name} ${FAIO_USES_${name}})\n")
endforeach()
set(FAIO_LINKS_LIBURING OFF)
set(any_architecture ARCH_INDEPENDENT)  # headers alone serve every one
if(TARGET faio_ioengine)
  set(any_architecture "")
  get_target_property(type faio_ioengine TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    set(FAIO_LINKS_LIBURING ON)
  endif()
endif()

configure_package_config_file(cmake/faioConfig.cmake.in faioConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(faioConfigVersion.cmake COMPATIBILITY SameMajorVersion ${any_architecture})
set(package_files cmake/faio_check_compiler.cmake cmake/faio_find_liburing.cmake)
install(FILES "${PROJECT_BINARY_DIR}/faioConfig.cmake" "${PROJECT_BINARY_DIR}/faioConfigVersion.cmake" ${package_files}
  DESTINATION ${package_dir} COMPONENT dev)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT dev)
# find_package in the build tree (faio_DIR=<build directory>) reads them there.
foreach(file IN LISTS package_files)
  configure_file(${file} . COPYONLY)
endforeach()

include(faio_pkgconfig)
