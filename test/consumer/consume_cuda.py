#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds cuda/, a project that calls lamina_cuda(), against an installed copy of lamina.

It is not run: that needs a device. Its kernels have to be in the program, and nvcc may not be
called again where no kernel has changed. Without a CUDA Toolkit lamina_cuda() says what is missing,
in an embedded copy, too. Exit code 77 (skipped) where there is no nvcc; the message is checked
before.

usage: consume_cuda.py --build FOLDER
       FOLDER is a configured build of lamina: its compiler is used, and it is what gets installed.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent / "engine" / "cuda" / "device")]
from check import SKIPPED, find_nvcc  # noqa: E402
from consume import LAMINA, run  # noqa: E402

KERNELS = ("cell_kernel", "line_kernel", "bent_identity")


def configure(folder, compiler, *options):
    return [
        "cmake", "-G", "Ninja", "-S", folder.parent / "cuda", "-B", folder,
        f"-DCMAKE_CXX_COMPILER={compiler}", *options
    ]


def require_message(folder, compiler, where):
    """What lamina_cuda() says without a toolkit."""
    command = configure(folder, compiler, where, "-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON")
    said = subprocess.run(list(map(str, command)), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if said.returncode == 0 or "lamina_cuda: expected a CUDA Toolkit" not in " ".join(
            said.stdout.split()):
        sys.exit(f"expected an error that names the CUDA Toolkit, found\n{said.stdout}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options = parser.parse_args()
    cache = (options.build / "CMakeCache.txt").read_text()
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.M).group(1)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shutil.copytree(HERE / "cuda", folder / "cuda")
        run("cmake", "--install", options.build, "--prefix", folder / "prefix")
        installed = f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}"
        require_message(folder / "embedded", compiler, f"-DLAMINA_SOURCE={LAMINA}")
        require_message(folder / "absent", compiler, installed)
        nvcc = find_nvcc()
        if nvcc is None:
            print(
                "SKIPPED: no nvcc in the PATH, nor named by NVCC: lamina_cuda() compiled no kernel")
            return SKIPPED
        build = folder / "build"
        toolkit = pathlib.Path(nvcc).resolve().parents[1]
        run(*configure(build, compiler, installed, f"-DCUDAToolkit_ROOT={toolkit}"))
        run("cmake", "--build", build)
        stubs = [n for n in run("nm", build / "trains").split() if "__device_stub__" in n]
        absent = [name for name in KERNELS if not any(name in s for s in stubs)]
        if absent:
            sys.exit(
                f"expected kernels of {', '.join(absent)} in the program, found {len(stubs)} others"
            )
        if "libcudart" not in run("readelf", "-d", build / "trains"):
            sys.exit("expected the program to need libcudart.so")
        kernels = build / "trains_cuda_kernels.o"
        before = os.stat(kernels).st_mtime_ns
        (folder / "cuda" / "rate.cpp").write_text("float rate();\nfloat rate() { return 0.2f; }\n")
        run("cmake", "--build", build)
        if os.stat(kernels).st_mtime_ns != before:
            sys.exit("expected the kernels to stay as they are, found them compiled again")
    print(
        "a project that calls lamina_cuda() links with its kernels, and compiles them again only "
        "where they change"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
