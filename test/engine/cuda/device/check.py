#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the kernels of device_run.cpp with nvcc, checks what the compiler says of them, and runs it on a device.

Facts: no kernel has a stack frame or spills a register; pointwise kernels and products load and store 16 bytes at once;
tiles of tensor cores, and no others, have their instructions.
Exit code 77 (skipped) without nvcc, or without a device; the facts are checked before. Under compute-sanitizer with
--sanitizer. With --emulated it runs what an earlier call has built without a device: each kernel instruction by
instruction from its PTX (test/engine/cuda/emulated).

usage: check.py --compiler CXX --build FOLDER [--arch 90] [--sanitizer | --emulated] [-- COMPILER_FLAGS...]
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
    return os.environ.get("NVCC") or shutil.which("nvcc") or (usual if os.access(usual, os.X_OK) else None)


def call(*command):
    run = subprocess.run([str(c) for c in command], text=True, capture_output=True)
    if run.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{run.stdout}{run.stderr}")
    return run.stdout + run.stderr


def spill_faults(verbose):
    """Kernels with a stack frame or spills, from what `ptxas -v` prints, and how many kernels there are.

    The sine and cosine of the toolkit keep a table of a few words on the stack, for angles that are very large; kernels
    of CUB and Thrust are as they are."""
    frames = re.findall(r"Function properties for (\S+)\s*\n\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+)",
                        verbose)
    faults = [f"{name}: {stack} bytes of stack, {stores} of spills" for name, stack, stores, loads in frames
              if not name.startswith(("_ZN3cub", "_ZN6thrust")) and
              ((stores, loads) != ("0", "0") or int(stack) > (32 if re.search(r"\d(sin|cos)E", name) else 0))]
    return faults, len(frames)


def vector_faults(ptx):
    """Pointwise kernels and products without a load or store of 16 bytes, and how many were looked at."""
    faults, seen = [], 0
    for kernel in ptx.split(".entry ")[1:]:
        name = re.match(r"\w+", kernel).group()
        # What tensor cores leave in a chain of products are pairs.
        chain = "chain_body" in name and "tile_shape" in name
        if "cell_kernel" not in name and "product_body" not in name and not chain:
            continue
        seen += 1
        if not re.search(r"\bst\.[\w.:]*v4\.[fb]32", kernel):
            faults.append(f"{name}: stores no 16 bytes at once")
        # A pointwise group of scalars alone loads no array.
        if ("4load" in name or "product_body" in name or chain) and not re.search(r"\bld\.[\w.:]*v4\.[fb]32", kernel):
            faults.append(f"{name}: loads no 16 bytes at once")
    return faults, seen


def tensor_faults(ptx, machine_code):
    """Kernels of tensor tiles whose code does not multiply by tensor cores in their format, others that do, and how many
    were looked at. The code of the machine is looked at where there is a cuobjdump."""
    tf32 = r"\bmma\.sync\S*\.f32\.tf32\.tf32\.f32", "HMMA.1688.F32.TF32"
    wanted = {"14float32_format": tf32, "11tf32_format": tf32,  # of a float two numbers
              "bfloat16_format": (r"\bmma\.sync\S*\.f32\.bf16\.bf16\.f32", "HMMA.16816.F32.BF16"),
              "14float16_format": (r"\bmma\.sync\S*\.f32\.f16\.f16\.f32", "HMMA.16816.F32 ")}
    faults, seen = [], 0
    for kernel in ptx.split(".entry ")[1:]:
        name = re.match(r"\w+", kernel).group()
        found = {i for i, _ in wanted.values() if re.search(i, kernel)}
        expected = {wanted[f][0] for f in wanted if f in name}
        seen += bool(expected)
        if found != expected:
            faults.append(f"{name}: expected products in {expected or 'float'}, found {found or 'float'}")
    for kernel in re.split(r"^\s*Function : ", machine_code, flags=re.M)[1:]:
        name = re.match(r"\w+", kernel).group()
        faults += [f"{name}: no {instruction} in the code of the machine"
                   for f, (_, instruction) in wanted.items() if f in name and instruction not in kernel]
    return faults, seen


def emulate(compiler, top, out, devices):
    """Runs the objects of device_run over emulated devices; its exit code."""
    program, library = out / "device_run_emulated", out / "emulated"
    build_emulator.build(compiler, library)
    call(compiler, out / "device_run.o", out / "device_run_kernels.o", f"-L{library}", f"-Wl,-rpath,{library}", "-lcudart",
         "-lpthread", "-o", program)
    print("Without a device, by instructions:", flush=True)
    return subprocess.run([program, "--small"], env=dict(os.environ, LAMINA_TEST_PTX=str(out / "device_run_kernels.o.ptx"),
                                                         LAMINA_TEST_DEVICES=str(devices))).returncode


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
            sys.exit(f"expected what a run without --emulated builds in {out}, found no device_run_kernels.o.ptx")
        return emulate(options.compiler, top, out, devices=2)
    host, kernels, program = out / "device_run.o", out / "device_run_kernels.o", out / "device_run"
    # NCCL comes apart from the toolkit, and cuBLASLt can be left away.
    flags, libraries = sys.argv[split + 1:], []
    for header, name in ("nccl.h", "nccl"), ("cublasLt.h", "cublasLt"):
        if (toolkit / "include" / header).exists():
            flags.append(f"-DLAMINA_HAS_{name.upper()}")
            libraries.append(f"-l{name}")
        else:
            print(f"SKIPPED: no {header} in the toolkit: what calls it was not compiled")
    # What asks for kernels is the same at any level, and the host does little: -O0 takes half the time of -O1.
    call(options.compiler, "-std=c++20", "-O0", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{top}/include",
         f"-I{top}/test", "-isystem", toolkit / "include", *flags, "-c", here / "device_run.cpp", "-o", host)
    os.environ["NVCC"] = nvcc
    verbose = call(top / "cmake" / "cuda_kernels", "-o", kernels, host, "--", "-Xptxas", "-v", "-gencode",
                   f"arch=compute_{options.arch},code=sm_{options.arch}", "--keep", "--keep-dir", out)
    faults, count = spill_faults(verbose)
    more, vectors = vector_faults("".join(p.read_text() for p in out.glob("*.ptx")))
    faults += more
    dumper = shutil.which("cuobjdump") or shutil.which(toolkit / "bin" / "cuobjdump")
    more, tensors = tensor_faults("".join(p.read_text() for p in out.glob("*.ptx")),
                                  call(dumper, "-sass", kernels) if dumper else "")
    faults += more
    if count == 0 or vectors == 0 or tensors == 0:
        faults.append(f"expected kernels, found {count}, of which {vectors} with vectors, {tensors} with tensor cores")
    print("\n".join(faults) or f"{count} kernels: no stack, no spills; {vectors} of them move 16 bytes at once, "
          f"{tensors} multiply by tensor cores{' (seen in the code of the machine)' if dumper else ''}")
    if faults:
        return 1
    call(options.compiler, host, kernels, f"-L{toolkit}/lib64", f"-Wl,-rpath,{toolkit}/lib64", "-lcudart", *libraries,
         "-lpthread", "-o", program)
    command = [program]
    if options.sanitizer:
        command = [toolkit / "bin" / "compute-sanitizer", "--error-exitcode", "1", program]
    code = subprocess.run([str(c) for c in command]).returncode
    if code == SKIPPED:
        print("SKIPPED: no device: nothing was run on one")
    return code


if __name__ == "__main__":
    sys.exit(main())
