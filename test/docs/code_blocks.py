#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ```cpp blocks of the pages: writes one to a file, or compiles them all.

usage: code_blocks.py main PAGE FILE
       code_blocks.py compile --compiler CXX --build DIR [-- COMPILER_FLAGS...]
       code_blocks.py --self-test

main writes the first block with a main function. compile writes block N of docs/PAGE.md to
PAGE_N.inc and compiles page_blocks.cpp, which includes each of them where the names that it uses
are declared; a block that is included nowhere is a fault. Blocks of cuda.md need CUDA's headers and
are left out, with a word, where those are missing. CONTRIBUTING.md is a page too;
test/contributing/recipe.py compiles the blocks of it that name an operator, and they are not
counted here.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BLOCK = re.compile(r"^( *)```cpp\n(.*?)^\1```", re.M | re.S)
RECIPE = "cumprod"
SCAFFOLDS = {"page_blocks.cpp": None, "cuda_page_blocks.cpp": "cuda_runtime_api.h"}


def blocks_of(text):
    """(number of the first line, block without its indentation) of each ```cpp block of a page."""
    for found in BLOCK.finditer(text):
        lines = [line.removeprefix(found[1]) for line in found[2].splitlines()]
        yield text.count("\n", 0, found.start()) + 2, "\n".join(lines) + "\n"


def write_blocks(pages, folder):
    """Writes each block of the pages, whose errors then name the page and its line; returns the
    files' names."""
    names = []
    for page in pages:
        blocks = [part for part in blocks_of(page.read_text())
                  if page.name != "CONTRIBUTING.md" or RECIPE not in part[1]]
        for number, (line, block) in enumerate(blocks, 1):
            names.append(f"{page.stem.lower()}_{number}.inc")
            (folder / names[-1]).write_text(f'#line {line} "{page}"\n{block}')
    return names


def inclusion_faults(names, scaffolds):
    """Blocks that are not included once, and inclusions of none."""
    included = re.findall(r'^#include "([a-z0-9_]+\.inc)"', "\n".join(scaffolds), re.M)
    for name in names:
        if included.count(name) != 1:
            page, number = name.removesuffix(".inc").rsplit("_", 1)
            yield (f"{page}.md: block {number} is included {included.count(name)} times"
                   " by page_blocks.cpp")
    for name in sorted(set(included) - set(names)):
        yield f"page_blocks.cpp: there is no block {name}"


def has_header(compiler, flags, header):
    run = subprocess.run([*compiler.split(), *flags, "-E", "-x", "c++", "-"], text=True,
                         capture_output=True,
                         input=f"#if !__has_include(<{header}>)\n#error\n#endif\n")
    return run.returncode == 0


def compile_pages(compiler, build, flags):
    build.mkdir(parents=True, exist_ok=True)
    names = write_blocks([*sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md"], build)
    # static_evaluator.md includes what a user's program has written
    (build / "weights.inc").write_text("")
    faults = list(inclusion_faults(names, [(HERE / name).read_text() for name in SCAFFOLDS]))
    print("\n".join(faults) or f"{len(names)} blocks")
    flags = ["-std=c++20", "-fsyntax-only", f"-I{ROOT / 'include'}", f"-I{build}", *flags]
    for name, header in SCAFFOLDS.items():
        if header and not has_header(compiler, flags, header):
            print(f"{name} is left out: there is no {header}")
        elif subprocess.run([*compiler.split(), *flags, HERE / name]).returncode:
            faults.append(name)
    return bool(faults)


def self_test():
    page = "A\n```cpp\nint a;\n```\n- b\n\n  ```cpp\n  int b;\n    c;\n  ```\n```sh\nls\n```\n"
    assert list(blocks_of(page)) == [(3, "int a;\n"), (8, "int b;\n  c;\n")], list(blocks_of(page))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "some.md").write_text(page)
        assert write_blocks([folder / "some.md"], folder) == ["some_1.inc", "some_2.inc"]
        assert (folder /
                "some_2.inc").read_text() == f'#line 8 "{folder / "some.md"}"\nint b;\n  c;\n'
    names = ["a_1.inc", "b_c_2.inc"]
    good = '#include "a_1.inc"\n#include <b.hpp>\n#include "b_c_2.inc"\n'
    assert list(inclusion_faults(names, [good])) == []
    assert list(inclusion_faults(
        names, [good, good]))[1] == "b_c.md: block 2 is included 2 times by page_blocks.cpp"
    assert list(inclusion_faults(names[:1],
                                 [good])) == ["page_blocks.cpp: there is no block b_c_2.inc"]
    print("ok")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("usage: ") + 7:].split("\n\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    first = commands.add_parser("main")
    first.add_argument("page", type=pathlib.Path)
    first.add_argument("file", type=pathlib.Path)
    every = commands.add_parser("compile")
    every.add_argument("--compiler", default="g++")
    every.add_argument("--build", type=pathlib.Path, required=True)
    every.add_argument("flags", nargs="*")
    arguments = parser.parse_args()
    if arguments.command == "compile":
        return compile_pages(arguments.compiler, arguments.build.resolve(), arguments.flags)
    for _, block in blocks_of(arguments.page.read_text()):
        if "int main" in block:
            return arguments.file.write_text(block) == 0
    return f"{arguments.page} has no ```cpp block with 'int main'"


if __name__ == "__main__":
    sys.exit(main())
