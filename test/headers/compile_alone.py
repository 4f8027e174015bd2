#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every header alone, twice in one file, with warnings as errors, and reports all that fail.

A header that has not changed, nor any header it includes, is not compiled again when --stamps names a file to
remember it in. A header that needs a library this machine lacks is named in optional.txt and then left out.

usage: compile_alone.py --compiler CXX [--stamps FILE] [--include FOLDER] [-- COMPILER_FLAGS...]
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

LIBRARY = "lamina"
FLAGS = ["-std=c++20", "-O0", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
         "-fdiagnostics-color=never"]
INCLUDE = re.compile(rf"^[ \t]*#[ \t]*include[ \t]*<({LIBRARY}/[^>]+)>", re.M)


def compile_text(compiler, flags, text):
    """The diagnostics of one translation unit, or None when it compiles."""
    run = subprocess.run([*compiler, *flags, "-x", "c++", "-"], input=text, text=True, capture_output=True)
    return run.stderr if run.returncode else None


def digest_of(header, include, digests):
    """A hash of a header and of all it includes from the library."""
    if header not in digests:
        digests[header] = ""
        path = include / header
        text = path.read_text(errors="replace") if path.is_file() else "missing"
        parts = [text] + [digest_of(h, include, digests) for h in sorted(set(INCLUDE.findall(text)))]
        digests[header] = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return digests[header]


def read_optional(path, compiler, flags):
    """The headers of optional.txt (HEADER <NEEDED>) whose needed header this compiler does not find."""
    missing = {}
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            header, needed = line.split()
            if compile_text(compiler, flags, f"#include {needed}\n") is not None:
                missing[f"{LIBRARY}/{header}"] = needed
    return missing


def main():
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--stamps", type=pathlib.Path)
    parser.add_argument("--include", type=pathlib.Path, default=here.parents[1] / "include")
    options = parser.parse_args(sys.argv[1:split])
    flags = FLAGS + [f"-I{options.include}"] + sys.argv[split + 1:]
    compiler = options.compiler.split()

    headers = sorted(str(p.relative_to(options.include)) for p in (options.include / LIBRARY).rglob("*.hpp"))
    left_out = read_optional(here / "optional.txt", compiler, flags)
    for header, needed in left_out.items():
        print(f"{header}: left out, this machine has no {needed}")

    version = subprocess.run([*compiler, "--version"], text=True, capture_output=True, check=True).stdout
    digests = {}
    key = {h: hashlib.sha256(f"{digest_of(h, options.include, digests)}{version}{flags}".encode()).hexdigest()
           for h in headers if h not in left_out}
    stamps = {}
    if options.stamps and options.stamps.is_file():
        stamps = json.loads(options.stamps.read_text())
    pending = [h for h in key if stamps.get(h) != key[h]]

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        texts = [f"#include <{h}>\n#include <{h}>\n" for h in pending]
        for header, fault in zip(pending, pool.map(lambda text: compile_text(compiler, flags, text), texts)):
            if fault is None:
                stamps[header] = key[header]
            else:
                failed += 1
                lines = fault.splitlines()
                print(f"\n{header} does not compile alone:", *lines[:12], sep="\n")
                if len(lines) > 12:
                    print(f"({len(lines) - 12} more lines)")
    if options.stamps:
        options.stamps.write_text(json.dumps({h: s for h, s in stamps.items() if h in key}, indent=0))
    print(f"{len(key)} headers, {len(pending)} compiled, {failed} failed")
    return failed != 0 or not headers


if __name__ == "__main__":
    sys.exit(main())
