#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the documentation site and checks its HTML.

usage: check_site.py [--build DIR]
       check_site.py navigation
       check_site.py --self-test

- `tools/site` builds it strictly. Where pip cannot install MkDocs, the check is skipped (77).
- Each link and each `#` of the built pages leads somewhere, and no page loads anything from another
  host.
- Each page but lists of pages has an example.
- Of the public names, at most MOST_WITHOUT have no example.
- In Chromium, no page of WIDE is wider than a window of 1280 or 400 pixels. Without Chromium, this
  part is left out, with a word.

`navigation` needs no packages: it checks that mkdocs.yml names each page once.
"""
import argparse
import functools
import html
import html.parser
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
import reference  # noqa: E402

# Lists of pages, of changes and of where things are have no example.
LISTS = ("docs/index.md", "CHANGELOG.md", "docs/coverage.md", "reference/index.md")
# Pages that are measured in a browser, the widest among them: long code, wide tables, pictures.
WIDE = ("index", "docs/quickstart", "docs/layers", "docs/v2", "docs/operators", "docs/errors",
        "docs/control_flow", "examples/README", "reference/index")
WIDTHS = (1280, 400)
MOST_WITHOUT = 30


class Page(html.parser.HTMLParser):
    """The links of a page, its anchors and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.loads = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors.update(given[name] for name in ("id", "name") if given.get(name))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in ("script", "img", "iframe", "source") and given.get("src"):
            self.loads.append(given["src"])
        if tag == "link" and given.get("href") and given.get("rel") not in ("canonical",):
            self.loads.append(given["href"])


def link_faults(folder):
    """(what is wrong, the number of links) of the HTML files of a folder."""
    pages = {path: Page(path.read_text()) for path in folder.rglob("*.html")}
    faults, count = [], 0
    for path, page in sorted(pages.items()):
        here = path.relative_to(folder)
        for link in page.links + page.loads:
            address = urllib.parse.urlsplit(link)
            if address.scheme or address.netloc:
                if link in page.loads:
                    faults.append(f"{here}: loads {link} from another host")
                continue
            # 404.html stands for any address, so its links begin with /.
            if here.name == "404.html":
                continue
            count += 1
            name = urllib.parse.unquote(address.path)
            target = (path.parent / name).resolve() if name else path
            target = target / "index.html" if target.is_dir() else target
            anchor = urllib.parse.unquote(address.fragment)
            if not target.exists():
                faults.append(f"{here}: found no file of the link {link}")
            elif anchor and target in pages and anchor not in pages[target].anchors:
                faults.append(f"{here}: found no heading of the link {link}")
    return faults, count


def pages_without_example(pages):
    """Those of {name: Markdown} that have no block of a program or of commands."""
    return [name for name, text in sorted(pages.items())
            if name not in LISTS and not name.startswith("source/")
            and not re.search(r"^ *```(cpp|sh|cmake|python|cuda)\b", text, re.M)]


def navigation_faults(settings, pages):
    """Pages that mkdocs.yml does not name once, and names of no page."""
    named = re.findall(r"^ +- .*?([\w/]+\.md)$", settings[settings.index("\nnav:"):], re.M)
    for page in sorted({*pages, *named}):
        if page not in pages:
            yield f"mkdocs.yml: there is no page {page}"
        elif named.count(page) != 1:
            yield f"mkdocs.yml: expected {page} once below nav, found it {named.count(page)} times"


def site_pages():
    pages = [str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md")]
    return [*pages, "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md",
            *reference.names()]


def served(folder):
    """A server of a folder, at a free port of this machine."""
    class quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                             functools.partial(quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


# Measures each page in a frame: how wide it is, and what stands out of it to the right.
MEASURE = """<!doctype html><meta charset=utf-8><pre id=result></pre><script>
const pages = PAGES, widths = WIDTHS, found = [];
const inside = (element, view) => {  // a box that scrolls or cuts off is as wide as it says
  for (let e = element.parentElement; e; e = e.parentElement)
    if (view.getComputedStyle(e).overflowX != "visible") return true;
  return false;
};
(async () => {
  for (const width of widths) for (const page of pages) {
    const frame = document.createElement("iframe");
    frame.style.cssText = `border:0;width:${width}px;height:900px`;
    frame.src = page + ".html";
    const loaded = new Promise(done => frame.onload = done);
    document.body.append(frame);
    await loaded;
    await new Promise(done => setTimeout(done, 300));
    const view = frame.contentWindow, all = frame.contentDocument;
    const out = [...all.querySelectorAll(".md-content *")].filter(e =>
        e.getBoundingClientRect().right > width + 1 && !inside(e, view));
    const names = out.slice(0, 3).map(e => e.tagName + " " + e.textContent.trim().slice(0, 60));
    found.push({page, width, wide: all.documentElement.scrollWidth, out: names});
    frame.remove();
  }
  document.getElementById("result").textContent = JSON.stringify(found);
  document.title = "measured";
})();
</script>"""


def width_faults(folder, pages, chromium):
    """Pages that are wider than a window of one of WIDTHS, and elements that stand out of it."""
    text = MEASURE.replace("PAGES", json.dumps(pages)).replace("WIDTHS", json.dumps(WIDTHS))
    (folder / "measure.html").write_text(text)
    server = served(folder)
    try:
        with tempfile.TemporaryDirectory() as profile:
            done = subprocess.run(
                [chromium, "--headless=new", "--no-sandbox", "--disable-gpu",
                 f"--user-data-dir={profile}", "--virtual-time-budget=100000", "--dump-dom",
                 f"http://127.0.0.1:{server.server_port}/measure.html"],
                text=True, capture_output=True, timeout=300)
    finally:
        server.shutdown()
        (folder / "measure.html").unlink()
    result = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.S)
    if not result or not result[1]:
        return [f"Chromium measured nothing: {done.stderr[-500:]}"], 0
    measured = json.loads(html.unescape(result[1]))
    return [f"{m['page']}: {m['wide']} pixels in a window of {m['width']}; {m['out']}"
            for m in measured if m["wide"] > m["width"] or m["out"]], len(measured)


def check(build):
    done = subprocess.run([ROOT / "tools/site", "--build", build])
    if done.returncode:
        return done.returncode
    folder = build / "html"
    faults, links = link_faults(folder)
    print(f"{links} links and loads of {len(list(folder.rglob('*.html')))} pages")
    pages = {name: (build / "pages" / name).read_text() for name in site_pages()}
    without = pages_without_example(pages)
    faults += [f"{name}: has no example" for name in without]
    print(f"{len(without)} pages without an example")
    made = reference.Reference()
    print(made.summary())
    if len(made.missing) > MOST_WITHOUT:
        faults.append(f"expected at most {MOST_WITHOUT} public names without an example")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium:
        wide, measured = width_faults(folder, list(WIDE), chromium)
        faults += wide
        print(f"{measured} measures of width by {chromium}")
    else:
        print("no page was measured in a browser: there is no Chromium")
    print("\n".join(faults))
    return bool(faults)


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        (root / "d").mkdir()
        (root / "a.html").write_text('<h1 id="x"></h1><a href="d/b.html#y"></a><a href="#x"></a>'
                                     '<a href="https://e.f/"></a><img src="c.png">')
        (root / "d/b.html").write_text('<h1 id="y"></h1><a href="../a.html"></a>')
        (root / "c.png").write_text("")
        assert link_faults(root) == ([], 4), link_faults(root)
        (root / "a.html").write_text('<a href="d/b.html#z"></a><a href="n.html"></a>'
                                     '<script src="https://e.f/g.js"></script>')
        assert link_faults(root)[0] == [
            "a.html: found no heading of the link d/b.html#z",
            "a.html: found no file of the link n.html",
            "a.html: loads https://e.f/g.js from another host"], link_faults(root)
    assert pages_without_example({"a.md": "```cpp\nint a;\n```\n", "b.md": "```text\n```\n",
                                  "docs/index.md": ""}) == ["b.md"]
    settings = "x:\n\nnav:\n  - A: docs/a.md\n  - B:\n      - docs/b.md\n      - C: docs/b.md\n"
    assert list(navigation_faults(settings, ["docs/a.md", "docs/b.md", "docs/c.md"])) == [
        "mkdocs.yml: expected docs/b.md once below nav, found it 2 times",
        "mkdocs.yml: expected docs/c.md once below nav, found it 0 times"]
    assert list(navigation_faults(settings, ["docs/b.md"]))[0] == (
        "mkdocs.yml: there is no page docs/a.md")
    print("ok")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:] == ["navigation"]:
        faults = list(navigation_faults((ROOT / "mkdocs.yml").read_text(), site_pages()))
        print("\n".join(faults) or "mkdocs.yml names each page")
        return bool(faults)
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("usage: ") + 7:].split("\n\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/site")
    return check(parser.parse_args().build.resolve())


if __name__ == "__main__":
    sys.exit(main())
