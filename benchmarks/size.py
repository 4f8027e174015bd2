#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what a program that infers costs to ship: the stripped executable, and the shared
libraries that it needs.

The programs of size/ compute the scores of one image with the same perceptron (64-128-10) and the
same parameters, and must agree. Libraries are what ldd names, with those that these need in turn,
but not those of the C and C++ compiler (libc, libm, libstdc++, libgcc_s ...), which each program
has. The last column is the sum divided by that of lamina's evaluator. ONNX Runtime's library comes
from the Python package; benchmarks/run installs it to build/peers. Where libtorch and dlib are
missing, a terminal shows the command that installs them and a question; with --install, or without
a terminal, they are installed at once.

usage: size.py [--compiler CXX] [--onnxruntime LIBRARY] [--install]
"""
import argparse
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import packages

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
FLAGS = ("-std=c++20", "-O2", "-march=native", "-s", "-DLAMINA_HAS_ZLIB=0", f"-I{ROOT / 'include'}")
PARAMETERS = 64 * 128 + 128 + 128 * 10 + 10
OF_COMPILER = re.compile(
    r"(ld-linux[\w-]*|lib(c|m|stdc\+\+|gcc_s|pthread|dl|rt|atomic|mvec|resolv))\.so")
# The name of a row: source, Debian package, further flags.
PROGRAMS = {
    "lamina, static evaluator": ("lamina_static", None, ()),
    "lamina, evaluator": ("lamina", None, ("-pthread",)),
    "dlib": ("dlib", "libdlib-dev", ("-ldlib", "-pthread")),
    "ONNX Runtime": ("onnxruntime", None, ("-ldl",)),
    "libtorch": ("libtorch", "libtorch-dev", (
        "-I/usr/include/torch/csrc/api/include", "-ltorch", "-ltorch_cpu", "-lc10")),
}
BASE = "lamina, evaluator"


def said(*command):
    """What a command prints; it must succeed."""
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stderr[-2000:]}")
    return done.stdout


def libraries_of(file):
    """The shared libraries that a program or a library needs, without those of the compiler."""
    paths = {pathlib.Path(path).resolve()
             for path in re.findall(r"=> (/\S+)", said("ldd", file))}
    return {path for path in paths if not OF_COMPILER.match(path.name)}


def differ(one, other):
    """Whether two lists of scores are those of different networks."""
    return len(one) != len(other) or not all(
        math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-5) for a, b in zip(one, other))


def main():
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("usage: ") + 7:])
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--onnxruntime", type=pathlib.Path, help="libonnxruntime.so")
    parser.add_argument("--install", action="store_true")
    options = parser.parse_args()
    wanted = [package for _, package, _ in PROGRAMS.values() if package]
    packages.agree("benchmarks/size.py", packages.apt_commands(packages.missing(wanted)),
                   options.install)
    absent = packages.install(wanted)
    venv = sorted((ROOT / "build/peers/venv").glob(
        "lib/*/site-packages/onnxruntime/capi/libonnxruntime.so*"))
    runtime = options.onnxruntime or (venv[-1] if venv else None)

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        parameters, onnx = folder / "parameters", folder / "net.onnx"
        parameters.write_bytes(struct.pack(
            f"<{PARAMETERS}f", *(0.2 * math.sin(13.0 * i) for i in range(PARAMETERS))))
        rows, scores = {}, {}
        for name, (source, package, flags) in PROGRAMS.items():
            if package in absent or (source == "onnxruntime" and not runtime):
                print(f"{name}: left out: found no {package or 'libonnxruntime.so'}",
                      file=sys.stderr)
                continue
            program, arguments = folder / source, [parameters]
            said(options.compiler, *FLAGS, HERE / f"size/{source}.cpp", *flags, "-o", program)
            needed = libraries_of(program)
            if source == "onnxruntime":
                said(options.compiler, *FLAGS, "-DEXPORT", HERE / "size/lamina.cpp", "-pthread",
                     "-o", folder / "export")
                said(folder / "export", parameters, onnx)
                arguments = [runtime, onnx]
                needed |= {runtime.resolve()} | libraries_of(runtime)
            scores[name] = [float(word) for word in said(program, *arguments).split()]
            if differ(scores[name], next(iter(scores.values()))):
                sys.exit(f"{name}: expected the scores of the others, found {scores[name]}")
            rows[name] = (program.stat().st_size, len(needed),
                          sum(path.stat().st_size for path in needed))
    base = sum(rows[BASE][::2])
    print(f"{'':26}{'executable, KB':>16}{'libraries':>11}{'MB':>10}{'sum / lamina':>14}")
    for name, (size, count, further) in rows.items():
        print(f"{name:26}{size / 1e3:16.0f}{count:11}{further / 1e6:10.1f}"
              f"{(size + further) / base:14.2f}")


if __name__ == "__main__":
    main()
