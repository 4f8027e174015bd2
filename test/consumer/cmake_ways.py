#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs a small program in each way in which a project can bring in lamina.

exported: a library adds lamina as a subdirectory, links it PUBLIC and installs an export set; a
second project finds the library. twice: two parts of a project add a copy each, and a third finds
the installed one. fetched: FetchContent clones a local git. system: the copy is added as SYSTEM,
and the project asks for more warnings than lamina's own. optimised: -Wnull-dereference with -O1
and -O2. without_zlib: LAMINA_WITH_ZLIB=OFF.
unity: a unity build. single_header: the target that writes it. make: by make in place of ninja.
pkg_config: without CMake. meson: by Meson, which finds an installed copy by pkg-config, or clones a
local git as a subproject. bazel: by Bazel. Both are left out where they are not installed.
compiled: with lamina::compiled. imported: with a saved model as C++. embedded: with parameters
inside the executable. mpi: with lamina_mpi, of an installed copy and of one that is added, under
mpirun; left out where there is no MPI. vcpkg: the overlay port, against a stand-in for vcpkg
(vcpkg_port.py).
conan_create.py has Conan.

imported, embedded and mpi compile much that other tests compile too, so a second compiler may do it
sooner.

usage: cmake_ways.py --compiler CXX [--quick CXX] [WAY]...
"""
import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import vcpkg_port  # noqa: E402
from command import run  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCES = " ".join(f'"{HERE / "ways" / name}"' for name in ("main.cpp", "fail.cpp"))
SAID = "lamina: expected, found\n"
HEAD = "cmake_minimum_required(VERSION 3.25)\nproject({} LANGUAGES CXX)\n"
PROGRAM = f"add_executable(main {SOURCES})\ntarget_link_libraries(main PRIVATE {{}})\n"
ADDED = f'add_subdirectory("{ROOT}" lamina {{}})\n'


class ways:
    """The ways, each a method; a way gets a folder of its own."""

    def __init__(self, compiler, folder, quick=None):
        self.compiler, self.quick, self.folder = compiler, quick or compiler, folder
        self.prefix = folder / "prefix"

    def installed(self):
        """The folder of an installed lamina."""
        if not self.prefix.exists():
            self.configure("installed", ROOT, "-DLAMINA_BUILD_TESTS=OFF",
                           "-DLAMINA_BUILD_EXAMPLES=OFF", "-DLAMINA_BUILD_BENCHMARKS=OFF")
            run("cmake", "--install", self.folder / "installed.build", "--prefix", self.prefix)
        return self.prefix

    def project(self, name, text):
        folder = self.folder / name
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(HEAD.format(name) + text)
        return folder

    def configure(self, name, source, *options):
        build = self.folder / f"{name}.build"
        generator = () if "-G" in options else ("-G", "Ninja")
        said = run("cmake", *generator, "-S", source, "-B", build,
                   f"-DCMAKE_CXX_COMPILER={self.compiler}", *options)
        if "CMake Warning" in said:
            sys.exit(said)
        return build

    def build(self, name, text, *options):
        """Builds and runs a project's program."""
        build = self.configure(name, self.project(name, text), *options)
        run("cmake", "--build", build)
        self.expect(run(build / "main"))
        return build

    def expect(self, said):
        if said != SAID:
            sys.exit(f"expected {SAID!r}, found {said!r}")

    def exported(self):
        text = ADDED.format("") + (
            f'add_library(scorer STATIC "{HERE / "ways/fail.cpp"}")\n'
            "target_link_libraries(scorer PUBLIC lamina::lamina)\n"
            "install(TARGETS scorer EXPORT scorer)\n"
            "install(EXPORT scorer NAMESPACE scorer:: FILE scorer-targets.cmake\n"
            "        DESTINATION lib/cmake/scorer)\n"
            "file(WRITE ${CMAKE_BINARY_DIR}/scorer-config.cmake [[\n"
            "include(CMakeFindDependencyMacro)\nfind_dependency(lamina)\n"
            "include(${CMAKE_CURRENT_LIST_DIR}/scorer-targets.cmake)\n]])\n"
            "install(FILES ${CMAKE_BINARY_DIR}/scorer-config.cmake DESTINATION lib/cmake/scorer)\n")
        build = self.configure("scorer", self.project("scorer", text))
        run("cmake", "--build", build)
        run("cmake", "--install", build, "--prefix", self.folder / "scorer.prefix")
        text = (f'find_package(scorer REQUIRED)\nadd_executable(main "{HERE / "ways/main.cpp"}")\n'
                "target_link_libraries(main PRIVATE scorer::scorer)\n")
        self.build("exported", text, f"-DCMAKE_PREFIX_PATH={self.folder / 'scorer.prefix'}")

    def twice(self):
        text = (f'add_subdirectory("{ROOT}" one)\nadd_subdirectory("{ROOT}" two)\n'
                "find_package(lamina CONFIG REQUIRED)\n")
        self.build("twice", text + PROGRAM.format("lamina::lamina"),
                   f"-DCMAKE_PREFIX_PATH={self.installed()}")

    def cloned(self):
        """The folder of a git repository with what other projects build lamina from."""
        origin = self.folder / "origin"
        if origin.exists():
            return origin
        for name in ("include", "cmake"):
            shutil.copytree(ROOT / name, origin / name)
        for name in ("CMakeLists.txt", "meson.build", "meson_options.txt", "BUILD.bazel"):
            shutil.copy(ROOT / name, origin)
        run("git", "init", "-q", origin)
        run("git", "-C", origin, "add", "-A")
        run("git", "-C", origin, "-c", "user.name=test", "-c", "user.email=test@localhost",
            "commit", "-qm", "a copy")
        return origin

    def fetched(self):
        origin = self.cloned()
        text = (f"include(FetchContent)\nFetchContent_Declare(lamina GIT_REPOSITORY\n"
                f'                     "file://{origin}" GIT_TAG HEAD)\n'
                "FetchContent_MakeAvailable(lamina)\n")
        self.build("fetched", text + PROGRAM.format("lamina::lamina"))

    def system(self):
        self.build("system", ADDED.format("SYSTEM") + PROGRAM.format("lamina::lamina") +
                   "target_compile_options(main PRIVATE -Wall -Wextra -Wconversion -Wuseless-cast\n"
                   "                       -Wno-unknown-warning-option -Weffc++ -Wpadded\n"
                   "                       -Werror)\n")

    def optimised(self):
        """Headers of the system, and warnings that need the optimiser: g++ inlines these headers
        into the program, and then gives its warnings about them too."""
        for level in ("-O1", "-O2"):
            program = self.folder / f"optimised{level}"
            run(self.compiler, "-std=c++20", level, "-Wnull-dereference", "-Werror", "-isystem",
                ROOT / "include", HERE / "ways/metric.cpp", "-o", program, "-pthread", "-lz")
            run(program)

    def without_zlib(self):
        """Without zlib no header uses it, also where the system has it."""
        self.build("without_zlib", "set(LAMINA_WITH_ZLIB OFF)\n" + ADDED.format("") +
                   PROGRAM.format("lamina::lamina") +
                   "target_compile_definitions(main PRIVATE EXPECTED_ZLIB=0)\n")

    def unity(self):
        build = self.build("unity", ADDED.format("") + PROGRAM.format("lamina::lamina"),
                           "-DCMAKE_UNITY_BUILD=ON")
        if not list(build.rglob("unity_0_cxx.cxx")):
            sys.exit("expected a unity build")

    def make(self):
        self.build("make", ADDED.format("EXCLUDE_FROM_ALL") + PROGRAM.format("lamina::lamina"),
                   "-G", "Unix Makefiles")

    def single_header(self):
        """The target that writes the single header; single_header.py compiles with it."""
        self.installed()
        build = self.folder / "installed.build"
        run("cmake", "--build", build, "--target", "lamina_single_header")
        for name, entries in (("lamina.hpp", ()), ("lamina_static.hpp", ("static",))):
            if (build / name).read_text() != run(ROOT / "tools/single_header", *entries):
                sys.exit(f"{name}: expected what tools/single_header writes, found another text")

    def pkg_config(self):
        path = os.pathsep.join([f"{self.installed()}/share/pkgconfig",
                                os.environ.get("PKG_CONFIG_PATH", "")])
        flags = run("pkg-config", "--cflags", "--libs", "lamina",
                    env={**os.environ, "PKG_CONFIG_PATH": path}).split()
        if f"-I{self.prefix}/include" not in [os.path.normpath(f) for f in flags]:
            sys.exit(f"expected -I{self.prefix}/include, found {flags}")
        program = self.folder / "pkg_config"
        run(self.compiler, HERE / "ways/main.cpp", HERE / "ways/fail.cpp", *flags, "-o", program)
        self.expect(run(program))

    def meson(self):
        """One project for both: a lamina that pkg-config finds, and a clone where it finds none."""
        if not shutil.which("meson"):
            print("meson: left out: found no meson")
            return
        project = self.folder / "meson"
        (project / "subprojects").mkdir(parents=True)
        page = (ROOT / "docs/building.md").read_text()
        [text], [wrap] = (re.findall(rf"```{kind}\n(.*?)```", page, re.S)
                          for kind in ("meson", "ini"))
        shutil.copy(HERE / "ways/writes.cpp", project / "main.cpp")
        (project / "meson.build").write_text(text)
        wrap = re.sub(r"^url = .*", f"url = file://{self.cloned()}", wrap, flags=re.M)
        (project / "subprojects/lamina.wrap").write_text(
            re.sub(r"^revision = .*", "revision = HEAD", wrap, flags=re.M))
        env = {**os.environ, "CXX": self.compiler}
        env.pop("PKG_CONFIG_PATH", None)
        build = self.folder / "meson.build"
        run("meson", "setup", build, project, env=env)
        run("meson", "compile", "-C", build, env=env)
        if (said := run(build / "app", cwd=build)) != "the same\n":
            sys.exit(f"meson: expected 'the same', found {said!r}")
        (project / "meson.build").write_text(text.replace("lamina-compiled", "lamina"))
        shutil.copy(HERE / "ways/main.cpp", project / "main.cpp")
        with open(project / "main.cpp", "a") as main:
            main.write((HERE / "ways/fail.cpp").read_text())
        run("meson", "setup", "--wrap-mode=nofallback", f"{build}.installed", project,
                   env={**env, "PKG_CONFIG_PATH": f"{self.installed()}/share/pkgconfig"})
        run("meson", "compile", "-C", f"{build}.installed", env=env)
        self.expect(run(f"{build}.installed/app"))

    def bazel(self):
        """BUILD.bazel, by any version of Bazel, without a network: the libraries of the system
        stand for the modules that MODULE.bazel names, which a registry has."""
        if not (bazel := shutil.which("bazel")):
            print("bazel: left out: found no bazel")
            return
        project = self.folder / "bazel"
        files = {
            "WORKSPACE": f'new_local_repository(name = "lamina", path = "{self.cloned()}", '
                         f'build_file = "{self.cloned()}/BUILD.bazel")\n',
            "BUILD.bazel": 'load("@rules_cc//cc:defs.bzl", "cc_binary")\n'
                           'cc_binary(name = "app", srcs = ["main.cpp", "fail.cpp"], '
                           'deps = ["@lamina"])\n',
            "main.cpp": (HERE / "ways/main.cpp").read_text(),
            "fail.cpp": (HERE / "ways/fail.cpp").read_text(),
            "rules_cc/cc/BUILD.bazel": "",
            **{f"rules_{kind}/{kind}/defs.bzl": "".join(  # Bazel's own tools ask for all of these
                f"{kind}_{rule} = native.{kind}_{rule}\n" for rule in (
                    "binary", "import", "library", "test", "toolchain", extra))
               for kind, extra in (("cc", "toolchain_suite"), ("java", "runtime"))},
            "rules_java/java/BUILD.bazel": "",
            "zlib/BUILD.bazel": 'cc_library(name = "zlib", linkopts = ["-lz"], '
                                'visibility = ["//visibility:public"])\n',
            **{f"{name}/BUILD.bazel": f'cc_library(name = "{name}", '
               'visibility = ["//visibility:public"])\n' for name in ("xsimd", "xtensor")},
        }
        for name in ("rules_cc", "rules_java", "zlib", "xsimd", "xtensor"):
            files[f"{name}/WORKSPACE"] = ""
            files["WORKSPACE"] += f'local_repository(name = "{name}", path = "{name}")\n'
        for name, text in files.items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(text)
        command = (bazel, "--batch", f"--output_user_root={self.folder}/bazel.out")
        env = {**os.environ, "CC": self.compiler}
        run(*command, "build", "--cxxopt=-std=c++20", "--jobs=1", "//:app", cwd=project, env=env)
        self.expect(run(project / "bazel-bin/app"))
        # The server writes files without the right to remove them.
        run("chmod", "-R", "u+w", self.folder / "bazel.out")

    def compiled(self):
        """lamina::compiled: one library for two programs, and none for another processor."""
        text = ("find_package(lamina CONFIG REQUIRED)\n"
                f'add_executable(main "{HERE / "ways/writes.cpp"}")\n'
                f'add_executable(second "{HERE / "ways/writes.cpp"}")\n'
                f'add_executable(other EXCLUDE_FROM_ALL "{HERE / "ways/writes.cpp"}")\n'
                "target_link_libraries(main PRIVATE lamina::compiled)\n"
                "target_link_libraries(second PRIVATE lamina::compiled)\n"
                "target_link_libraries(other PRIVATE lamina::compiled)\n"
                "target_compile_options(other PRIVATE -march=x86-64-v3)\n")
        build = self.configure("compiled", self.project("compiled", text),
                               f"-DCMAKE_PREFIX_PATH={self.installed()}")
        run("cmake", "--build", build)
        if len(list(build.rglob("files.cpp.o"))) != 1:
            sys.exit("expected one library for both programs")
        for program in ("main", "second"):
            if (said := run(build / program, cwd=build)) != "the same\n":
                sys.exit(f"expected 'the same', found {said!r}")
        if platform.machine() == "x86_64":
            said = run("cmake", "--build", build, "--target", "other", works=False)
            if not re.search(r"undefined reference to .*lamina::x123\w*::detail::write", said):
                sys.exit(f"expected a name of the other instruction set, found {said[-2000:]}")

    def imported(self):
        """A model that the program of compiled wrote becomes C++ in another project."""
        model = self.folder / "compiled.build/model"
        if not model.exists():
            self.compiled()
        text = ("find_package(lamina CONFIG REQUIRED)\n"
                f'add_executable(main "{HERE / "ways/imports.cpp"}")\n'
                "target_link_libraries(main PRIVATE lamina::lamina)\n"
                f'target_compile_definitions(main PRIVATE MODEL="{model}")\n'
                f'lamina_import(main net MODEL "{model}")\n')
        self.build("imported", text, f"-DCMAKE_PREFIX_PATH={self.installed()}",
                   f"-DCMAKE_CXX_COMPILER={self.quick}")

    def embedded(self):
        """Parameters inside the executable: the bytes of a file, which a model loads."""
        header = json.dumps({"y.w_0": {"dtype": "BF16", "shape": [2, 1],
                                       "data_offsets": [0, 4]}}).encode()
        weights = self.folder / "parameters.safetensors"
        weights.write_bytes(struct.pack("<Q", len(header)) + header + b"\x80\x3f\x00\xc0")
        text = ("find_package(lamina CONFIG REQUIRED)\n"
                f'add_executable(main "{HERE / "ways/embeds.cpp"}")\n'
                "target_link_libraries(main PRIVATE lamina::lamina)\n"
                f'lamina_embed(main "{weights}")\n')
        self.build("embedded", text, f"-DCMAKE_PREFIX_PATH={self.installed()}",
                   f"-DCMAKE_CXX_COMPILER={self.quick}")

    def mpi(self):
        """Two processes see each other, and without lamina_mpi a program is one process."""
        found = shutil.which("mpirun")
        if not found or not shutil.which("mpicxx"):
            print("mpi: left out: found not both of mpirun and mpicxx")
            return
        program = (f'add_executable(main "{HERE / "ways/processes.cpp"}")\n'
                   "target_link_libraries(main PRIVATE lamina::lamina)\n")
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("OMPI_", "PMI", "SLURM_"))}
        env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1")
        program += "lamina_mpi(main)\n"
        # A library whose public header has a session, with an option of its own; one of headers
        # alone; and one of a project that uses no keywords.
        library = (f'add_library(processes STATIC "{HERE / "ways/session_in_header.cpp"}")\n'
                   f'target_include_directories(processes PUBLIC "{HERE / "ways"}")\n'
                   "target_link_libraries(processes PUBLIC lamina::lamina)\n"
                   "target_compile_options(processes PUBLIC -march=native)\n"
                   "lamina_mpi(processes)\n"
                   f'add_executable(main "{HERE / "ways/prints_processes.cpp"}")\n'
                   "target_link_libraries(main PRIVATE processes)\n"
                   "add_library(of_headers INTERFACE)\n"
                   "target_link_libraries(of_headers INTERFACE lamina::lamina)\n"
                   "lamina_mpi(of_headers)\n"
                   f'add_executable(second "{HERE / "ways/processes.cpp"}")\n'
                   "target_compile_options(second PRIVATE -march=native)\n"
                   "target_link_libraries(second PRIVATE of_headers)\n"
                   f'add_library(plain STATIC "{HERE / "ways/session_in_header.cpp"}")\n'
                   "target_link_libraries(plain lamina::lamina)\n"
                   "target_compile_options(plain PUBLIC -march=native)\n"
                   "lamina_mpi(plain)\n"
                   "install(TARGETS plain EXPORT plain)\n"
                   "install(EXPORT plain FILE plain-targets.cmake DESTINATION lib)\n")
        for name, way in (("installed_mpi", "find_package(lamina CONFIG REQUIRED)\n" + program),
                          ("added_mpi", ADDED.format("") + library)):
            build = self.configure(name, self.project(name, way),
                                   f"-DCMAKE_PREFIX_PATH={self.installed()}",
                                   f"-DCMAKE_CXX_COMPILER={self.quick}")
            run("cmake", "--build", build)
            for made in ["main"] + ["second"] * (build / "second").exists():
                said = run(found, "-n", "2", build / made, env=env)
                if sorted(said.split()) != ["0/2", "1/2"]:
                    sys.exit(f"{name}: {made}: expected the ranks 0/2 and 1/2, found {said!r}")
            if (said := run(build / "main", env=env)) != "0/1\n":
                sys.exit(f"{name}: expected one process without mpirun, found {said!r}")

    def vcpkg(self):
        package = vcpkg_port.install(ROOT, self.compiler, self.folder)
        self.build("of_vcpkg", "find_package(lamina CONFIG REQUIRED)\n" +
                   PROGRAM.format("lamina::lamina"), f"-DCMAKE_PREFIX_PATH={package}")


def main():
    all_ways = [name for name, way in vars(ways).items()
                if callable(way) and name not in ("__init__", "installed", "cloned", "project",
                                                  "configure",
                                                  "build", "expect")]
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("usage: ") + 7:])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--quick")
    parser.add_argument("ways", nargs="*", choices=[*all_ways, []])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = ways(options.compiler, pathlib.Path(folder), options.quick)
        for name in options.ways or all_ways:
            getattr(made, name)()
            print(f"{name}: builds and runs", flush=True)


if __name__ == "__main__":
    main()
