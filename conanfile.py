# conanfile -- faio as a Conan 2 package, with a component for each library.
#
#   conan create . -s compiler.cppstd=23                            all of it; -c tools.build:skip_test=True leaves the tests out
#   conan create . -s compiler.cppstd=23 -o "faio/*:net=False"      without faio::net (and faio::faio, which is all of them)
#   conan create . -s compiler.cppstd=23 -o "faio/*:ioengine=False" only what is header-only: no liburing in the graph
#
# docs/packages.md has more; docs/adr/0011-packages.md says why consumers meet our own CMake config and not a generated one.
import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy

required_conan_version = ">=2.0"

# Each library and what it stands on, lower ones first. ci/check_packages compares it with cmake/faio_library.cmake.
USES = {
    "queue": [],
    "statemachine": [],
    "ioengine": [],
    "scheduler": ["queue", "statemachine", "ioengine"],
    "context": ["scheduler"],
    "sync": ["context"],
    "net": ["context"],
    "fs": ["context"],
    "process": ["context"],
    "faio": ["context", "sync", "net", "fs", "process"],
}
HEADERS = ("queue", "statemachine")  # always there; the standard library is all that they need
OPTIONAL = ("ioengine", "scheduler", "context", "sync", "net", "fs", "process")


class FaioConan(ConanFile):
    name = "faio"
    version = "1.0"
    license = "MIT"
    description = "A C++23 coroutine runtime for Linux: work-stealing threads, each with its own io_uring"
    topics = ("coroutines", "io_uring", "work-stealing", "lock-free", "async")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "fPIC": [True, False], **{part: [True, False] for part in OPTIONAL}}
    default_options = {"shared": False, "fPIC": True, **{part: True for part in OPTIONAL}}
    exports_sources = "CMakeLists.txt", "cmake/*", "libs/*", "tests/*", "docs/*", "LICENSE"
    no_copy_source = True

    def configure(self):
        # Whatever stands on a part that is left out goes too, its option with it, so that the package id does not tell apart
        # what is the same.
        for part in OPTIONAL:
            if any(used in OPTIONAL and not self.options.get_safe(used) for used in USES[part]):
                self.options.rm_safe(part)
        if not self._has("ioengine"):
            self.package_type = "header-library"
            self.options.rm_safe("shared")
            self.options.rm_safe("fPIC")
        elif self.options.shared:
            self.options.rm_safe("fPIC")

    def _has(self, name):
        if name in OPTIONAL:
            return bool(self.options.get_safe(name))
        return all(self._has(used) for used in USES[name])

    def _components(self):
        return [name for name in USES if self._has(name)]

    def layout(self):
        cmake_layout(self)

    # The ranges hold what distributions ship, so that a profile's [platform_requires] can give the system's.
    def requirements(self):
        if self._has("ioengine"):
            self.requires("liburing/[>=2.3 <3]")

    def build_requirements(self):
        if self._runs_tests():
            self.test_requires("gtest/[>=1.12 <2]")

    def _runs_tests(self):
        return not self.conf.get("tools.build:skip_test", default=False, check_type=bool)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("faio is for Linux: it stands on io_uring and epoll.")
        check_min_cppstd(self, 23)

    def package_id(self):
        if not self.info.options.get_safe("ioengine"):
            self.info.clear()

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["FAIO_COMPONENTS"] = ";".join(self._components())
        toolchain.cache_variables["FAIO_BUILD_TESTS"] = self._runs_tests()
        toolchain.cache_variables["FAIO_BUILD_APPS"] = False
        toolchain.cache_variables["FAIO_DEVELOPER_WARNINGS"] = False  # a newer compiler's warnings are not the user's trouble
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()
        if self._runs_tests():
            cmake.ctest(["--output-on-failure", "--no-tests=error"])

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        # find_package(faio COMPONENTS ...) finds the config that we install, by way of builddirs: it loads what was asked
        # for and names the components that there are; a generated one would do neither.
        self.cpp_info.set_property("cmake_find_mode", "none")
        for name in self._components():
            component = self.cpp_info.components[name]
            component.set_property("cmake_target_name", f"faio::{name}")
            component.set_property("pkg_config_name", name if name == "faio" else f"faio_{name}")
            component.builddirs = [os.path.join("lib", "cmake", "faio")]
            component.requires = list(USES[name])
            if name not in HEADERS and name != "faio":
                component.libs = [f"faio_{name}"]
            if name == "ioengine":
                component.requires.append("liburing::liburing")
                component.system_libs = ["pthread"]
