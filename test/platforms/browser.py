#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles examples/browser to WebAssembly with the command of its page, opens the page in Chromium
without a window, and checks that the classifier has learned.

usage: browser.py [--screenshot FILE]

If clang-19 or Chromium is missing, browser.py says so and exits with 77; `test/install wasm` and
`test/install browser` install them.
"""
import argparse
import functools
import http.server
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/browser"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MOST_KB = 300


def command_of_page():
    """The compiler's command in the page of documentation."""
    text = (ROOT / "docs/webassembly.md").read_text()
    found = re.search(r"^clang\+\+-19 .*?points\.wasm$", text, re.M | re.S)
    if found is None:
        sys.exit("browser.py: expected the command that makes points.wasm in docs/webassembly.md")
    return found[0]


class quiet_handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def text_of_page(browser, folder, screenshot):
    """What the page says below the picture after 1,000 steps."""
    handler = functools.partial(quiet_handler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu",
                   f"--user-data-dir={folder}/profile", "--window-size=700,900",
                   "--virtual-time-budget=4000"]
        url = f"http://127.0.0.1:{server.server_port}/index.html#1000"
        if screenshot:
            subprocess.run([*command, f"--screenshot={screenshot}", url], capture_output=True,
                           timeout=120)
        page = subprocess.run([*command, "--dump-dom", url], capture_output=True, text=True,
                              timeout=120).stdout
        server.shutdown()
    found = re.search(r'<p id="state">([^<]*)</p>', page)
    return found[1] if found else page[-2000:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--screenshot", type=pathlib.Path)
    options = parser.parse_args()
    for word, names in (("wasm", ("clang++-19", )), ("browser", BROWSERS)):
        if not any(map(shutil.which, names)):
            subprocess.run([ROOT / "test/install", word], stdin=subprocess.DEVNULL)
        if not any(map(shutil.which, names)):
            print(f"SKIPPED: found no {' or '.join(names)}; test/install {word} installs it")
            return 77
    browser = next(filter(None, map(shutil.which, BROWSERS)))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        made = pathlib.Path(folder, "points.wasm")
        command = command_of_page().replace("examples/browser/points.wasm", str(made))
        subprocess.run(command, shell=True, check=True, cwd=ROOT)
        shutil.copy(EXAMPLE / "index.html", folder)
        kb = sum(f.stat().st_size for f in pathlib.Path(folder).iterdir()) / 1024
        said = text_of_page(browser, folder, options.screenshot)
        print(f"{kb:.0f} KB; the page says: {said}")
        cost = re.search(r"step \d+: cost ([0-9.]+)", said)
        if kb > MOST_KB:
            print(f"expected a page of at most {MOST_KB} KB, found {kb:.0f} KB")
        elif cost is None or float(cost[1]) > 0.1:
            print("expected a cost of at most 0.1 after 1,000 steps")
        else:
            return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
