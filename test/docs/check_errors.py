#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that docs/errors.md explains every compile-time message, and none that no longer exists.

A message is the text of a static_assert in include/ that starts with "lamina: ". Its entry is a
heading of docs/errors.md with the text word for word, in backquotes or not. A heading that starts
with "lamina: " and is not the text of a static_assert must be how a string of include/ starts: a
message that is thrown at run time.

A declaration `no_match<fc_attr> fc(...) = delete;  // ... options: act, name`, whose line g++
prints for an option that fc does not have, lists the members of struct fc_attr.

usage: check_errors.py [INCLUDE_FOLDER PAGE]
       check_errors.py --self-test
"""
import pathlib
import re
import sys

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|static_assert\b|[()]|\s+|\w+|.',
    re.S)
PREFIX = "lamina: "


def strings_of(text):
    """(is it the text of a static_assert, string) of each literal of a source, adjacent ones
    joined."""
    depth, assert_depth, literal = 0, None, None
    for token in TOKEN.findall(text):
        if token.isspace() or token.startswith(("//", "/*")):
            continue
        if token[0] == '"':
            literal = (literal or "") + token[1:-1].replace('\\"', '"')
            continue
        if literal is not None:
            yield assert_depth == depth and token == ")", literal
            literal = None
        if token == "static_assert":
            assert_depth = depth + 1
        elif token == "(":
            depth += 1
        elif token == ")":
            if assert_depth == depth:
                assert_depth = None
            depth -= 1
    if literal is not None:
        yield False, literal


def headings_of(page):
    """The headings of a page of Markdown, without backquotes."""
    in_code = False
    for line in page.splitlines():
        if line.startswith("```"):
            in_code = not in_code
        elif not in_code and re.match(r"#+ ", line):
            yield line.lstrip("#").replace("`", "").strip()


def faults_of(sources, page):
    """Messages without an entry, and entries without a message."""
    strings = {(name, is_assert, text) for name, source in sources.items()
               for is_assert, text in strings_of(source) if text.startswith(PREFIX)}
    headings = [h for h in headings_of(page) if h.startswith(PREFIX.strip())]
    for name, is_assert, text in sorted(strings):
        if is_assert and text not in headings:
            yield f"{name}: docs/errors.md has no heading '{text}'"
    for heading in sorted(set(headings)):
        if headings.count(heading) > 1:
            yield f"docs/errors.md: '{heading}' has {headings.count(heading)} entries"
        if not any(text == heading or (not is_assert and text.startswith(heading))
                   for _, is_assert, text in strings):
            yield f"docs/errors.md: no source says '{heading}'"


LISTED = re.compile(
    r"no_match<(\w+)>\s+\w+\(\.\.\.\) = delete;  // [^\n]*options: ([\w, ]+)$", re.M)
MEMBER = re.compile(r"^  [\w:<>, ]+?\s(\w+)(?:\s*=[^;]*|\{[^;]*\})?;", re.M)


def option_faults_of(sources):
    """Lists of options that are not those of the struct."""
    structs = {
        name: MEMBER.findall(body)
        for source in sources.values()
        for name, body in re.findall(r"^struct (\w+_attr)(?: : [\w:]+)? \{\n(.*?)^\};", source,
                                     re.M | re.S)
    }
    for name, source in sorted(sources.items()):
        for attr, listed in LISTED.findall(source):
            if listed.split(", ") != structs.get(attr):
                yield f"{name}: expected the options {structs.get(attr)}, found '{listed}'"


def self_test():
    """Plants each fault and demands that exactly it is found."""
    source = '''// static_assert(false, "lamina: in a comment");
    static_assert((N == f(")", 'x')), "lamina: fc: the width "  // joined
                                      "differs");
    static_assert(ok<"lamina: no message">);
    throw error("lamina: label is " + found);'''
    entry = "# Errors\n## `lamina: fc: the width differs`\n"
    planted = [(entry, None), (entry + "### lamina: label\n", None),
               ("# Errors\n", "no heading 'lamina: fc: the width differs'"),
               ("# Errors\n```\n## lamina: fc: the width differs\n```\n",
                "no heading 'lamina: fc: the width differs'"),
               ("## lamina: fc: the width\n" + entry, "no source says 'lamina: fc: the width'"),
               (entry + "## lamina: in a comment\n", "no source says 'lamina: in a comment'"),
               (entry + entry, "has 2 entries"), ]
    wrong = 0
    for page, expected in planted:
        faults = list(faults_of({"a.hpp": source}, page))
        if not (not faults if expected is None else len(faults) == 1 and expected in faults[0]):
            wrong += 1
            print(f"expected '{expected}', found {faults}")
    struct = ("struct fc_attr {\n  activation act = activation::identity;\n"
              "  bool bias = true;  // b\n};\n")
    for listed, right in [("act, bias", True), ("act", False), ("bias, act", False),
                          ("act, bias, name", False)]:
        line = f"constexpr no_match<fc_attr>\nfc(...) = delete;  // fc<8>(x); options: {listed}\n"
        if bool(list(option_faults_of({"a.hpp": struct + line}))) == right:
            wrong += 1
            print(f"a planted list of options was judged wrongly: {listed}")
    print(f"{len(planted) + 4 - wrong} of {len(planted) + 4} planted pages were judged rightly")
    return wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        return bool(self_test())
    root = pathlib.Path(__file__).resolve().parents[2]
    include, page = map(pathlib.Path, sys.argv[1:] or
                        (root / "include", root / "docs" / "errors.md"))
    sources = {str(p.relative_to(include)): p.read_text(errors="replace")
               for p in sorted(include.rglob("*")) if p.suffix in (".hpp", ".cuh")}
    faults = list(faults_of(sources, page.read_text() if page.is_file() else ""))
    faults += option_faults_of(sources)
    print("\n".join(faults) or f"{len(sources)} headers: docs/errors.md explains every message")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
