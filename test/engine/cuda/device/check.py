#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the kernels of device_run.cpp with nvcc, checks what the compiler says of them, and runs
it on a device.

No kernel may have a stack frame or spill registers, but for a few words; that is checked with or
without a device. Exit code 77 (skipped) without nvcc, or without a device. With --sanitizer it runs
under compute-sanitizer. With --emulated it runs what an earlier call has built, without a device:
each kernel instruction by instruction from its PTX (test/engine/cuda/emulated).

usage: check.py --compiler CXX --build FOLDER [--arch 90] [--sanitizer | --emulated]
           [-- COMPILER_FLAGS...]
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "emulated"))
import build_emulator  # noqa: E402

SKIPPED = 77


def find_nvcc():
    usual = "/usr/local/cuda/bin/nvcc"
    return os.environ.get("NVCC") or shutil.which("nvcc") or (usual if os.access(usual, os.X_OK)
                                                              else None)


def call(*command):
    run = subprocess.run([str(c) for c in command], text=True, capture_output=True)
    if run.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{run.stdout}{run.stderr}")
    return run.stdout + run.stderr


def spill_faults(verbose):
    """Kernels with much of a stack frame or of spills, from what `ptxas -v` prints, and how many
    kernels there are.

    ptxas spills a few words where a processor can hold one more block for it, and the sine and
    cosine of the toolkit keep a table of a few words on the stack, for angles that are very large;
    kernels of CUB and Thrust are as they are."""
    most = 32
    frames = re.findall(
        r"Function properties for (\S+)\s*\n\s*(\d+) bytes stack frame, (\d+) bytes spill stores, "
        r"(\d+)",
        verbose)
    faults = [
        f"{name}: {stack} bytes of stack, {stores} of spills"
        for name, stack, stores, loads in frames
        if not name.startswith(("_ZN3cub", "_ZN6thrust")) and max(int(stack), int(stores)) > most
    ]
    return faults, len(frames)


def emulate(compiler, out):
    """Runs the objects of device_run over an emulated device; its exit code."""
    program, library = out / "device_run_emulated", out / "emulated"
    build_emulator.build(compiler, library)
    call(compiler, out / "device_run.o", out / "device_run_kernels.o", f"-L{library}",
         f"-Wl,-rpath,{library}", "-lcudart", "-lpthread", "-o", program)
    print("Without a device, by instructions:", flush=True)
    ptx = out / "device_run_kernels.o.ptx"
    return subprocess.run([program, "--small"], env=dict(os.environ,
                                                         LAMINA_TEST_PTX=str(ptx))).returncode


def main():
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    here = pathlib.Path(__file__).resolve().parent
    top = here.parents[3]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--arch", default="90")
    parser.add_argument("--sanitizer", action="store_true")
    parser.add_argument("--emulated", action="store_true")
    options = parser.parse_args(sys.argv[1:split])

    nvcc = find_nvcc()
    if nvcc is None:
        print("SKIPPED: no nvcc in the PATH, nor named by NVCC: no kernel was compiled")
        return SKIPPED
    toolkit = pathlib.Path(nvcc).resolve().parents[1]
    out = options.build
    out.mkdir(parents=True, exist_ok=True)
    if options.emulated:
        if not (out / "device_run_kernels.o.ptx").exists():
            sys.exit(
                f"expected what a run without --emulated builds in {out}, found no "
                "device_run_kernels.o.ptx"
            )
        return emulate(options.compiler, out)
    host, kernels, program = out / "device_run.o", out / "device_run_kernels.o", out / "device_run"
    flags = sys.argv[split + 1:]
    # What asks for kernels is the same at any level, and the host does little: -O0 takes half the
    # time of -O1.
    call(options.compiler, "-std=c++20", "-O0", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
         f"-I{top}/include", f"-I{top}/test", "-isystem", toolkit / "include", *flags, "-c",
         here / "device_run.cpp", "-o", host)
    os.environ["NVCC"] = nvcc
    verbose = call(top / "cmake" / "cuda_kernels", "-o", kernels, host, "--", "-Xptxas", "-v",
                   "-gencode", f"arch=compute_{options.arch},code=sm_{options.arch}", "--keep",
                   "--keep-dir", out)
    faults, count = spill_faults(verbose)
    if count == 0:
        faults.append("expected kernels, found none")
    print("\n".join(faults) or f"{count} kernels: no stack, no spills, but for a few words")
    if faults:
        return 1
    call(options.compiler, host, kernels, f"-L{toolkit}/lib64", f"-Wl,-rpath,{toolkit}/lib64",
         "-lcudart", "-lcublasLt", "-lpthread", "-o", program)
    command = [program]
    if options.sanitizer:
        command = [toolkit / "bin" / "compute-sanitizer", "--error-exitcode", "1", program]
    code = subprocess.run([str(c) for c in command]).returncode
    if code == SKIPPED:
        print("SKIPPED: no device: nothing was run on one")
    return code


if __name__ == "__main__":
    sys.exit(main())
