#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles programs and unit tests for another system, runs them, and compares with this system.

usage: run.py [-j JOBS] [--only PROGRAM]... TARGET...
       run.py --self-test

TARGETS is the table of systems. A program runs on both systems; each must end with the same status
and print the same text, numbers within 1e-5. The unit tests of a target are one program, which must
pass there. The files are written below build/platforms. If a compiler, a runner or a library is
missing, run.py installs it with `test/install TARGET`, and packages of pip in a virtual environment
below build/platforms. If that fails, run.py says so and exits with 77.
"""
import argparse
import concurrent.futures
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
    """A source and its runs, one after the other in one folder: (arguments, exit status)."""
    source: str
    runs: tuple = (((), 0), )


PROGRAMS = {
    "digits": Program("examples/01_digits.cpp"),
    "lenet": Program("examples/05_lenet.cpp"),
    "files": Program("test/platforms/files.cpp",
                     ((("train", ), 0), (("killed", ), 3), (("resume", ), 0))),
}
UNITS = """
core/arrays/raw_bytes core/files/binary_file core/files/file_mapping core/files/md5
core/files/open_file core/messages/text core/simd/batch_functions
core/system/memory_functions core/system/system_functions core/system/threads
core/threads/threading core/threads/worker_pool
engine/cpu/gemm/gemm io/arrays/variable_files io/npy io/npz io/parameter_tar io/safetensors
io/archive/recordio model/evaluator model/feeding/sample_files
train/checkpoints/checkpoint train/trainer train/sync_batch_norm
""".split()


class Target(typing.NamedTuple):
    """A system. `compiler` ends before the flags of a file; `runner` precedes a program, and None
    means that this machine cannot run it: then all programs are compiled and linked. `needs` are
    commands. `libraries` end the command that links."""
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
    # What pip installs for it.
    pip: str = ""


VENV = BUILD / "venv"
# The C++ compiler that comes with Zig has headers and libraries of macOS.
ZIG = Target(
    f"{VENV}/bin/python -m ziglang c++ -O1 -DLAMINA_HAS_ZLIB=0", None, (),
    ("digits", "lenet", "files"), (), environment={
        "ZIG_GLOBAL_CACHE_DIR": str(BUILD / "zig"), "ZIG_LOCAL_CACHE_DIR": str(BUILD / "zig")
    }, pip="ziglang")


TARGETS = {
    "windows": Target(
        "x86_64-w64-mingw32-g++-posix -O1 -mavx2 -mfma "
        "-Wa,-mbig-obj,-muse-unaligned-vector-move", "wine",
        ("x86_64-w64-mingw32-g++-posix", "wine"), ("digits", "lenet", "files"), tuple(UNITS),
        "-static -lz", ".exe", {
            "WINEPREFIX": str(BUILD / "wine"), "WINEDEBUG": "-all",
            # Wine would otherwise offer to download a browser and .NET.
            "WINEDLLOVERRIDES": "mscoree,mshtml="
        }, "wineserver -k"),
    "macos": ZIG._replace(compiler=ZIG.compiler + " -target aarch64-macos"),
    "macos-x86": ZIG._replace(compiler=ZIG.compiler + " -target x86_64-macos -mcpu=haswell"),
}  # yapf: disable


def here(target):
    """How this system runs the programs with which those of a target are compared."""
    flags = " ".join(f for f in shlex.split(target.compiler) if f.startswith(("-O", "-m")))
    return Target(f"g++ {flags}", "", ("g++", ), target.programs, (), "-lz -pthread")


def numbers_and_text(output):
    """What a program has printed, with `#` for each number, and the numbers. The remaining time
    that a progress bar shows is left out."""
    output = re.sub(r" [0-9.]+ s left", "", output.replace("\r\n", "\n"))
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


def header_folder():
    """A folder with links to HEADERS alone, so that a compiler for another system does not find the
    C library of this one."""
    folder = BUILD / "include"
    folder.mkdir(parents=True, exist_ok=True)
    for name in HEADERS:
        source = next((pathlib.Path(base) / name for base in ("/usr/local/include", "/usr/include")
                       if (pathlib.Path(base) / name).is_dir()), None)
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
                   f"-I{TEST}", "-isystem", header_folder(), f'-DLAMINA_TEST_DIR="{TEST}"', *flags,
                   "-c", ROOT / source, "-o", out]
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
    compiled, failure = builder.compile(program.source)
    if failure:
        return None, failure
    linked, failure = builder.link(name, [compiled])
    if failure or builder.target.runner is None:
        return None if failure else "", failure
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
        subprocess.run([TEST / "install", name.split("-")[0]])
        missing = [command for command in target.needs if shutil.which(command) is None]
    if target.pip and not missing and not install_by_pip(target.pip):
        missing = [target.pip + " of pip"]
    if missing:
        print(f"skipped: {name}: expected {', '.join(target.needs + (target.pip, ))}, found no "
              f"{' and no '.join(missing)}")
        return 77
    builder, own = Builder(name, target), Builder(name + "-here", here(target))
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
