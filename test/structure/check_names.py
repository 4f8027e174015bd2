#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a name which a program writes without its namespace belongs to one namespace.

A program may open several namespaces: `using namespace lamina; using namespace lamina::layer;`. A
name that two of them declare is ambiguous then, unless both are functions, which the compiler
chooses by their arguments. Reported are

- such names of two namespaces of OPENED, which programs open together,
- names of namespace lamina, but functions, that the standard library has too (STANDARD): a program
  may open std as well. Layers and readers have the names of their field, such as `stack` and `map`.

KNOWN has the exceptions, each with its reason; one that is not needed any more is reported too. The
check reads text: it relies on clang-format, which writes declarations of a namespace at the
beginning of a line. With --compiler it also asks the compiler for each name that lamina.hpp
declares in a namespace that opens the others, and compiles EXAMPLES without their qualifications.

usage: check_names.py [--include FOLDER] [--compiler CXX]... [-- COMPILER_FLAGS...]
       check_names.py --self-test
"""
import argparse
import collections
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

import check_macros
import namespaces

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))
from example_sources import source_of  # noqa: E402

LIBRARY = "lamina"
OPENED = ("lamina", "lamina::layer", "lamina::optimizer", "lamina::schedule", "lamina::reader",
          "lamina::dataset", "lamina::distributed", "lamina::serve", "lamina::metric",
          "lamina::image")
METRIC = "a metric over a pass has the name of the layer that computes one mini-batch, as in Fluid"
KNOWN = {
    ("lamina", "lamina::reader", "batch"): "rows of a variable, and a reader's adaptor: "
                                           "reader::batch(32)",
    ("lamina", "lamina::dataset", "text"): "a message's text, and the data sets of sentences",
    ("lamina", "lamina::image", "fit"): "training with validation, and how a picture fills a size",
    ("lamina", "lamina::schedule", "v2"): "the API of PaddlePaddle v2, and its schedules",
    ("lamina::layer", "lamina::metric", "accuracy"): METRIC,
    ("lamina::layer", "lamina::metric", "auc"): METRIC,
    ("lamina::layer", "lamina::metric", "edit_distance"): METRIC,
    ("lamina::layer", "lamina::image", "crop"): "the layer, and a step that prepares a picture",
    ("lamina", "std", "array"): "the storage of a tensor, which programs do not name",
    ("lamina", "std", "transform"): "a namespace: lamina::transform::backward(program)",
}
# Examples that name nothing as lamina does.
EXAMPLES = ("mnist_mlp", "lenet", "residual_blocks")
# Names of one kind of compiler or machine: g++, -fno-exceptions, a processor without xsimd.
LEFT_OUT = {"any_value", "anything", "no_match", "error_handler", "set_error_handler", "plain_simd"}
DIRECTIVES = "".join(f"using namespace {name};\n" for name in ("std", *OPENED[:4]))
# Names of the standard library that programs write.
STANDARD = set("""
    accumulate advance align any apply array async atomic barrier begin bind bitset byte cerr
    chrono cin complex copy count cout data default_delete deque destroy distance end endl equal
    error_code exception exchange expected filesystem fill find format forward function future gcd
    generate get greater hash ignore index iota istream iterator jthread latch launch less list
    literals locale lock log map max merge min minus monostate move multiplies mutex negate next
    none_of numbers optional ostream pair partition placeholders plus pow prev print promise queue
    random_device range ranges ratio ref reference reverse round search semaphore set shared_ptr
    shuffle size slice sort source_location span stack state step stop_token strided string
    string_view swap terminate this_thread thread tie time_point timer transform transform_reduce
    tuple unique unique_ptr valarray variant vector view views visit weak_ptr
""".split())
HIDDEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
NAMESPACE = re.compile(r"^(?:inline )?namespace ([\w:]+) ?\{", re.M)
DECLARATION = re.compile(
    r"""^(?:template\ <[^;{]*?>\n)?(?:
    (?:struct|class|union|enum\ class|enum|concept)\ (?:LAMINA_\w+\ )*(?P<type>\w+)(?![\w<:])
  | using\ (?P<alias>\w+)\ =
  | (?!(?:using|namespace|struct|class|union|enum|concept|extern|template|friend|static_assert)\b)
    [A-Za-z_\[][^;{}=()]*?(?<![\w:~])(?P<function>\w+)\(
  | (?:inline|constexpr)\b[^;{}()]*?(?<![\w:])(?P<variable>\w+)(?:\[\w*\])?(?:\ =|\{|;)
)""", re.M | re.X)


def names_of(base, headers=None):
    """{namespace: {name: kinds}} of what the headers below `base` declare in namespaces."""
    found = collections.defaultdict(lambda: collections.defaultdict(set))
    for path in sorted(base.rglob("*")):
        if path.suffix not in (".hpp", ".cuh") or (
                headers is not None and str(path.relative_to(base)) not in headers):
            continue
        code = namespaces.plain(path.read_text())
        code = HIDDEN.sub(lambda m: '""' if m[0][0] in "\"'" else "", code)
        opens = {m.end() - 1: m[1] for m in NAMESPACE.finditer(code)}
        declared = {m.start(): m for m in DECLARATION.finditer(code)}
        scopes = []  # None for a scope that is not a namespace
        for at in sorted({*declared, *(m.start() for m in re.finditer(r"[{}]", code))}):
            if code[at] == "{":
                scopes.append(opens.get(at))
                if None not in scopes:
                    parts = "::".join(scopes).split("::")
                    for i in range(1, len(parts)):
                        found["::".join(parts[:i])][parts[i]].add("namespace")
            elif code[at] == "}":
                del scopes[-1:]
            elif scopes and None not in scopes:
                kind = declared[at].lastgroup
                found["::".join(scopes)][declared[at][kind]].add(kind)
    for names in found.values():
        # Every namespace may have a `detail`; the others are words of specialisations.
        for word in ("detail", "true", "decltype", "requires"):
            names.pop(word, None)
    return found


def faults(found, known):
    """A sentence for each name of two namespaces, and for each exception of no use."""
    unused = dict(known)
    pairs = [(a, b, found[a], found[b]) for a, b in itertools.combinations(OPENED, 2)]
    pairs.append(("lamina", "std", found["lamina"], {name: {"type"} for name in STANDARD}))
    for a, b, left, right in pairs:
        for name in sorted(set(left) & set(right)):
            if left[name] == {"function"} and (b == "std" or right[name] == {"function"}):
                continue
            if unused.pop((a, b, name), None) is None and (a, b, name) not in known:
                yield (f"{a}::{name} ({', '.join(sorted(left[name]))}) and {b}::{name} "
                       f"({', '.join(sorted(right[name]))}): a program that opens both namespaces "
                       "cannot name either")
    for a, b, name in unused:
        yield f"check_names.py: KNOWN: {a} and {b} have no name '{name}' in common any more"


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        base = pathlib.Path(folder)
        (base / "a.hpp").write_text(
            namespaces.opening() + "\nstruct mean : base {\n  int relu;\n};\n"
            "int helper(int x) {\n  return x;\n}\nstruct vector;\n"
            "namespace operators {\nstruct concat {};\n}\n" + namespaces.closing() + "\n")
        (base / "b.cuh").write_text(
            namespaces.opening("layer") + "\ntemplate <class T>\n"
            "constexpr auto mean(T x) {\n  return x;\n}\nint helper(double);\n"
            "constexpr auto concat(int x);\nconstexpr auto relu(int x);\n// struct helper {};\n" +
            namespaces.closing("layer") +
            "\nnamespace lamina::reader {\ninline constexpr int helper = 2;\n}\n")
        found = names_of(base)
        made = list(faults(found, {("lamina", "lamina::metric", "gone"): "why"}))
        texts = sorted(re.match(r"[\w:]+::(\w+) ", text)[1] for text in made[:-1])
        assert texts == ["helper", "helper", "mean", "vector"], made
        assert "'gone'" in made[-1], made
        known = {("lamina", "lamina::layer", "mean"): "", ("lamina", "std", "vector"): "",
                 ("lamina", "lamina::reader", "helper"): "",
                 ("lamina::layer", "lamina::reader", "helper"): ""}
        assert not list(faults(found, known)), list(faults(found, known))
    print("names of planted headers are judged right")


def lookups(base):
    """A source that looks up each name of lamina.hpp where all of OPENED, or std, are open."""
    texts = {str(p.relative_to(base)): p.read_text() for p in sorted(base.rglob("*"))
             if p.suffix in (".hpp", ".cuh")}
    reached = {h.removeprefix("lamina/") for h in check_macros.headers_of(texts, "lamina.hpp", {})}
    found = names_of(base, reached)
    lines = ["#include <lamina/lamina.hpp>"]
    left_out = {name for _, _, name in KNOWN} | LEFT_OUT
    for probe, spaces, named in (("of_all", OPENED, OPENED),
                                 ("of_std", ("std", "lamina"), ("lamina",))):
        lines += [f"namespace {space} {{}}" for space in spaces]
        lines += [f"namespace {probe} {{", *(f"using namespace {s};" for s in spaces), "}"]
        for name in sorted({name for space in named for name in found[space]} - left_out):
            if any("namespace" in found[space][name] for space in named if name in found[space]):
                lines.append(f"namespace {probe}_{name} = {probe}::{name};")
            else:
                lines.append(f"namespace {probe}_{name} {{ using {probe}::{name}; }}")
    return "\n".join([*lines, ""])


def opened(name):
    """An example that opens the namespaces instead of naming them."""
    source = source_of(name)
    code = re.sub(r'^#include "(.*)"', f'#include "{source.parent}/\\1"', source.read_text(),
                  flags=re.M)
    code = re.sub(r"^(?:namespace \w+ = |using )[^{}();]*;\n", "", code, flags=re.M)
    code = re.sub(r"\blamina::|(?<![\w:])(?:layer|optimizer|schedule)::", "", code)
    last = list(re.finditer(r"^#include.*\n", code, re.M))[-1].end()
    return code[:last] + DIRECTIVES + code[last:]


def compiled(base, options):
    """What the compilers say."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in [("lookups", lookups(base)), *((e, opened(e)) for e in EXAMPLES)]:
            source = pathlib.Path(folder, f"{name}.cpp")
            source.write_text(text)
            for compiler in options.compiler:
                run = subprocess.run([*compiler.split(), "-std=c++20", "-fsyntax-only",
                                      f"-I{base.parent}", *options.flags, source],
                                     text=True, capture_output=True)
                if run.returncode:
                    yield f"{compiler}: {name}: {run.stderr[:3000]}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("usage: ") + 7:])
    parser.add_argument("--include", type=pathlib.Path, default=ROOT / "include")
    parser.add_argument("--compiler", action="append", default=[])
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("flags", nargs="*")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    base = options.include / LIBRARY
    made = [*faults(names_of(base), KNOWN), *compiled(base, options)]
    print("\n".join(made) if made else
          f"{len(OPENED)} namespaces that a program may open have {len(KNOWN)} names in common, "
          "each with its reason")
    return bool(made)


if __name__ == "__main__":
    sys.exit(main())
