#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles examples without optimisation, and reports data of an object that is as large as a whole
recorded program or plan: clang writes one if code that runs names any part of it.

usage: object_size.py --compiler CXX [--self-test] [-- COMPILER_FLAGS...]
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))
from example_sources import source_of  # noqa: E402

EXAMPLES = ("digits", "gan", "sentiment")  # each trains, runs and saves in another way
MOST = 1 << 20  # bytes of one variable; tables that code reads have some thousands
# A function that runs names the program of digits: what the check is to find.
PLANTED = "\nint named(int i) { return decltype(digits)::desc.domains[i].parent; }\n"


def large_data(source, compiler, flags, folder):
    """The variables in the object of a source file that are larger than MOST."""
    made = folder / "made.o"
    subprocess.run([compiler, "-std=c++20", "-O0", f"-I{ROOT / 'include'}", *flags, "-c", source,
                    "-o", made], check=True)
    table = subprocess.run(["nm", "-S", "-C", made], check=True, capture_output=True, text=True)
    found = []
    for line in table.stdout.splitlines():
        parts = line.split(None, 3)
        if len(parts) == 4 and parts[2] in "bBdDrRuvV" and int(parts[1], 16) > MOST:
            found.append(f"{parts[3][:200]}: {int(parts[1], 16) >> 20} MiB")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("flags", nargs="*")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if given.self_test:
            planted = folder / "planted.cpp"
            planted.write_text(source_of("digits").read_text() + PLANTED)
            found = large_data(planted, given.compiler, given.flags, folder)
            if len(found) != 1 or "::desc: " not in found[0]:
                sys.exit(f"expected the planted program, found {found}")
            print("the planted program was found")
            return
        faults = []
        for example in EXAMPLES:
            faults += [f"{example}: {what}" for what in
                       large_data(source_of(example), given.compiler, given.flags, folder)]
        if faults:
            sys.exit("expected no variable above 1 MiB, found\n" + "\n".join(faults) +
                     "\nCode that runs reads counts_of<P>, run_time_program<P> or P::view().")
        print(f"{len(EXAMPLES)} examples: no variable above 1 MiB")


if __name__ == "__main__":
    main()
