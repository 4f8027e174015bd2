#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cells that docs/building.md shows, one by one, in clang's interpreter.

usage: cells.py [FLAGS...]      flags of the compiler, such as -DLAMINA_HAS_ZLIB=1
       cells.py --self-test

The cells are the ```c++ block below the heading "Cells of a notebook"; what each prints is in its
last comment, "// prints: TEXT", where X stands for a digit. Exits with 77, and says so, where there
is no clang-repl.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADING = "## Cells of a notebook\n"
NAMES = [f"clang-repl-{version}" for version in range(22, 18, -1)] + ["clang-repl"]
LEAST = 19  # of clang: older ones crash where a cell uses what another one has defined


def cells_of(page):
    """The text of the cells of a page, and what they print."""
    block = page.split(HEADING, 1)[1].split("```c++\n", 1)[1].split("```", 1)[0]
    return re.sub(r"\s*// prints:.*", "", block), re.findall(r"// prints: (.*)", block)


def missing_in(printed, expected):
    """The expected texts that are not printed, in their order."""
    missing, at = [], 0
    for text in expected:
        found = re.compile(re.escape(text).replace("X", "[0-9]")).search(printed, at)
        if found:
            at = found.end()
        else:
            missing.append(text)
    return missing


def interpreter():
    for name in NAMES:
        path = shutil.which(name)
        if path is None:
            continue
        text = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
        version = re.search(r"version (\d+)", text)
        if version and int(version[1]) >= LEAST:
            return path
    return None


def self_test():
    page = HEADING + "text\n```c++\nint x = 1;\nf(); // prints: a.XX\n```\nmore\n"
    cells, expected = cells_of(page)
    assert cells == "int x = 1;\nf();\n" and expected == ["a.XX"], (cells, expected)
    assert missing_in("b a.12 c", ["a.XX"]) == []
    assert missing_in("a.1", ["a.XX"]) == ["a.XX"]
    assert missing_in("one two", ["two", "one"]) == ["one"]


def main(flags):
    path = interpreter()
    if path is None:
        print(f"skipped: no clang-repl of clang {LEAST} or later (clang-tools-{LEAST})")
        return 77
    cells, expected = cells_of((ROOT / "docs/building.md").read_text())
    options = ["-std=c++20", "-march=native", f"-I{ROOT / 'include'}", *flags]
    ran = subprocess.run([path] + [word for flag in options for word in ("-Xcc", flag)],
                         input=cells, capture_output=True, text=True, timeout=600)
    missing = missing_in(ran.stdout, expected)
    if ran.returncode != 0 or ran.stderr or missing:
        print(f"{path}: exit status {ran.returncode}, not printed: {missing}\n"
              f"{ran.stdout}{ran.stderr}")
        return 1
    print(f"{len(expected)} outputs of cells in {path}")
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        sys.exit(main(sys.argv[1:]))
