#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what flags of a surrounding project do to lamina.

- Refused by name, as the first error and in at most 12 lines, whichever header comes first: an
  older standard than C++20, -ffast-math and its parts (with it sigmoid(-1000) is NaN:
  Tencent/ncnn#1284, pytorch/glow#4402).
- Accepted: -fno-exceptions -fno-rtti, by lamina.hpp; -fsanitize=undefined and
  -fno-delete-null-pointer-checks, for which g++ takes fewer addresses for constants, together with
  WARNINGS, which have none to give of a small program, though lamina is no system header.

With --warnings, checks only that WARNINGS have none to give about programs that use much of
lamina's templates, and with g++ about the lines of any header. (For clang
headers/compile_alone.py asks the latter.)

usage: compiler_flags.py [--warnings] [--compiler CXX]...
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / "headers"), str(ROOT / "test")]
import compile_alone  # noqa: E402 - the flags and the list of headers
from compile_alone import WARNINGS  # noqa: E402
from example_sources import source_of  # noqa: E402

NET = pathlib.Path(__file__).resolve().parent / "flags" / "net.cpp"
STANDARD = ("lamina: the compiler: expected C++20 or newer, found an older standard; add "
            "-std=c++20")
FAST = "lamina: the compiler: expected the arithmetic of IEEE 754, found -ffast-math or part of it"
# Loops, beam search and archives of data; the kernels of the reference executor and formats of
# models, for which the machine needs a header of another library.
TRANSLATION = source_of("machine_translation")
INFO, INFO_NEEDS = source_of("program_info"), "protozero/pbf_reader.hpp"
FIRST = ("lamina.hpp", "lamina.cuh", "executor/executor.hpp", "io/npz.hpp", "reader/reader.hpp",
         "core/messages/error.hpp")
MOST_LINES = 12


def said(compiler, *arguments, text=None):
    run = subprocess.run([*compiler.split(), "-fsyntax-only", f"-I{ROOT / 'include'}", *arguments],
                         input=text, text=True, capture_output=True)
    return run.stderr


def all_headers(compiler):
    """Text that includes all headers. lamina.hpp is the last one, because its pragma for g++ hides
    warnings about what it is the first to include."""
    include = ROOT / "include"
    headers = compile_alone.headers_in(include)
    lacking = compile_alone.lacking(headers, include, compiler.split(),
                                    ["-std=c++20", "-fsyntax-only"])
    umbrella = "lamina/lamina.hpp"
    return "".join(f"#include <{header}>\n" for header in
                   [*(h for h in headers if h != umbrella and h not in lacking), umbrella])


def in_namespace(program):
    """A program in a namespace of its own, after the headers that it includes."""
    headers = re.findall(r"^#include <.*\n", program.read_text(), re.M)
    return f'{"".join(headers)}namespace {program.stem} {{\n#include "{program}"\n}}\n'


def faults_of(compiler):
    def faults(flags, headers, message):
        for header in headers:
            text = said(compiler, *flags, "-x", "c++", "-", text=f"#include <lamina/{header}>\n")
            errors = [line for line in text.splitlines() if "error: " in line]
            if (message is None) == bool(text) or message and (
                    not errors or message not in errors[0] or
                    len(text.splitlines()) > MOST_LINES):
                yield (f"{compiler} {' '.join(flags)} {header}: expected"
                       f" '{message or 'nothing'}' first, found\n{text[:2000]}")

    for standard in ("-std=c++17", "-std=gnu++17", "-std=c++14"):
        yield from faults([standard], FIRST, STANDARD)
    yield from faults(["-std=c++20", "-fno-exceptions", "-fno-rtti"], ["lamina.hpp"], None)
    config = ["core/config.hpp"]
    for flags in (["-O2", "-ffast-math"], ["-Ofast"], ["-O2", "-ffinite-math-only"]):
        yield from faults(["-std=c++20", *flags], config, FAST)
    for flags in (["-O3"], ["-O2", "-fno-math-errno", "-fno-trapping-math"]):
        yield from faults(["-std=c++20", *flags], config, None)
    # -fsanitize=undefined sets -fno-delete-null-pointer-checks too.
    yield from warnings_of(compiler, [*WARNINGS, "-fsanitize=undefined"], NET)


def warnings_of(compiler, flags, what, text=None):
    """What a compiler says of a file, or of a text that is called `what`."""
    source = [what] if text is None else ["-x", "c++", "-"]
    if found := said(compiler, "-std=c++20", *flags, *source, text=text):
        yield f"{compiler} {' '.join(flags)} {what}: expected nothing, found\n{found[:3000]}"


def all_warnings_of(compiler):
    if said(compiler, "-x", "c++", "-", text="#if defined(__clang__)\n#error\n#endif\n"):
        for program in (NET, TRANSLATION):
            yield from warnings_of(compiler, WARNINGS, program)
        return
    # What the sanitizer could hide shows among all headers, where the programs are read once more.
    programs = [NET, TRANSLATION]
    if not said(compiler, "-std=c++20", "-x", "c++", "-", text=f"#include <{INFO_NEEDS}>\n"):
        programs.append(INFO)
    yield from warnings_of(compiler, WARNINGS, "all headers",
                           all_headers(compiler) + "".join(map(in_namespace, programs)))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--compiler", action="append")
    options.add_argument("--warnings", action="store_true")
    given = options.parse_args()
    check = all_warnings_of if given.warnings else faults_of
    faults = [fault for compiler in given.compiler or ["c++"] for fault in check(compiler)]
    print("\n".join(faults) or "flags are refused by name, or accepted without a warning")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
