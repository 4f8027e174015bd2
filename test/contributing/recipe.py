#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows the recipe of CONTRIBUTING.md for an operator with its own kernel, and tests the
operator.

The code blocks that name the operator `cumprod` are the recipe. A ```cpp block is a new file, whose
second line is `// PATH - purpose` (lamina/... lies in include/). A ```diff block changes files:
after `--- PATH` come lines to add (+), between lines that stand in the file (a space), which must
be there exactly once.

In a copy of include/, test/ and docs/ under DIR the script
- makes these files, and counts them: LIMITS says how many are written by hand,
- has the lists of operators and the page of layers written,
- checks includes, headers, facts, lists and entries of messages,
- compiles the tests that read the group's rows with the recipe's row alone, and an executor with
  the kernels that this row needs, and runs them,
- demands that a test fails for each of some mistakes in the kernels, which are compiled in and
  chosen when the tests run.

usage: recipe.py --compiler CXX --build DIR [--catch LIBRARY]... [-- COMPILER_FLAGS...]
       recipe.py --self-test
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPERATOR = "cumprod"
# Files that a contributor writes or changes by hand.
LIMITS = {"include": 4, "docs": 0, "test": 1}
BLOCK = re.compile(r"^```(cpp|diff)\n(.*?)^```", re.M | re.S)
# What reads the group's table of rows, and what both are linked with.
ROWS = "test/operators/reduce/reduce_rows.hpp"
LAWS = "test/operators/reduce/reduce_rows_test.cpp"
BODIES = "test/engine/cuda/rows/reduce_bodies_test.cpp"
EXECUTORS = "test/executor/shared_executor.cpp"
KERNELS = "include/lamina/executor/library_kernels.hpp"
# Kernels beside the operator's own that the laws call: what makes a cost of a result.
USED = ("assign", "fill", "mean", "reduction", "sum")
SOURCES = ("main.cpp", EXECUTORS, LAWS, BODIES)
# Mistakes that the laws must notice: (header, right expression, wrong one).
MISTAKES = [
    ("kernel.hpp", "(before * s[j])", "(before + s[j])"),
    ("kernel.hpp", "(product)", "(product + 1)"),
    ("executor.hpp", "(k >= j)", "(k > j)"),
]
CHOSEN = "LAMINA_RECIPE_MISTAKE"  # a number of a mistake, in the environment
CHOICE = f"""#include <cstdlib>
inline bool is_chosen(int mistake) {{
  static const char* const chosen = std::getenv("{CHOSEN}");
  return chosen != nullptr && std::atoi(chosen) == mistake;
}}
"""


def blocks_of(page):
    """(language, text) of each code block of the recipe."""
    return [found.groups() for found in BLOCK.finditer(page) if OPERATOR in found[2]]


def new_file(block):
    """The path of a new file, by its second line."""
    found = re.match(r"// SPDX-[^\n]*\n// (\S+) - \S", block)
    if not found:
        raise SystemExit(
            f"expected '// PATH - purpose' in the second line of a block, found {block!r}")
    path = found[1]
    return "include/" + path if path.startswith("lamina/") else path


def changed(text, lines, name):
    """A text with the lines of a diff added."""
    old = "".join(line[1:] + "\n" for line in lines if not line.startswith("+"))
    new = "".join(line[1:] + "\n" for line in lines)
    if not old or text.count("\n" + old) != 1:
        raise SystemExit(f"{name}: expected this once, found it {text.count(old)} times:\n{old}")
    return text.replace("\n" + old, "\n" + new)


def follow(page, root):
    """Makes all files of the recipe under a folder; returns their names."""
    names = []
    for language, block in blocks_of(page):
        if language == "cpp":
            names.append(new_file(block))
            path = root / names[-1]
            if path.exists():
                raise SystemExit(f"{names[-1]}: the recipe makes a file that is there already")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block)
            continue
        for part in re.split(r"^--- ", block, flags=re.M)[1:]:
            name, *lines = part.rstrip("\n").split("\n")
            path = root / name
            path.write_text(changed(path.read_text(), lines, name))
            if name not in names:
                names.append(name)
    return names


def own_rows(text):
    """A table of rows with those of the operator alone: the others take long to compile, and have
    tests of their own."""
    head, body, end = re.fullmatch(r"(.*?^void \w+\(To& to\) \{\n)(.*?)(^\}.*)", text,
                                    re.M | re.S).groups()
    rows = re.split(r"^(?=  \w)", body, flags=re.M)
    return head + "".join(row for row in rows if OPERATOR in row) + end


def own_kernels(text):
    """The executor's list of kernels with the operator's own and those of USED, for that reason."""
    call = re.compile(r"^  add_(\w+)_kernels\(table\);\n", re.M)
    return call.sub(lambda found: found[0] if found[1] in (OPERATOR, *USED) else "", text)


def count_faults(names):
    """Where the recipe has another number of files than LIMITS."""
    for folder, limit in LIMITS.items():
        found = sorted(name for name in names if name.split("/")[0] == folder)
        print(f"{folder}/: {len(found)} files by hand")
        if len(found) > limit:
            yield f"{folder}/: expected at most {limit} files by hand, found {', '.join(found)}"
        if len(found) < limit:
            yield (f"{folder}/: the recipe needs {len(found)} files: write it down in LIMITS,"
                   f" which has {limit}")


def run(*command, **options):
    """Whether a command succeeds; its output is shown."""
    return subprocess.run([str(part) for part in command], **options).returncode == 0


class tree:
    """A copy of the repository with the recipe, and its test."""

    def __init__(self, root, compiler, flags, libraries):
        self.root = root
        self.libraries = [
            *libraries, "-lpthread", *(["-lz"] if "-DLAMINA_HAS_ZLIB" in flags else [])
        ]
        self.compile = [
            *compiler.split(), "-std=c++20", "-O0", f"-I{root / 'include'}", f"-I{root / 'test'}",
            f'-DLAMINA_TEST_DIR="{root / "test"}"', "-Wall", "-Wextra", "-Werror",
            "-include", root / "choice.hpp", *flags
        ]

    def object_of(self, source):
        path = self.root / (source.replace("/", "_") + ".o")
        return path if run(*self.compile, "-c", self.root / source, "-o", path) else None

    def link(self, objects):
        """The program of all tests; None: something did not compile."""
        program = self.root / "recipe_test"
        made = all(objects) and run(*self.compile, *objects, "-o", program, *self.libraries)
        return program if made else None


def test_recipe(compiler, build, libraries, flags):
    root = build / "tree"
    shutil.rmtree(root, ignore_errors=True)
    for folder in ("include", "test", "docs"):
        shutil.copytree(ROOT / folder, root / folder)
    names = follow((ROOT / "CONTRIBUTING.md").read_text(), root)
    faults = list(count_faults(names))
    python = [sys.executable, "-B"]
    # The list of a definition is part of the recipe, so that nothing remains to be added to it.
    definition = root / "include/lamina/operators/reduce" / OPERATOR / "definition.hpp"
    stated = definition.read_text()
    for script in ("structure/operator_lists.py", "docs/layer_page.py"):
        run(*python, root / "test" / script, "--update")
    if definition.read_text() != stated:
        faults.append("definition.hpp: its operator_list is not what operator_lists.py writes")
    for script in ("structure/check_layers.py", "structure/check_calls.py",
                   "structure/check_headers.py", "structure/check_facts.py",
                   "structure/operator_lists.py", "docs/check_errors.py",
                   "docs/layer_page.py"):
        if not run(*python, root / "test" / script):
            faults.append(f"test/{script} fails")

    (root / ROWS).write_text(own_rows((root / ROWS).read_text()))
    (root / KERNELS).write_text(own_kernels((root / KERNELS).read_text()))
    copy = tree(root, compiler, flags, libraries)
    # The second version of Catch2 may be a header alone; the third one's libraries have the main
    # function.
    main_function = "" if libraries else "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n"
    (root / "main.cpp").write_text(main_function)
    (root / "choice.hpp").write_text(CHOICE)
    for number, (header, right, wrong) in enumerate(MISTAKES, 1):
        path = root / "include/lamina/operators/reduce" / OPERATOR / header
        text = path.read_text()
        if text.count(right) != 1:
            faults.append(f"{header}: expected '{right}' once, found it {text.count(right)} times")
        path.write_text(text.replace(right, f"(is_chosen({number}) ? {wrong} : {right})"))
    program = copy.link([copy.object_of(source) for source in SOURCES])
    if not program:
        return [*faults, "the tests of the row do not compile"]
    right_ones = {name: value for name, value in os.environ.items() if name != CHOSEN}
    if not run(program, env=right_ones):
        return [*faults, "the tests of the row fail"]
    for number, (header, _, wrong) in enumerate(MISTAKES, 1):
        if run(program, stdout=subprocess.DEVNULL, env={**right_ones, CHOSEN: str(number)}):
            faults.append(f"the row does not notice '{wrong}' in {header}")
    return faults


def self_test():
    page = (
        "A\n```cpp\n// SPDX-x\n// lamina/a/cumprod.hpp - b\nint c;\n```\n```cpp\nint other;\n```\n"
        "```diff\n--- docs/d.md\n+cumprod\n e\n+f\n--- test/g\n h\n+cumprod\n--- docs/d.md\n "
        "first\n+second\n```\n"
    )
    assert [language for language, _ in blocks_of(page)] == ["cpp", "diff"]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in (("docs/d.md", "first\ne\n"), ("test/g", "\nh\nhh\n")):
            (root / name).parent.mkdir()
            (root / name).write_text("\n" + text)
        assert follow(page, root) == ["include/lamina/a/cumprod.hpp", "docs/d.md", "test/g"]
        assert (root / "docs/d.md").read_text() == "\nfirst\nsecond\ncumprod\ne\nf\n"
        assert (root / "test/g").read_text() == "\n\nh\ncumprod\nhh\n"
        assert (root / "include/lamina/a/cumprod.hpp").read_text().endswith("- b\nint c;\n")
        for wrong in (page, page.replace("cumprod.hpp - b",
                                         "other.hpp - b").replace(" e\n", " x\n")):
            try:
                follow(wrong, root)
                assert False, wrong
            except SystemExit:
                pass
    head, end = "void reduce(To& to) {\n", "}\n\n}\n"
    own = "  of(to, \"cumprod\", []() {\n    x;\n  });\n"
    other = "  of(to, []() {\n    y;\n  });\n"
    assert own_rows(head + other + own + other + end) == head + own + end
    calls = [f"  add_{name}_kernels(table);\n" for name in (OPERATOR, "conv", USED[0])]
    assert own_kernels("{\n" + "".join(calls) + "}") == "{\n" + calls[0] + calls[2] + "}"
    names = [f"{folder}/{i}" for folder, limit in LIMITS.items() for i in range(limit)]
    assert list(count_faults(names)) == []
    assert len(list(count_faults([*names, "include/more"]))) == 1
    assert len(list(count_faults(names[1:]))) == 1
    print("ok")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("usage: ") + 7:])
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--catch", action="append", default=[])
    parser.add_argument("flags", nargs="*")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    faults = test_recipe(arguments.compiler, arguments.build.resolve(), arguments.catch,
                         arguments.flags)
    print("\n".join(faults) or "the recipe gives an operator that obeys all laws")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
