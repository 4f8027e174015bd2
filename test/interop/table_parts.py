# SPDX-License-Identifier: Apache-2.0
"""Known differences, and parts of pages that a script writes; needs nothing but Python."""
import pathlib

HERE = pathlib.Path(__file__).resolve().parent


def known_differences(file):
    """By case why it differs; a line may name several cases with commas between."""
    return {name.rstrip("?"): why for name, why in _listed_differences(file)}


def rounded_differences(file):
    """The cases of FILE with a question mark: rounding decides there, so that some processors give
    equal results."""
    return {name[:-1] for name, _ in _listed_differences(file) if name.endswith("?")}


def _listed_differences(file):
    rows = [
        line.split(maxsplit=1) for line in (HERE / file).read_text().splitlines()
        if line.strip() and line[0] != "#"
    ]
    return [(name, row[1]) for row in rows for name in row[0].split(",")]


def with_part(page, mark, part):
    """The text of a page with PART between its two lines that are comments with MARK."""
    lines = page.splitlines(keepends=True)
    first, last = [i for i, line in enumerate(lines) if mark in line and line.startswith("<!--")]
    return "".join(lines[:first + 1]) + "\n" + part + "\n" + "".join(lines[last:])


def rewrite_page(path, mark, part):
    path.write_text(with_part(path.read_text(), mark, part))


def listed(rows, names):
    """NAMES in one line; a star is behind those that are equal in double too."""
    result = dict(rows)
    return ", ".join(n + ("*" if result.get(n + "_in_double") == "equal" else "") for n in names)


def plain_names(rows):
    """Names of cases that are neither a gradient, nor in double, nor at the edges."""
    return [name for name, _ in rows if not name.endswith(("_grad", "_in_double", "@edges"))]


def page_part(rows):
    """The results as Markdown: cases whose gradients are compared too, others, those that
    differ."""
    result = dict(rows)
    equal = [n for n in plain_names(rows) if result[n] == "equal"]
    both = [n for n in equal if result.get(n + "_grad") == "equal"]
    alone = [n for n in equal if n + "_grad" not in result]
    lines = [
        f"Equal, gradients too ({len(both)}; with a star also in double): {listed(rows, both)}.",
        "", f"Equal, no gradient compared ({len(alone)}): {listed(rows, alone)}.", ""
    ]
    return "\n".join(lines) + differing(rows, "why it differs")


def differing(rows, title):
    """A table of the cases that differ, those with one reason in one row."""
    names = {}
    for name, why in rows:
        if why != "equal":
            names.setdefault(why, []).append(name)
    lines = ["", f"| case | {title} |", "| --- | --- |"]
    return "\n".join(lines + [f"| {', '.join(all)} | {why} |" for why, all in names.items()]) + "\n"
