#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that say `import lamina;`, by clang 19.

commands: each of four examples is compiled by the two commands of docs/building.md, once with its
include of lamina.hpp and once with the import, and both objects have the same code and constants.
The module's list of other libraries' headers is complete. cmake: a project calls lamina_module of
an installed copy and runs, by the newest CMake of pip, and older ones and g++ get one clear error.

If clang-19 is missing, module.py installs it (test/install module), or says so and exits with 77.

usage: module.py --build FOLDER
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from command import run  # noqa: E402
from real_conan import install  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULE = ROOT / "cmake/lamina_module.cppm"
CLANG = "clang++-19"
FLAGS = ("-std=c++20", "-O1", f"-I{ROOT / 'include'}", "-DLAMINA_HAS_ZLIB")
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include <([^>]+)>", re.M)
# Headers that the list of the module need not have: immintrin.h has the intrinsics, xsimd stands
# behind `export`, and the module has no code for the other systems and libraries.
OTHER_WAYS = re.compile(r".*intrin\.h$|coroutine$|xsimd/|xtensor/|protozero/|io\.h$|process\.h$|"
                        r"windows\.h$")
# A file needs these, besides what it uses itself: docs/building.md says so.
NEEDED = "".join(f"#include <{name}>\n" for name in ("initializer_list", "string", "tuple",
                                                     "vector"))
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(imports LANGUAGES CXX)
find_package(lamina REQUIRED)
add_executable(digits digits.cpp)
lamina_module(digits)
"""


def sections(file):
    """Names and sizes of the sections of an object file with code and with constants."""
    listing = run("objdump", "-h", "-w", file)
    return sorted(re.findall(r"^ +\d+ (\.(?:text|rodata)\S*) +([0-9a-f]+) ", listing, re.M))


def inside(folder):
    """The headers of lamina that the module has. Each header of another library that these include
    must stand before `export`."""
    before, behind = MODULE.read_text().split("export module lamina;")
    named = set(INCLUDE.findall(before))
    source = folder / "behind.cpp"
    source.write_text("\n".join(f"#include <{name}>" for name in INCLUDE.findall(behind)
                                if name.startswith("lamina/")))
    rule = run(CLANG, *FLAGS, "-MM", source)
    files = [pathlib.Path(word).resolve() for word in rule.split() if "/lamina/" in word]
    asked = {name for file in files for name in INCLUDE.findall(file.read_text())
             if not name.startswith("lamina/")}
    rest = {name for name in asked - named if not OTHER_WAYS.match(name)}
    if rest:
        sys.exit(f"{MODULE.name}: expected also the headers {', '.join(sorted(rest))}")
    print(f"list: {len(asked)} headers of other libraries")
    return {str(file.relative_to(ROOT / "include")) for file in files}


def commands(folder):
    module = folder / "lamina.pcm"
    run(CLANG, *FLAGS, "--precompile", MODULE, "-o", module)
    held = inside(folder)
    for source in sorted((ROOT / "examples").glob("0[1389]*.cpp")):
        text = source.read_text().replace("#include <lamina/lamina.cuh>\n", "")
        names = INCLUDE.findall(text)
        ours = {name for name in names if name.startswith("lamina/")}
        if not ours or ours - held or '#include "' in text:
            sys.exit(f"{source.name}: expected includes that the module has, found {names}")
        others = "".join(f"#include <{name}>\n" for name in names if name not in ours)
        if "LAMINA_FN" in text:  # a module has no macros
            others += "#include <lamina/core/config.hpp>\n"
        body = INCLUDE.sub("", text)
        made = []
        for how in ("include", "import"):
            file = folder / f"{source.stem}.{how}.cpp"
            lines = NEEDED + others + ("import lamina;\n" if how == "import" else "".join(
                f"#include <{name}>\n" for name in ours))
            file.write_text(lines + body)
            made.append(file.with_suffix(".o"))
            run(CLANG, *FLAGS, f"-fmodule-file=lamina={module}", f"-I{ROOT / 'examples'}", "-c",
                file, "-o", made[-1])
        if sections(made[0]) != sections(made[1]):
            sys.exit(f"{source.name}: expected the same code with include and with import, found "
                     f"{sections(made[0])} and {sections(made[1])}")
        print(f"{source.name}: same code")
    digits = folder / "digits"
    run(CLANG, folder / "01_digits.import.o", module, "-lz", "-o", digits)
    print(run(digits, "--quiet", cwd=folder).splitlines()[-1])


def cmake(folder, build):
    if not shutil.which("clang-scan-deps-19"):
        print("LEFT OUT: lamina_module: found no clang-scan-deps-19 (test/install module)")
        return
    newest = install(build, ("cmake>=3.28",), "cmake")
    project, prefix = folder / "project", folder / "prefix"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(PROJECT)
    digits = (ROOT / "examples/01_digits.cpp").read_text()
    (project / "digits.cpp").write_text(
        NEEDED + digits.replace("#include <lamina/lamina.hpp>", "import lamina;"))
    run("cmake", "-S", ROOT, "-B", folder / "lamina", "-G", "Ninja", "-DLAMINA_BUILD_TESTS=OFF",
        "-DLAMINA_BUILD_EXAMPLES=OFF", f"-DCMAKE_INSTALL_PREFIX={prefix}")
    run("cmake", "--install", folder / "lamina")
    configure = ["-S", project, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"]
    run(newest, *configure, "-B", folder / "with", f"-DCMAKE_CXX_COMPILER={CLANG}",
        "-DCMAKE_CXX_FLAGS=-O1")
    run(newest, "--build", folder / "with")
    print("lamina_module:", run(folder / "with/digits", "--quiet", cwd=folder).splitlines()[-1])
    for name, program, compiler, expected in (
            ("old", "cmake", CLANG, "expected CMake 3.28 or newer, found 3"),
            ("gcc", newest, "g++", "expected clang 19 or newer, found GNU")):
        if name == "old" and version(program) >= (3, 28):
            continue
        said = run(program, *configure, "-B", folder / name, f"-DCMAKE_CXX_COMPILER={compiler}",
                   works=False)
        if f"lamina_module: {expected}" not in " ".join(said.split()):
            sys.exit(f"expected 'lamina_module: {expected}', found:\n{said}")


def version(program):
    return tuple(map(int, re.search(r"(\d+)\.(\d+)", run(program, "--version")).groups()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    build = parser.parse_args().build
    if not shutil.which(CLANG):
        subprocess.run([ROOT / "test/install", "module"], stdin=subprocess.DEVNULL)
    if not shutil.which(CLANG):
        print(f"SKIPPED: found no {CLANG}; test/install module installs it")
        return 77
    with tempfile.TemporaryDirectory() as name:
        commands(pathlib.Path(name))
        cmake(pathlib.Path(name), build)
    return 0


if __name__ == "__main__":
    sys.exit(main())
