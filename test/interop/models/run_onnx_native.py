#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Converts node cases of the onnx package to C++, compiles and runs them, and compares the outputs
with those of the package.

usage: run_onnx_native.py PROGRAM FOLDER [--cases N] [--seed SEED] [--batch N] [--update]
                          [--only NAME...]

PROGRAM is run_onnx; models, C++ and values are written to FOLDER. The cases are drawn by a hash of
SEED and their names from those that onnx_node.txt marks `pass`. A translation unit has --batch
programs and is compiled by the compiler of the variable CXX; a warning is an error. onnx_native.txt
beside this script has a line for each case that does not pass: its name, a tab, and the reason. The
command fails if another case does not pass, and if one of these passes. --update writes the file
for the cases that were drawn."""
import argparse
import hashlib
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE))
from run_onnx import difference, node_cases  # noqa: E402  pylint: disable=wrong-import-position

LISTED = HERE / "onnx_native.txt"


def results_of(text):
    return dict(line.split("\t", 1) for line in text.split("\n") if "\t" in line)


def table_of(path):
    lines = path.read_text().splitlines() if path.is_file() else []
    return dict(line.split("\t", 1) for line in lines if not line.startswith("#"))


def drawn(seed, count):
    """Names of cases that the executor passes, with the inputs that must be constants."""
    passing = {n: r for n, r in table_of(HERE / "onnx_node.txt").items() if r.startswith("pass")}
    ranked = sorted(passing, key=lambda n: hashlib.sha256(f"{seed} {n}".encode()).digest())
    return {n: passing[n].partition("fixed: ")[2].split() for n in ranked[:count]}


def compile_program(source, only_syntax=False, optimisation="-O0"):
    """Returns the program, the first error or '', and the messages."""
    compiler = os.environ.get("CXX", "c++")
    flags = ["-std=c++20", optimisation, "-march=native", f"-I{ROOT / 'include'}", f"-I{HERE}",
             "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    if "clang" not in pathlib.Path(compiler).name:
        flags.append("-ftoplevel-reorder")
    program = source.with_suffix(".program")
    output = ["-fsyntax-only"] if only_syntax else ["-o", program, "-lpthread"]
    made = subprocess.run([compiler, *flags, source, *output], capture_output=True, text=True)
    if made.returncode == 0:
        return program, "", ""
    errors = re.findall(r"error: (.*)", made.stderr) or made.stderr.splitlines()[-1:] or ["killed"]
    return program, "does not compile: " + errors[0], made.stderr


def write_source(source, cases):
    lines = ["#include <run_native.hpp>"]
    lines += [f'#include "{folder}/net.hpp"' for c in cases for folder, _, _ in c.sets[:1]]
    lines += ["int main() {"]
    lines += [f'  run_native_case({c.name}, "{folder}");'
              for c in cases for folder, _, _ in c.sets[:1]]
    source.write_text("\n".join(lines + ["}", ""]))


def run_batch(folder, number, cases):
    """The result of each case of a translation unit."""
    found = {}
    source = folder / f"batch_{number}.cpp"
    write_source(source, cases)
    program, failed, messages = compile_program(source)
    if failed:  # finds the cases that do not compile, and compiles the others
        named = [c for c in cases if f"/{c.name}/0/" in messages.replace(str(source), "")]
        for c in named or cases:
            alone = c.folder / "alone.cpp"
            write_source(alone, [c])
            why = compile_program(alone, True)[1]
            if why:
                found[c.name] = why
        cases = [c for c in cases if c.name not in found]
        write_source(source, cases)
        program, failed, _ = compile_program(source)
        if failed:
            return {**found, **{c.name: failed for c in cases}}
    out = subprocess.run([program], capture_output=True, text=True, timeout=600).stdout
    results = results_of(out)
    for c in cases:
        case_folder, wanted, names = c.sets[0]
        why = results.get(str(case_folder), "the program ended")
        for k, expected in enumerate(wanted if why == "ran" else []):
            file = case_folder / "native" / f"{k}.npy"
            what = difference(np.load(file), expected, c.rtol, c.atol, c.of_largest,
                              names[k]) \
                if file.is_file() else f"output {names[k]}: none"
            if what:
                why = what
                break
        found[c.name] = "pass" if why == "ran" else re.sub(r"^lamina: ", "", why)
    return found


def imported(program, cases):
    """Converts the cases; returns the reasons of those that cannot be converted."""
    asked = "".join(f"{c.sets[0][0]}\n" for c in cases)
    out = subprocess.run([program, "import"], input=asked, capture_output=True, text=True).stdout
    results = results_of(out)
    reasons = {}
    for c in cases:
        result = results.get(str(c.sets[0][0]), "the importer ended")
        if result != "ran":
            reasons[c.name] = re.sub(r"^lamina: \S+, offset \d+: ", "", result)
    return reasons


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--cases", type=int, default=300)
    options.add_argument("--seed", default="lamina")
    options.add_argument("--batch", type=int, default=25)
    options.add_argument("--update", action="store_true")
    options.add_argument("--only", nargs="*")
    arguments = options.parse_args()
    expected = table_of(LISTED)
    folder = arguments.folder.resolve() / "onnx" / "native"
    wanted = drawn(arguments.seed, arguments.cases)
    if arguments.only:
        every = drawn(arguments.seed, 1 << 30)
        wanted = {n: every.get(n, []) for n in arguments.only}
    cases = []
    for c in node_cases(folder, wanted):
        c.fix(wanted[c.name])
        (c.folder / "0" / "name").write_text(c.name + "\n")
        (c.folder / "0" / "outputs").write_text("".join(f"{n}\n" for n in c.sets[0][2]))
        (c.folder / "0" / "native").mkdir()
        cases.append(c)
    found = imported(arguments.program, cases)
    left = [c for c in cases if c.name not in found]
    for i in range(0, len(left), arguments.batch):
        found.update(run_batch(folder, i // arguments.batch, left[i:i + arguments.batch]))
        print(f"{min(i + arguments.batch, len(left))} of {len(left)} programs", flush=True)
        for c in left[i:i + arguments.batch]:
            if found[c.name] != "pass":
                print(f"  {c.name}: {found[c.name]}", flush=True)
    if arguments.only:
        for name, result in found.items():
            print(f"{name}\t{result}")
        return 0
    passed = sum(r == "pass" for r in found.values())
    print(f"C++ of ONNX: {passed} of {len(found)} cases pass")
    if arguments.update:
        LISTED.write_text(
            "# The cases of run_onnx_native.py that do not pass: the name, and why.\n"
            + "".join(f"{n}\t{r}\n" for n, r in sorted(found.items()) if r != "pass"))
        return 0
    wrong = [n for n, r in sorted(found.items())
             if (r == "pass") != (expected.get(n, "pass") == "pass")]
    for name in wrong:
        print(f"{name}: expected {expected.get(name, 'pass')!r}, found {found[name]!r}")
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main())
