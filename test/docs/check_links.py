#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that links between pages lead somewhere, and that docs/index.md names everything.

A link of README.md, CONTRIBUTING.md, CHANGELOG.md or a page of docs/ that is not an address of the
web names a file that exists, and a heading of that file where it has a `#`. Code is left out.
docs/index.md has a link to each page, and the name of each program of examples/ in backquotes.

usage: check_links.py
       check_links.py --self-test
"""
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
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
    pages = [root / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")]
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
    for example in sorted((root / "examples").glob("*.cpp")):
        if f"`{example.stem}`" not in index:
            faults.append(f"docs/index.md: expected the example `{example.stem}`")
    return faults, links


def self_test():
    assert headings("# A `b`: c\n## A b c\n```\n# no\n```\n") == {"a-b-c", "a-b-c-1"}
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for folder in ("docs", "examples"):
            (root / folder).mkdir()
        (root / "README.md").write_text("[a](docs/a.md#b) [w](https://x.y/z) `[](c)`\n")
        (root / "docs/index.md").write_text("[a](a.md) `one`\n")
        (root / "docs/a.md").write_text("# A\n## B\n[up](../README.md) [here](#b)\n")
        (root / "examples/one.cpp").write_text("")
        assert faults_of(root) == ([], 4), faults_of(root)
        (root / "docs/b.md").write_text("[x](a.md#c) [y](d.md)\n")
        (root / "examples/two.cpp").write_text("")
        found = "\n".join(faults_of(root)[0])
        for expected in ("heading of the link a.md#c", "file of the link d.md", "link to b.md",
                         "example `two`"):
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
