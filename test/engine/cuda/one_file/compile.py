#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles train.cu, a program together with its kernels and one of its own, as a user's single .cu
file.

clang: PTX for the device and an object for the host, each by itself, because the driver of clang 19
expects the `fatbinary` of a toolkit before CUDA 13. nvcc: an object. All kernels have to be
defined, within limits of time and memory. Exit code 77 (skipped) without the compiler or the
toolkit.

usage: compile.py --with clang|nvcc --build FOLDER
"""
import argparse
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[3]
sys.path.insert(0, str(HERE.parent / "device"))
import check  # noqa: E402 - finds nvcc

SOURCE = HERE / "train.cu"
MOST_SECONDS, MOST_ROOM = 120, 4  # of processor time; GB of one process
KERNELS = ("twice", "cell_kernel", "line_kernel")  # some of the kernels


def call(*command):
    """Runs a compiler and says what it cost."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    output = check.call(*command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    room = after.ru_maxrss / 2**20
    print(
        f"{pathlib.Path(command[0]).name}: {time.monotonic() - begin:.1f} s, {seconds:.1f} s of "
        "processor time, "
        f"at most {room:.2f} GB", flush=True)
    if seconds > MOST_SECONDS or room > MOST_ROOM:
        sys.exit(f"expected at most {MOST_SECONDS} s of processor time and {MOST_ROOM} GB")
    return output


def find_clang():
    """clang 19 or later, which know sm_90 and the headers of toolkits from 12.5 on."""
    for version in range(30, 18, -1):
        if found := shutil.which(f"clang++-{version}"):
            return found
    found = shutil.which("clang++")
    version = found and re.search(
        r"clang version (\d+)",
        subprocess.run([found, "--version"], capture_output=True, text=True).stdout)
    return found if version and int(version.group(1)) >= 19 else None


def require_defined(compiled):
    """Each function of the backend that the object launches is in it."""
    names = subprocess.run(["nm", "-C", "-u", compiled], capture_output=True, text=True,
                           check=True).stdout
    undefined = [n for n in names.splitlines() if "device_backend::" in n]
    if undefined:
        sys.exit("expected all kernels in the object, found undefined:\n" + "\n".join(undefined))


def by_clang(toolkit, out):
    clang = find_clang()
    if clang is None:
        print("SKIPPED: no clang++ 19 or later: no .cu file was compiled by clang")
        return check.SKIPPED
    command = [
        clang, "-std=c++20", "-O2", "--cuda-gpu-arch=sm_90", f"--cuda-path={toolkit}",
        "-Wno-unknown-cuda-version", "-Wall", "-Werror", "-Wno-pass-failed", f"-I{TOP}/include"
    ]
    if (toolkit / "include" / "cccl").is_dir():
        command += ["-isystem", toolkit / "include" / "cccl"]
    # CUDA 13; clang 19 includes it
    if not (toolkit / "include" / "texture_fetch_functions.h").exists():
        (out / "absent").mkdir(exist_ok=True)
        (out / "absent" / "texture_fetch_functions.h").write_text("")
        command += ["-isystem", out / "absent"]
    call(*command, "--cuda-device-only", "-S", SOURCE, "-o", out / "train.ptx")
    kernels = re.findall(r"\.entry (\w+)", (out / "train.ptx").read_text())
    absent = [name for name in KERNELS if not any(f"{len(name)}{name}" in k for k in kernels)]
    if absent:
        sys.exit(f"expected kernels of {absent} in the PTX, found {kernels}")
    call(*command, "--cuda-host-only", "-c", SOURCE, "-o", out / "train_clang.o")
    require_defined(out / "train_clang.o")
    return 0


def by_nvcc(nvcc, out):
    call(nvcc, "-std=c++20", "-O2", "--expt-relaxed-constexpr", "-arch=sm_90", "-diag-suppress",
         "1301,1675,20011", f"-I{TOP}/include", "-c", SOURCE, "-o", out / "train_nvcc.o")
    require_defined(out / "train_nvcc.o")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--with", choices=["clang", "nvcc"], required=True, dest="compiler")
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options = parser.parse_args()
    nvcc = check.find_nvcc()
    if nvcc is None:
        print("SKIPPED: no nvcc in the PATH, nor named by NVCC: no .cu file was compiled")
        return check.SKIPPED
    options.build.mkdir(parents=True, exist_ok=True)
    if options.compiler == "clang":
        return by_clang(pathlib.Path(nvcc).resolve().parents[1], options.build)
    return by_nvcc(nvcc, options.build)


if __name__ == "__main__":
    sys.exit(main())
