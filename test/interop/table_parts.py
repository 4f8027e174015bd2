# SPDX-License-Identifier: Apache-2.0
"""Known differences, and parts of pages that a script writes; needs nothing but Python."""
import pathlib

HERE = pathlib.Path(__file__).resolve().parent


def known_differences(file):
    """By case why it differs; a line may name several cases with commas between."""
    rows = [line.split(maxsplit=1) for line in (HERE / file).read_text().splitlines() if line.strip() and line[0] != "#"]
    return {name: row[1] for row in rows for name in row[0].split(",")}


def with_part(page, mark, part):
    """The text of a page with PART between its two lines that are comments with MARK."""
    lines = page.splitlines(keepends=True)
    first, last = [i for i, line in enumerate(lines) if mark in line and line.startswith("<!--")]
    return "".join(lines[:first + 1]) + "\n" + part + "\n" + "".join(lines[last:])


def rewrite_page(path, mark, part):
    path.write_text(with_part(path.read_text(), mark, part))


def page_part(rows):
    """The results as Markdown: cases whose gradients are compared too, others, those that differ."""
    result = dict(rows)
    forward = [name for name, _ in rows if not name.endswith("_grad")]
    both = [n for n in forward if result[n] == "equal" and result.get(n + "_grad") == "equal"]
    alone = [n for n in forward if result[n] == "equal" and n + "_grad" not in result]
    lines = [f"Equal, gradients too ({len(both)}): {', '.join(both)}.", "",
             f"Equal, no gradient compared ({len(alone)}): {', '.join(alone)}.", "", "| case | why it differs |", "| --- | --- |"]
    lines += [f"| {n} | {why} |" for n, why in rows if why != "equal"]
    return "\n".join(lines) + "\n"
