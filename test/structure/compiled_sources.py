#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The sources of lamina::compiled, written from the headers, so that nobody edits them.

A header declares a function that depends on no program with LAMINA_API or LAMINA_API_COLD, and has
its body below `#if LAMINA_DEFINES`; a kernel is
declared with LAMINA_KERNEL, and its instances are named with LAMINA_INSTANCE. Each layer
of include/lamina/LAYERS belongs to one source (PARTS), or its folders to several,
cmake/compiled/PART.cpp. A source includes
the headers of other parts that it needs, which are declared there only, and then its own, with
their bodies. Headers that need protozero or nlohmann_json are compiled where these are found.

usage: compiled_sources.py [--update] [ROOT]
       compiled_sources.py --self-test

Fails where a source is not what the headers say, where a function that is declared with LAMINA_API
has no body in its header, where the header's layer is in no part, where it needs another library,
where headers of two parts need each other, and where a header without vectors (WITHOUT_VECTORS)
includes them with LAMINA_COMPILED; --update writes the sources.
"""
import pathlib
import re
import sys
import tempfile

import check_layers

LIBRARY, BEGINS = check_layers.LIBRARY, "core/compiles.hpp"
# They define what the others use.
MECHANISM = ("core/config.hpp", BEGINS)
PARTS = {
    "core": ("core", "program", "operators:definition", "layers", "transform", "plan", "optimizer",
             "expression", "tensor", "io/archive", "engine/common"),
    "kernels": ("engine/cpu/gemm", "engine/cpu/vector", "engine/cpu/memory", "engine/cpu/conv"),
    "operators": ("operators:cpu",),
    "engine": ("engine/cpu/schedule", "engine/cpu/static"),
    "model": ("reader", "metric", "model", "train"),
    "data": ("dataset", "image"),
    "files": ("io",),
    "programs": ("executor", "cli", "v2", "serve"),
    "distributed": ("distributed",),
    "mpi": (),  # what needs MPI, of all layers
}
# Libraries that a user may lack, by what headers include, and how a source asks for them. The other
# ones stay in headers: a program would have to link what it does not use.
OPTIONAL = {
    "protozero/": "__has_include(<protozero/pbf_reader.hpp>)",
    "nlohmann/": "__has_include(<nlohmann/json.hpp>)",
    "mpi.h": "defined(LAMINA_HAS_MPI)",
}
# Headers of files that record programs and hold models, but compute nothing. With LAMINA_COMPILED
# they do without the longest headers, those of vectors.
WITHOUT_VECTORS = ("layers/layers.hpp", "model/model.hpp", "optimizer/optimizers.hpp",
                   "reader/reader.hpp", "dataset/digits.hpp")
VECTORS = "core/simd/intrinsics.hpp"
REFUSED = ("CLI/", "png.h", "jpeglib.h", "httplib.h", "librdkafka/", "nccl.h", "cuda")
# A header whose bodies are in others, one per operating system: each must have all of them.
SYSTEMS = {
    "core/system/memory_functions.hpp":
        ("core/system/memory.hpp", "core/system/posix_memory.hpp",
         "core/system/windows_memory.hpp"),
    "core/system/system_functions.hpp": ("core/system/posix.hpp", "core/system/windows.hpp")
}
USES = re.compile(r"\bLAMINA_(?:API|API_COLD|DEFINES|KERNEL|INSTANCE|EXTERN)\b")
DECLARED = re.compile(
    r"\bLAMINA_(?:API(?:_COLD)?|KERNEL)\b(?:[^;{}()]|\([^()]*\)(?=\s*\())*?"
    r"(operator\s*(?:\(\)|[^\s\w(]+|[\w:<>]+)|~?\w+)\s*\(")
BLOCK = re.compile(r"^#if LAMINA_DEFINES$(.*?)^#(?:else|endif)  ?// LAMINA_DEFINES", re.M | re.S)
# Without a comment where the block is short.
INCLUDE_BLOCK = re.compile(r"^#if LAMINA_DEFINES\n(?:#include [^\n]*\n)*#endif", re.M)


class header_tree:
    """The headers below an include folder, by their names below lamina/."""

    def __init__(self, include):
        base = include / LIBRARY
        self.texts = {
            str(p.relative_to(base)): p.read_text()
            for p in sorted(base.rglob("*.hpp"))
        }
        includes = {n: check_layers.INCLUDE.findall(t) for n, t in self.texts.items()}
        self.own = {
            n: [i.removeprefix(LIBRARY + "/") for i in all_ if i.startswith(LIBRARY + "/")]
            for n, all_ in includes.items()
        }
        self.others = {
            n: [i for i in all_ if not i.startswith(LIBRARY + "/")]
            for n, all_ in includes.items()
        }
        layers, _, _ = check_layers.read_layers(base / "LAYERS")
        self.layer = {n: check_layers.layer_of(pathlib.Path(n), layers) for n in self.texts}
        self.marked = [n for n, t in self.texts.items() if n not in MECHANISM and USES.search(t)]

    def reached(self, header):
        """The headers that one includes, and what these include, itself too."""
        seen, open_ = {header}, [header]
        while open_:
            new = {n for n in self.own[open_.pop()] if n in self.texts} - seen
            seen |= new
            open_ += new
        return seen

    def needs(self, header):
        """The headers of other libraries that one reaches."""
        return {o for n in self.reached(header) for o in self.others[n]}


def part_of(tree, header):
    if "mpi.h" in tree.needs(header):
        return "mpi"
    folder = header.rsplit("/", 1)[0]
    places = (folder, tree.layer[header])
    if folder.startswith("operators/"):
        places = (f"operators:{header.rsplit('/', 1)[1].split('_')[0].removesuffix('.hpp')}",)
        if places[0] not in PARTS["operators"]:
            places = (tree.layer[header],)
    return next((part for p in places for part, of in PARTS.items() if p in of), None)


def missing_bodies(tree, header):
    """The functions that a header declares with LAMINA_API and that have no body, each with the
    place of the body."""
    text = tree.texts[header]
    places = {"below LAMINA_DEFINES": "\n".join(BLOCK.findall(text))}
    if header in SYSTEMS:
        places = {f"in {n}": "\n".join(re.findall(r"^\w[^;]*\)[^;()]*\{", tree.texts[n], re.M))
                  for n in SYSTEMS[header]}
    code = re.sub(r"//[^\n]*", "", BLOCK.sub("", text))
    for found in DECLARED.finditer(code):
        name = found[1]
        for place, bodies in places.items():
            if not re.search(rf"(?<!\w){re.escape(name)}\s*\(", bodies):
                yield name, place


def condition_of(tree, header):
    needs = tree.needs(header)
    return " && ".join(
        asked for start, asked in OPTIONAL.items() if any(n.startswith(start) for n in needs))


def includes(tree, headers):
    text, last = "", ""
    for header in headers:
        condition = condition_of(tree, header)
        if condition != last:
            text += ("#endif\n" if last else "") + (f"#if {condition}\n" if condition else "")
            last = condition
        text += f"#include <{LIBRARY}/{header}>\n"
    return text + ("#endif\n" if last else "")


def written_sources(tree):
    """{part: text} of all sources."""
    sources = {}
    for part in PARTS:
        own = [n for n in tree.marked if part_of(tree, n) == part]
        own.sort(key=lambda n: (condition_of(tree, n), n))
        if not own:
            continue
        other = sorted({m for n in own for m in tree.reached(n)} & set(tree.marked) - set(own))
        sources[part] = (
            "// SPDX-License-Identifier: Apache-2.0\n"
            f"// lamina::compiled, part {part}: what depends on no program (docs/building.md).\n"
            "// Generated: test/structure/compiled_sources.py --update writes this list.\n" +
            ("\n// Declared only: other parts have the bodies.\n" if other else "") +
            includes(tree, sorted(other, key=lambda n: (condition_of(tree, n), n))) +
            f"\n#include <{LIBRARY}/{BEGINS}>\n\n" + includes(tree, own))
    return sources


def way_to_vectors(tree, header):
    """The headers from one to VECTORS, both too, by includes that files of a program see with
    LAMINA_COMPILED; none if there is no way."""
    ways = [[header]]
    seen = {header}
    for way in ways:
        if way[-1] == VECTORS:
            return way
        declared = BLOCK.sub("", INCLUDE_BLOCK.sub("", tree.texts.get(way[-1], "")))
        for name in check_layers.INCLUDE.findall(declared):
            name = name.removeprefix(LIBRARY + "/")
            if name in tree.texts and name not in seen:
                seen.add(name)
                ways.append([*way, name])
    return []


def faults_of(tree):
    """What --update does not repair."""
    for header in WITHOUT_VECTORS:
        way = way_to_vectors(tree, header)
        if way:
            yield (f"{header}: includes vectors with LAMINA_COMPILED, by {' -> '.join(way[1:])}; "
                   "include them below LAMINA_DEFINES")
    for header in tree.marked:
        for name, place in missing_bodies(tree, header):
            yield f"{header}: declares {name} with LAMINA_API, and has no body {place}"
        part = part_of(tree, header)
        if part is None:
            yield f"{header}: uses LAMINA_API, and no part of lamina::compiled has its layer"
            continue
        for refused in REFUSED:
            if any(n.startswith(refused) for n in tree.needs(header)):
                yield f"{header}: uses LAMINA_API, and needs <{refused}...>, which stays in headers"
        for other in tree.reached(header):
            if other in tree.marked and part_of(tree, other) != part:
                for back in tree.reached(other):
                    if back in tree.marked and part_of(tree, back) == part:
                        yield f"{header}: reaches {other}, which reaches {back} of part {part}"


def check(root, update):
    """The faults, one sentence each, and the number of sources and of headers."""
    tree, faults = header_tree(root / "include"), []
    sources, folder = written_sources(tree), root / "cmake" / "compiled"
    stated = {p.stem: p.read_text() for p in folder.glob("*.cpp")}
    for part in sorted({*sources, *stated}):
        if stated.get(part) == sources.get(part):
            continue
        if not update:
            faults.append(f"cmake/compiled/{part}.cpp: is not what the headers say")
        elif part in sources:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{part}.cpp").write_text(sources[part])
        else:
            (folder / f"{part}.cpp").unlink()
    return [*faults, *faults_of(tree)], len(sources), len(tree.marked)


def self_test():
    """Plants each fault in a small tree and demands that exactly it is found."""
    body = "#if LAMINA_DEFINES\n{}\n#endif  // LAMINA_DEFINES\n"
    good = {
        "LAYERS": "core\nmodel train\nio\nother\n",
        "core/config.hpp": "#define LAMINA_API\n#if LAMINA_DEFINES\n#endif\n",
        "core/a.hpp": "LAMINA_API_COLD int f(int x = g(1));\n" + body.format("int f(int x) {}"),
        "core/plain.hpp": "",
        "model/m.hpp": "#include <lamina/core/a.hpp>\nstruct m {\n  LAMINA_API m();\n"
                       "  LAMINA_API bool operator==(m) const;\n"
                       "  [[noreturn]] LAMINA_API LAMINA_COLD void\n      fail();\n};\n" +
                       body.format("m::m() {}\nbool m::operator==(m) const {}\nvoid m::fail() {}"),
        "io/p.hpp": "#include <protozero/pbf_reader.hpp>\n#include <lamina/model/m.hpp>\n"
                    "LAMINA_INSTANCE(void q<float>())\n",
    }  # yapf: disable

    def after(changes, update=False, first=None):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for texts in (good, changes):
                for name, text in texts.items():
                    path = root / "include" / LIBRARY / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text)
                if texts is good or update:
                    check(root, True)
            if first:
                first(root / "cmake" / "compiled")
            return check(root, False)[0], {
                p.stem: p.read_text() for p in (root / "cmake" / "compiled").glob("*.cpp")
            }

    a, m = good["core/a.hpp"], good["model/m.hpp"]
    cases = [
        ({}, []),
        ({"core/plain.hpp": "// nothing\n"}, []),
        ({"core/plain.hpp": a}, ["cmake/compiled/core.cpp: is not"]),
        ({"core/a.hpp": a.replace("int f(int x) {}", "")}, ["core/a.hpp: declares f with"]),
        ({"core/a.hpp": a.replace("int f(int x) {}", "int other_f(int x) {}")},
         ["core/a.hpp: declares f with"]),
        ({"model/m.hpp": m.replace("m::m() {}", "")}, ["model/m.hpp: declares m with"]),
        ({"model/m.hpp": m.replace("\nvoid m::fail() {}", "")}, ["model/m.hpp: declares fail"]),
        ({"model/m.hpp": m.replace("\nbool m::operator==(m) const {}", "")},
         ["model/m.hpp: declares operator== with"]),
        ({"other/o.hpp": a}, ["other/o.hpp: uses LAMINA_API, and no part"]),
        ({"model/m.hpp": "#include <png.h>\n" + m},
         ["io/p.hpp: uses LAMINA_API, and needs", "model/m.hpp: uses LAMINA_API, and needs"]),
        ({"core/simd/intrinsics.hpp": "",
          "layers/layers.hpp": "#include <lamina/core/plain.hpp>\n",
          "core/plain.hpp":
          "#if LAMINA_DEFINES\n#include <lamina/core/simd/intrinsics.hpp>\n#endif\n"},
         ["cmake/compiled/core.cpp: is not"]),
        ({"core/simd/intrinsics.hpp": "",
          "layers/layers.hpp": "#include <lamina/core/plain.hpp>\n",
          "core/plain.hpp": "#include <lamina/core/simd/intrinsics.hpp>\n"},
         ["layers/layers.hpp: includes vectors with LAMINA_COMPILED, by core/plain.hpp -> "
          "core/simd/i"]),
        ({"core/system/system_functions.hpp": "LAMINA_API_COLD int f();\nLAMINA_API int g();\n",
          "core/system/posix.hpp": "int f() {}\nint g() {\n  return f();\n}\n",
          "core/system/windows.hpp": "int f() {\n  return g();\n}\n"},
         ["cmake/compiled/core.cpp: is not", "core/system/system_functions.hpp: declares g with "
          "LAMINA_API, and has no body in core/system/windows.hpp"]),
        ({"core/a.hpp": "#include <lamina/io/p.hpp>\n" + a},
         ["cmake/compiled/", "core/a.hpp: reaches", "io/p.hpp: reaches", "model/m.hpp: reaches"]),
    ]  # yapf: disable
    for number, (changes, expected) in enumerate(cases):
        faults = after(changes)[0]
        left = [f for e in expected for f in faults[:] if f.startswith(e)]
        if not all(any(f.startswith(e) for f in faults) for e in expected) or (
                {*faults} - {*left}):
            raise SystemExit(f"self-test {number}: expected {expected}, found {faults}")
    faults, written = after({}, first=lambda folder: (folder / "core.cpp").write_text("stale"))
    assert faults == ["cmake/compiled/core.cpp: is not what the headers say"], faults
    faults, written = after({}, first=lambda folder: (folder / "gone.cpp").write_text(""))
    assert faults == ["cmake/compiled/gone.cpp: is not what the headers say"], faults
    written = after({})[1]
    assert f"<lamina/{BEGINS}>\n\n#include <lamina/core/a.hpp>\n" in written["core"]
    assert "only: other parts have the bodies.\n#include <lamina/core/a.hpp>\n" in written["model"]
    asked = "#if __has_include(<protozero/pbf_reader.hpp>)\n"
    assert f"{asked}#include <lamina/io/p.hpp>\n#endif\n" in written["files"]
    print(f"{len(cases) + 3} planted trees are judged right")


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    folders = [argument for argument in arguments if argument != "--update"]
    root = pathlib.Path(folders[0]) if folders else pathlib.Path(__file__).resolve().parents[2]
    faults, sources, headers = check(root, "--update" in arguments)
    print("\n".join(faults) or f"{sources} sources have the bodies of {headers} headers")
    if faults:
        print("compiled_sources.py --update writes the sources")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
