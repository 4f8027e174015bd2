#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs W1 in lamina and in libtorch in turn (A B A B ...) and prints medians and their ratio.

libtorch gets what makes it fast on one thread: the kernels of this processor, and an allocator that
keeps its pages. Build first: cmake --preset release && cmake --build build/release --target
benchmark_w1 benchmark_w1_libtorch (Debian: libtorch-dev, libbenchmark-dev).

usage: compare_w1.py [--build FOLDER] [--rounds N]
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]


def run(binary, environment):
    """{workload: microseconds} of one run of a benchmark."""
    out = subprocess.run([binary, "--benchmark_format=json", "--benchmark_min_time=0.3"], env=environment, text=True,
                         capture_output=True, check=True).stdout
    return {b["name"].split("/")[0]: b["cpu_time"] for b in json.loads(out)["benchmarks"]}


def fast_blas():
    """OpenBLAS takes new processors for old ones; name the best kernels that this one has."""
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    return "SKYLAKEX" if "avx512f" in flags else "ZEN" if "AMD" in flags else "HASWELL"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    folder = pathlib.Path(options.build, "benchmarks")
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", OPENBLAS_CORETYPE=fast_blas(),
                       MALLOC_TRIM_THRESHOLD_="2000000000", MALLOC_MMAP_THRESHOLD_="2000000000")
    if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text():
        environment["ATEN_CPU_CAPABILITY"] = "avx512"
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(run(folder / "benchmark_w1", environment))
        theirs.append(run(folder / "benchmark_w1_libtorch", environment))
    print(f"{'':8}{'lamina us':>12}{'libtorch us':>14}{'ratio':>8}")
    for name in ours[0]:
        a = statistics.median(r[name] for r in ours)
        b = statistics.median(r[name] for r in theirs)
        print(f"{name:8}{a:12.1f}{b:14.1f}{b / a:8.2f}")


if __name__ == "__main__":
    main()
