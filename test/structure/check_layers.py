#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every include of the library points down.

include/lamina/LAYERS names the folders from the bottom up, one level a line; folders on one line do not see each
other, and a folder may be named before its first header is written. Reported are: an include that points up or
sideways, a folder LAYERS does not name, an include of a header that does not exist, a header that reaches itself,
and a header outside all levels that a level includes (the umbrellas include everything, so nothing includes them).

usage: check_layers.py [INCLUDE_FOLDER]
       check_layers.py --self-test
"""
import pathlib
import re
import sys
import tempfile

LIBRARY = "lamina"
SUFFIXES = {".hpp", ".cuh"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^">]+)[">]', re.M)


def read_layers(path):
    """{folder: level} of a LAYERS file."""
    lines = (line.split("#")[0].split() for line in path.read_text().splitlines())
    levels = {}
    for level, folders in enumerate(filter(None, lines)):
        for folder in folders:
            if folder in levels:
                raise SystemExit(f"{path}: '{folder}' is named twice")
            levels[folder] = level
    return levels


def layer_of(header, levels):
    """The longest folder of LAYERS that holds the header, or None for one outside all of them."""
    for folder in header.parents:
        if str(folder) in levels:
            return str(folder)
    return None


def find_cycles(edges):
    """Every back edge of a depth-first walk, as the path of headers it closes."""
    cycles, done, path = [], set(), []

    def visit(header):
        path.append(header)
        for target in sorted(edges[header]):
            if target in path:
                cycles.append(path[path.index(target):] + [target])
            elif target not in done:
                visit(target)
        done.add(path.pop())

    for header in sorted(edges):
        if header not in done:
            visit(header)
    return cycles


def check(include):
    """The faults under an include folder, one sentence each, and the number of headers and includes read."""
    base = include / LIBRARY
    levels = read_layers(base / "LAYERS")
    headers = {p.relative_to(base) for p in base.rglob("*") if p.suffix in SUFFIXES}
    faults, edges = [], {header: set() for header in headers}

    for header in sorted(headers):
        layer = layer_of(header, levels)
        if layer is None and header.parent != pathlib.Path("."):
            faults.append(f"{header}: folder '{header.parent}' is not in LAYERS")
        for written in INCLUDE.findall((base / header).read_text(errors="replace")):
            near = (base / header).parent / written
            if written.startswith(LIBRARY + "/"):
                target = pathlib.Path(written).relative_to(LIBRARY)
            elif near.is_file():
                faults.append(f"{header}: write <{LIBRARY}/{near.resolve().relative_to(base.resolve())}>"
                              f" for \"{written}\"")
                continue
            else:
                continue
            if target not in headers:
                faults.append(f"{header}: includes <{written}>, which does not exist")
                continue
            edges[header].add(target)
            below = layer_of(target, levels)
            if layer is None or layer == below:
                continue
            if below is None:
                faults.append(f"{header}: includes <{written}>, which lies above every level")
            elif levels[below] >= levels[layer]:
                where = "above it" if levels[below] > levels[layer] else "beside it"
                faults.append(f"{header}: includes <{written}>; '{layer}' must not see '{below}', which is {where}")

    faults += ["headers in a ring: " + " -> ".join(map(str, cycle)) for cycle in find_cycles(edges)]
    return faults, len(headers), sum(map(len, edges.values()))


def self_test():
    """Plants each fault in a small tree and demands that exactly it is found."""
    good = {
        "LAYERS": "core  # the bottom\n\nleft right\ntop/deep\n",
        "core/a.hpp": "#include <vector>\n",
        "core/b.hpp": "#include <lamina/core/a.hpp>\n",
        "left/l.hpp": "#include <lamina/core/b.hpp>\n",
        "right/r.cuh": "#  include <lamina/core/a.hpp>\n",
        "top/deep/t.hpp": "#include <lamina/left/l.hpp>\n#include <lamina/right/r.cuh>\n",
        "lamina.hpp": "#include <lamina/top/deep/t.hpp>\n",
    }
    planted = [
        ({}, None),
        ({"core/a.hpp": "#include <lamina/left/m.hpp>\n", "left/m.hpp": ""}, "'core' must not see 'left', which is above"),
        ({"left/l.hpp": " # include <lamina/right/r.cuh>\n"}, "'left' must not see 'right', which is beside"),
        ({"core/a.hpp": "#include <lamina/core/b.hpp>\n"}, "ring: core/a.hpp -> core/b.hpp -> core/a.hpp"),
        ({"core/a.hpp": "#include <lamina/core/a.hpp>\n"}, "ring: core/a.hpp -> core/a.hpp"),
        ({"core/a.hpp": "#include <lamina/core/gone.hpp>\n"}, "does not exist"),
        ({"core/b.hpp": "#include \"a.hpp\"\n"}, "write <lamina/core/a.hpp>"),
        ({"stray/s.hpp": ""}, "folder 'stray' is not in LAYERS"),
        ({"top/s.hpp": ""}, "folder 'top' is not in LAYERS"),
        ({"right/r.cuh": "#include <lamina/fwd.hpp>\n", "fwd.hpp": ""}, "lies above every level"),
        ({"LAYERS": "core\nleft right\ntop/deep\nlater\n"}, None),
    ]
    wrong = 0
    for change, expected in planted:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**good, **change}.items():
                path = pathlib.Path(folder, LIBRARY, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            faults, _, _ = check(pathlib.Path(folder))
        passed = not faults if expected is None else len(faults) == 1 and expected in faults[0]
        if not passed:
            wrong += 1
            print(f"planted {change}: expected one fault with '{expected}', found {faults}")
    print(f"{len(planted) - wrong} of {len(planted)} planted trees were judged rightly")
    return wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        return bool(self_test())
    root = pathlib.Path(__file__).resolve().parents[2]
    faults, headers, includes = check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "include")
    print("\n".join(faults) or f"{headers} headers, {includes} includes: all point down")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
