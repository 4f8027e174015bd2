#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles a training on CUDA devices of several processes with the headers of NCCL and of an MPI.

usage: nccl.py COMPILER FLAG...    exit code 77: there is no NCCL, no CUDA or no MPI here
"""
import os
import pathlib
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
#include <lamina/distributed/nccl_session.hpp>
#include <lamina/lamina.hpp>
#include <lamina/train/train_at_device.hpp>

int main(int argc, char** argv) {
  lamina::distributed::nccl_session world{argc, argv};
  lamina::world& as_trained = world;
  return as_trained.share_device(0, nullptr) == nullptr;
}
"""


def main():
    compiler, *flags = sys.argv[1:]
    folders = [os.environ.get("CUDA_HOME", "/usr/local/cuda"), "/usr"]
    cuda = next((pathlib.Path(f, "include") for f in folders
                 if pathlib.Path(f, "include", "cuda_runtime_api.h").exists()), None)
    nccl = next((pathlib.Path(f, "include") for f in [*folders, "/usr/local"]
                 if pathlib.Path(f, "include", "nccl.h").exists()), None)
    wrapper = subprocess.run(["mpicxx", "-showme:incdirs"], capture_output=True, text=True) \
        if any(pathlib.Path(p, "mpicxx").exists() for p in os.environ["PATH"].split(":")) else None
    if cuda is None or nccl is None or wrapper is None or wrapper.returncode:
        print("distributed.nccl: skipped, as there is no "
              + ("CUDA" if cuda is None else "nccl.h" if nccl is None else "Open MPI"))
        return 77
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "train.cpp")
        source.write_text(PROGRAM)
        return subprocess.run([
            compiler, "-std=c++20", *flags, "-DLAMINA_HAS_MPI", "-Wall", "-Wextra", "-Werror",
            f"-I{TOP / 'include'}", f"-isystem{cuda}", f"-isystem{nccl}",
            *(f"-isystem{one}" for one in wrapper.stdout.split()), "-fsyntax-only", source
        ]).returncode


sys.exit(main())
