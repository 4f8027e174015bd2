#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ```cpp blocks of the pages: writes one to a file, compiles them all, or runs programs.

usage: code_blocks.py main PAGE FILE
       code_blocks.py compile --compiler CXX --build DIR [-- COMPILER_FLAGS...]
       code_blocks.py run --compiler CXX --build DIR [-- COMPILER_FLAGS...]
       code_blocks.py excerpts
       code_blocks.py --self-test

main writes the first block with a main function. compile writes block N of docs/PAGE.md to
PAGE_N.inc and compiles page_blocks.cpp, which includes each of them where the names that it uses
are declared; a block that is included nowhere is a fault. Blocks of cuda.md need CUDA's headers and
are left out, with a word, where those are missing. CONTRIBUTING.md is a page too;
test/contributing/recipe.py compiles the blocks of it that name an operator, and they are not
counted here.

run compiles task_programs.cpp, which includes block 1, a whole program, of several pages, and runs
each. The first ```text block of the page has the first lines of its output; numbers may differ a
little, as they do between compilers and instruction sets.

excerpts finds each block ```cpp FILE in this file of the repository, which a test compiles; a line
"// ..." stands for any lines.
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
EXCERPT = re.compile(r"^```cpp (\S+)\n(.*?)^```", re.M | re.S)
OUTPUT = re.compile(r"^```text\n(.*?)^```", re.M | re.S)
RECIPE = "cumprod"
SCAFFOLDS = {"page_blocks.cpp": None, "cuda_page_blocks.cpp": "cuda_runtime_api.h"}
PROGRAMS = "task_programs.cpp"


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
    scaffolds = [(HERE / name).read_text() for name in (*SCAFFOLDS, PROGRAMS)]
    faults = list(inclusion_faults(names, scaffolds))
    print("\n".join(faults) or f"{len(names)} blocks")
    flags = ["-std=c++20", "-fsyntax-only", f"-I{ROOT / 'include'}", f"-I{build}", *flags]
    for name, header in SCAFFOLDS.items():
        if header and not has_header(compiler, flags, header):
            print(f"{name} is left out: there is no {header}")
        elif subprocess.run([*compiler.split(), *flags, HERE / name]).returncode:
            faults.append(name)
    return bool(faults)


def same_word(expected, found):
    """Whether two words are equal, or two numbers nearly."""
    try:
        a, b = float(expected), float(found)
    except ValueError:
        return expected == found
    return abs(a - b) <= max(0.06 * abs(a), 0.03)


def output_fault(expected, found):
    """The first line of the expected output that the program has not printed in its place."""
    printed = found.splitlines()
    for number, line in enumerate(expected.splitlines()):
        words = line.replace(",", " ").split()
        other = printed[number].replace(",", " ").split() if number < len(printed) else []
        if len(words) != len(other) or not all(map(same_word, words, other)):
            return f"expected '{line}', found '{printed[number] if number < len(printed) else ''}'"
    return ""


def run_pages(compiler, build, flags):
    build.mkdir(parents=True, exist_ok=True)
    names = re.findall(r'^#include "([a-z_]+)_1.inc"', (HERE / PROGRAMS).read_text(), re.M)
    pages = [ROOT / "docs" / f"{name}.md" for name in names]
    write_blocks(pages, build)
    program = build / "task_programs"
    libraries = ["-pthread", *(["-lz"] if "-DLAMINA_HAS_ZLIB=0" not in flags else [])]
    if subprocess.run([
            *compiler.split(), "-std=c++20", "-O1", f"-I{ROOT / 'include'}", f"-I{build}", *flags,
            HERE / PROGRAMS, "-o", program, *libraries
    ]).returncode:
        return True
    faults = []
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([program, page.stem], text=True, capture_output=True, cwd=folder)
        fault = (output_fault(OUTPUT.search(page.read_text())[1], done.stdout)
                 if done.returncode == 0 else f"exit status {done.returncode}: {done.stderr}")
        print(f"{page.name}: {fault or 'ok'}")
        faults += [fault] if fault else []
    return bool(faults)


def excerpt_fault(excerpt, text):
    """Why an excerpt is not in the text of its file, or ""."""
    start = 0
    for piece in re.split(r"^ *// \.\.\.\n", excerpt, flags=re.M):
        found = text.find("\n" + piece, start)
        if found < 0:
            return f"there are no such lines: {piece.splitlines()[0].strip()}"
        start = found + len(piece)
    return ""


def check_excerpts():
    faults = []
    for page in sorted((ROOT / "docs").glob("*.md")):
        for name, excerpt in EXCERPT.findall(page.read_text()):
            fault = excerpt_fault(excerpt, (ROOT / name).read_text())
            faults += [f"{page.name}, {name}: {fault}"] if fault else []
    print("\n".join(faults) or "every excerpt is in its file")
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
    assert output_fault("a 1.00, b\n", "a 1.02, b\nc\n") == ""
    assert output_fault("a 100", "a 107") == "expected 'a 100', found 'a 107'"
    assert output_fault("a b", "a") == "expected 'a b', found 'a'"
    assert output_fault("a\nb", "a\n") == "expected 'b', found ''"
    text = "x\n  a;\n  b;\nc;\nd;\n"
    assert EXCERPT.findall("```cpp e/f.cpp\na;\n```\n```cpp\nb;\n```\n") == [("e/f.cpp", "a;\n")]
    assert excerpt_fault("  a;\n  b;\n", text) == excerpt_fault("  a;\n// ...\nd;\n", text) == ""
    assert excerpt_fault("  a;\nc;\n", text) == "there are no such lines: a;"
    assert excerpt_fault("d;\n// ...\nc;\n", text) == "there are no such lines: c;"
    print("ok")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:] == ["excerpts"]:
        return check_excerpts()
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("usage: ") + 7:].split("\n\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    first = commands.add_parser("main")
    first.add_argument("page", type=pathlib.Path)
    first.add_argument("file", type=pathlib.Path)
    for name, function in (("compile", compile_pages), ("run", run_pages)):
        command = commands.add_parser(name)
        command.add_argument("--compiler", default="g++")
        command.add_argument("--build", type=pathlib.Path, required=True)
        command.add_argument("flags", nargs="*")
        command.set_defaults(function=function)
    arguments = parser.parse_args()
    if arguments.command != "main":
        return arguments.function(arguments.compiler, arguments.build.resolve(), arguments.flags)
    for _, block in blocks_of(arguments.page.read_text()):
        if "int main" in block:
            return arguments.file.write_text(block) == 0
    return f"{arguments.page} has no ```cpp block with 'int main'"


if __name__ == "__main__":
    sys.exit(main())
