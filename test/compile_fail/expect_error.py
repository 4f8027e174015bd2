#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a mistake gives one short error that names the user's line and says what the file
promises.

A NAME.fail.cpp is two programs. As it stands, the good twin, it must compile without a warning with
the first compiler of each family. With -DSHOULD_FAIL it must not compile, and every compiler must
say so with exactly one error in few lines. The file promises:

  // expect-error: REGEX     the line with the error, or what follows it, matches; at least one is
                             required
  // expect-fact: REGEX      the diagnostic matches somewhere
  // expect-lines: N         it has at most N lines (12 unless told)
  // expect-errors: N        at most N errors, the first of which is the one (exactly one unless
                             told)
  wrong(x);  // <- here      the first line of this file that the diagnostic names, within its first
  8 lines

The inline namespace of the version and instruction set, which g++ prints in names of lamina, is
left out of what the compiler said: a promise says lamina::block.

A promise may hold for one family of compilers: expect-fact[gcc], expect-lines[clang].

--precompile keeps lamina.hpp in FOLDER for each clang, and --precompiled takes it from there, which
is several times as fast: a diagnostic then differs in nothing but the chain of includes above it,
which is put right. g++ maps a precompiled header no faster than it reads the headers; it reads them
once for all the FILEs, each in a namespace of its own, and what it says is taken apart by the file
that it names. A file that fails in either of these ways is judged once more, alone.

usage: expect_error.py [--compiler CXX]... [--precompiled FOLDER] FILE... [-- COMPILER_FLAGS...]
       expect_error.py [--compiler CXX]... --precompile FOLDER [-- COMPILER_FLAGS...]
       expect_error.py --self-test [--compiler CXX]...
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
FLAGS = [
    "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-fdiagnostics-color=never",
    f"-I{INCLUDE}", f"-I{INCLUDE.parent / 'test'}"
]
STRAY = re.compile(r"^// (?!expect-).*\bexpect-(?:error|fact|lines|errors)\b.*", re.M)
PROMISE = re.compile(r"^// expect-(error|fact|lines|errors)(?:\[(gcc|clang)\])?: *(.+?) *$", re.M)
ERROR = re.compile(r"^[^\s].*?\b(?:fatal )?error: ", re.M)
ABI = re.compile(r"\blamina::(?:x|arm|other|cuda)\w*_\d+_\d+_\d+::")
BEGIN = re.compile(
    r"In file included from |\S+: (In|At) |\S+:\d+:(\d+:)? +(required from|(fatal )?error: "
    r"|warning: |in .constexpr.)"
)
# What a namespace makes of a main function without a return: it does not stand in the user's file.
NO_RETURN = re.compile(r"\bmain\(\).*^\S+ warning: .*\[-Wreturn-type\]$", re.M | re.S)
# A file that adds to the library's namespaces cannot stand in one of its own.
OUTSIDE = re.compile(r"^(template <.*>\n)?(struct|class) (lamina|std)::|^namespace (lamina|std)\b",
                     re.M)
MESSAGE = re.compile(r"\S+: (fatal )?(error|warning|note): ")
HERE, FIRST_LINES, DEFAULT_LINES = "// <- here", 8, 12


def family_of(compiler):
    """'clang' or 'gcc', by what the compiler says of itself."""
    macros = subprocess.run([*compiler.split(), "-dM", "-E", "-x", "c++", "/dev/null"],
                            text=True, capture_output=True, check=True).stdout
    return "clang" if "__clang__" in macros else "gcc"


def compile_file(compiler, flags, path):
    """Whether a file compiles, and what the compiler said."""
    run = subprocess.run(
        [*compiler.split(), *FLAGS, *flags, str(path)], text=True, capture_output=True)
    lines = [
        line for line in run.stderr.splitlines()
        if not re.match(r"\d+ (error|warning)s?.* generated\.", line)
    ]
    return run.returncode == 0, ABI.sub("lamina::", "\n".join(lines))


def precompiled_of(folder, compiler):
    """Where the precompiled lamina.hpp of a compiler lies."""
    return folder / (pathlib.Path(compiler.split()[0]).name + ".pch")


def precompile(folder, compilers, flags):
    """Precompiles lamina.hpp for each clang, unless that was done after the last change; returns
    the number of failures."""
    folder.mkdir(parents=True, exist_ok=True)
    changed = max(header.stat().st_mtime_ns for header in INCLUDE.rglob("*.hpp"))
    failures = 0
    for compiler in compilers:
        if family_of(compiler) != "clang":
            continue
        path = precompiled_of(folder, compiler)
        version = subprocess.run([*compiler.split(), "--version"], text=True, capture_output=True,
                                 check=True).stdout
        key, known = f"{changed} {flags} {version}", path.with_suffix(".txt")
        if path.is_file() and known.is_file() and known.read_text() == key:
            continue
        run = subprocess.run([
            *compiler.split(), *[flag for flag in FLAGS if flag != "-fsyntax-only"], *flags,
            "-fpch-instantiate-templates", "-x", "c++-header",
            str(INCLUDE / "lamina/lamina.hpp"), "-o",
            str(path)
        ], text=True, capture_output=True)
        known.write_text(key if run.returncode == 0 else "")
        if run.returncode:
            failures += 1
            path.unlink(missing_ok=True)
            print(f"lamina.hpp with {compiler}:", run.stderr, sep="\n")
    return failures


def includes_above(path, header):
    """The files that lie above a header where it is included for the first time, the outermost
    first; [] where it is not."""
    seen = set()

    def walk(file, above):
        if file.samefile(header):
            return above
        for name in re.findall(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]+)[>\"]", file.read_text(),
                               re.M):
            inner = next((f for f in (INCLUDE / name, file.parent / name) if f.is_file()), None)
            if inner and inner.resolve() not in seen:
                seen.add(inner.resolve())
                found = walk(inner, [*above, file])
                if found:
                    return found
        return []

    return walk(path, [])


def with_own_includes(path, said):
    """What was said of a file that was compiled with lamina.hpp precompiled, with the chains of its
    own includes."""
    chain, lines = [], []
    for line in said.splitlines():
        if line.startswith("In file included from "):
            chain.append(line)
            continue
        named = re.match(r"(\S+?):\d+:", line)
        if chain and named and pathlib.Path(named.group(1)).is_file():
            chain = [
                f"In file included from {f}:"
                for f in includes_above(path, pathlib.Path(named.group(1)))
            ] or chain
        lines += [*chain, line]
        chain = []
    return "\n".join([*lines, *chain])


def lines_named(name, diagnostic):
    """(line of the source, line of the diagnostic) wherever the diagnostic names the file, include
    chains apart."""
    for n, line in enumerate(diagnostic.splitlines(), 1):
        if not re.match(r"(In file included|\s+) from ", line):
            line = re.sub(r"\(lambda at [^)]*\)", "", line)  # clang's name of a type
            for match in re.finditer(rf"{re.escape(name)}:(\d+)", line):
                yield int(match.group(1)), n


def namespace_of(path):
    """The namespace of a file among others."""
    return re.sub(r"[^0-9A-Za-z]", "_", path.stem)


def in_one_file(paths):
    """The text of a file that includes others, each in a namespace of its own, after all the
    headers that they include."""
    headers, bodies = [], []
    for path in paths:
        headers += re.findall(r"^#include [<\"].*$", path.read_text(), re.M)
        bodies.append(
            f"namespace {namespace_of(path)} {{\n#include \"{path.resolve()}\"\n}}\n"
        )
    return "\n".join([*dict.fromkeys(headers), *bodies])


def said_by_file(paths, said):
    """What g++ said about a file that includes others, taken apart by their names: a piece that
    names none belongs to what came before, one that names several to each. The namespaces of the
    files are left out again."""
    names = [path.name for path in paths]
    pieces, complete = [[]], True
    for line in said.splitlines():
        if complete and BEGIN.match(line):
            pieces.append([])
            complete = False
        complete = complete or MESSAGE.match(line) is not None
        pieces[-1].append(line)
    by_file, last = {name: [] for name in names}, []
    for piece in pieces:
        text = "\n".join(piece)
        if NO_RETURN.search(text):
            continue
        named = [name for name in names if re.search(rf"(^|/){re.escape(name)}[:,]", text, re.M)]
        last = named or last
        for name in last:
            by_file[name] += [
                line for line in piece
                if not re.match(r"In file included from \S*together\.cpp:\d+:$", line)
            ]
    return {path.name: re.sub(rf"\b{namespace_of(path)}::", "", "\n".join(by_file[path.name]))
            for path in paths}


def judge_together(paths, compiler, flags):
    """The files that keep their promises with a g++ that reads all of them at once."""
    paths = [path for path in paths if not OUTSIDE.search(path.read_text())]
    if len(paths) < 2:
        return []
    with tempfile.TemporaryDirectory() as folder:
        together = pathlib.Path(folder, "together.cpp")
        together.write_text(in_one_file(paths))
        # A main function in a namespace returns nothing by itself. The bad twins keep the warning:
        # without it g++ says of a function that fails that its type is not deduced, too.
        compiles, _ = compile_file(compiler, [*flags, "-Werror", "-Wno-return-type"], together)
        if not compiles:
            return []
        _, said = compile_file(compiler, [*flags, "-DSHOULD_FAIL"], together)
    by_file = said_by_file(paths, said)
    return [path for path in paths if not faults_in(path, "gcc", by_file[path.name] or None)]


def faults_of(path, compiler, flags, family=None, twin=True, precompiled=False):
    """Why a file does not keep its promises with one compiler; the diagnostic comes last."""
    if twin:
        compiles, said = compile_file(compiler, [*flags, "-Werror"], path)
        if not compiles:
            return ["the good twin does not compile", said]
    compiles, said = compile_file(compiler, [*flags, "-DSHOULD_FAIL"], path)
    if precompiled:
        said = with_own_includes(path, said)
    return faults_in(path, family or family_of(compiler), None if compiles else said)


def faults_in(path, family, said):
    """Why what a compiler said of the bad twin (None: it compiles) is not what the file
    promises."""
    text = path.read_text()
    promises = [(kind, what) for kind, only, what in PROMISE.findall(text) if only in ("", family)]
    errors = [what for kind, what in promises if kind == "error"]
    limit = min([int(what) for kind, what in promises if kind == "lines"], default=DEFAULT_LINES)
    most = min([int(what) for kind, what in promises if kind == "errors"], default=1)
    marked = [n for n, line in enumerate(text.splitlines(), 1) if line.endswith(HERE)]
    if STRAY.search(text):
        return [f"a promise is not at the beginning of its line: '{STRAY.search(text)[0]}'"]
    if not errors:
        return ["it promises no error text (// expect-error: REGEX)"]
    if len(marked) != 1:
        return [f"it marks {len(marked)} lines with '{HERE}', not one"]
    if said is None:
        return ["the bad twin compiles"]

    faults = []
    starts = [match.start() for match in ERROR.finditer(said)]
    if not 1 <= len(starts) <= most:
        faults.append(
            f"expected {'one error' if most == 1 else f'one to {most} errors'}, found {len(starts)}"
        )
    after = said[starts[0]:] if starts else ""
    faults += [f"no error matches /{what}/" for what in errors if not re.search(what, after)]
    faults += [f"nothing matches /{what}/" for kind, what in promises
               if kind == "fact" and not re.search(what, said)]
    count = len(said.splitlines())
    if count > limit:
        faults.append(f"expected at most {limit} lines, found {count}")
    named = next(lines_named(path.name, said), None)
    if named is None:
        faults.append(f"the diagnostic never names {path.name}:{marked[0]}")
    elif named[0] != marked[0]:
        faults.append(f"the diagnostic names line {named[0]} first, not line {marked[0]}")
    elif named[1] > FIRST_LINES:
        faults.append(
            f"the user's line comes only in line {named[1]} of the diagnostic, after the first "
            f"{FIRST_LINES}"
        )
    return faults + [said] if faults else []


def check(paths, compilers, flags, precompiled=None):
    """Judges each file with each compiler, prints what is wrong, and returns the number of
    failures."""
    failures = 0
    families = [family_of(compiler) for compiler in compilers]
    kept = [judge_together(paths, compiler, flags) if family == "gcc" and len(paths) > 1 else []
            for compiler, family in zip(compilers, families)]
    for path in paths:
        for i, compiler in enumerate(compilers):
            if path in kept[i]:
                continue
            header = precompiled_of(precompiled,
                                    compiler) if precompiled and families[i] == "clang" else None
            faults = ["not judged"]
            if header and header.is_file():
                faults = faults_of(path, compiler,
                                   [*flags, "-include-pch", str(header)], families[i], families[i]
                                   not in families[:i], True)
            if faults:
                faults = faults_of(path, compiler, flags, families[i], families[i]
                                   not in families[:i])
            if faults:
                failures += 1
                print(f"{path.name} with {compiler}:", *faults, sep="\n  ")
    return failures


def self_test(compilers):
    """A harness that passes everything is worse than none: each way of being vacuous must be
    caught."""
    library = """#pragma once
template <int> struct expects {};
template <bool Ok, class Fact> constexpr bool check = Ok;
template <int N> void fc() {
  static_assert(check<N % 64 == 0, expects<64>>, "fc: the width differs");
}
"""
    good = """// expect-error: static.assert.*fc: the width differs
// expect-fact: expects<64>
// expect-lines: 9
#include "library.hpp"
int main() {
  fc<64>();
#ifdef SHOULD_FAIL
  fc<32>();  // <- here
#endif
}
"""
    planted = [
        (lambda s: s, None),
        (lambda s: s.replace("fc<32>();", "fc<64>();"), "the bad twin compiles"),
        (lambda s: "#include <no_such_header.hpp>\n" + s, "the good twin does not compile"),
        (lambda s: s.replace("int main() {", "int main() {\n  int unused = 0;"),
         "the good twin does not compile"),
        (lambda s: s.replace("#ifdef SHOULD_FAIL",
                             "#ifdef SHOULD_FAIL\n#include <no_such_header.hpp>"),
         "no error matches"),
        (lambda s: s.replace("fc<32>();", "fc<32>(); fc<16>();"), "expected one error, found 2"),
        (lambda s: s.replace("fc<32>();", "fc<32>(); fc<16>();").replace(
            "lines: 9", "lines: 18\n// expect-errors: 2"), None),
        (lambda s: s.replace("fc<32>();", "fc<32>(); fc<16>(); fc<8>();").replace(
            "lines: 9", "lines: 27\n// expect-errors: 2"), "expected one to 2 errors, found 3"),
        (lambda s: s.replace("error: static.assert.*fc: the", "error: fc: no"), "no error matches"),
        (lambda s: s.replace("expects<64>\n", "gets<64>\n"), "nothing matches"),
        (lambda s: s.replace("lines: 9", "lines: 2"), "expected at most 2 lines"),
        (lambda s: s.replace("// expect-error", "// error"), "it promises no error text"),
        (lambda s: s.replace("\n// expect-fact", " and more\n// text expect-fact"),
         "not at the beginning"),
        (lambda s: s.replace("  // <- here", ""), "it marks 0 lines"),
        (lambda s: s.replace("fc<64>();", "fc<64>();  // <- here").replace(
            "fc<32>();  // <- here", "fc<32>();"), "first, not line"),
    ]
    wrong = 0
    for compiler in compilers:
        for number, (change, expected) in enumerate(planted):
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "library.hpp").write_text(library)
                path = pathlib.Path(folder, "planted.fail.cpp")
                path.write_text(change(good))
                faults = faults_of(path, compiler, [])
            if bool(faults) != bool(expected) or (expected and not any(expected in fault
                                                                       for fault in faults)):
                wrong += 1
                print(f"planted file {number} with {compiler}: expected '{expected}', found",
                      *faults, sep="\n  ")
    # Read together, one file's keeping its promises must not depend on the others', nor hide that
    # they do not.
    together = [compiler for compiler in compilers if family_of(compiler) == "gcc"]
    for compiler in together:
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "library.hpp").write_text(library)
            paths = [
                pathlib.Path(folder, f"planted_{number}.fail.cpp") for number in range(len(planted))
            ]
            # A width that no other file has, for a function of one width is compiled once.
            texts = [
                re.sub(r"fc<(\d|16|32)>", lambda match, n=n: f"fc<{int(match.group(1)) + 64 * n}>",
                       change(good)) for n, (change, _) in enumerate(planted)
            ]
            for path, text in zip(paths, texts):
                path.write_text(text)
            compile_alike = [
                n for n, (_, expected) in enumerate(planted)
                if expected != "the good twin does not compile" and "no_such_header" not in texts[n]
            ]
            kept = judge_together([paths[n] for n in compile_alike], compiler, [f"-I{folder}"])
            for n in compile_alike:
                if (paths[n] in kept) != (planted[n][1] is None):
                    wrong += 1
                    print(
                        f"planted file {n} with {compiler}, read with others: expected "
                        f"'{planted[n][1]}'"
                    )
            if judge_together(paths, compiler, [f"-I{folder}"]):
                wrong += 1
                print(
                    f"planted files with {compiler}, read together: a twin does not compile, and "
                    "yet some were kept"
                )
    # What a clang says of a file whose headers are precompiled must become what it says without.
    for compiler in compilers:
        if family_of(compiler) != "clang":
            continue
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "library.hpp").write_text(library)
            pathlib.Path(folder, "inner.hpp").write_text('#pragma once\n#include "library.hpp"\n')
            pathlib.Path(folder, "outer.hpp").write_text('#pragma once\n#include "inner.hpp"\n')
            path, all_of_it = pathlib.Path(folder,
                                           "planted.fail.cpp"), pathlib.Path(folder, "outer.pch")
            subprocess.run([
                *compiler.split(), "-std=c++20", "-x", "c++-header", f"{folder}/outer.hpp", "-o",
                str(all_of_it)
            ], check=True)
            for header in ["library.hpp", "inner.hpp", "outer.hpp"]:
                path.write_text(good.replace("library.hpp", header))
                bad = ["-DSHOULD_FAIL", f"-I{folder}"]
                _, said = compile_file(compiler, bad, path)
                _, over = compile_file(compiler, [*bad, "-include-pch", str(all_of_it)], path)
                over = with_own_includes(path, over)
                # A chain names lines too, which nothing asks for.
                chain = re.compile(r"^(In file included from \S+?):(?:\d+:)?$", re.M)
                if chain.sub(r"\1", said) != chain.sub(r"\1", over):
                    wrong += 1
                    print(
                        f"a planted file that includes {header}, precompiled with {compiler}: "
                        "expected",
                        said, "found", over, sep="\n")
    print(
        f"{len(planted)} planted files, with {len(compilers)} compilers alone, with "
        f"{len(together)} together: "
        f"{wrong} were judged wrongly")
    return wrong


def main():
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", action="append", default=[])
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--precompile", type=pathlib.Path)
    parser.add_argument("--precompiled", type=pathlib.Path)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args(sys.argv[1:split])
    compilers = options.compiler or ["c++"]
    if options.self_test:
        return self_test(compilers) != 0
    if options.precompile:
        return precompile(options.precompile, compilers, sys.argv[split + 1:]) != 0
    failures = check(options.files, compilers, sys.argv[split + 1:], options.precompiled)
    print(f"{len(options.files)} files with {', '.join(compilers)}: {failures} failures")
    return failures != 0 or not options.files


if __name__ == "__main__":
    sys.exit(main())
