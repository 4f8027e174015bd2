# SPDX-License-Identifier: Apache-2.0
"""Conan 2 recipe: `conan create . -s compiler.cppstd=20 --build=missing`."""
import os
import re

from conan import ConanFile
from conan.errors import ConanException, ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load, rename
from conan.tools.layout import basic_layout
from conan.tools.scm import Version

required_conan_version = ">=2.0"
MODULES = os.path.join("lib", "cmake", "lamina")


class LaminaConan(ConanFile):
    name = "lamina"
    description = "Deep learning whose programs are recorded by the C++ compiler"
    license = "Apache-2.0"
    topics = ("deep-learning", "expression-templates", "constexpr", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"with_zlib": [True, False], "with_cli11": [True, False]}
    default_options = {"with_zlib": True, "with_cli11": False}
    exports_sources = "include/*", "cmake/*", "!cmake/vcpkg/*", "LICENSE"
    no_copy_source = True
    test_package_folder = "test/consumer/conan"

    def set_version(self):
        config = load(self,
                      os.path.join(self.recipe_folder, "include", "lamina", "core", "config.hpp"))
        self.version = ".".join(
            re.findall(r"#define LAMINA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", config))

    def layout(self):
        basic_layout(self)

    def requirements(self):
        self.requires("xtensor/[>=0.24 <0.28]", transitive_headers=True)
        self.requires("xsimd/[>=8 <15]", transitive_headers=True)
        if self.options.with_zlib:
            self.requires("zlib/[>=1.2.11 <2]", transitive_headers=True, transitive_libs=True)
        if self.options.with_cli11:
            self.requires("cli11/[>=2.1 <3]", transitive_headers=True)

    def package_id(self):
        self.info.clear()

    def validate(self):
        # The default profile of gcc says gnu17; nothing of lamina compiles with it.
        try:
            check_min_cppstd(self, 20)
        except ConanInvalidConfiguration as why:
            raise ConanInvalidConfiguration(
                f"{self.name} needs C++20: add -s compiler.cppstd=20 to the command, or "
                f"compiler.cppstd=20 to the profile ({why})")
        oldest = {"gcc": "12", "clang": "14"}.get(str(self.settings.compiler))
        if oldest and Version(self.settings.compiler.version) < oldest:
            raise ConanInvalidConfiguration(
                f"{self.name} needs {self.settings.compiler} {oldest} or newer")

    def package(self):
        # What CMake installs: test/consumer/conan_create.py compares the two.
        for pattern, source, to in (("LICENSE", "", "licenses"),
                                    ("*.hpp", "include", "include"),
                                    ("*.cuh", "include", "include"),
                                    ("*_LICENSE.md", "include", "include"),
                                    ("lamina_*", "cmake", MODULES),
                                    ("compiled/*.cpp", "cmake", MODULES),
                                    ("cuda_kernels", "cmake", "bin")):
            if not copy(self, pattern, os.path.join(self.source_folder, source),
                        os.path.join(self.package_folder, to)):
                raise ConanException(f"{self.name}: expected {pattern} in the folder "
                                     f"'{source or '.'}' of the sources, found none")
        # lamina_cuda runs it, and it finds the headers beside its own folder.
        rename(self, os.path.join(self.package_folder, "bin", "cuda_kernels"),
               os.path.join(self.package_folder, "bin", "lamina_cuda_kernels"))

    def package_info(self):
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_file_name", "lamina")
        self.cpp_info.set_property("cmake_target_name", "lamina::lamina")
        folder = MODULES
        if not os.path.isdir(os.path.join(self.package_folder, folder)):
            folder = "cmake"  # `conan editable add`: the package is the tree
        names = sorted(name for name in os.listdir(os.path.join(self.package_folder, folder))
                       if name.startswith("lamina_"))
        # Such as lamina::compiled, lamina_import and lamina_mpi, which compile files beside
        # themselves where they are called.
        self.cpp_info.set_property("cmake_build_modules", [os.path.join(folder, name)
                                                           for name in names
                                                           if name.endswith(".cmake")])
        self.cpp_info.set_property("pkg_config_custom_content", {
            name.removeprefix("lamina_").replace(".cpp", "_source"):
            "/".join(("${prefix}", *folder.split(os.sep), name))
            for name in names if name.endswith(".cpp")})
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs.append("pthread")
        if self.settings.compiler == "gcc":  # as CMakeLists.txt does, and for its reasons
            self.cpp_info.cxxflags = ["-ftoplevel-reorder", "-fno-gnu-unique"]
            if self.settings.os == "Windows":
                self.cpp_info.cxxflags.append("-Wa,-mbig-obj,-muse-unaligned-vector-move")
        if self.options.with_zlib:
            self.cpp_info.defines.append("LAMINA_HAS_ZLIB")
        else:  # a system may have zlib.h all the same
            self.cpp_info.defines.append("LAMINA_HAS_ZLIB=0")
