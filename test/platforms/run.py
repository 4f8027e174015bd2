#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles programs and unit tests for another system, runs them, and compares with this system.

usage: run.py [-j JOBS] [--only PROGRAM]... TARGET...
       run.py --self-test

TARGETS is the table of systems. A program runs on both systems; each must end with the same status
and print the same text, numbers within 1e-5. Lines that begin with "measured" are shown and not
compared. The unit tests of a target are one program, which must pass there. The files are written
below build/platforms. If a compiler, a runner or a library is missing, run.py installs it with
`test/install`, and packages of pip in a virtual environment below build/platforms. If that fails,
run.py says so and exits with 77.
"""
import argparse
import concurrent.futures
import functools
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
import typing

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEST = ROOT / "test"
BUILD = ROOT / "build" / "platforms"
# Header-only libraries, which serve all systems. The other headers of this system do not.
HEADERS = ("xtensor", "xtl", "xsimd", "nlohmann", "protozero", "catch2")
TOLERANCE = 1e-5


class Program(typing.NamedTuple):
    """A source and its runs, one after the other in one folder: (arguments, exit status).
    `most_kb` limits the size of the program on targets that measure it."""
    source: str
    runs: tuple = (((), 0), )
    flags: tuple = ()
    most_kb: float = 0


PROGRAMS = {
    "digits": Program("examples/01_digits.cpp"),
    "lenet": Program("examples/05_lenet.cpp"),
    "files": Program("test/platforms/files.cpp",
                     ((("train", ), 0), (("killed", ), 3), (("resume", ), 0))),
    # In memory: without files, threads and exceptions.
    "train": Program("test/platforms/train_digits.cpp", flags=("-DLAMINA_HAS_ZLIB=0", ),
                     most_kb=300),
    "small_files": Program("test/platforms/small_files.cpp", flags=("-DLAMINA_HAS_ZLIB=0", ),
                           most_kb=200),
    "file_bytes": Program("test/platforms/file_bytes.cpp",
                          flags=("-DLAMINA_HAS_ZLIB=0", "-O0")),
    "plain_vectors": Program("test/platforms/plain_vectors.cpp"),
    "static_lenet": Program("test/platforms/static_outputs.cpp", flags=("-DLAMINA_NET=0", ),
                            most_kb=20),
    **{f"static_lstm_{n}": Program("test/platforms/static_outputs.cpp",
                                   flags=(f"-DLAMINA_NET={n}", ), most_kb=20)
       for n in (8, 16, 32, 64)},
}
STATIC = tuple(name for name in PROGRAMS if name.startswith("static"))
SMALL = ("plain_vectors", "static_lstm_64", "static_lenet")
UNITS = """
core/arrays/raw_bytes core/files/binary_file core/files/file_mapping core/files/md5
core/files/open_file core/files/paths core/messages/text core/simd/batch_functions
core/system/memory_functions core/system/system_functions core/system/threads
core/threads/threading core/threads/worker_pool
engine/cpu/gemm/gemm io/arrays/variable_files io/npy io/npz io/parameter_tar io/safetensors
io/archive/recordio model/evaluator model/feeding/sample_files
train/checkpoints/checkpoint train/trainer train/sync_batch_norm
""".split()
# These read bytes that are written in the test, in the byte order of a format.
BYTES = """
core/files/checksum core/files/little_endian core/files/md5
dataset/idx dataset/mat_file dataset/pickle io/archive/recordio
""".split()


class Target(typing.NamedTuple):
    """A system. `compiler` ends before the flags of a file; `runner` precedes a program, and None
    means that this machine cannot run it: then all programs are compiled and linked. `needs` are
    commands, which `test/install INSTALL` installs. `libraries` end the command that links."""
    compiler: str
    runner: typing.Optional[str]
    needs: tuple
    programs: tuple
    units: tuple
    libraries: str = ""
    suffix: str = ""
    environment: dict = {}
    # Runs when all programs have run.
    end: str = ""
    # What pip installs for it, and the word for test/install.
    pip: str = ""
    install: str = ""
    # The flags with which this system compiles.
    own: str = "-O1"
    # Returns the size of a program in KB.
    size: typing.Optional[typing.Callable] = None


VENV = BUILD / "venv"
# The C++ compiler that comes with Zig has headers and libraries of macOS.
ZIG = Target(
    f"{VENV}/bin/python -m ziglang c++ -O1 -DLAMINA_HAS_ZLIB=0", None, (),
    ("digits", "lenet", "files"), (), environment={
        "ZIG_GLOBAL_CACHE_DIR": str(BUILD / "zig"), "ZIG_LOCAL_CACHE_DIR": str(BUILD / "zig")
    }, pip="ziglang")
# The Python package that has the headers of xsimd 14, with which files for ARM compile faster.
PYTHRAN = "pythran"


def file_kb(program):
    return program.stat().st_size / 1024


def flash_kb(program):
    """What a program for a Cortex-M stores in flash memory."""
    text = subprocess.run(["arm-none-eabi-size", "-A", program], check=True, text=True,
                          capture_output=True).stdout
    return sum(int(n) for n in re.findall(r"^\.(?:text|data)\s+(\d+)", text, re.M)) / 1024


def webassembly(flags):
    return Target(f"clang++-19 --target=wasm32-wasi {flags} -O2 -fno-exceptions -fno-rtti",
                  f"node --no-warnings {TEST / 'platforms/wasi.mjs'}", ("clang++-19", "node"),
                  (*SMALL, "small_files", "train"), (), "-s", ".wasm", install="wasm", size=file_kb)


def linux(prefix, flags, emulator, programs, units=(), **more):
    """A processor by Debian's cross compiler and qemu."""
    compiler = f"{prefix}-linux-gnu-g++-12"
    return Target(f"{compiler} -O2 {flags}", emulator, (compiler, emulator.split()[0]), programs,
                  units, "-static -pthread", **more)


def cortex_m(board, flags, megahertz, ram, ram_size):
    """A processor without an operating system. There is no heap: malloc would not link."""
    return Target(
        f"arm-none-eabi-g++ {flags} -mthumb -mfloat-abi=hard -O2 -fno-exceptions -fno-rtti "
        f"-ffunction-sections -fdata-sections -DLAMINA_MEGAHERTZ={megahertz}",
        # An instruction takes 2^4 ns.
        f"qemu-system-arm -M {board} -display none -serial none -monitor none -chardev "
        "stdio,id=out -semihosting-config enable=on,target=native,chardev=out -icount shift=4 "
        "-kernel", ("arm-none-eabi-g++", "qemu-system-arm"), STATIC, (),
        f"{TEST / 'platforms/cortex_m/start.cpp'} -nostartfiles -Wl,--gc-sections,"
        f"--defsym=ram={ram},--defsym=ram_size={ram_size} "
        f"-T {TEST / 'platforms/cortex_m/memory.ld'}", install="embedded", size=flash_kb)


TARGETS = {
    "windows": Target(
        "x86_64-w64-mingw32-g++-posix -O1 -mavx2 -mfma "
        "-Wa,-mbig-obj,-muse-unaligned-vector-move", "wine",
        ("x86_64-w64-mingw32-g++-posix", "wine"), ("digits", "lenet", "files"), tuple(UNITS),
        "-static -lz", ".exe", {
            "WINEPREFIX": str(BUILD / "wine"), "WINEDEBUG": "-all",
            # Wine would otherwise offer to download a browser and .NET.
            "WINEDLLOVERRIDES": "mscoree,mshtml="
        }, "wineserver -k", own="-O1 -mavx2 -mfma"),
    "wasm": webassembly("-msimd128"),
    "wasm-scalar": webassembly(""),
    "cortex-m4": cortex_m("mps2-an386", "-mcpu=cortex-m4 -mfpu=fpv4-sp-d16", 25, "0x20000000",
                          "0x400000"),
    "cortex-m55": cortex_m("mps3-an547", "-mcpu=cortex-m55 -mfpu=auto", 32, "0x60000000",
                           "0x1000000"),
    "arm": linux("aarch64", "", "qemu-aarch64", ("static_lstm_64", "static_lenet", "train"),
                 pip=PYTHRAN),
    "riscv": linux("riscv64", "", "qemu-riscv64", (*SMALL, "small_files", "train"),
                   install="riscv"),
    "riscv-v": Target(
        "clang++-19 --target=riscv64-linux-gnu -march=rv64gcv -O2",
        "qemu-riscv64 -cpu rv64,v=true,vlen=128,vext_spec=v1.0",
        ("clang++-19", "riscv64-linux-gnu-g++-12", "qemu-riscv64"), SMALL, (), "-static",
        install="riscv"),
    "i386": linux("i686", "-msse2 -mfpmath=sse", "qemu-i386",
                  ("static_lstm_64", "static_lenet", "train"), install="processors"),
    # It is big-endian.
    "s390x": linux("s390x", "-DLAMINA_HAS_ZLIB=0", "qemu-s390x",
                   (*SMALL, "small_files", "train", "file_bytes"), install="processors",
                   units=tuple(BYTES)),
    "macos": ZIG._replace(compiler=ZIG.compiler + " -target aarch64-macos"),
    "macos-x86": ZIG._replace(compiler=ZIG.compiler + " -target x86_64-macos -mcpu=haswell"),
}  # yapf: disable


def here(target):
    """How this system runs the programs with which those of a target are compared."""
    return Target(f"g++ {target.own}", "", ("g++", ), target.programs, (), "-lz -pthread")


def numbers_and_text(output):
    """What a program has printed, with `#` for each number, and the numbers. The remaining time
    that a progress bar shows, and what was measured, is left out."""
    output = re.sub(r"^measured .*\n| [0-9.]+ s left", "", output.replace("\r\n", "\n"),
                    flags=re.M)
    number = r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)(?![\w.])"
    return [float(n) for n in re.findall(number, output)], re.sub(number, "#", output)


def difference(expected, found):
    """Says how an output differs from the expected one; an empty text if it does not."""
    (numbers, text), (others, other_text) = numbers_and_text(expected), numbers_and_text(found)
    if text != other_text:
        return "other text"
    for a, b in zip(numbers, others):
        if a != b and not (a != a and b != b) and not abs(a - b) <= TOLERANCE * max(1, abs(a)):
            return f"expected {a}, found {b}"
    return ""


@functools.cache
def header_folder(newer):
    """A folder with links to HEADERS alone, so that a compiler for another system does not find the
    C library of this one."""
    folder = BUILD / ("include-newer" if newer else "include")
    folder.mkdir(parents=True, exist_ok=True)
    for name in HEADERS:
        source = next((pathlib.Path(base) / name for base in ("/usr/local/include", "/usr/include")
                       if (pathlib.Path(base) / name).is_dir()), None)
        if newer and name == "xsimd":
            source = next(VENV.glob("lib/*/site-packages/pythran/xsimd"))
        link = folder / name
        link.unlink(missing_ok=True)
        if source is None:
            sys.exit(f"run.py: expected the headers {name}, found none; run test/install")
        link.symlink_to(source)
    return folder


class Builder:
    """Compiles and links for a target, in a folder of its own."""

    def __init__(self, name, target):
        self.target, self.folder = target, BUILD / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.environment = {**os.environ, **target.environment}

    def compile(self, source, flags=()):
        """Returns the object of a source below the root, and the messages of the compiler if it
        fails."""
        out = self.folder / (source.replace("/", "_") + ".o")
        command = [*shlex.split(self.target.compiler), "-std=c++20", f"-I{ROOT / 'include'}",
                   f"-I{TEST}", "-isystem", header_folder(self.target.pip == PYTHRAN),
                   f'-DLAMINA_TEST_DIR="{TEST}"', *flags, "-c", ROOT / source, "-o", out]
        ran = subprocess.run(command, capture_output=True, text=True, env=self.environment)
        return out, ran.stderr if ran.returncode != 0 else ""

    def link(self, name, objects):
        out = self.folder / (name + self.target.suffix)
        words = shlex.split(self.target.compiler) + [*objects, "-o", out]
        ran = subprocess.run([*words, *shlex.split(self.target.libraries)], capture_output=True,
                             text=True, env=self.environment)
        return out, ran.stderr if ran.returncode != 0 else ""

    def run(self, program, arguments, folder):
        ran = subprocess.run([*shlex.split(self.target.runner), program, *arguments], cwd=folder,
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=900,
                             env=self.environment)
        return ran.returncode, ran.stdout.decode(errors="replace"), ran.stderr.decode(
            errors="replace")


def run_program(builder, name):
    """The outputs of all runs of a program, or (None, why it failed)."""
    program = PROGRAMS[name]
    compiled, failure = builder.compile(program.source, program.flags)
    if failure:
        return None, failure
    linked, failure = builder.link(name, [compiled])
    if failure or builder.target.runner is None:
        return None if failure else "", failure
    if builder.target.size is not None:
        kb = builder.target.size(linked)
        print(f"{name}: {kb:.1f} KB")
        if program.most_kb and kb > program.most_kb:
            return None, f"{name}: expected at most {program.most_kb} KB, found {kb:.1f}"
    folder = builder.folder / f"{name}.run"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    outputs = ""
    for arguments, expected in program.runs:
        status, output, errors = builder.run(linked, arguments, folder)
        if status != expected:
            return None, (f"{name} {' '.join(arguments)}: expected the exit status {expected}, "
                          f"found {status}\n{output[-3000:]}{errors[-3000:]}")
        outputs += output
    return outputs, ""


def compare_program(name, builder, own):
    """Says why a program fails on a target; an empty text if it does not."""
    found, failure = run_program(builder, name)
    if failure or builder.target.runner is None:
        return failure
    for line in re.findall(r"^measured .*", found, re.M):
        print(f"{name}: {line.removesuffix('.000000')}")
    expected, failure = run_program(own, name)
    if failure:
        return "on this system: " + failure
    differs = difference(expected, found)
    return f"{name}: {differs}\n== expected\n{expected}\n== found\n{found}" if differs else ""


def run_units(builder, jobs):
    """Compiles the unit tests of a target to one program, and runs it."""
    main = builder.folder / "main.cpp"
    main.write_text("#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n")
    sources = [f"test/{unit}_test.cpp" for unit in builder.target.units]
    sources.append(str(main.relative_to(ROOT)))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        compiled = list(pool.map(lambda s: builder.compile(s, ["-O0"]), sources))
    failures = [f"{s}: {f[:3000]}" for s, (_, f) in zip(sources, compiled) if f]
    if failures:
        return "\n".join(failures)
    linked, failure = builder.link("units", [out for out, _ in compiled])
    if failure or builder.target.runner is None:
        return failure
    status, output, errors = builder.run(linked, [], builder.folder)
    print(output.strip().splitlines()[-1] if output.strip() else "units: no output")
    return "" if status == 0 else f"units: exit status {status}\n{output[-6000:]}{errors[-3000:]}"


def install_by_pip(package):
    """Whether a package is in the virtual environment of this test, now or before."""
    if (VENV / package).is_file():
        return True
    for command in ([sys.executable, "-m", "venv", VENV],
                    [VENV / "bin/python", "-m", "pip", "install", "--quiet", package]):
        if subprocess.run(command).returncode != 0:
            return False
    (VENV / package).touch()
    return True


def run_target(name, jobs, only):
    """Returns the exit status for a target."""
    target = TARGETS[name]
    missing = [command for command in target.needs if shutil.which(command) is None]
    if missing and os.environ.get("LAMINA_APT") != "no":
        subprocess.run([TEST / "install", target.install or name.split("-")[0]])
        missing = [command for command in target.needs if shutil.which(command) is None]
    if target.pip and not missing and not install_by_pip(target.pip):
        missing = [target.pip + " of pip"]
    if missing:
        wanted = ", ".join([*target.needs, *filter(None, [target.pip])])
        print(f"SKIPPED: {name}: expected {wanted}, found no {' and no '.join(missing)}")
        return 77
    builder = Builder(name, target)
    own = Builder("here" + target.own.replace(" ", ""), here(target))
    tasks = {p: lambda p=p: compare_program(p, builder, own) for p in target.programs}
    if target.units:
        tasks["units"] = lambda: run_units(builder, jobs)
    failed = []
    for task, run in tasks.items():
        if only and task not in only:
            continue
        begin = time.monotonic()
        failure = run()
        verb = "links" if target.runner is None else "passes"
        print(f"{name}: {task} {'FAILS' if failure else verb} ({time.monotonic() - begin:.0f} s)",
              flush=True)
        if failure:
            failed.append(task)
            print(failure, flush=True)
    if target.end:
        subprocess.run(shlex.split(target.end), env=builder.environment)
    return 1 if failed else 0


def self_test():
    assert numbers_and_text("a 1.5e-3, b2 -4\r\n") == ([0.0015, -4.0], "a #, b2 #\n")
    assert numbers_and_text("cost 0.5 12.3 s left\n")[0] == [0.5]
    assert difference("cost 0.5", "cost 0.500001") == ""
    assert difference("cost 0.5", "cost 0.51") == "expected 0.5, found 0.51"
    assert difference("cost nan", "cost nan") == ""
    assert difference("cost nan", "cost 1") != "" and difference("cost 1", "cost nan") != ""
    assert difference("y 1\nmeasured 5 bytes\n", "y 1\nmeasured 6 bytes\n") == ""
    assert difference("cost 1", "price 1") == difference("1 2", "1") == "other text"
    for name, target in TARGETS.items():
        for program in target.programs:
            assert (ROOT / PROGRAMS[program].source).is_file(), (name, program)
        for unit in target.units:
            assert (TEST / f"{unit}_test.cpp").is_file(), (name, unit)
    print(f"{len(TARGETS)} targets: every source is there, and differences are found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("-j", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("targets", nargs="+", choices=TARGETS)
    given = parser.parse_args()
    statuses = {run_target(name, given.j, given.only) for name in given.targets}
    return 1 if 1 in statuses else max(statuses)


if __name__ == "__main__":
    sys.exit(main())
