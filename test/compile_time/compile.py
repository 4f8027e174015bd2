#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles a file with default limits, printing what the compiler says if it does not.

With --object-limit it compiles without optimization, as a debug build does, and the object must not
be larger than so many megabytes: what exists during compilation only must not reach it. With
--optimised it compiles with -O2, where compilers warn of what they find in the flow of values.

usage: compile.py --compiler CXX [--object-limit MB | --optimised] FILE [-- FLAGS...]
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--object-limit", type=float)
    parser.add_argument("--optimised", action="store_true")
    parser.add_argument("file")
    parser.add_argument("flags", nargs="*")
    options = parser.parse_args()
    command = [options.compiler, "-std=c++20", f"-I{ROOT / 'include'}", *options.flags,
               str(pathlib.Path(__file__).parent / options.file)]
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder, "object.o")
        if options.optimised or options.object_limit is not None:
            command += ["-O2" if options.optimised else "-O0", "-c", "-o", str(made)]
        else:
            command += ["-fsyntax-only"]
        done = subprocess.run(command, text=True, capture_output=True)
        if done.returncode:
            print(done.stderr[:4000])
            return done.returncode
        if options.object_limit is None:
            return 0
        megabytes = made.stat().st_size / 2**20
        print(f"{megabytes:.1f} MB, at most {options.object_limit:g} are allowed")
        return megabytes > options.object_limit


if __name__ == "__main__":
    sys.exit(main())
