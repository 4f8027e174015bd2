#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the form of sources: clang-format, the length of lines, and templates that it misreads.

- C++ and CUDA sources of include/, test/, examples/ and benchmarks/ are as clang-format of VERSION
  writes them. pip installs that version into a virtual environment under DIR; with --fix the
  sources are rewritten.
- Lines of C++, Python, shell and CMake files have at most 100 columns. LONG_LINES names the files
  of data and tables that may have longer ones.
- clang-format takes `check < a || b, gets < c >>` for comparisons. A template argument with a
  comparison or a logical operator needs parentheses: `check<(a || b), gets<c>>`.

usage: check_format.py [--build DIR] [--fix]
       check_format.py --self-test
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = "14.0.6"
SKIPPED = 77
COLUMNS = 100
FORMATTED = ("include/", "test/", "examples/", "benchmarks/")
CPP = (".hpp", ".cpp", ".cuh", ".cu", ".inc", ".h")
# Data and tables, by a part of their path and the reason.
LONG_LINES = {
    "include/lamina/dataset/digits_data.hpp": "images as text",
    "test/executor/golden.inc": "written by make_golden.py",
    "test/executor/image_golden.inc": "written by make_image_golden.py",
}
# A template that clang-format took for a comparison: known names, or names alone before ` >>`.
MISREAD = re.compile(
    r"\b(?:check|gets|gets_type|expects|expects_type|\w+_v) < "  # check < one
    r"|\w < [\w:., ]+ >>(?!=)"                                  # gets_type < X >>
    r"|\w < [\w:]+ >(?= *[,;({)]|::)"                            # array < item >
)


def sources():
    """All files that git knows or would add; without git, all files of the folders."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], text=True,
                            capture_output=True)
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:
        names = [str(path.relative_to(ROOT)) for folder in FORMATTED
                 for path in (ROOT / folder).rglob("*") if path.is_file()]
    return [name for name in sorted(names) if (ROOT / name).is_file()]


def kind_of(name, first_line):
    """"cpp", "python", "shell", "cmake" or "" for others."""
    path = pathlib.PurePath(name)
    if path.suffix in CPP:
        return "cpp"
    if path.suffix == ".py" or re.match(r"#!.*\bpython", first_line):
        return "python"
    if path.suffix in (".sh", ".bash") or re.match(r"#!.*\b(ba)?sh\b", first_line):
        return "shell"
    return "cmake" if path.suffix == ".cmake" or path.name == "CMakeLists.txt" else ""


def misread_templates(text):
    """(line, what stands there) of each template that clang-format took for comparisons."""
    plain = re.sub(r'"(?:[^"\\\n]|\\.)*"', lambda m: '"' + "x" * (len(m[0]) - 2) + '"', text)
    plain = re.sub(r"//[^\n]*", lambda m: " " * len(m[0]), plain)
    for found in MISREAD.finditer(plain):
        yield plain.count("\n", 0, found.start()) + 1, found[0].replace("\n", " ")


def faults_of(name, text):
    """What is wrong with the lines of one file."""
    kind = kind_of(name, text.split("\n", 1)[0])
    if not kind:
        return
    if name not in LONG_LINES:
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > COLUMNS and not may_be_long(kind, line):
                yield f"{name}:{number}: has {len(line)} columns, more than {COLUMNS}"
    if kind == "cpp":
        for number, found in misread_templates(text):
            yield (f"{name}:{number}: clang-format takes '{found}' for a comparison:"
                   " put the condition in parentheses")


def may_be_long(kind, line):
    """A line that cannot be cut: one word, or a promise that a test reads as one line."""
    if kind == "cpp" and re.match(r"// expect-\w+", line):
        return True
    return len(re.sub(r"^\s*(///?|#)?\s*", "", line).split()) == 1


def clang_format(build):
    """The program, installed if need be; None: pip has none."""
    folder = build / f"clang-format-{VERSION}"
    program = folder / "bin" / "clang-format"
    if not program.exists():
        for command in ([sys.executable, "-m", "venv", folder],
                        [folder / "bin" / "python", "-m", "pip", "install", "--quiet",
                         f"clang-format=={VERSION}"]):
            if subprocess.run(command).returncode:
                return None
    return program


def self_test():
    wrong = ["check < one || several, gets_type < X >>", "array_size < item >> 0", "a < b >::c",
             "check < kept || found<0, letters<Name>>", "f < in >, x", "gets < Size >>"]
    right = ["check<(one || several), gets_type<X>>", "if (a < b && c > d) x >> 2;",
             "for (int i = 0; i < n; ++i) a[i] >>= 1;", "static_cast<T>(x) < y",
             "return a < b ? c : d >> 1;", "x = a < b;", "o << a < b;", "if (d < 0 || d >= rank)",
             '"gets < in >>"', "// gets < in >>", "while (a && b < c) x(e > f);",
             "is_a<T> && is_b<T, U>", "return a < b || b > c;", "if (n < (size >> 2))"]
    for line in wrong:
        assert list(misread_templates(line)), line
    for line in right:
        assert not list(misread_templates(line)), (line, list(misread_templates(line)))
    long_line = "int " + "a" * 50 + " = " + "b" * 50 + ";"
    assert len(list(faults_of("include/a.hpp", long_line))) == 1
    assert len(list(faults_of("a.py", "a = 1\n# " + "word " * 30))) == 1
    assert len(list(faults_of("test/run", "#!/usr/bin/env bash\n" + "word " * 30))) == 1
    assert list(faults_of("a.md", "word " * 30)) == []
    assert list(faults_of("include/lamina/dataset/digits_data.hpp", long_line)) == []
    assert list(faults_of("a.cpp", "// expect-error: " + "word " * 30)) == []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "a.hpp")
        path.write_text("int  a;\n")
        assert path.exists()
    print("ok")


def main():
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("usage: ") + 7:])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "format")
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    texts = {name: (ROOT / name).read_text(errors="replace") for name in sources()}
    formatted = [ROOT / name for name in texts
                 if name.startswith(FORMATTED) and name.endswith(CPP) and name not in LONG_LINES]
    program = clang_format(arguments.build.resolve())
    failed = False
    if program:
        mode = ["-i"] if arguments.fix else ["--dry-run", "-Werror"]
        failed = subprocess.run([program, "--style=file", *mode, *formatted]).returncode != 0
        texts = {name: (ROOT / name).read_text(errors="replace") for name in texts}
    faults = [fault for name, text in texts.items() for fault in faults_of(name, text)]
    print("\n".join(faults) or f"{len(texts)} files: lines and templates are in form")
    if failed:
        print(f"clang-format {VERSION}: test/structure/check_format.py --fix rewrites the sources")
    if failed or faults:
        return 1
    if not program:
        print(f"skipped: pip has no clang-format {VERSION}")
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
