#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what flags of a surrounding project do to lamina.

- Refused by name, as the first error and in at most 12 lines, whichever header comes first: an
  older standard than C++20, -fno-exceptions, -ffast-math and its parts (with it sigmoid(-1000) is
  NaN: Tencent/ncnn#1284, pytorch/glow#4402).
- Accepted: -fsanitize=undefined and -fno-delete-null-pointer-checks, for which g++ takes fewer
  addresses for constants.
- WARNINGS have none to give about a program that trains a net, though lamina is no system header.

usage: compiler_flags.py [--compiler CXX]...
"""
import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NET = pathlib.Path(__file__).resolve().parent / "flags" / "net.cpp"
STANDARD = ("lamina: the compiler: expected C++20 or newer, found an older standard; add "
            "-std=c++20")
EXCEPTIONS = "lamina: the compiler: expected exceptions, found -fno-exceptions"
FAST = "lamina: the compiler: expected the arithmetic of IEEE 754, found -ffast-math or part of it"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wsign-conversion",
            "-Wold-style-cast", "-Werror"]
FIRST = ("lamina.hpp", "lamina.cuh", "executor/executor.hpp", "io/npz.hpp", "reader/reader.hpp",
         "core/error.hpp")
MOST_LINES = 12


def said(compiler, *arguments, text=None):
    run = subprocess.run([*compiler.split(), "-fsyntax-only", f"-I{ROOT / 'include'}", *arguments],
                         input=text, text=True, capture_output=True)
    return run.stderr


def faults_of(compiler):
    def faults(flags, headers, message):
        for header in headers:
            text = said(compiler, *flags, "-x", "c++", "-", text=f"#include <lamina/{header}>\n")
            errors = [line for line in text.splitlines() if "error: " in line]
            if (message is None) == bool(text) or message and (
                    not errors or message not in errors[0] or
                    len(text.splitlines()) > MOST_LINES + (message == EXCEPTIONS)):
                yield (f"{compiler} {' '.join(flags)} {header}: expected"
                       f" '{message or 'nothing'}' first, found\n{text[:2000]}")

    for standard in ("-std=c++17", "-std=gnu++17", "-std=c++14"):
        yield from faults([standard], FIRST, STANDARD)
    yield from faults(["-std=c++20", "-fno-exceptions"], FIRST, EXCEPTIONS)
    config = ["core/config.hpp"]
    for flags in (["-O2", "-ffast-math"], ["-Ofast"], ["-O2", "-ffinite-math-only"]):
        yield from faults(["-std=c++20", *flags], config, FAST)
    for flags in (["-O3"], ["-O2", "-fno-math-errno", "-fno-trapping-math"]):
        yield from faults(["-std=c++20", *flags], config, None)
    accepted = [WARNINGS]
    if not said(compiler, "-x", "c++", "-", text="#if defined(__clang__)\n#error\n#endif\n"):
        accepted += [["-fsanitize=undefined"], ["-fno-delete-null-pointer-checks"]]
    for flags in accepted:
        if text := said(compiler, "-std=c++20", *flags, NET):
            yield f"{compiler} {' '.join(flags)}: expected nothing, found\n{text[:3000]}"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--compiler", action="append")
    faults = [fault for compiler in options.parse_args().compiler or ["c++"]
              for fault in faults_of(compiler)]
    print("\n".join(faults) or "flags are refused by name, or accepted without a warning")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
