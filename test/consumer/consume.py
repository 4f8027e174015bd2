#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses lamina as another project would: builds and runs project/ against an installed or an
embedded copy.

One translation unit of the project includes every header that is installed; of an embedded copy,
lamina.hpp is enough. Its object is linked with itself, so that a function that is not inline shows
as it would in two such units.

usage: consume.py --build FOLDER --how find_package|add_subdirectory
       FOLDER is a configured build of lamina: its compiler is used, and it is what gets installed.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LAMINA = HERE.parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / "headers"))
import compile_alone  # noqa: E402 - which headers need libraries that lamina does not require


def run(*command):
    """Runs a command, and shows what it said if it fails."""
    result = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}")
    return result.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--how", choices=["find_package", "add_subdirectory"], required=True)
    options = parser.parse_args()
    cache = (options.build / "CMakeCache.txt").read_text()
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.M).group(1)

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if options.how == "find_package":
            run("cmake", "--install", options.build, "--prefix", folder / "prefix")
            include = folder / "prefix" / "include"
            where = f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}"
        else:
            include, where = LAMINA / "include", f"-DLAMINA_SOURCE={LAMINA}"
        headers = sorted(str(p.relative_to(include)) for p in (include / "lamina").rglob("*.hpp"))
        expected = sum(1 for _ in (LAMINA / "include" / "lamina").rglob("*.hpp"))
        if len(headers) != expected:
            sys.exit(f"expected {expected} headers to be installed, found {len(headers)}")
        optional = compile_alone.optional_needs(headers, include)
        if options.how == "add_subdirectory":
            headers = ["lamina/lamina.hpp"]
        everything = [f"#include <{h}>\n" for h in headers if h not in optional]
        (folder / "everything.hpp").write_text("#pragma once\n" + "".join(everything))
        run("cmake", "-G", "Ninja", "-S", HERE / "project", "-B", folder / "build", where,
            f"-DCMAKE_CXX_COMPILER={compiler}", f"-DEVERYTHING={folder}")
        run("cmake", "--build", folder / "build")
        [unit] = (folder / "build").rglob("everything.cpp.o")
        run(compiler, "-r", "-nostdlib", unit, unit, "-o", folder / "twice.o")
        said = run(folder / "build" / "consumer")
        version = re.findall(r"#define LAMINA_VERSION_\w+ (\d+)",
                             (include / "lamina/core/config.hpp").read_text())
        if said.split() != ["lamina", ".".join(version)]:
            sys.exit(f"expected the consumer to say 'lamina {'.'.join(version)}', found '{said}'")
    print(
        f"a project that uses {options.how} builds with {len(everything)} headers, which two files "
        "may include, and runs"
    )


if __name__ == "__main__":
    main()
