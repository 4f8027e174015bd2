#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Detects when compiling an example needs more memory, or makes more code, than before.

compile_budget.txt has a line for each example, compiler and mode with three numbers: the peak
memory of the compiler in megabytes, the bytes of code (`text` of the command `size`), and the
number of functions in the object file. The flags below name an instruction set, so the numbers do
not depend on the machine: one version of a compiler always gives the same numbers, unlike the
seconds of a compilation. `compile_time.py --budget` fails if a number is more than 2 % above its
line; `--update-budget` writes new lines for the compilers of this machine.

usage: compile_time.py --budget [--compiler CXX]... [--only TEXT]... [--mode MODE]...
       compile_time.py --update-budget [the same]
       compile_budget.py --self-test
"""
import pathlib
import platform
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test"))
from example_sources import source_of  # noqa: E402

BUDGET = pathlib.Path(__file__).with_name("compile_budget.txt")
GROWTH = 0.02
EXAMPLES = ["digits", "lenet", "serve_threads"]
# The flags that each mode adds.
MODES = {"header-only": [], "compiled": ["-DLAMINA_COMPILED"]}
FLAGS = ["-std=c++20", "-O2", "-ftoplevel-reorder", "-march=x86-64-v3", "-DLAMINA_HAS_ZLIB=0"]
# Without this flag, g++ decides by the memory of this machine when to collect garbage.
GNU_FLAGS = ["--param", "ggc-min-heapsize=1000000"]
CLANG_IGNORES = {"-ftoplevel-reorder"}
NUMBERS = ("megabytes", "code", "functions")
HEAD = """# What examples cost a compiler: compile_time.py --budget compares, --update-budget writes
# example        compiler            mode           megabytes      code  functions
"""


def compiler_of(command):
    """Returns the name and full version of a compiler, such as "g++-12.2.0", and its
    architecture."""
    words = shlex.split(command)
    told = subprocess.run([*words, "--version"], text=True, capture_output=True, check=True).stdout
    name = "clang++" if "clang" in told else "g++"
    version = re.search(r"\b(\d+\.\d+\.\d+)", told)
    machine = subprocess.run([*words, "-dumpmachine"], text=True, capture_output=True,
                             check=True).stdout.strip()
    return f"{name}-{version[1] if version else 'unknown'}", machine.split("-")[0]


def measure(command, flags, source, compile_once):
    """Returns the three numbers of a source file. `compile_once` is a function of
    compile_time.py."""
    with tempfile.TemporaryDirectory() as folder:
        made = f"{folder}/made.o"
        _, kilobytes = compile_once([*command, *flags, "-c", str(source), "-o", made])
        size = subprocess.run(["size", made], text=True, capture_output=True, check=True).stdout
        names = subprocess.run(["nm", "--defined-only", "-P", made], text=True,
                               capture_output=True, check=True).stdout
    kinds = [line.split()[1] for line in names.splitlines() if len(line.split()) > 1]
    return {"megabytes": round(kilobytes / 1024),
            "code": int(size.splitlines()[1].split()[0]),
            "functions": sum(kind in "tTwW" for kind in kinds)}


def read(text):
    """Reads the text of a budget as a dict {(example, compiler, mode): numbers}."""
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return {tuple(words[:3]): dict(zip(NUMBERS, map(int, words[3:]))) for words in lines}


def written(budget):
    return HEAD + "".join(f"{key[0]:<16} {key[1]:<19} {key[2]:<12}"
                          + f"{row['megabytes']:>12}{row['code']:>10}{row['functions']:>11}\n"
                          for key, row in sorted(budget.items()))


def grown(expected, found):
    """Returns a message for each number of `found` that is above its budget."""
    return [f"{name}: expected at most {expected[name]} + {GROWTH:.0%}, found {found[name]} "
            f"({found[name] / expected[name] - 1:+.1%})"
            for name in NUMBERS if found[name] > expected[name] * (1 + GROWTH)]


def line_for(budget, example, compiler, mode):
    """Returns the key of the line to compare with: that of the same version of the compiler, or
    else of the same major version; None if there is neither."""
    if (example, compiler, mode) in budget:
        return compiler
    major = compiler.split(".")[0]
    return next((key[1] for key in sorted(budget)
                 if key[0] == example and key[2] == mode and key[1].split(".")[0] == major), None)


def run(compilers, only, modes, update, compile_once):
    """Compares the lines or, with `update`, writes them. Returns whether any number has grown."""
    if platform.machine() != "x86_64":
        print(f"nothing to compare: the budget is for x86_64, this machine is {platform.machine()}")
        return False
    budget = read(BUDGET.read_text()) if BUDGET.is_file() else {}
    failed, compared = False, 0
    for command in compilers:
        compiler, architecture = compiler_of(command)
        if architecture != "x86_64":
            print(f"{command}: nothing to compare: expected a compiler for x86_64, found one for "
                  f"{architecture}")
            continue
        flags = FLAGS + GNU_FLAGS if compiler.startswith("g++") else [
            flag for flag in FLAGS if flag not in CLANG_IGNORES]
        for example in EXAMPLES:
            for mode in modes or MODES:
                name = f"{example}, {compiler}, {mode}"
                if only and not any(text in name for text in only):
                    continue
                known = line_for(budget, example, compiler, mode)
                if known is None and not update:
                    print(f"{name}: nothing to compare: no line for this compiler; "
                          "--update-budget adds one")
                    continue
                found = measure(shlex.split(command), [*flags, *MODES[mode], f"-I{ROOT}/include"],
                                source_of(example), compile_once)
                told = ", ".join(f"{found[n]} {n}" for n in NUMBERS)
                if update:
                    budget[example, compiler, mode] = found
                    print(f"{name}: {told}", flush=True)
                    continue
                expected = dict(budget[example, known, mode])
                if known != compiler:
                    print(f"{name}: the line is for {known}: compared are code and functions")
                    expected["megabytes"] = sys.maxsize
                compared += 1
                excess = grown(expected, found)
                failed = failed or bool(excess)
                print(f"{name}: {told}{': grown' if excess else ''}", flush=True)
                for each in excess:
                    print(f"  {each}", flush=True)
    if update:
        BUDGET.write_text(written(budget))
    elif failed:
        print("If the growth is worth it, compile_time.py --update-budget writes the new numbers.")
    print(f"{compared} compared" if not update else f"written: {BUDGET}")
    return failed


PLAIN = """template <int N> int f(int x) { return x % (N + 3) + f<N - 1>(x); }
template <> int f<0>(int x) { return x; }
int g(int x) { return f<200>(x); }
"""


def self_test(compile_once):
    """Checks that numbers above the budget are found, and no others."""
    row = {"megabytes": 4000, "code": 100000, "functions": 5000}
    budget = {("digits", "g++-12.2.0", "header-only"): row}
    assert read(written(budget)) == budget
    for name in NUMBERS:
        assert grown(row, {**row, name: int(row[name] * 1.021)}) != [], name
        assert grown(row, {**row, name: int(row[name] * 1.019)}) == [], name
        assert grown(row, {**row, name: row[name] // 2}) == [], name
    assert line_for(budget, "digits", "g++-12.2.0", "header-only") == "g++-12.2.0"
    assert line_for(budget, "digits", "g++-12.3.0", "header-only") == "g++-12.2.0"
    assert line_for(budget, "digits", "g++-13.2.0", "header-only") is None
    assert line_for(budget, "digits", "clang++-12.2.0", "header-only") is None
    assert line_for(budget, "lenet", "g++-12.2.0", "header-only") is None
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "source.cpp")

        def numbers(text):
            source.write_text(text)
            return measure(["c++"], ["-O2", "-fno-inline"], source, compile_once)

        before, again = numbers(PLAIN), numbers(PLAIN)
        assert {**again, "megabytes": 0} == {**before, "megabytes": 0}, (before, again)
        assert before["functions"] == 202, before
        after = numbers(PLAIN.replace("200", "210"))
        found = grown(before, after)
        assert any("code" in each for each in found) and any("functions" in each for each in found)
        lists = "".join(f"struct s{i} {{ int a[{i} + 1]; s{i}* next; int f(int); }};\n"
                        for i in range(20000))
        assert any("megabytes" in each for each in grown(before, numbers(PLAIN + lists)))
    print("self-test: planted growth of memory, code and functions is found")


if __name__ == "__main__":
    import compile_time
    if sys.argv[1:] != ["--self-test"]:
        sys.exit(__doc__)
    self_test(compile_time.compile_once)
