#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants faults that were once in the library, one at a time, and demands that a unit test finds
each: what the quick tier of the tests leaves out must not be what found them.

faults.txt lists them. The script makes a tree of hard links to include/ under DIR, replaces one
header there, compiles the one test file that must find the fault, and runs it. Without a fault the
test must pass. It prints which test finds which fault, and which call of test/run has that test.

usage: planted_faults.py --compiler CXX --build DIR [--catch LIBRARY]... [--self-test]
                         [-- COMPILER_FLAGS...]
       planted_faults.py --texts

--texts only checks the texts of faults.txt, which needs no compiler; the other calls do so first.
--self-test plants a replacement that changes nothing, and one that does not compile, and demands
that both are reported.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))
import stages  # noqa: E402

INCLUDE, TEST = ROOT / "include", ROOT / "test"
Fault = collections.namedtuple("Fault", "fault changelog header old new test finds")
# How clang and g++ begin the message of a static_assert.
STATIC = re.compile(r"static_assert failed|static assertion failed")
# A test that takes longer than SLOWNESS times its time without the fault, and PATIENCE seconds,
# waits for ever.
SLOWNESS, PATIENCE = 10, 20


def read_faults(text):
    """The faults of a table."""
    faults, begun = [], []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.startswith("#"):
            continue
        if line.strip():
            name, _, value = line.partition(" ")
            expected = Fault._fields[len(begun)] if len(begun) < len(Fault._fields) else "an empty"
            if name != expected:
                sys.exit(f"faults.txt:{number}: expected a line '{expected}', found '{name}'")
            begun.append(value.strip())
        elif begun:
            if len(begun) < len(Fault._fields):
                sys.exit(f"faults.txt:{number}: expected a line '{Fault._fields[len(begun)]}', "
                         "found an empty one")
            faults.append(Fault(*begun))
            begun = []
    return faults


def stale_texts(faults):
    """What in the table no longer fits the repository."""
    changelog = " ".join((ROOT / "CHANGELOG.md").read_text().split())
    for fault in faults:
        header = INCLUDE / "lamina" / fault.header
        if not header.is_file():
            yield f"{fault.fault}: expected the header {fault.header}, found none"
        elif (count := header.read_text().count(fault.old)) != 1:
            yield (f"{fault.fault}: expected this text once in {fault.header}, found it {count} "
                   f"times: {fault.old}")
        if fault.old == fault.new:
            yield f"{fault.fault}: expected a new text, found the old one"
        if not (TEST / fault.test).is_file():
            yield f"{fault.fault}: expected the test {fault.test}, found none"
        if fault.finds not in ("run", "compile"):
            yield f"{fault.fault}: expected 'run' or 'compile', found '{fault.finds}'"
        if " ".join(fault.changelog.split()) not in changelog:
            yield f"{fault.fault}: expected this in CHANGELOG.md, found it not: {fault.changelog}"


def call_of(test, tiers):
    """The call of test/run that has a unit test."""
    home = next(home for pattern, home in tiers.files if re.search(pattern, test))
    if home != "all":
        return f"test/run ({home})"
    name = stages.test_of(TEST / test)
    return "test/run " + next(part.name for part in tiers.parts
                              if part.stage in ("basic", "emulated") and re.search(
                                  part.tests,
                                  name if part.stage == "basic" else part.stage + "." + name))


def link(source, target):
    """A hard link, or a copy where the file system is another one."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def first_errors(output):
    """What a compiler or linker says first."""
    lines = output.splitlines()
    return "\n".join([line for line in lines if "error" in line or "undefined" in line][:3] or
                     lines[:3])


class Outcome:
    """What came of a test: `found` says how it failed, or is empty if it passed; `wrong` says why
    neither is known."""

    def __init__(self, found="", wrong="", seconds=0.0):
        self.found, self.wrong, self.seconds = found, wrong, seconds


class Tree:
    """A tree of include/ in which one header at a time has a fault."""

    def __init__(self, compiler, build, libraries, flags):
        self.build, self.include = build, build / "include"
        shutil.rmtree(build, ignore_errors=True)
        build.mkdir(parents=True)
        shutil.copytree(INCLUDE, self.include, copy_function=link)
        self.compile = [*compiler.split(), "-std=c++20", "-O0", "-w", "-march=native",
                        f"-I{self.include}", f"-I{TEST}", f'-DLAMINA_TEST_DIR="{TEST}"', *flags]
        self.libraries = [*libraries, "-lpthread",
                          *(["-lz"] if "-DLAMINA_HAS_ZLIB" in flags else [])]
        # The second version of Catch2 may be a header alone; the third one's libraries have the
        # main function.
        main = build / "main.cpp"
        main.write_text("" if libraries else
                        "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n")
        self.main = [self.object_of(main), self.object_of(TEST / "quick_files.cpp")]
        self.unplanted = {}

    def object_of(self, source):
        made = self.build / (source.name + ".o")
        subprocess.run([*self.compile, "-c", source, "-o", made], check=True)
        return made

    def outcome(self, test, limit):
        """Compiles a test file and runs it, for at most `limit` seconds."""
        made, program = self.build / "test.o", self.build / "test"
        compiled = subprocess.run([*self.compile, "-c", TEST / test, "-o", made], text=True,
                                  capture_output=True)
        if compiled.returncode != 0:
            if STATIC.search(compiled.stderr):
                return Outcome(found="static_assert")
            return Outcome(wrong="does not compile:\n" + first_errors(compiled.stderr))
        # core/files/file_test.cpp tests what quick_files.cpp replaces.
        main = self.main[:1] if test.startswith("core/") else self.main
        linked = subprocess.run([*self.compile, made, *main, "-o", program, *self.libraries],
                                text=True, capture_output=True)
        if linked.returncode != 0:
            return Outcome(wrong="is not linked:\n" + first_errors(linked.stderr))
        begin = time.monotonic()
        with open(self.build / "output.txt", "w") as output, subprocess.Popen(
                [program], stdout=output, stderr=output, start_new_session=True) as run:
            try:
                status = run.wait(timeout=limit)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                try:
                    os.killpg(run.pid, signal.SIGKILL)  # its children too
                except ProcessLookupError:
                    pass
        if status is None:
            return Outcome(found="waits for ever", seconds=limit)
        seconds = time.monotonic() - begin
        if status < 0:
            return Outcome(found=signal.Signals(-status).name, seconds=seconds)
        return Outcome(found="checks fail" if status else "", seconds=seconds)

    def without_fault(self, test):
        """The outcome of a test in the library as it is."""
        if test not in self.unplanted:
            self.unplanted[test] = self.outcome(test, 600)
        return self.unplanted[test]

    def with_fault(self, fault, limit):
        """The outcome of a fault's test."""
        original, path = (f / "lamina" / fault.header for f in (INCLUDE, self.include))
        text = original.read_text()
        path.unlink()  # the link alone: the original has the same bytes on the disk
        path.write_text(text.replace(fault.old, fault.new))
        try:
            return self.outcome(fault.test, limit)
        finally:
            path.unlink()
            link(original, path)


def unfound(tree, fault):
    """(how the fault is found, what is wrong); one of both is empty."""
    before = tree.without_fault(fault.test)
    if before.wrong or before.found:
        return "", f"{fault.test} without the fault: {before.wrong or before.found}"
    after = tree.with_fault(fault, PATIENCE + SLOWNESS * before.seconds)
    if after.wrong:
        return "", f"{fault.test} with the fault '{fault.fault}' {after.wrong}"
    if not after.found:
        return "", f"{fault.test} does not find the fault '{fault.fault}' in {fault.header}"
    if (after.found == "static_assert") != (fault.finds == "compile"):
        return "", (f"{fault.test} with the fault '{fault.fault}': expected it to fail when it is "
                    f"to {fault.finds}, found: {after.found}")
    return after.found, ""


def self_test(tree, faults):
    """A replacement that changes nothing is reported, and so are others that show nothing."""
    harmless = Fault("none", "", "core/messages/error.hpp", "#pragma once",
                     "#pragma once  // twice", "core/messages/error_test.cpp", "run")
    found, wrong = unfound(tree, harmless)
    assert not found and "does not find the fault 'none'" in wrong, (found, wrong)
    broken = harmless._replace(new="#error broken")
    found, wrong = unfound(tree, broken)
    assert not found and "does not compile" in wrong, (found, wrong)
    static = harmless._replace(new='#pragma once\nstatic_assert(false, "a fault");')
    assert "expected it to fail when it is to run" in unfound(tree, static)[1]
    assert unfound(tree, static._replace(finds="compile")) == ("static_assert", "")
    ending = harmless._replace(
        new="#pragma once\n#include <csignal>\nstatic const int ended = std::raise(SIGKILL);")
    assert unfound(tree, ending) == ("SIGKILL", "")
    original = (INCLUDE / "lamina" / harmless.header).read_text()
    assert "twice" not in original and "SIGKILL" not in original
    for text, expected in ((harmless._replace(old="not in it"), "found it 0 times"),
                           (harmless._replace(header="none.hpp"), "expected the header"),
                           (harmless._replace(test="none.cpp"), "expected the test"),
                           (harmless._replace(changelog="\x01"), "in CHANGELOG.md")):
        assert any(expected in stale for stale in stale_texts([text])), expected
    tiers = stages.read_tiers("file ^a/ unit\nfile ^ all\npart p basic 1 ^b[.] -\n")
    assert call_of("a/x_test.cpp", tiers) == "test/run (unit)"
    assert call_of("b/x_test.cpp", tiers) == "test/run p"
    assert len(faults) >= 10, len(faults)
    print("a fault that no test finds is reported")


def main():
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("usage: ") + 7:])
    parser.add_argument("--compiler")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--catch", action="append", default=[])
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--texts", action="store_true")
    parser.add_argument("flags", nargs="*")
    given = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    faults = read_faults((TEST / "planted/faults.txt").read_text())
    if stale := list(stale_texts(faults)):
        sys.exit("test/planted/faults.txt:\n" + "\n".join(stale))
    if given.texts:
        print(f"{len(faults)} faults: headers, tests and changelog have their texts")
        return
    if not given.compiler or not given.build:
        parser.error("expected --texts, or --compiler and --build")
    tree = Tree(given.compiler, given.build.resolve(), given.catch, given.flags)
    if given.self_test:
        return self_test(tree, faults)
    tiers, wrongs = stages.tiers(), []
    print(f"{'fault':60} {'test that finds it':32} {'how':15} run by")
    for fault in faults:
        found, wrong = unfound(tree, fault)
        print(f"{fault.fault:60} {fault.test.removesuffix('.cpp'):32} {found or 'NOT FOUND':15} "
              f"{call_of(fault.test, tiers)}")
        if wrong:
            wrongs.append(wrong)
    if wrongs:
        sys.exit("\n".join(wrongs))
    quick = sum("(" in call_of(fault.test, tiers) for fault in faults)
    print(f"{len(faults)} faults were found, {quick} of them by tests that plain test/run has")


if __name__ == "__main__":
    main()
