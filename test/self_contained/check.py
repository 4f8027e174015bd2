#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a program with a static evaluator needs nothing: no heap, exceptions, threads,
virtual functions.

The source is compiled with -fno-exceptions -fno-rtti. What its object leaves undefined may only be
plain C functions of memory and mathematics, and it may define no table of virtual functions. The
stripped executable, without the parameters (a static const array of its own), may not be larger
than --limit kilobytes.

usage: check.py [--compiler CXX]... --limit KB --parameters BYTES SOURCE [-- FLAGS...]
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
ALLOWED = re.compile(
    r"(mem(cpy|set|move)|(exp|log|pow|tanh|erf|sqrt|fmod|frexp|ldexp|round|floor|ceil)f?"
    r"|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|__dso_handle)")


def faults(compiler, source, flags, limit, parameters):
    """What is wrong with one compiler's object and executable."""
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder, "subject")
        for command in ([
                "-std=c++20", "-O2", "-fno-exceptions", "-fno-rtti", f"-I{INCLUDE}", *flags, "-c",
                str(source), "-o", f"{made}.o"
        ], ["-s", f"{made}.o", "-o", str(made)]):
            run = subprocess.run([compiler, *command], text=True, capture_output=True)
            if run.returncode:
                yield f"does not compile:\n{run.stderr[:4000]}"
                return
        symbols = subprocess.run(["nm", "-P", f"{made}.o"], text=True, capture_output=True,
                                 check=True).stdout
        for line in symbols.splitlines():
            name, kind = line.split()[:2]
            if kind in "Uw" and not ALLOWED.fullmatch(name):
                yield f"needs {name}"
            if name.startswith("_ZTV"):
                yield f"has virtual functions: {name}"
        size = made.stat().st_size - parameters
        print(f"{compiler}: {size / 1024:.1f} KB without parameters")
        if size > limit * 1024:
            yield (f"the stripped executable has {size / 1024:.1f} KB without parameters,"
                   f" more than {limit}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", action="append", default=[])
    parser.add_argument("--limit", type=float, required=True)
    parser.add_argument("--parameters", type=int, default=0)
    parser.add_argument("source", type=pathlib.Path)
    options, flags = parser.parse_known_args()
    failed = 0
    for compiler in options.compiler or ["c++"]:
        for fault in faults(compiler, options.source, [f for f in flags if f != "--"],
                            options.limit, options.parameters):
            failed += 1
            print(f"{compiler}: {options.source.name} {fault}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
