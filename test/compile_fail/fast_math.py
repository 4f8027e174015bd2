#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that lamina refuses -ffast-math and its parts by name: with it sigmoid(-1000) is NaN
(Tencent/ncnn#1284, pytorch/glow#4402).

usage: fast_math.py [--compiler CXX]...
"""
import argparse
import pathlib
import subprocess
import sys

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
SAYS = "lamina: the compiler: expected the arithmetic of IEEE 754, found -ffast-math or part of it"


def said(compiler, *flags):
    """What the compiler says of the first header that every other one includes."""
    run = subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", f"-I{INCLUDE}", *flags, "-x", "c++", "-"],
        input="#include <lamina/core/config.hpp>\n", text=True, capture_output=True)
    return run.stderr


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--compiler", action="append")
    faults = []
    for compiler in options.parse_args().compiler or ["c++"]:
        for flags in (["-O2", "-ffast-math"], ["-Ofast"], ["-O2", "-ffinite-math-only"]):
            if SAYS not in said(compiler, *flags):
                faults.append(f"{compiler} {' '.join(flags)}: no '{SAYS}'")
        for flags in (["-O3"], ["-O2", "-fno-math-errno", "-fno-trapping-math"]):
            if text := said(compiler, *flags):
                faults.append(f"{compiler} {' '.join(flags)}: {text}")
    print("\n".join(faults) or "-ffast-math is refused")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
