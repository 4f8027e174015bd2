#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/coverage.md from coverage_table.txt: what documents of PaddlePaddle name, and where.

usage: coverage_page.py [--update]
       coverage_page.py --self-test

The table's first lines say its form. Each item has a header of include/lamina, a test, and a page
or an example, with a piece of text that must stand in each of these files; an item that has none
says why (`!`), and is listed apart. Fails for a file or a text that does not exist, for an item
twice in a section, a line in another form, and where the page is not what the table says.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = pathlib.Path(__file__).with_name("coverage_table.txt")
PAGE = ROOT / "docs" / "coverage.md"
PLACES = (("header", "include/lamina/"), ("test", "test/"), ("page or example", ""))

INTRODUCTION = """# Coverage

This page shows, for each item that five documents of PaddlePaddle name, where lamina has it: the
header that declares it, a test, and the page or example that shows it. Items are functions,
arguments and concepts. Two of the five documents are versions of "PaddlePaddle API", so they share
a chapter. "A whole program" means that the document has a complete program; lamina has its own
program for the same purpose ([names of PaddlePaddle v2](v2.md)).

`tools/check --fix` writes this page from `test/docs/coverage_table.txt`. `tools/check` fails if a
header does not contain the word that its row names, or if a test or page is missing. So each row
agrees with the current headers.
"""
MISSING = """## Not there yet

Items that a document names and lamina does not have, with the reason.
"""


def read_table(text):
    """([[title, [[section, items, missing]]]], what is wrong): items are lists of four texts,
    missing pairs of an item and its reason."""
    documents, faults = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        where = f"coverage_table.txt:{number}"
        if found := re.fullmatch(r"= \w+: (.+)", line):
            documents.append([found[1], []])
        elif found := re.fullmatch(r"== (.+)", line):
            if not documents:
                faults.append(f"{where}: a section before any document")
                documents.append(["", []])
            documents[-1][1].append([found[1], [], []])
        elif not documents or not documents[-1][1]:
            faults.append(f"{where}: an item outside of sections")
        elif line.startswith("! "):
            parts = [part.strip() for part in line[2:].split(" | ")]
            if len(parts) != 2 or not all(parts):
                faults.append(f"{where}: expected `! ITEM | WHY`")
            else:
                documents[-1][1][-1][2].append(parts)
        else:
            parts = [part.strip() for part in line.split(" | ")]
            if len(parts) != 4 or not all(parts):
                faults.append(f"{where}: expected an item with a header, a test and a page")
            elif parts[0] in [item[0] for item in documents[-1][1][-1][1]]:
                faults.append(f"{where}: '{parts[0]}' is twice in its section")
            else:
                documents[-1][1][-1][1].append(parts)
    return documents, faults


def faults_of(documents, read):
    """What is wrong with the places of items; `read` gives the text of a file, or None."""
    for title, sections in documents:
        for section, items, missing in sections:
            if not items and not missing:
                yield f"{title}, {section}: has no items"
            for item, *places in items:
                for (kind, folder), place in zip(PLACES, places):
                    name, _, word = place.partition("#")
                    text = read(folder + name)
                    if text is None:
                        yield f"{title}, {section}, {item}: there is no {kind} {folder}{name}"
                    elif word and word not in text:
                        yield f"{title}, {section}, {item}: {folder}{name} has no '{word}'"
                    elif kind != "page or example" and word in ("", "TEST_CASE", "namespace"):
                        yield f"{title}, {section}, {item}: the {kind} has no '#TEXT'"


def page_of(documents):
    lines = [INTRODUCTION]
    count = 0
    for title, sections in documents:
        lines += [f"## {title}", ""]
        for section, items, _ in sections:
            if not items:
                continue
            lines += [
                f"### {section}", "", "| item | header | test | page or example |",
                "| --- | --- | --- | --- |"
            ]
            for item, header, test, page in items:
                name = page.split("#")[0]
                shown = (f"[{name}]({name.removeprefix('docs/')})" if name.startswith("docs/") else
                         f"`{name}`")
                lines.append(f"| {item} | `{header.split('#')[0]}` | `{test.split('#')[0]}` | "
                             f"{shown} |")
                count += 1
            lines.append("")
    lines += [MISSING, "| document | section | item | why |", "| --- | --- | --- | --- |"]
    lacking = [(title, section, *one) for title, sections in documents
               for section, _, missing in sections for one in missing]
    lines += [f"| {title} | {section} | {item} | {why} |" for title, section, item, why in lacking]
    return "\n".join(lines) + "\n", count, len(lacking)


SAMPLE = """# A comment
= API: A document
== One
f(x) | a.hpp#f( | a_test.cpp#f of x | docs/a.md#f
! g(x) | later
"""
FILES = {"include/lamina/a.hpp": "int f(int);", "test/a_test.cpp": "f of x", "docs/a.md": "f"}


def self_test():
    documents, faults = read_table(SAMPLE)
    assert not faults and not list(faults_of(documents, FILES.get)), faults
    page, count, missing = page_of(documents)
    assert (count, missing) == (1, 1)
    assert "| f(x) | `a.hpp` | `a_test.cpp` | [docs/a.md](a.md) |" in page, page
    assert "| A document | One | g(x) | later |" in page.split("## Not there yet")[1], page
    forms = [
        (SAMPLE.replace("== One\n", ""), "outside of sections"),
        (SAMPLE.replace(" | docs/a.md#f", ""), "expected an item with a header"),
        (SAMPLE.replace(" | docs/a.md#f", " |  "), "expected an item with a header"),
        (SAMPLE.replace(" | later", ""), "expected `! ITEM | WHY`"),
        (SAMPLE + "f(x) | b.hpp#f | b | c\n", "is twice in its section"),
    ]
    for text, expected in forms:
        found = read_table(text)[1]
        assert found and expected in found[0], (expected, found)
    places = [
        ("a.hpp#f(", "b.hpp#f(", "there is no header include/lamina/b.hpp"),
        ("a.hpp#f(", "a.hpp#g(", "include/lamina/a.hpp has no 'g('"),
        ("a.hpp#f(", "a.hpp", "the header has no '#TEXT'"),
        ("a_test.cpp#f of x", "b_test.cpp#f of x", "there is no test test/b_test.cpp"),
        ("a_test.cpp#f of x", "a_test.cpp#f of y", "test/a_test.cpp has no 'f of y'"),
        ("docs/a.md#f", "docs/b.md#f", "there is no page or example docs/b.md"),
    ]
    for old, new, expected in places:
        found = list(faults_of(read_table(SAMPLE.replace(old, new))[0], FILES.get))
        assert len(found) == 1 and expected in found[0], (expected, found)
    assert "has no items" in list(faults_of([["A", [["B", [], []]]]], FILES.get))[0]
    print("ok")


def main():
    if "--self-test" in sys.argv:
        return self_test()
    known = {}

    def read(name):
        if name not in known:
            path = ROOT / name
            known[name] = path.read_text() if path.is_file() else None
        return known[name]

    documents, faults = read_table(TABLE.read_text())
    page, count, missing = page_of(documents)
    faults += faults_of(documents, read)
    if "--update" in sys.argv:
        PAGE.write_text(page)
    elif not PAGE.exists() or PAGE.read_text() != page:
        faults.append("docs/coverage.md is not what the table says: run coverage_page.py --update")
    for fault in faults:
        print(fault)
    print(f"{count} items, {missing} not there yet")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
