#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a libcudart.so that needs no device: it runs kernels instruction by instruction from their
PTX (cudart.cpp).

usage: build_emulator.py [--compiler CXX] FOLDER
"""
import argparse
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = ("cudart", "libraries")


def build(compiler, folder):
    """Builds FOLDER/libcudart.so, which stands for cuBLASLt, too."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    objects = [folder / f"{name}.o" for name in SOURCES]
    for name, to in zip(SOURCES, objects):
        # Each instruction rounds by itself, and some in another direction.
        subprocess.run([
            compiler, "-std=c++20", "-O2", "-march=native", "-ffp-contract=off", "-frounding-math",
            "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{HERE.parents[2]}", "-c",
            HERE / f"{name}.cpp", "-o", to
        ], check=True)
    subprocess.run([compiler, "-shared", *objects, "-o", folder / "libcudart.so"], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    build(options.compiler, options.folder)


if __name__ == "__main__":
    main()
