# SPDX-License-Identifier: Apache-2.0
"""What `conan create` runs with the package that it has just made: a program that
computes, and the CMake modules that the recipe names."""
import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout


class LaminaTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        # Nothing that is built lands in the sources.
        self.folders.build_folder_vars = ["settings.build_type"]
        cmake_layout(self, build_folder=os.path.join("..", "..", "..", "build", "conan"))

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        lamina = self.dependencies[self.tested_reference_str].cpp_info
        toolchain.cache_variables["LAMINA_MODULES"] = ";".join(
            lamina.get_property("cmake_build_modules"))
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            self.run(os.path.join(self.cpp.build.bindir, "app"), env="conanrun")
