# The port builds the tree that it lies in: an overlay port. In a registry, SOURCE_PATH comes from vcpkg_from_github.
cmake_path(SET SOURCE_PATH NORMALIZE "${CURRENT_PORT_DIR}/../../..")

# Features are named as the libraries are; core is the first two.
set(components queue statemachine ${FEATURES})
list(REMOVE_ITEM components core)
string(REPLACE ";" "\\;" components "${components}")  # one argument, not several

set(options "")
if("ioengine" IN_LIST FEATURES)
  vcpkg_find_acquire_program(PKGCONFIG)  # finds liburing
  list(APPEND options "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}")
else()
  set(VCPKG_BUILD_TYPE release)  # headers have no debug build
endif()

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    "-DFAIO_COMPONENTS=${components}"
    -DFAIO_BUILD_TESTS=OFF
    -DFAIO_BUILD_APPS=OFF
    -DFAIO_DEVELOPER_WARNINGS=OFF
    ${options})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/faio)
vcpkg_fixup_pkgconfig()

# The licence goes where vcpkg wants it, below.
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share" "${CURRENT_PACKAGES_DIR}/share/doc")
file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
