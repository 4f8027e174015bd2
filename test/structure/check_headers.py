#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the form of every header: how it opens, how long it is, and that the umbrella reaches it.

A header opens with the SPDX line (data sets may keep the licence of their source), then `//
lamina/PATH - purpose`, has `#pragma once` (but EVERY_TIME) and at most 700 lines, the include of
core/config.hpp not counted.
The first that it includes is core/config.hpp, which says what is expected of the compiler before
anything else can fail. Its namespaces are `lamina { inline namespace LAMINA_ABI { ...`, which gives
names the version and the instruction set (core/abi.hpp), in the form of namespaces.py, which tools
that index sources understand.
It calls nothing that reads or writes numbers as the locale asks: from_chars, to_chars and
lamina::text do not. It names simd::, and not xsimd::, which some processors lack. A body that
stands apart (LAMINA_DEFINES) has no `[]<class T>(T)`: nvcc writes the default arguments of the
template around such a lambda a second time, which is an error.
include/lamina/lamina.hpp reaches every .hpp, except those that not_in_umbrella.txt names with a
reason.

usage: check_headers.py [INCLUDE_FOLDER EXCEPTIONS]
       check_headers.py --self-test
"""
import fnmatch
import pathlib
import re
import sys
import tempfile

import namespaces

LIBRARY, UMBRELLA, LONGEST = "lamina", "lamina.hpp", 700
SPDX = "// SPDX-License-Identifier: Apache-2.0"
DATA_SPDX = "// SPDX-License-Identifier: CC-BY-4.0"
INCLUDE = re.compile(rf"^[ \t]*#[ \t]*include[ \t]*<{LIBRARY}/([^>]+)>", re.M)
FIRST = re.compile(r"^#include (.*)$", re.M)
# They stand around each include of another library.
EVERY_TIME = ("core/simd/macros_hidden.hpp", "core/simd/macros_shown.hpp")
CONFIG, BEFORE_CONFIG = "core/config.hpp", ("core/config.hpp", "core/abi.hpp")
OPENED = re.compile(
    rf"^[ \t]*(?:inline )?namespace {LIBRARY}\b(?! \{{ inline namespace LAMINA_ABI \{{)(?! *=).*",
    re.M)
OF_LOCALE = re.compile(r"\bstd::([io]?stringstream|sto(?:f|d|ld)|strto(?:f|d|ld)|atof|sscanf)\b")


def form_faults(name, text):
    """What is wrong with one header by itself."""
    lines = text.splitlines() + ["", ""]
    if lines[0] != SPDX and not (name.startswith("dataset/") and lines[0] == DATA_SPDX):
        yield f"{name}:1: expected '{SPDX}', found '{lines[0]}'"
    if not re.match(rf"// {LIBRARY}/{re.escape(name)} - \S", lines[1]):
        yield f"{name}:2: expected '// {LIBRARY}/{name} - its purpose', found '{lines[1]}'"
    if "#pragma once" not in lines and name not in EVERY_TIME:
        yield f"{name}: has no '#pragma once'"
    count = len(lines) - 2 - (0 if name in BEFORE_CONFIG else 2)
    if count > LONGEST:
        yield (f"{name}: has {count} lines, more than {LONGEST}:"
               " it is about more than one thing")
    included = FIRST.search(text)
    if name not in BEFORE_CONFIG and (not included or included[1] != f"<{LIBRARY}/{CONFIG}>"):
        yield (f"{name}: expected '#include <{LIBRARY}/{CONFIG}>' first, found"
               f" '{included[0] if included else 'no include'}'")
    for opened in OPENED.finditer(text):
        number = text.count("\n", 0, opened.start()) + 1
        yield (f"{name}:{number}: expected '{namespaces.opening()}',"
               f" found '{opened[0].strip()}'")
    for number, line in enumerate(lines, 1):
        if found := OF_LOCALE.search(line):
            yield (f"{name}:{number}: std::{found[1]} depends on the locale:"
                   " from_chars or lamina::text do not")
        if "xsimd::" in line.split("//")[0] and not name.startswith("core/simd/"):
            yield (f"{name}:{number}: expected simd::, which all processors have, found xsimd::")
    apart = False
    for number, line in enumerate(lines, 1):
        apart = (apart or line == "#if LAMINA_DEFINES") and not line.startswith("#endif")
        if apart and "]<class" in line:
            yield (f"{name}:{number}: expected a lambda with `auto` in a body that stands apart:"
                   " nvcc refuses `[]<class T>`")


def reached_from(header, texts):
    """All headers that one header includes, directly or not, and itself."""
    reached, pending = set(), [header]
    while pending:
        name = pending.pop()
        if name in texts and name not in reached:
            reached.add(name)
            pending += INCLUDE.findall(texts[name])
    return reached


def umbrella_faults(texts, exceptions):
    """Headers the umbrella forgets, and exceptions that are none."""
    rows = [
        line.split(maxsplit=1) for line in exceptions.splitlines()
        if line.strip() and line[0] != "#"
    ]
    if UMBRELLA not in texts:
        yield f"there is no {LIBRARY}/{UMBRELLA}"
        return
    forgotten = {name for name in texts if name.endswith(".hpp")} - reached_from(UMBRELLA, texts)
    for row in rows:
        if len(row) < 2:
            yield f"the exception '{row[0]}' gives no reason"
        if not fnmatch.filter(forgotten, row[0]):
            yield f"the exception '{row[0]}' matches no header that the umbrella leaves out"
    for name in sorted(forgotten):
        if not any(fnmatch.fnmatch(name, row[0]) for row in rows):
            yield (f"{name}: {LIBRARY}/{UMBRELLA} does not reach it,"
                   " and not_in_umbrella.txt gives no reason")


def check(include, exceptions):
    """All faults under an include folder, and the number of headers."""
    base = include / LIBRARY
    texts = {str(p.relative_to(base)): p.read_text(errors="replace")
             for p in sorted(base.rglob("*")) if p.suffix in (".hpp", ".cuh")}
    faults = [fault for name, text in texts.items() for fault in form_faults(name, text)]
    return faults + list(umbrella_faults(texts, exceptions)), len(texts)


def self_test():
    """Plants each fault in a small tree and demands that exactly it is found."""
    def header(name, *lines):
        config = [] if name in BEFORE_CONFIG else [f"#include <{LIBRARY}/{CONFIG}>"]
        return "\n".join([SPDX, f"// {LIBRARY}/{name} - a test.", "#pragma once", *config,
                          *lines]) + "\n"

    good = {
        "lamina.hpp": header("lamina.hpp", "#include <lamina/core/a.hpp>"),
        "core/a.hpp": header("core/a.hpp", "#include <lamina/core/b.hpp>"),
        "core/b.hpp": header("core/b.hpp"),
        "core/config.hpp": header("core/config.hpp"),
        "gpu/c.cuh": header("gpu/c.cuh"),
    }
    more = {"io/d.hpp": header("io/d.hpp")}
    planted = [({}, "", None), (more, "io/*.hpp heavy\n", None),
               (more, "", "io/d.hpp: lamina/lamina.hpp does not reach it"),
               (more, "io/*.hpp\n", "gives no reason"),
               ({}, "io/*.hpp heavy\n", "matches no header"),
               ({}, "core/a.hpp heavy\n", "matches no header"),
               ({
                   "core/b.hpp": "\n" + good["core/b.hpp"]
               }, "", "core/b.hpp:1: expected"),
               ({
                   "core/b.hpp": good["core/b.hpp"].replace(SPDX, DATA_SPDX)
               }, "", "core/b.hpp:1: expected"),
               ({
                   "core/b.hpp": header("core/a.hpp")
               }, "", "core/b.hpp:2: expected"),
               ({
                   "core/b.hpp": good["core/b.hpp"].replace("#pragma", "#warning")
               }, "", "no '#pragma once'"),
               ({
                   "core/b.hpp": header("core/b.hpp", "auto x = std::stod(s);")
               }, "", "b.hpp:5: std::stod depends"),
               ({
                   "core/b.hpp": header("core/b.hpp", "std::ostringstream s;")
               }, "", "std::ostringstream depends"),
               ({
                   "core/b.hpp": header("core/b.hpp", "auto x = xsimd::select(a, b, c);")
               }, "", "expected simd::"),
               ({
                   "core/b.hpp": header("core/b.hpp", "auto x = std::stoi(s);")
               }, "", None), ({
                   "core/b.hpp": header("core/b.hpp", "#if LAMINA_DEFINES",
                                        "f([&]<class T>(T) {});")
               }, "", "b.hpp:6: expected a lambda with `auto`"), ({
                   "core/b.hpp": header("core/b.hpp", "#if LAMINA_DEFINES", "#endif",
                                        "f([&]<class T>(T) {});")
               }, "", None), ({
                   "gpu/c.cuh": header("gpu/c.cuh", *["int x;"] * 698)
               }, "", None),
               ({
                   "gpu/c.cuh": header("gpu/c.cuh", *["int x;"] * 699)
               }, "", "has 701 lines"), ({
                   "core/b.hpp": header("core/b.hpp", namespaces.opening("b"),
                                        "namespace l = lamina::b;")
               }, "", None), ({
                   "core/b.hpp": header("core/b.hpp", "namespace lamina::b {")
               }, "", "core/b.hpp:5: expected 'namespace lamina {"), ({
                   "core/b.hpp": header("core/b.hpp").replace("config", "a")
               }, "", "core/b.hpp: expected '#include <lamina/core/config.hpp>' first"), ({
                   "core/b.hpp": header("core/b.hpp").replace(
                       "#include", "#include <vector>\n#include")
               }, "", "found '#include <vector>'")]
    wrong = 0
    for change, exceptions, expected in planted:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**good, **change}.items():
                path = pathlib.Path(folder, LIBRARY, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            faults, _ = check(pathlib.Path(folder), exceptions)
        if expected is None:
            passed = not faults
        else:
            passed = bool(faults) and all(expected in f or ":2:" in f
                                          for f in faults) and expected in faults[0]
        if not passed:
            wrong += 1
            print(f"expected '{expected}', found {faults}")
    print(f"{len(planted) - wrong} of {len(planted)} planted trees were judged rightly")
    return wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        return bool(self_test())
    here = pathlib.Path(__file__).resolve().parent
    include, exceptions = sys.argv[1:] or (here.parents[1] / "include",
                                           here / "not_in_umbrella.txt")
    faults, count = check(pathlib.Path(include), pathlib.Path(exceptions).read_text())
    print("\n".join(faults) or f"{count} headers are in form, and the umbrella is complete")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
