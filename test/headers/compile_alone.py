#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every header alone, twice in one file, with warnings as errors, and reports all that
fail.

A header that has not changed, nor any header it includes, is not compiled again when --stamps names
a file to remember it in. Headers that include one of those in optional.txt, of libraries which
lamina does not require, are left out where this machine lacks that one.

--precompile keeps precompiled those few headers that many others include, and compiles each of
those others over one that it does include. What its own lines then find is the same, for they come
after all its includes, and what those lack is found when they are compiled alone themselves; a
header with an include after its first namespace gets none.
A header that so fails is compiled once more without. For clang only: g++ maps a precompiled header
no faster.

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
FOR_NVCC = re.compile(r"__global__|<cub/|<thrust/|device_algorithms.cuh")
LATE_INCLUDE = re.compile(r"^namespace\b.*^[ \t]*#[ \t]*include", re.M | re.S)
# About how many thousand characters a compiler reads for a header of others; templates of lamina's
# count several times.
OTHERS = {"xtensor/": 1500, "xsimd/": 1500, "nlohmann/": 1500, "CLI/": 1200, "protozero/": 200}
OTHER, OWN = 60, 6
MOST_PRECOMPILED = 12


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


def included_by(header, include, found):
    """A header and all that it includes; headers of others are not opened."""
    if header not in found:
        found[header] = frozenset([header])
        path = include / header
        if path.is_file():
            text = path.read_text(errors="replace")
            below = [included_by(h, include, found) for h in ANY_INCLUDE.findall(text)]
            found[header] = frozenset([header]).union(*below)
    return found[header]


def worth_precompiling(headers, include):
    """{header: the one that is precompiled for it}, so that little is read twice."""
    found = {}
    parts = {h: included_by(h, include, found) for h in headers}
    weight = {}
    for part in frozenset().union(*parts.values()):
        path = include / part
        weight[part] = OWN * path.stat().st_size / 1000 if path.is_file() else next(
            (w for start, w in OTHERS.items() if part.startswith(start)), OTHER)
    size = {h: sum(weight[part] for part in parts[h]) for h in headers}
    early = [
        h for h in headers if not LATE_INCLUDE.search((include / h).read_text(errors="replace"))
    ]
    users = {h: [user for user in early if h in parts[user] and user != h] for h in headers}
    chosen = {}
    for _ in range(MOST_PRECOMPILED):
        def saved(h):
            return sum(max(0, size[h] - size.get(chosen.get(user), 0))
                       for user in users[h]) - 1.5 * size[h]
        best = max(headers, key=saved, default=None)
        if best is None or saved(best) <= 0:
            break
        chosen.update(
            {user: best for user in users[best] if size[best] > size.get(chosen.get(user), 0)})
    return chosen


def precompile(header, folder, compiler, flags):
    """Where a header lies precompiled, or None when it does not compile."""
    path = folder / (header.replace("/", ".") + ".pch")
    own = [flag for flag in flags if flag != "-fsyntax-only"]
    run = subprocess.run(
        [*compiler, *own, "-fpch-instantiate-templates", "-x", "c++-header", "-", "-o",
         str(path)], input=f"#include <{header}>\n", text=True, capture_output=True)
    return path if run.returncode == 0 else None


def headers_in(include):
    """The headers of the library. Those of device code are C++ too, but for those with kernels and
    CUB."""
    return sorted(
        str(p.relative_to(include)) for p in (include / LIBRARY).rglob("*")
        if p.suffix == ".hpp" or p.suffix == ".cuh" and not FOR_NVCC.search(p.read_text()))


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
        if compile_text(compiler, flags, f"#include <{o}>\n") is not None
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
        below = {}
        if options.precompile and "clang" in version and len(pending) > MOST_PRECOMPILED:
            below = worth_precompiling(pending, options.include)
        roots = sorted(set(below.values()))
        made = dict(zip(roots, pool.map(
            lambda root: precompile(root, pathlib.Path(scratch), compiler, flags), roots)))

        def fault_of(header):
            text, path = f"#include <{header}>\n#include <{header}>\n", made.get(below.get(header))
            if path and compile_text(compiler, [*flags, "-include-pch", str(path)], text) is None:
                return None
            return compile_text(compiler, flags, text)

        for header, fault in zip(pending, pool.map(fault_of, pending)):
            if fault is None:
                stamps[header] = key[header]
            else:
                failed += 1
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
        f"{len(key)} headers, {len(pending)} compiled, {len(roots)} of them first, {failed} failed")
    return failed != 0 or not headers


if __name__ == "__main__":
    sys.exit(main())
