#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the tables of docs/from_pytorch_and_keras.md: the library has each name of lamina.

usage: peer_names.py [--self-test]

A table counts if the head of its last column is "lamina". Each identifier of the code in this
column must be a word of a header, except EXAMPLES, which the page or a user defines.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/from_pytorch_and_keras.md"
EXAMPLES = {"adamw", "channel_dropout", "mish", "steps_per_pass"}


def last_cells(text):
    """The last cell of each row of the tables whose last head is lamina."""
    counts = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            counts = False
        elif counts or cells[-1] == "lamina":
            if counts and set(cells[-1]) != {"-"}:
                yield cells[-1]
            counts = True


def names_of(cell):
    """The identifiers of the code in a cell, without texts, numbers and files."""
    for code in re.findall(r"`([^`]*)`", cell):
        if "/" in code:
            continue
        code = re.sub(r'"[^"]*"|\b[0-9][0-9.]*(e-?[0-9]+)?f?\b', " ", code)
        yield from re.findall(r"[A-Za-z_]\w*", code)


def unknown(text, words):
    found = {name for cell in last_cells(text) for name in names_of(cell)}
    return sorted(found - words - EXAMPLES)


def self_test():
    text = ('| a | lamina |\n| --- | --- |\n| `no` | `f<2>(x, "no")`, or `0.5f * g(x)` |\n'
            '\n| b |\n| `no` |\n')
    assert list(last_cells(text)) == ['`f<2>(x, "no")`, or `0.5f * g(x)`'], list(last_cells(text))
    assert unknown(text, {"f", "x"}) == ["g"], unknown(text, {"f", "x"})
    assert unknown(text, {"f", "g", "x"}) == []
    print("ok")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    words = set()
    for ending in ("hpp", "cuh"):
        for header in (ROOT / "include").rglob("*." + ending):
            words.update(re.findall(r"[A-Za-z_]\w*", header.read_text()))
    text = PAGE.read_text()
    names = unknown(text, words)
    print("\n".join(f"{PAGE.name}: no header has '{name}'" for name in names) or
          f"{len(list(last_cells(text)))} rows: the headers have every name")
    return bool(names)


if __name__ == "__main__":
    sys.exit(main())
