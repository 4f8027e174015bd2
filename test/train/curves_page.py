#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Learning curves in CSV and HTML, read by parsers that are not lamina's and shown by a browser.

Compiles a small program that records curves and writes both files. Python's csv and HTML parsers
read them: every line of a figure has one point per finite value, and the table has all of them.
Chromium without a window opens the page, draws it and says what it contains; where there is none
and apt cannot install one, this part is left out, and the output says so.

usage: curves_page.py [--compiler CXX] [-- COMPILER_FLAGS...]
"""
import argparse
import csv
import html.parser
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = r"""
#include <cmath>
#include <lamina/train/events/curves_page.hpp>
int main() {
  lamina::learning_curves curves;
  for (int pass = 0; pass < 20; ++pass) {
    const lamina::optimizer::metric_value metrics[] = {{"accuracy", pass / 20.0},
                                                       {"a, \"b\" & <c>", -pass * 1e6}};
    lamina::event e{.kind = lamina::event_kind::end_pass, .pass = pass,
                    .cost = pass == 7 ? std::nan("") : std::exp(-0.1 * pass), .metrics = metrics};
    curves(e);
    e.kind = lamina::event_kind::end_validation;
    e.cost = 1;
    curves(e);
  }
  curves.save_csv("curves.csv");
  lamina::curves_page(curves).save("curves.html");
}
"""
NAMES = ["cost", "accuracy", 'a, "b" & <c>']
BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
PACKAGE = "chromium"


class Page(html.parser.HTMLParser):
    """The tags of a page, the points of its lines, its headings and the cells of its table."""

    def __init__(self, text):
        super().__init__()
        self.open, self.lines, self.headings, self.cells, self.outside = [], [], [], [], []
        self.feed(text)
        self.close()

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.open.append(tag)
        if tag == "meta":
            self.open.pop()
        if tag == "polyline":
            points = [tuple(map(float, p.split(","))) for p in attrs["points"].split()]
            self.lines.append((attrs["class"], points))
        if tag in ("script", "link", "iframe", "img") or {"src", "href"} & attrs.keys():
            self.outside.append(tag)

    def handle_endtag(self, tag):
        if tag == "meta":
            return
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] in ("h2", "td", "th"):
            (self.headings if self.open[-1] == "h2" else self.cells).append(data)


def joined(parts):
    """Headings whose letters a parser may hand over in pieces."""
    return "".join(parts)


def check_files(folder):
    """Faults of both files."""
    rows = list(csv.reader((folder / "curves.csv").open(newline="")))
    if rows[0] != ["pass", "part", *NAMES]:
        yield f"curves.csv: expected the names {NAMES}, found {rows[0]}"
    if len(rows) != 41 or {len(r) for r in rows} != {5}:
        yield f"curves.csv: expected 40 rows of 5 fields, found {len(rows) - 1}"
    if rows[3][:2] != ["1", "training"] or abs(float(rows[3][2]) - 0.904837418) > 1e-9:
        yield f"curves.csv: expected pass 1 of training, found {rows[3]}"
    text = (folder / "curves.html").read_text(encoding="utf-8")
    page = Page(text)
    if page.open:
        yield f"curves.html: {page.open} is not closed"
    if page.outside:
        yield f"curves.html: {page.outside} needs another file"
    if joined(page.headings) != joined(NAMES) + "Values":
        yield f"curves.html: expected a figure of each of {NAMES}, found {page.headings}"
    # The line of the cost is interrupted where pass 7 has no number.
    counts = [(part, len(points)) for part, points in page.lines]
    if counts != [("training", 7), ("training", 12), ("validation", 20)] + 2 * [
            ("training", 20), ("validation", 20)]:
        yield f"curves.html: the lines have other points: {counts}"
    inside = all(0 <= x <= 720 and 0 <= y <= 260 for _, line in page.lines for x, y in line)
    falls = all(a[0] < b[0] and a[1] < b[1]
                for a, b in zip(page.lines[0][1], page.lines[0][1][1:]))
    if not inside or not falls:
        yield "curves.html: the line of a falling cost does not fall within its figure"
    if page.cells.count("training") != 20 or page.cells.count("validation") != 20:
        yield "curves.html: the table does not have 20 rows of each part"


def browser():
    """A Chromium, installed where there is none and apt may; None otherwise."""
    for name in BROWSERS:
        if found := shutil.which(name):
            return found
    if os.geteuid() != 0 or not shutil.which("apt-get") or os.environ.get("LAMINA_APT") == "no":
        return None
    try:
        # As in test/install: another apt may hold the lock for some minutes.
        subprocess.run(["apt-get", "-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=300",
                        "install", "-y", "-q", "--no-install-recommends", PACKAGE],
                       check=True, timeout=600, capture_output=True,
                       env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    except (subprocess.SubprocessError, OSError):
        return None
    return shutil.which(PACKAGE)


def check_in_browser(program, folder):
    """Faults of the page as a browser has laid it out and drawn it."""
    common = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
              f"--user-data-dir={folder / 'profile'}"]
    url = (folder / "curves.html").as_uri()
    drawn = subprocess.run([*common, "--dump-dom", url], capture_output=True, text=True,
                           timeout=120)
    if drawn.returncode != 0 or drawn.stdout.count("<polyline") != 7:
        yield (f"curves.html: the browser ends with {drawn.returncode} and has"
               f" {drawn.stdout.count('<polyline')} of 7 lines: {drawn.stderr[-300:]}")
    picture = folder / "curves.png"
    subprocess.run([*common, f"--screenshot={picture}", "--window-size=900,1400", url],
                   capture_output=True, timeout=120)
    if not picture.exists() or picture.stat().st_size < 10_000:
        yield "curves.html: the browser draws next to nothing"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("flags", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "main.cpp").write_text(PROGRAM)
        subprocess.run([options.compiler, "-std=c++20", *options.flags, f"-I{ROOT / 'include'}",
                        "main.cpp", "-o", "main", "-lz"], cwd=folder, check=True)
        subprocess.run(["./main"], cwd=folder, check=True)
        faults = list(check_files(folder))
        if program := browser():
            faults += check_in_browser(program, folder)
            print(f"the page was drawn by {program}")
        else:
            print("LEFT OUT: no Chromium here, and apt-get installs none: the page is not drawn")
    print("\n".join(faults) or "curves.csv and curves.html are whole")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
