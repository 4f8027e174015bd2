#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every include of the library points down.

include/lamina/LAYERS names the layers from the bottom up, one level a line; layers on one line do
not see each other, and a folder may be named before its first header is written. A layer is one
place or several, joined by `+`. A place is FOLDER, or FOLDER:STAGE: the headers in folders below
FOLDER whose stem is STAGE or begins with STAGE_, such as operators/norm/layer_norm/cpu.hpp for
operators:cpu. A layer with a `!` behind it is included by itself and by umbrellas only. Reported
are: an include that points up or sideways, a folder or a stage LAYERS does not name, an include of
a header that does not exist, a header that reaches itself, and a header outside all levels that a
level includes (the umbrellas include everything, so nothing includes them).

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
    """({place: its layer}, {layer: level}, layers for umbrellas only) of a LAYERS file; a layer has
    its first place's name."""
    lines = (line.split("#")[0].split() for line in path.read_text().splitlines())
    layers, levels, closed = {}, {}, set()
    for level, words in enumerate(filter(None, lines)):
        for word in words:
            places = word.rstrip("!").split("+")
            levels[places[0]] = level
            if word.endswith("!"):
                closed.add(places[0])
            for place in places:
                if place in layers:
                    raise SystemExit(f"{path}: '{place}' is named twice")
                layers[place] = places[0]
    return layers, levels, closed


def layer_of(header, layers):
    """The layer of a header: that of its stage, or of the longest folder in LAYERS that holds it;
    None outside of all."""
    folders_of_stages = {place.split(":")[0] for place in layers if ":" in place}
    for folder in map(str, header.parents):
        if folder in folders_of_stages and str(header.parent) != folder:
            return layers.get(f"{folder}:{header.stem.split('_')[0]}")
        if folder in layers:
            return layers[folder]
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
    """The faults under an include folder, one sentence each, and the number of headers and includes
    read."""
    base = include / LIBRARY
    layers, levels, closed = read_layers(base / "LAYERS")
    headers = {p.relative_to(base) for p in base.rglob("*") if p.suffix in SUFFIXES}
    faults, edges = [], {header: set() for header in headers}

    for header in sorted(headers):
        layer = layer_of(header, layers)
        if layer is None and header.parent != pathlib.Path("."):
            faults.append(
                f"{header}: neither its folder '{header.parent}' nor its stage is in LAYERS")
        for written in INCLUDE.findall((base / header).read_text(errors="replace")):
            near = (base / header).parent / written
            if written.startswith(LIBRARY + "/"):
                target = pathlib.Path(written).relative_to(LIBRARY)
            elif near.is_file():
                faults.append(
                    f"{header}: write <{LIBRARY}/{near.resolve().relative_to(base.resolve())}>"
                    f" for \"{written}\"")
                continue
            else:
                continue
            if target not in headers:
                faults.append(f"{header}: includes <{written}>, which does not exist")
                continue
            edges[header].add(target)
            below = layer_of(target, layers)
            if layer is None or layer == below:
                continue
            if below is None:
                faults.append(f"{header}: includes <{written}>, which lies above every level")
            elif below in closed:
                faults.append(
                    f"{header}: includes <{written}>; only umbrellas and '{below}' itself see "
                    f"'{below}'"
                )
            elif levels[below] >= levels[layer]:
                where = "above it" if levels[below] > levels[layer] else "beside it"
                faults.append(
                    f"{header}: includes <{written}>; '{layer}' must not see '{below}', which is "
                    f"{where}"
                )

    faults += ["headers in a ring: " + " -> ".join(map(str, cycle)) for cycle in find_cycles(edges)]
    return faults, len(headers), sum(map(len, edges.values()))


def self_test():
    """Plants each fault in a small tree and demands that exactly it is found."""
    good = {
        "LAYERS": "core  # the bottom\n\nleft+ops:left "
                  "right+ops:right\nshown+ops:shown!\ntop/deep\n",
        "core/a.hpp": "#include <vector>\n",
        "core/b.hpp": "#include <lamina/core/a.hpp>\n",
        "left/l.hpp": "#include <lamina/core/b.hpp>\n",
        "right/r.cuh": "#  include <lamina/core/a.hpp>\n",
        "ops/sum/left.hpp": "#include <lamina/left/l.hpp>\n",
        "ops/sum/all/right_part.cuh": "#include <lamina/right/r.cuh>\n",
        "ops/sum/shown.hpp": "#include <lamina/ops/sum/left.hpp>\n",
        "shown/c.hpp": "#include <lamina/ops/sum/shown.hpp>\n",
        "top/deep/t.hpp": "#include <lamina/left/l.hpp>\n#include "
                          "<lamina/ops/sum/all/right_part.cuh>\n",
        "lamina.hpp": "#include <lamina/top/deep/t.hpp>\n#include <lamina/shown/c.hpp>\n",
    }
    planted = [({}, None),
               ({
                   "core/a.hpp": "#include <lamina/left/m.hpp>\n",
                   "left/m.hpp": ""
               }, "'core' must not see 'left', which is above"),
               ({
                   "left/l.hpp": " # include <lamina/right/r.cuh>\n"
               }, "'left' must not see 'right', which is beside"),
               ({
                   "ops/sum/left.hpp": "#include <lamina/right/r.cuh>\n"
               }, "'left' must not see 'right', which is beside"),
               ({
                   "right/r.cuh": "#include <lamina/ops/sum/left.hpp>\n"
               }, "'right' must not see 'left', which is beside"),
               ({
                   "core/b.hpp": "#include <lamina/ops/mul/left.hpp>\n",
                   "ops/mul/left.hpp": ""
               }, "'core' must not see 'left'"),
               ({
                   "top/deep/t.hpp": "#include <lamina/ops/sum/shown.hpp>\n"
               }, "only umbrellas and 'shown' itself see 'shown'"),
               ({
                   "core/a.hpp": "#include <lamina/core/b.hpp>\n"
               }, "ring: core/a.hpp -> core/b.hpp -> core/a.hpp"),
               ({
                   "core/a.hpp": "#include <lamina/core/a.hpp>\n"
               }, "ring: core/a.hpp -> core/a.hpp"),
               ({
                   "core/a.hpp": "#include <lamina/core/gone.hpp>\n"
               }, "does not exist"),
               ({
                   "core/b.hpp": "#include \"a.hpp\"\n"
               }, "write <lamina/core/a.hpp>"),
               ({
                   "stray/s.hpp": ""
               }, "neither its folder 'stray' nor its stage"),
               ({
                   "top/s.hpp": ""
               }, "neither its folder 'top' nor its stage"),
               ({
                   "ops/s.hpp": ""
               }, "neither its folder 'ops' nor its stage"),
               ({
                   "ops/sum/leftover.hpp": ""
               }, "neither its folder 'ops/sum' nor its stage"),
               ({
                   "right/r.cuh": "#include <lamina/fwd.hpp>\n",
                   "fwd.hpp": ""
               }, "lies above every level"), ({
                   "LAYERS": good["LAYERS"] + "later\n"
               }, None), ]
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
    faults, headers, includes = check(
        pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "include")
    print("\n".join(faults) or f"{headers} headers, {includes} includes: all point down")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
