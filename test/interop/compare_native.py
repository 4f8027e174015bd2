#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases as C++ programs: `interop_cases native` makes native.cpp of their files, and what it
computes is what the executor computes of the files, bit for bit.

usage: compare_native.py CASES --cases PROGRAM [--table FILE] [--page FILE]

PROGRAM is interop_cases; the compiler is that of the variable CXX. --page rewrites the part of a
Markdown page between its two lines with "cases as C++". Each case that is no C++ has its reason
in native_differences.txt.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

from table_parts import differing, known_differences, listed, plain_names, rewrite_page

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def results(text):
    return [tuple(line.split("\t")) for line in text.splitlines() if "\t" in line]


def compile_program(source):
    """Compiles a file with the compiler of the variable CXX; returns the program."""
    compiler = os.environ.get("CXX", "c++")
    flags = ["-std=c++20", "-O0", "-march=native", f"-I{ROOT / 'include'}", f"-I{ROOT / 'test'}"]
    if "clang" not in pathlib.Path(compiler).name:
        flags.append("-ftoplevel-reorder")
    program = source.with_suffix(".program")
    subprocess.run([compiler, *flags, source, "-o", program, "-lpthread"], check=True)
    return program


def main():
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("usage: ") + 7:])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--cases", required=True)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path)
    arguments = parser.parse_args()
    subprocess.run([arguments.cases, "native", arguments.folder], check=True)
    made = results((arguments.folder / "native.tsv").read_text())
    found = arguments.folder / "native.found"
    program = compile_program(arguments.folder / "native.cpp")
    subprocess.run([program, arguments.folder, found], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # cases may print
    ran = dict(results(found.read_text()))
    known = known_differences("native_differences.txt")
    rows, failed = [], 0
    for name, refused in made:
        why = refused or ran.get(name, "it did not run")
        if not why:
            rows.append((name, "equal"))
        elif refused and re.sub("_in_double$", "", name) in known:
            rows.append((name, known[re.sub("_in_double$", "", name)]))
        else:
            rows.append((name, why))
            failed += 1
            print(f"{name}: {why}")
    there = {re.sub("_in_double$", "", name) for name, why in rows if why != "equal"}
    for name in sorted(set(known) - there):
        print(f"{name}: native_differences.txt has a reason, but it is C++")
        failed += 1
    equal = sum(why == "equal" for _, why in rows)
    print(f"C++: {equal} of {len(rows)} cases are equal, {len(rows) - equal - failed} are no C++"
          f" as explained, {failed} failed")
    if arguments.table:
        arguments.table.write_text("".join(f"{name}\t{why}\n" for name, why in rows))
    if arguments.page:
        plain = [n for n in plain_names(rows) if dict(rows)[n] == "equal"]
        part = (f"Equal ({len(plain)}; with a star also in double): {listed(rows, plain)}.\n" +
                differing([r for r in rows if not r[0].endswith("_in_double")],
                          "why it was not converted to C++"))
        rewrite_page(arguments.page, "cases as C++", part)
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
