#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every header as if it were alone, twice in one file, with warnings as errors, and
reports all that fail.

Headers of which each includes the one before it are one file: what a header's own lines find there
is what they find alone, for they come after all that it includes and nothing else.

A header that has not changed, nor any header it includes, is not compiled again when --stamps names
a file to remember it in. Headers that include one of those in optional.txt, of libraries which
lamina does not require, are left out where this machine lacks that one.

--precompile keeps precompiled those few headers that many others include, and compiles each of
those others over one that it does include, for the same reason. For clang only: g++ maps a
precompiled header no faster.
A header with an include after its first namespace has nothing before it. An include that depends on
a condition does not count as one. What fails among others is compiled once more, alone.

usage: compile_alone.py --compiler CXX [--stamps FILE] [--precompile FOLDER] [--include FOLDER]
           [-- COMPILER_FLAGS...]
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LIBRARY = "lamina"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wsign-conversion",
            "-Wold-style-cast", "-Werror"]
FLAGS = ["-std=c++20", "-O0", "-fsyntax-only", *WARNINGS, "-fdiagnostics-color=never"]
INCLUDE = re.compile(rf"^[ \t]*#[ \t]*include[ \t]*<({LIBRARY}/[^>]+)>", re.M)

ANY_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", re.M)
CONDITION = re.compile(r"^[ \t]*#[ \t]*(if|endif)")
FOR_NVCC = re.compile(r"__global__|<cub/|<thrust/|device_algorithms.cuh")
FOR_OTHERS = re.compile(r"core/(system/(windows(_\w+)?|files_only)"
                        r"|simd/plain_vectors)\.hpp$")
LATE_INCLUDE = re.compile(r"^namespace\b.*^[ \t]*#[ \t]*include", re.M | re.S)
# About how many thousand characters a compiler reads for a header of others; templates of lamina's
# count several times.
OTHERS = {"xtensor/": 1500, "xsimd/": 1500, "nlohmann/": 1500, "CLI/": 1200, "protozero/": 200}
OTHER, OWN = 60, 6
# What a compiler costs before it reads anything.
START = 60
MOST_PRECOMPILED = 24


def compile_text(compiler, flags, text):
    """The diagnostics of one translation unit, or None when it compiles."""
    run = subprocess.run([*compiler, *flags, "-x", "c++", "-"], input=text, text=True,
                         capture_output=True)
    return run.stderr if run.returncode else None


def digest_of(header, include, digests):
    """A hash of a header and of all it includes from the library."""
    if header not in digests:
        digests[header] = ""
        path = include / header
        text = path.read_text(errors="replace") if path.is_file() else "missing"
        parts = [text
                 ] + [digest_of(h, include, digests) for h in sorted(set(INCLUDE.findall(text)))]
        digests[header] = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return digests[header]


def without_conditions(text):
    """The lines of a header that no condition of the preprocessor leaves out."""
    depth, kept = 0, []
    for line in text.splitlines():
        if found := CONDITION.match(line):
            depth += -1 if found[1] == "endif" else 1
        elif depth == 0:
            kept.append(line)
    return "\n".join(kept)


def included_by(header, include, found, lines=str):
    """A header and all that it includes in those of its lines; headers of others are not opened."""
    if header not in found:
        found[header] = frozenset([header])
        path = include / header
        if path.is_file():
            text = lines(path.read_text(errors="replace"))
            below = [included_by(h, include, found, lines) for h in ANY_INCLUDE.findall(text)]
            found[header] = frozenset([header]).union(*below)
    return found[header]


def planned(headers, include, precompiles):
    """({header: the one that is precompiled for it}, rows of headers that are one file), so that
    little is read twice."""
    found, surely = {}, {}
    parts = {h: included_by(h, include, found) for h in headers}
    before = {h: included_by(h, include, surely, without_conditions) - {h} for h in headers}
    weight = {}
    for part in frozenset().union(*parts.values()):
        path = include / part
        weight[part] = OWN * path.stat().st_size / 1000 if path.is_file() else next(
            (w for start, w in OTHERS.items() if part.startswith(start)), OTHER)
    size = {h: sum(weight[part] for part in parts[h]) for h in headers}
    early = [
        h for h in headers if not LATE_INCLUDE.search((include / h).read_text(errors="replace"))
    ]
    users = {h: [] for h in headers}
    for user in early:
        for h in before[user] & users.keys():
            users[h].append(user)
    chosen = {}
    for _ in range(MOST_PRECOMPILED if precompiles else 0):
        def saved(h):
            return sum(max(0, size[h] - size.get(chosen.get(user), 0))
                       for user in users[h]) - 1.5 * size[h]
        best = max(headers, key=saved, default=None)
        if best is None or saved(best) <= 0:
            break
        chosen.update(
            {user: best for user in users[best] if size[best] > size.get(chosen.get(user), 0)})
    return chosen, rows_of(headers, users, size, chosen)


def rows_of(headers, users, size, chosen):
    """Rows of headers, each of which includes the one before it; what costs most comes first. A
    header that is precompiled begins a row: it is compiled by then."""
    roots = set(chosen.values())
    saved = sorted(((START + size[h] - size.get(chosen.get(user), 0), h, user)
                    for h in headers for user in users[h] if user not in roots), reverse=True)
    behind, has_one_before = {}, set()
    for gain, h, user in saved:
        if gain > 0 and h not in behind and user not in has_one_before:
            behind[h] = user
            has_one_before.add(user)
    rows = []
    for h in headers:
        if h not in has_one_before:
            rows.append([h])
            while rows[-1][-1] in behind:
                rows[-1].append(behind[rows[-1][-1]])
    return sorted(rows, key=lambda row: size.get(row[0] if row[0] in roots else
                                                 chosen.get(row[0]), 0) - size[row[-1]])


def precompile(header, folder, compiler, flags):
    """Where a header lies precompiled, or None when it does not compile."""
    path = folder / (header.replace("/", ".") + ".pch")
    own = [flag for flag in flags if flag != "-fsyntax-only"]
    run = subprocess.run(
        [*compiler, *own, "-fpch-instantiate-templates", "-x", "c++-header", "-", "-o",
         str(path)], input=f"#include <{header}>\n", text=True, capture_output=True)
    return path if run.returncode == 0 else None


def headers_in(include):
    """The headers of the library, without those for other systems. Those of device code are C++
    too, but for those with kernels and CUB."""
    return sorted(
        str(p.relative_to(include)) for p in (include / LIBRARY).rglob("*")
        if p.suffix == ".hpp" and not FOR_OTHERS.search(str(p)) or
        p.suffix == ".cuh" and not FOR_NVCC.search(p.read_text()))


def optional_needs(headers, include):
    """{header: the header of optional.txt that it includes} of those headers that do."""
    lines = (pathlib.Path(__file__).resolve().parent / "optional.txt").read_text().splitlines()
    optional, found = [line for line in lines if line and line[0] != "#"], {}
    return {h: o for h in headers for o in optional if o in included_by(h, include, found)}


def lacking(headers, include, compiler, flags):
    """{header: the header of optional.txt that it includes} where this machine lacks the latter."""
    needs = optional_needs(headers, include)
    missing = [
        o for o in sorted(set(needs.values()))
        if compile_text(compiler, flags, f"#if !__has_include(<{o}>)\n#error\n#endif\n") is not None
    ]
    return {header: needed for header, needed in needs.items() if needed in missing}


def main():
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--stamps", type=pathlib.Path)
    parser.add_argument("--precompile", type=pathlib.Path)
    parser.add_argument("--include", type=pathlib.Path, default=here.parents[1] / "include")
    options = parser.parse_args(sys.argv[1:split])
    flags = FLAGS + [f"-I{options.include}"] + sys.argv[split + 1:]
    compiler = options.compiler.split()

    headers = headers_in(options.include)
    left_out = lacking(headers, options.include, compiler, flags)
    for header, needed in left_out.items():
        print(f"{header}: left out, this machine has no <{needed}>")

    version = subprocess.run([*compiler, "--version"], text=True, capture_output=True,
                             check=True).stdout
    digests = {}
    key = {
        h: hashlib.sha256(f"{digest_of(h, options.include, digests)}{version}{flags}".encode()
                          ).hexdigest() for h in headers if h not in left_out
    }
    stamps = {}
    if options.stamps and options.stamps.is_file():
        stamps = json.loads(options.stamps.read_text())
    pending = [h for h in key if stamps.get(h) != key[h]]

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool, \
            tempfile.TemporaryDirectory(dir=options.precompile) as scratch:
        below, rows = planned(
            pending, options.include, options.precompile and "clang" in version and
            len(pending) > MOST_PRECOMPILED)
        roots = sorted(set(below.values()))
        made = dict(zip(roots, pool.map(
            lambda root: precompile(root, pathlib.Path(scratch), compiler, flags), roots)))

        def compile_row(row, *more):
            text = "".join(f"#include <{header}>\n" for header in row)
            return compile_text(compiler, [*flags, *more], 2 * text)

        def faults_of(row):
            path = made.get(row[0]) or made.get(below.get(row[0]))
            fault = compile_row(row, *(("-include-pch", str(path)) if path else ()))
            if fault is None:
                return []
            if len(row) == 1 and not path:
                return [(row[0], fault)]
            return [(header, fault) for header in row if (fault := compile_row([header]))]

        for row, faults in zip(rows, pool.map(faults_of, rows)):
            stamps.update({header: key[header] for header in row})
            for header, fault in faults:
                failed += 1
                del stamps[header]
                lines = fault.splitlines()
                print(f"\n{header} does not compile alone:", *lines[:12], sep="\n")
                if len(lines) > 12:
                    print(f"({len(lines) - 12} more lines)")
    if options.stamps:
        options.stamps.write_text(
            json.dumps({
                h: s for h, s in stamps.items() if h in key
            }, indent=0))
    print(
        f"{len(key)} headers, {len(pending)} compiled in {len(rows)} files, {len(roots)} of them "
        f"first, {failed} failed")
    return failed != 0 or not headers


if __name__ == "__main__":
    sys.exit(main())
