#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that links between pages lead somewhere, and that lists of pages and examples are whole.

A link of README.md, CONTRIBUTING.md, CHANGELOG.md, examples/README.md or a page of docs/ that is
not an address of the web names a file that exists, and a heading of that file where it has a `#`.
Code is left out. docs/index.md has a link to each page. examples/README.md has a link to each
program of examples/, those with a number in their order, and docs/index.md the names of those with
a number in the same order. The first comment of a program begins with its name, then says what it
shows: `examples/run --list` prints that line.

usage: check_links.py
       check_links.py --self-test
"""
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))
from example_sources import sources  # noqa: E402

FENCED = re.compile(r"^( *)```.*?^\1```", re.M | re.S)


def without_code(text):
    return re.sub(r"(`+)[^`].*?\1", "", FENCED.sub("", text))


def headings(text):
    """The names that GitHub gives to the headings of a page."""
    names = set()
    for heading in re.findall(r"^#+ +(.*?) *$", FENCED.sub("", text), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = base = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number = 0
        while name in names:
            number += 1
            name = f"{base}-{number}"
        names.add(name)
    return names


def faults_of(root):
    """(what is wrong, the number of links)."""
    faults, links = [], 0
    pages = [root / f"{name}.md"
             for name in ("README", "CONTRIBUTING", "CHANGELOG", "examples/README")]
    pages = [page for page in pages if page.exists()] + sorted((root / "docs").glob("*.md"))
    for page in pages:
        for link in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text())):
            if re.match(r"[a-z]+:", link):
                continue
            links += 1
            name, _, heading = link.partition("#")
            target, here = page.parent / name if name else page, page.relative_to(root)
            if not target.exists():
                faults.append(f"{here}: found no file of the link {link}")
            elif heading and heading not in headings(target.read_text()):
                faults.append(f"{here}: found no heading of the link {link}")
    index = (root / "docs/index.md").read_text()
    for page in sorted((root / "docs").glob("*.md")):
        if page.name != "index.md" and f"]({page.name})" not in index:
            faults.append(f"docs/index.md: expected a link to {page.name}")
    return [*faults, *example_faults(root, index)], links


def example_faults(root, index):
    """What is wrong with the lists of examples and with their first comments."""
    listed = re.findall(r"\[(?:\d+ )?`(\w+)`\]\(([\w/]+\.cpp)\)",
                        (root / "examples/README.md").read_text())
    found = sources(root / "examples")
    for name, path in found.items():
        where = path.relative_to(root / "examples")
        if (name, str(where)) not in listed:
            yield f"examples/README.md: expected a link [`{name}`]({where})"
        if not re.search(rf"^// {name} - \S", path.read_text(), re.M):
            yield f"examples/{where}: expected a first comment `// {name} - ` with what it shows"
    path_of_learners = [name for name, path in found.items() if path.parent.name == "examples"]
    if [name for name, where in listed if "/" not in where] != path_of_learners:
        yield f"examples/README.md: expected the order {', '.join(path_of_learners)}"
    rows = re.findall(r"^\| *\d+ \| .*? \| `(\w+)` \|", index, re.M)
    if rows != path_of_learners:
        yield f"docs/index.md: expected the examples {', '.join(path_of_learners)}, in this order"


def self_test():
    assert headings("# A `b`: c\n## A b c\n```\n# no\n```\n") == {"a-b-c", "a-b-c-1"}
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for folder in ("docs", "examples"):
            (root / folder).mkdir()
        (root / "README.md").write_text("[a](docs/a.md#b) [w](https://x.y/z) `[](c)`\n")
        (root / "docs/index.md").write_text("[a](a.md)\n| 1 | a | `one` | learn |\n")
        (root / "examples/README.md").write_text("[01 `one`](01_one.cpp) [`two`](more/two.cpp)\n")
        (root / "docs/a.md").write_text("# A\n## B\n[up](../README.md) [here](#b)\n")
        (root / "examples/01_one.cpp").write_text("// one - a line\n")
        (root / "examples/more").mkdir()
        (root / "examples/more/two.cpp").write_text("// two - a line\n")
        assert faults_of(root) == ([], 6), faults_of(root)
        (root / "docs/b.md").write_text("[x](a.md#c) [y](d.md)\n")
        (root / "examples/more/two.cpp").write_text("// a line\n")
        (root / "examples/02_three.cpp").write_text("// three - a line\n")
        found = "\n".join(faults_of(root)[0])
        for expected in ("heading of the link a.md#c", "file of the link d.md", "link to b.md",
                         "link [`three`](02_three.cpp)", "comment `// two - `", "order one, three",
                         "docs/index.md: expected the examples one, three"):
            assert expected in found, found
    print("links that lead nowhere were found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    faults, links = faults_of(ROOT)
    print("\n".join(faults) or f"{links} links lead to files and headings")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
