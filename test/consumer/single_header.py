#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The single header that tools/single_header writes is the same library as the folder include/.

For each example, and for each program of test/self_contained: the text after the preprocessor is
the same with a single header that has what the program includes. So are the macros that remain.
examples/01_digits.cpp and 05_lenet.cpp give the same object, byte for byte, and the digits run.
Two files of a program include the single header, which needs no header of xtensor. A second header
of lamina in the same file is one error, and a mistake in a program has the user's line.

usage: single_header.py --compiler CXX
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
from command import run  # noqa: E402

TOOL = ROOT / "tools/single_header"
INCLUDE = ROOT / "include"
FLAGS = ("-std=c++20", "-O1", "-ftoplevel-reorder", f"-I{ROOT / 'examples'}")
SECOND = """#include <lamina/lamina.hpp>
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = lamina::layer::data<"x", float, 2>(main);
  return lamina::layer::fc<1>(x, {.name = "y"});
});
int second() { return static_cast<int>(lamina::model{net}.parameter<"y.w_0">().size()); }
"""
FIRST = """#include <lamina/lamina.hpp>
#include <cstdio>
int second();
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = lamina::layer::data<"x", float, 3>(main);
  return lamina::layer::fc<1>(x, {.name = "y"});
});
int main() { std::printf("%zu %d", lamina::model{net}.parameter<"y.w_0">().size(), second()); }
"""


def headers_of(path, seen=()):
    """The headers of lamina that a file and the files beside it, which it includes, ask for, in the
    order in which the compiler reads them."""
    found = {}
    for ours, beside in re.findall(r'^#include (?:<(lamina/.*\.hpp)>|"(.*\.hpp)")',
                                   path.read_text(), re.M):
        files = [folder / beside for folder in (path.parent, ROOT / "examples") if beside]
        file = next((file for file in files if file.is_file() and file not in seen), None)
        found.update(dict.fromkeys([ours] if ours else
                                   headers_of(file, (*seen, path)) if file else []))
    return list(found)


def make(folder, entries):
    """A folder to include from in which each entry is the single header."""
    single = folder / "lamina/lamina.hpp"
    single.parent.mkdir(parents=True, exist_ok=True)
    run(TOOL, "--out", single, *entries)
    for name in entries:
        if folder / name != single:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("#pragma once\n#include <lamina/lamina.hpp>\n")
    return folder


def preprocessed(compiler, source, include, *flags):
    """The lines of a source after the preprocessor, None where another library is missing."""
    done = subprocess.run([compiler, *FLAGS, f"-I{include}", "-E", "-P", *flags, str(source)],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        if include != INCLUDE:
            sys.exit(f"{source}: {done.stderr[-3000:]}")
        return None
    # In any order: a program may include a data set before lamina.hpp, after other libraries.
    text = re.sub(r'string_view own = ".*?"', "string_view own", done.stdout)
    return sorted(line.strip() for line in text.splitlines() if line.strip())


def check_text(compiler, folder):
    """Compares what the compiler reads."""
    compared = left_out = 0
    for source in sorted([*(ROOT / "examples").rglob("*.cpp"),
                          *(ROOT / "test/self_contained").glob("*.cpp")]):
        entries = headers_of(source)
        listed = subprocess.run([TOOL, "--list", *entries], capture_output=True, text=True)
        if "include the folder instead" in listed.stderr:  # macros of MPI or CUDA choose headers
            print(f"{source.relative_to(ROOT)}: left out: {listed.stderr.strip()}")
            left_out += 1
            continue
        if not entries or (expected := preprocessed(compiler, source, INCLUDE)) is None:
            left_out += 1
            continue
        if preprocessed(compiler, source, make(folder / source.stem, entries)) != expected:
            sys.exit(f"{source.relative_to(ROOT)}: expected the same text after the preprocessor "
                     "with the single header, found another one")
        compared += 1
    if compared < 20:
        sys.exit(f"expected 20 programs at least, found {compared}")
    print(f"{compared} programs have the same text; {left_out} are left out")


def check_macros(compiler, folder, single):
    """No macro remains defined that does not with the folder."""
    source = folder / "include.cpp"
    source.write_text("#include <lamina/lamina.hpp>\n")
    there, here = (set(preprocessed(compiler, source, include, "-dM"))
                   for include in (INCLUDE, single))
    extra = {line.split()[1] for line in there ^ here}
    if extra != {"LAMINA_SINGLE_HEADER"}:
        sys.exit(f"expected the macros of the folder and LAMINA_SINGLE_HEADER, found {extra}")


def check_objects(compiler, folder):
    """Compares the compiler's output for two examples, and runs one."""
    for name in ("01_digits", "05_lenet"):
        source = ROOT / f"examples/{name}.cpp"
        made = []
        for way, include in (("tree", INCLUDE), ("single", make(folder / name,
                                                                headers_of(source)))):
            made.append(folder / f"{name}.{way}.o")
            run(compiler, *FLAGS, f"-I{include}", "-c", source, "-o", made[-1])
        if made[0].read_bytes() != made[1].read_bytes():
            sys.exit(f"examples/{name}.cpp: expected the same object with the single header")
    program = folder / "digits"
    run(compiler, folder / "01_digits.single.o", "-o", program, "-pthread", "-lz")
    if not re.search(r"accuracy.*0\.9", said := run(program, cwd=folder)):
        sys.exit(f"01_digits: expected an accuracy, found {said}")


def check_two_files(compiler, folder, single):
    """A program of two files, and where its headers come from."""
    objects = []
    for name, text in (("first", FIRST), ("second", SECOND)):
        (folder / f"{name}.cpp").write_text(text)
        objects.append(folder / f"{name}.o")
        run(compiler, *FLAGS, f"-I{single}", "-MD", "-c", folder / f"{name}.cpp", "-o", objects[-1])
        read = objects[-1].with_suffix(".d").read_text()
        if re.search(r"/(xtensor|xtl)/", read) or str(INCLUDE) in read:
            sys.exit(f"expected the single header to read xsimd and nothing else, found {read}")
    run(compiler, *objects, "-o", folder / "two", "-pthread", "-lz")
    if (said := run(folder / "two")) != "3 2":
        sys.exit(f"two files: expected '3 2', found {said}")


def check_page(compiler, folder):
    """The program of docs/building.md for Compiler Explorer has no call but of C functions."""
    [block] = re.findall(r'```c\+\+\n(#include "lamina_static.hpp"\n.*?)```',
                         (ROOT / "docs/building.md").read_text(), re.S)
    run(TOOL, "--out", folder / "lamina_static.hpp", "static")
    (folder / "page.cpp").write_text(block)
    run(compiler, *FLAGS, "-DLAMINA_HAS_ZLIB=0", "-fno-exceptions", "-fno-rtti", "-c",
        folder / "page.cpp", "-o", folder / "page.o")
    undefined = set(re.findall(r" U (\w+)", run("nm", folder / "page.o")))
    if extra := undefined - {"memcpy", "memset", "memmove", "_GLOBAL_OFFSET_TABLE_"}:
        sys.exit(f"docs/building.md: expected a program without calls, found {sorted(extra)}")


def check_messages(compiler, folder, single):
    """Checks the messages for too many includes and for a mistake in a program."""
    alone = "lamina: the single header: expected "
    with_static = folder / "static.hpp"
    run(TOOL, "--out", with_static, "static")
    one, tree = "#include <lamina/lamina.hpp>\n", f'#include "{INCLUDE}/lamina/program/block.hpp"\n'
    source = folder / "mistake.cpp"
    for text, flags, message in (
            (one + f'#include "{with_static}"\n', (), alone + "one in a file"),
            (tree + one, (f"-I{INCLUDE}",), alone + "it alone, found a header of lamina's folder "
             "before it"),
            (one + tree, (f"-I{INCLUDE}",), alone + "it alone, found a header of lamina's folder "
             "after it"),
            (one, ("-DLAMINA_COMPILED",), alone + "no LAMINA_COMPILED")):
        source.write_text(text)
        said = run(compiler, *FLAGS, f"-I{single}", *flags, "-fsyntax-only", source, works=False)
        if message not in said or said.count("error: ") > 2:
            sys.exit(f"expected {message!r} and no other error, found\n{said[:3000]}")
    source.write_text(one + f'#include "{single}/lamina/lamina.hpp"\n'
                      f'#include "{folder}/copy.hpp"\n')
    (folder / "copy.hpp").write_text((single / "lamina/lamina.hpp").read_text())
    run(compiler, *FLAGS, f"-I{single}", "-fsyntax-only", source)
    fail = ROOT / "test/compile_fail/while_local_line.fail.cpp"
    [line] = re.findall(r"expect-fact: (at_line<\d+>)", fail.read_text())
    said = run(compiler, *FLAGS, "-DSHOULD_FAIL", f"-I{make(folder / 'fail', headers_of(fail))}",
               "-fsyntax-only", fail, works=False)
    if line not in said:
        sys.exit(f"{fail.name}: expected {line}, found\n{said[:3000]}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("usage: ") + 7:])
    parser.add_argument("--compiler", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        single = make(folder / "single", ["lamina/lamina.hpp"])
        if run(TOOL) != (single / "lamina/lamina.hpp").read_text():
            sys.exit("expected the same bytes twice")
        check_text(options.compiler, folder)
        check_macros(options.compiler, folder, single)
        check_page(options.compiler, folder)
        check_two_files(options.compiler, folder, single)
        check_messages(options.compiler, folder, single)
        check_objects(options.compiler, folder)
    print("the single header is the library of include/")


if __name__ == "__main__":
    main()
