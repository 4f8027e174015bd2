# SPDX-License-Identifier: Apache-2.0
"""Conan 2 recipe: `conan create . -s compiler.cppstd=20 --build=missing`."""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load
from conan.tools.layout import basic_layout
from conan.tools.scm import Version


class LaminaConan(ConanFile):
    name = "lamina"
    description = "Deep learning whose programs are recorded by the C++ compiler"
    license = "Apache-2.0"
    topics = ("deep-learning", "expression-templates", "constexpr", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"with_zlib": [True, False], "with_cli11": [True, False]}
    default_options = {"with_zlib": True, "with_cli11": False}
    exports_sources = "include/*", "cmake/lamina_[cim]*.*", "cmake/compiled/*", "LICENSE"
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
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        for pattern in ("*.hpp", "*.cuh"):
            copy(self, pattern, os.path.join(self.source_folder, "include"),
                 os.path.join(self.package_folder, "include"))
        for pattern in ("lamina_[cim]*.*", "compiled/*.cpp"):
            copy(self, pattern, os.path.join(self.source_folder, "cmake"),
                 os.path.join(self.package_folder, "lib", "cmake", "lamina"))

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_file_name", "lamina")
        self.cpp_info.set_property("cmake_target_name", "lamina::lamina")
        # lamina::compiled, which is compiled where it is linked, lamina_import and lamina_mpi
        modules = os.path.join("lib", "cmake", "lamina")
        self.cpp_info.set_property("cmake_build_modules",
                                   [os.path.join(modules, "lamina_compiled.cmake"),
                                    os.path.join(modules, "lamina_import.cmake"),
                                    os.path.join(modules, "lamina_mpi.cmake")])
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs.append("pthread")
        if self.settings.compiler == "gcc":  # as CMakeLists.txt does, and for its reasons
            self.cpp_info.cxxflags = ["-ftoplevel-reorder", "-fno-gnu-unique"]
        if self.options.with_zlib:
            self.cpp_info.defines.append("LAMINA_HAS_ZLIB")
