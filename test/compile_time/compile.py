#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles a file with default limits, printing what the compiler says if it does not.

usage: compile.py --compiler CXX FILE [-- FLAGS...]
"""
import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("file")
    parser.add_argument("flags", nargs="*")
    options = parser.parse_args()
    command = [options.compiler, "-std=c++20", "-fsyntax-only", f"-I{ROOT / 'include'}", *options.flags,
               str(pathlib.Path(__file__).parent / options.file)]
    done = subprocess.run(command, text=True, capture_output=True)
    if done.returncode:
        print(done.stderr[:4000])
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
