#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes C++ of the nets that save_book.py saved, compiles it and compares with PaddlePaddle.

usage: compare_book.py FOLDER --cases PROGRAM [--only NAME...]

PROGRAM is interop_cases; the compiler is that of the variable CXX. All nets are imported, those of
--only are compiled.
"""
import argparse
import pathlib
import subprocess
import sys

from compare_native import compile_program


def main():
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("usage: ") + 7:])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--cases", required=True)
    parser.add_argument("--only", nargs="*")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    names = sorted(f.name for f in folder.iterdir() if f.is_dir())
    failed = []
    for name in names:
        done = subprocess.run([arguments.cases, "import", folder / name / "net.pdmodel",
                               "--parameters", "net.pdiparams", "--out", folder / name / "net.hpp",
                               "--name", name])
        failed += [name] if done.returncode else []
    chosen = [n for n in arguments.only or names if n not in failed]
    headers = "".join(f'#include "{folder / n}/net.hpp"\n' for n in chosen)
    checks = "".join(
        f'  failed += told("{n}", interop::book_difference("{folder / n}", {n}));\n'
        for n in chosen)
    (folder / "book.cpp").write_text(
        "#include <cstdio>\n\n#include <interop/book_check.hpp>\n\n" + headers +
        "\nint told(const char* name, const std::string& what) {\n"
        '  if (!what.empty()) std::printf("%s: %s\\n", name, what.c_str());\n'
        "  return what.empty() ? 0 : 1;\n}\n\n"
        f"int main() {{\n  int failed = 0;\n{checks}  return failed;\n}}\n")
    differ = subprocess.run([compile_program(folder / "book.cpp")]).returncode
    if differ < 0:
        sys.exit(f"compare_book.py: expected the number of faults, found signal {-differ}")
    print(f"{len(names) - len(failed)} of {len(names)} nets of the book are C++; {len(chosen)} "
          f"were compiled, {len(chosen) - differ} of them give PaddlePaddle's results")
    return 1 if failed or differ or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
