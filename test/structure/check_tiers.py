#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks test/tiers.txt: each unit test and each other test has a home there, no line of unit tests
is dead, and the parts of the full matrix together have every test of every stage.

usage: check_tiers.py [--build FOLDER] [--self-test]

With the FOLDER of a complete build of the stage `basic`, the names of its tests are checked too.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))
import stages  # noqa: E402

HOMES = {"all", *stages.QUICK}
# Tests of a stage begin with its name; those of the default compiler do not.
PREFIXES = {stage: "" if stage == "basic" else stage + "." for stage in stages.FULL}
# Which tests besides unit tests a stage has, by the beginning of their names.
OTHERS = {
    "basic": ("example.", "structure.", "docs.", "headers.", "consumer.", "interop.", "locale.",
              "compile_fail.", "compile_time.", "self_contained.", "contributing.", "interpreter.",
              "distributed.", "launch.", "train.curves_page", "engine.cuda.one_file.", "planted.",
              *(f"platforms.{name}" for name in ("windows", "macos", "run_self_test", "wasm",
                                                 "browser", "embedded", "arm", "riscv",
                                                 "processors"))),
    "sanitize": ("fuzz.", "locale.", "interop."),
    "clang": ("example.", "compile_fail.", "compile_time.", "self_contained.", "structure.",
              "engine.cuda.one_file.", "locale."),
}


def faults_of(tiers, files, names):
    """What is wrong with the tiers, for unit tests in `files` and other tests called `names`."""
    faults = []
    for kind, lines, things in (("file", tiers.files, files), ("test", tiers.tests, names)):
        used = set()
        for thing in things:
            first = next((i for i, (pattern, _) in enumerate(lines)
                          if re.search(pattern, thing)), None)
            if first is None:
                faults.append(f"{thing}: expected a line '{kind}', found none")
            else:
                used.add(first)
        for i, (pattern, home) in enumerate(lines):
            if home not in HOMES:
                faults.append(f"{kind} {pattern}: expected one of {', '.join(sorted(HOMES))}, "
                              f"found {home}")
            # Which other tests there are depends on what is installed.
            if kind == "file" and i not in used:
                faults.append(f"{kind} {pattern}: is the first line for no test")
    units = [re.sub(r"_test(\.cpp)?$", "", f.removesuffix(".cpp")).replace("/", ".") for f in files
             if not f.endswith("_static.cpp")]
    for stage, prefix in PREFIXES.items():
        parts = [part for part in tiers.parts if part.stage == stage]
        emulated = re.compile(r"^engine[.]cuda[.]emulated[.]")
        here = [u for u in units if bool(emulated.match(u)) == (stage == "emulated")]
        here += [begin + "any" if begin.endswith(".") else begin
                 for begin in OTHERS.get(stage, ())]
        for name in here:
            if not any(re.search(part.tests, prefix + name) for part in parts):
                faults.append(f"{prefix}{name}: expected a part of the stage {stage}, found none")
    for part in tiers.parts:
        if part.stage not in PREFIXES:
            faults.append(f"part {part.name}: found no stage {part.stage}")
    return faults


def self_test():
    good = stages.read_tiers("file ^a/ unit\nfile ^ sanitize\ntest ^ all\n" + "".join(
        f"part {s} {s} 1 ^ -\n" for s in stages.FULL))
    files = ["a/x_test.cpp", "b/y_test.cpp"]
    assert faults_of(good, files, ["docs.x"]) == [], faults_of(good, files, ["docs.x"])
    def finds(text, tiers, expected):
        found = faults_of(tiers, files, ["docs.x"])
        assert any(expected in f for f in found), f"{text}: {found}"
    finds("no home", good._replace(files=good.files[:1]), "expected a line 'file'")
    dead = good._replace(files=[("^c/", "unit"), *good.files])
    finds("dead line", dead, "is the first line for no test")
    finds("unknown home", good._replace(files=[("^", "units")]), "found units")
    finds("no part", good._replace(parts=good.parts[1:]), "expected a part of the stage basic")
    parts = [stages.Part(str(n), "basic", 4.0, "^", "-") for n in range(5)]
    turns = [stages.slice_of(parts, 9, day)[0] for day in range(3)]
    assert [len(turn) for turn in turns] == [2, 2, 1], turns
    assert stages.slice_of(parts, 20, 1)[0] == parts
    reached = stages.reached_units(["include/lamina/train/gradients/tree_sum.hpp"])
    assert "train.gradients.tree_sum" in reached and "core.messages.text" not in reached, reached
    assert "core.messages.text" in stages.reached_units(["test/precompiled.hpp"])
    parts = stages.reached_parts(stages.tiers().parts, ["docs/cuda.md"])
    assert [part.name for part in parts] == ["pages"], parts
    print("planted faults were found")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--self-test", action="store_true")
    given = parser.parse_args()
    if given.self_test:
        return self_test()
    files = [f.relative_to(ROOT / "test").as_posix() for f in stages.unit_files()]
    names = []
    if given.build:
        units = {stages.test_of(f) for f in stages.unit_files()}
        found = [name for file in given.build.rglob("CTestTestfile.cmake")
                 for name, _ in stages.ADD_TEST.findall(file.read_text())]
        names = sorted(set(found) - units)
    faults = faults_of(stages.tiers(), files, names)
    if faults:
        sys.exit("test/tiers.txt:\n" + "\n".join(faults))
    print(f"{len(files)} unit tests and {len(names)} other tests have a home")


if __name__ == "__main__":
    main()
