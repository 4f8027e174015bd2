#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the examples of the site's reference, and compares what they print.

usage: reference_examples.py [--update] --compiler CXX --build DIR [-- COMPILER_FLAGS...]
       reference_examples.py --self-test

In test/docs/reference/*.cpp, "// Example: NAME" begins an example of lamina::NAME; the lines
"// = ..." at its end are what it prints. --update writes them. Numbers may differ a little, as
they do between compilers and instruction sets.
"""
import argparse
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

EXAMPLE = re.compile(r"( *)// Example: (\S+)\n(.*?)((?: *// = [^\n]*\n)*)"
                     r"(?= *// Example: | *// End)", re.S)


def examples_of(text):
    """(name, output) of each example."""
    return [(found[2], re.sub(r"^ *// = ", "", found[4], flags=re.M))
            for found in EXAMPLE.finditer(text)]


def with_outputs(text, outputs):
    """The file with these outputs."""
    each = iter(outputs)
    return EXAMPLE.sub(
        lambda found: f"{found[1]}// Example: {found[2]}\n{found[3]}" + "".join(
            f"{found[1]}// = {line}\n" for line in next(each).splitlines()), text)


def same(expected, found):
    """Whether two outputs are equal, but for the last of four digits of their numbers."""
    a, b = (re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|\S", text) for text in (expected, found))
    return len(a) == len(b) and all(
        x == y or re.match(r"-?\d", x) and re.match(r"-?\d", y) and
        abs(float(x) - float(y)) <= 2e-3 * abs(float(x)) + 1e-6 for x, y in zip(a, b))


def faults_of(text, outputs):
    examples = examples_of(text)
    if len(examples) != len(outputs):
        return [f"expected the output of {len(examples)} examples, found {len(outputs)}"]
    faults = []
    for (name, expected), found in zip(examples, outputs):
        if not same(expected, found):
            faults.append(f"{name}: expected {expected!r}, found {found!r}")
    return faults


def programs_of(sources, compiler, build, flags):
    """Compiles each file, and once the executors of all tests; returns the programs, or None."""
    command = [*compiler.split(), "-std=c++20", f"-I{ROOT / 'include'}", f"-I{ROOT / 'test'}",
               *flags]
    executor = build / "shared_executor.o"
    steps = [["-c", ROOT / "test/executor/shared_executor.cpp", "-o", executor]]
    libraries = ["-pthread", *(["-lz"] if "-DLAMINA_HAS_ZLIB=0" not in flags else [])]
    steps += [[source, executor, "-o", build / source.stem, *libraries] for source in sources]
    if any(subprocess.run([*command, *step]).returncode for step in steps):
        return None
    return [build / source.stem for source in sources]


def self_test():
    text = ("int main() {\n  // Example: a\n  f();\n  // = [1, 2]\n"
            "  // Example: b\n  g();\n  // End\n}\n")
    assert examples_of(text) == [("a", "[1, 2]\n"), ("b", "")], examples_of(text)
    written = with_outputs(text, ["[3]\n", "4\n5\n"])
    assert examples_of(written) == [("a", "[3]\n"), ("b", "4\n5\n")], written
    assert faults_of(written, ["[3]\n", "4\n5\n"]) == []
    assert same("[[0.1234, -2]]", "[[0.1235, -2]]") and not same("[0.12]", "[0.13]")
    assert not same("[1]", "[1, 1]") and not same("[[1]]", "[1]")
    for printed in (["[3]\n", "4\n"], ["7\n", "4\n5\n"], ["[3]\n"]):
        assert len(faults_of(written, printed)) == 1, printed
    print("ok")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("usage: ") + 7:].split("\n\n")[0])
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("flags", nargs="*")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    build.mkdir(parents=True, exist_ok=True)
    faults, count, sources = [], 0, sorted((HERE / "reference").glob("*.cpp"))
    programs = programs_of(sources, arguments.compiler, build, arguments.flags)
    if programs is None:
        return True
    for source, program in zip(sources, programs):
        done = subprocess.run([program], text=True, capture_output=True, cwd=build)
        program.unlink()  # more than a gigabyte: each program that it records is a large constant
        if done.returncode:
            faults.append(f"{source.name}: exit status {done.returncode}: {done.stderr}")
            continue
        text, outputs = source.read_text(), done.stdout.split("@\n")[:-1]
        count += len(outputs)
        if arguments.update:
            source.write_text(with_outputs(text, outputs))
        else:
            faults += [f"{source.name}: {fault}" for fault in faults_of(text, outputs)]
    print("\n".join(faults) or f"{count} examples print what the reference says")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
