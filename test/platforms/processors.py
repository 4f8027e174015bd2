#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles programs for other processors, runs them in emulators, and compares what they print with
what they print on this machine.

usage: processors.py GROUP [--build FOLDER]

GROUP is one of the names in TARGETS, by which test/tiers.txt and `test/run` call it too. Packages
that are missing are installed by `test/install GROUP`; what cannot be had is skipped, with the
reason. Status 77 says that nothing could be run.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "test/platforms"
SKIPPED = 77

# compiler: the command without the source; runner: the command before the program; programs: those
# of PROGRAMS that it runs; flash: most bytes of a static evaluator without weights.
Target = collections.namedtuple("Target", "name compiler runner programs")
Program = collections.namedtuple("Program", "source flags tolerance limit")

# The outputs are millionths: `tolerance` is the largest difference, relative if above 1. `limit`
# is the size of a WebAssembly file in KB.
PROGRAMS = {
    **{f"lstm_{n}": Program("static_outputs.cpp", [f"-DLAMINA_NET={n}"], 1e-5, 40)
       for n in (8, 16, 32, 64)},
    "lenet": Program("static_outputs.cpp", ["-DLAMINA_NET=0"], 1e-5, 40),
    "plain_vectors": Program("plain_vectors.cpp", [], 1e-5, 60),
    "digits": Program("train_digits.cpp", ["-DLAMINA_HAS_ZLIB=0"], 1e-5, 300),
}
STATIC = ["lstm_8", "lstm_16", "lstm_32", "lstm_64", "lenet"]
HOSTED = ["plain_vectors", "lstm_64", "lenet", "digits"]
SMALL = ["-fno-exceptions", "-fno-rtti"]
LINUX = ["-static"]


def cortex(board, flags, ram, size):
    """The compiler and the runner of a board without an operating system."""
    compiler = ["arm-none-eabi-g++", *flags, "-mthumb", "-mfloat-abi=hard", *SMALL,
                "-ffunction-sections", "-fdata-sections", "-nostartfiles", str(HERE /
                "cortex_m/start.cpp"), f"-Wl,--gc-sections,--defsym=ram={ram}",
                f"-Wl,--defsym=ram_size={size}", "-T", str(HERE / "cortex_m/memory.ld")]
    # With a shift of 4, an instruction takes 16 ns.
    runner = ["qemu-system-arm", "-M", board, "-nographic", "-monitor", "none", "-icount",
              "shift=4", "-semihosting-config", "enable=on,target=native", "-kernel"]
    return compiler, runner


TARGETS = {
    "wasm": [
        Target("wasm32", ["clang++-19", "--target=wasm32-wasi", *SMALL, "-s"],
               ["node", "--no-warnings", str(HERE / "wasi.mjs")], HOSTED),
        Target("wasm32-simd128",
               ["clang++-19", "--target=wasm32-wasi", "-msimd128", *SMALL, "-s"],
               ["node", "--no-warnings", str(HERE / "wasi.mjs")], HOSTED),
    ],
    "embedded": [
        Target("cortex-m4", *cortex("mps2-an386", ["-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16"],
                                    "0x20000000", "0x400000"), STATIC),
        Target("cortex-m55", *cortex("mps3-an547", ["-mcpu=cortex-m55", "-mfpu=auto"],
                                     "0x60000000", "0x1000000"), STATIC),
    ],
    "arm": [
        Target("aarch64", ["aarch64-linux-gnu-g++-12", *LINUX], ["qemu-aarch64"], HOSTED[1:]),
    ],
    "riscv": [
        Target("riscv64", ["riscv64-linux-gnu-g++-12", *LINUX], ["qemu-riscv64"], HOSTED),
        Target("riscv64-v", ["clang++-19", "--target=riscv64-linux-gnu", "-march=rv64gcv", *LINUX],
               ["qemu-riscv64", "-cpu", "rv64,v=true,vlen=128,vext_spec=v1.0"],
               ["plain_vectors", "lstm_64", "lenet"]),
    ],
    "processors": [
        Target("i386", ["i686-linux-gnu-g++-12", "-msse2", "-mfpmath=sse", *LINUX], ["qemu-i386"],
               HOSTED[1:]),
        Target("s390x", ["s390x-linux-gnu-g++-12", *LINUX], ["qemu-s390x"],
               ["plain_vectors", "lstm_64", "lenet", "refused_digits"]),
    ],
}
# Lines with a result; "instructions" and "bytes" are measured.
COMPARED = {"y", "cost", "accuracy"}
MEASURED = {"instructions", "bytes"}
# Clock ticks of 25 and 32 MHz per instruction of 16 ns.
INSTRUCTIONS_PER_TICK = {"cortex-m4": 1000 / 25 / 16, "cortex-m55": 1000 / 32 / 16}
# Most bytes of code and constants of a static evaluator on a Cortex-M.
FLASH = 12 * 1024


def xsimd(folder):
    """The folder of xsimd's headers for ARM: those that the package pythran has, which are of
    version 14, or else the system's."""
    headers = folder / "xsimd14"
    if not (headers / "xsimd/xsimd.hpp").is_file():
        made = folder / "pip"
        subprocess.run([sys.executable, "-m", "venv", made], capture_output=True)
        subprocess.run([made / "bin/python", "-m", "pip", "install", "--quiet", "--no-deps",
                        "pythran==0.19.0"], capture_output=True)
        found = next(made.rglob("pythran/xsimd"), pathlib.Path("/usr/include/xsimd"))
        headers.mkdir(exist_ok=True)
        (headers / "xsimd").unlink(missing_ok=True)
        (headers / "xsimd").symlink_to(found)
    return headers


def run(command, **more):
    """(status, what it printed on both streams)."""
    try:
        done = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=600, cwd=ROOT, **more)
    except subprocess.TimeoutExpired:
        return 124, "took more than 10 minutes"
    return done.returncode, done.stdout


def compile_program(program, compiler, out, folder, optimisation="-O2"):
    """The messages of a compiler that failed, or None."""
    command = [compiler[0], "-std=c++20", optimisation, *program.flags, f"-I{ROOT / 'include'}",
               HERE / program.source, *compiler[1:], "-o", out]
    if compiler[0].startswith(("aarch64", "i686")):
        command.insert(1, f"-isystem{xsimd(folder)}")
    status, said = run(command)
    return said if status else None


def numbers(text):
    """[(name, number)] of the lines "NAME NUMBER"."""
    return [(name, int(n)) for name, n in re.findall(r"^(\w+) (-?\d+)$", text, re.M)]


def differences(expected, found, tolerance):
    """What differs between two lists of numbers."""
    if [n for n, _ in expected] != [n for n, _ in found]:
        yield f"expected {len(expected)} lines, found {len(found)}"
        return
    for line, ((name, a), (_, b)) in enumerate(zip(expected, found), 1):
        # One of the 360 samples of the test may have another class.
        allowed = 2778 if name == "accuracy" else tolerance * max(1e6, abs(a))
        # Any other number counts wrong results.
        if name not in COMPARED | MEASURED and b != 0:
            yield f"line {line}: {b} results of {name} are wrong"
        if name in COMPARED and abs(a - b) > allowed:
            yield f"line {line}: expected {name} {a} millionths, found {b}"


def sections(program):
    """{section: bytes} of an executable."""
    text = subprocess.run(["arm-none-eabi-size", "-A", program], check=True, text=True,
                          capture_output=True).stdout
    return {name: int(size) for name, size in re.findall(r"^(\.\S+)\s+(\d+)", text, re.M)}


def check(target, name, folder, expected):
    """The faults of one program on one target."""
    out = folder / f"{target.name}_{name}{'.wasm' if target.name.startswith('wasm') else ''}"
    if name == "refused_digits":
        said = compile_program(PROGRAMS["digits"], target.compiler, out, folder)
        if said is None or "files of parameters are little-endian" not in said:
            yield "expected a message that files are little-endian, found none"
        return
    program = PROGRAMS[name]
    if said := compile_program(program, target.compiler, out, folder):
        yield f"does not compile:\n{said[:3000]}"
        return
    status, said = run([*target.runner, out])
    found = numbers(said)
    if status:
        yield f"ends with status {status}:\n{said[-2000:]}"
        return
    yield from differences(expected[name], found, program.tolerance)
    facts = dict(found)
    report = f"{target.name:15} {name:13}"
    if target.name.startswith("wasm"):
        size = out.stat().st_size / 1024
        report += f" {size:6.1f} KB"
        if size > program.limit:
            yield f"the file has {size:.1f} KB, more than {program.limit}"
    if target.name in INSTRUCTIONS_PER_TICK:
        size = sections(out)
        flash = size[".text"] + size.get(".data", 0)
        steps = facts["instructions"] * INSTRUCTIONS_PER_TICK[target.name]
        report += (f" {flash:6} bytes of flash without weights, {facts['bytes']:8} of RAM,"
                   f" {steps:9.0f} instructions per step")
        if flash > FLASH:
            yield f"needs {flash} bytes of flash, more than {FLASH}"
    print(report, flush=True)


def missing(target):
    """Which of a target's programs this machine does not have."""
    return [c for c in (target.compiler[0], target.runner[0]) if not shutil.which(c)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("group", choices=TARGETS)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/platforms")
    options = parser.parse_args()
    targets = TARGETS[options.group]
    if any(missing(t) for t in targets):
        # Without a terminal it asks nothing.
        subprocess.run([ROOT / "test/install", options.group], stdin=subprocess.DEVNULL)
    folder = options.build / options.group
    folder.mkdir(parents=True, exist_ok=True)
    expected, failed, ran = {}, 0, 0
    for target in targets:
        if lacking := missing(target):
            print(f"LEFT OUT: {target.name}: found no {', '.join(lacking)} "
                  f"(test/install {options.group})")
            continue
        ran += 1
        for name in target.programs:
            if name in PROGRAMS and name not in expected:
                out = folder / f"native_{name}"
                compiler = [os.environ.get("CXX", "g++"), "-pthread"]
                if said := compile_program(PROGRAMS[name], compiler, out, folder, "-O1"):
                    sys.exit(f"{name} does not compile for this machine:\n{said[:3000]}")
                expected[name] = numbers(run([out])[1])
                if not expected[name]:
                    sys.exit(f"{name} printed nothing on this machine")
            for fault in check(target, name, folder, expected):
                failed += 1
                print(f"{target.name}: {name}: {fault}", flush=True)
    return 1 if failed else 0 if ran else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
