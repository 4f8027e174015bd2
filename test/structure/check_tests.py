#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests lie where their headers lie, and most headers have one.

usage: check_tests.py [--list | --self-test]

The test of include/lamina/reader/shuffle.hpp is test/reader/shuffle_test.cpp (or _static.cpp, which
only compiles). The headers of a group of operators are stages of the same operators, so they share
one test: include/lamina/operators/norm/cos_sim/*.hpp have
test/operators/norm/cos_sim_test.cpp, or a row of test/operators/norm/norm_rows.hpp that is named
after one of their operators. The headers in core/system, one per operating system, share the test
of the functions that they define. The conversions of a family to ONNX, operators/norm/onnx.hpp,
have the rows of its groups: test/interop compares each row with ONNX Runtime.
Fails if the share of headers with a test falls below FLOOR, which may only rise. --list prints the
headers without a test.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLOOR = 0.75  # of all headers; raise it when the share has grown
ENDINGS = ("_test.cpp", "_static.cpp")


# The bodies for each operating system share the test of the functions.
INTERFACES = {"memory": "memory_functions", "threads": "threads"}
TYPE = re.compile(r'\btype = "(\w+)"')
ROW = re.compile(r'\(\s*(?:to,\s*)?"(\w+)",')  # a call whose first string is the row's name


def tests_of(header):
    """The tests that may be the one of a header, as paths without their ending, below test/."""
    header = pathlib.PurePosixPath(header)
    names = [header.with_suffix("")]
    if header.parts[0] == "operators" and len(header.parts) > 2:
        names.append(header.parent)  # of its group
    if header.parent == pathlib.PurePosixPath("core/system"):
        names.append(header.parent / INTERFACES.get(header.stem.split("_")[-1], "system_functions"))
    return [str(name) for name in names]


def folders_with_row(definitions, tables):
    """The folders of operators, of {folder: text of its definition}, of which a row of their group
    in {group: text of its table} is named: `reduce_sum_all` is a row of reduce_sum."""
    named = {group: ROW.findall(text) for group, text in tables.items()}
    return {
        folder for folder, text in definitions.items() for operator in TYPE.findall(text)
        if any(row == operator or row.startswith(operator + "_")
               for row in named.get(folder.split("/")[1], ()))
    }


def without_test(headers, tests, folders=frozenset()):
    """The headers, relative to include/lamina, that have no test below test/, and are in
    none of the folders with a row."""
    converted = {str(pathlib.PurePosixPath(folder).parent) + "/onnx.hpp" for folder in folders}
    return [
        header for header in headers
        if str(pathlib.PurePosixPath(header).parent) not in folders and header not in converted
        and not any(
            name + ending in tests for name in tests_of(header) for ending in ENDINGS)
    ]


def files_below(folder, *endings):
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*")
        if path.is_file() and path.name.endswith(endings)
    )


def self_test():
    headers = [
        "lamina.hpp", "reader/shuffle.hpp", "operators/norm/cos_sim/cuda.cuh",
        "operators/norm/onnx.hpp", "operators/gradient.hpp", "io/npy.hpp", "tensor/lod.hpp",
        "core/system/windows_memory.hpp", "core/system/posix.hpp"
    ]
    tests = {
        "reader/shuffle_test.cpp", "operators/norm/cos_sim_test.cpp", "io/npy.cpp",
        "tensor/lod_static.cpp", "norm/onnx_test.cpp", "core/system/memory_functions_test.cpp"
    }
    found = without_test(headers, tests)
    expected = ["lamina.hpp", "operators/norm/onnx.hpp", "operators/gradient.hpp", "io/npy.hpp",
                "core/system/posix.hpp"]
    if found != expected:
        sys.exit(f"check_tests.py: self test: expected {expected}, found {found}")
    definitions = {"operators/norm/lrn": 'type = "lrn";', "operators/norm/norm": 'type = "norm";'}
    rows = folders_with_row(definitions, {"norm": 'of_images(to, "lrn_wide", [](auto x) {})',
                                          "pool": 'to.write("norm", 1)'})
    if rows != {"operators/norm/lrn"}:
        sys.exit(f"check_tests.py: self test: expected a row of lrn alone, found {rows}")
    print("self test passed")


def main():
    if "--self-test" in sys.argv[1:]:
        return self_test()
    headers = files_below(ROOT / "include" / "lamina", ".hpp", ".cuh")
    library = ROOT / "include" / "lamina"
    definitions = {
        path.parent.relative_to(library).as_posix(): path.read_text()
        for path in library.glob("operators/**/definition.hpp")
    }
    tables = {path.parent.name: path.read_text()
              for path in ROOT.glob("test/operators/*/*_rows.hpp")}
    lacking = without_test(headers, set(files_below(ROOT / "test", *ENDINGS)),
                           folders_with_row(definitions, tables))
    if "--list" in sys.argv[1:]:
        print("\n".join(lacking))
    share = 1 - len(lacking) / len(headers)
    print(f"{len(headers) - len(lacking)} of {len(headers)} headers ({share:.1%}) have a test of "
          f"their name or of their group of operators; at least {FLOOR:.0%} must")
    if share < FLOOR:
        sys.exit("Add tests, or move them: check_tests.py --list prints the headers without one.")


if __name__ == "__main__":
    main()
