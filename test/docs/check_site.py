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
- In Chromium, no page of WIDE is wider than a window of 1280 or 400 pixels, and the searches of
  QUERIES find their pages. Without Chromium, this part is left out, with a word.

`navigation` needs no packages: it checks that mkdocs.yml names each page once.
"""
import argparse
import functools
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
MOST_WITHOUT = 0
# What a newcomer searches, and a part of the address of a page that answers.
QUERIES = {
    "install": "building.html",
    "softmax_with_cross_entropy": "layers_costs.html#softmax_with_cross_entropy",
    "fc": "layers_fully_connected_embeddings_products.html#fc",
    "fc: expected the width as a template argument": "errors.html#",
    "learning rate": "optimizers.html",
    "shuffle": "readers.html",
    "checkpoint": "checkpoint",
}
FIRST = 3  # pages among which it must be


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


# A page that measures others in a frame: how wide each is, and what stands out of it to the right;
# then the first results of each search. It posts them to the server.
MEASURE = """<!doctype html><meta charset=utf-8><script>
const widths = [], searches = [], sleep = time => new Promise(done => setTimeout(done, time));
const inside = (element, view) => {  // a box that scrolls or cuts off is as wide as it says
  for (let e = element.parentElement; e; e = e.parentElement)
    if (view.getComputedStyle(e).overflowX != "visible") return true;
  return false;
};
const framed = async (address, width, use) => {
  const frame = document.createElement("iframe");
  frame.style.cssText = `border:0;width:${width}px;height:900px`;
  frame.src = address;
  const loaded = new Promise(done => frame.onload = done);
  document.body.append(frame);
  await loaded;
  await use(frame.contentWindow, frame.contentDocument);
  frame.remove();
};
onload = async () => {
  for (const width of WIDTHS) for (const page of PAGES)
    await framed(page, width, async (view, all) => {
      await sleep(200);
      const out = [...all.querySelectorAll(".md-content *, p")].filter(e =>
          e.getBoundingClientRect().right > width + 1 && !inside(e, view));
      const names = out.slice(0, 3).map(e => e.tagName + " " + e.textContent.trim().slice(0, 60));
      widths.push({page, width, wide: all.documentElement.scrollWidth, out: names});
    });
  for (const words of QUERIES)
    await framed("index.html?q=" + encodeURIComponent(words), 1280, async (view, all) => {
      const pages = () => [...all.querySelectorAll(".md-search-result__item")];
      for (let i = 0; i < 200 && !pages().length; ++i) await sleep(100);
      const first = pages().slice(0, FIRST).flatMap(e => [...e.querySelectorAll("a")]);
      const plain = e => decodeURIComponent(e.href.replace(/[?]h=[^#]*/, ""));
      searches.push({words, found: first.map(plain)});
    });
  fetch("measured", {method: "POST", body: JSON.stringify({widths, searches})});
};
</script><body></body>"""


class Server(http.server.ThreadingHTTPServer):
    """Serves a folder at a free port of this machine, and keeps what is posted to it."""

    def __init__(self, folder):
        server = self

        class handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                server.posted = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(204)
                self.end_headers()
                server.done.set()

        self.posted, self.done = None, threading.Event()
        super().__init__(("127.0.0.1", 0), functools.partial(handler, directory=folder))
        threading.Thread(target=self.serve_forever, daemon=True).start()


def measured_by(chromium, folder, pages, queries):
    """What MEASURE found in a browser, or None."""
    text = MEASURE
    for name, value in (("PAGES", pages), ("WIDTHS", WIDTHS), ("QUERIES", list(queries)),
                        ("FIRST", FIRST)):
        text = text.replace(name, json.dumps(value))
    page = folder / "measure.html"
    page.write_text(text)
    server = Server(folder)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu",
             f"--user-data-dir={profile}", f"http://127.0.0.1:{server.server_port}/measure.html"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server.done.wait(600)
        browser.terminate()
        browser.wait()
    server.shutdown()
    page.unlink()
    return json.loads(server.posted) if server.posted else None


def browser_faults(measured, queries):
    """Pages that are wider than their window, elements that stand out of it, failed searches."""
    if measured is None:
        return ["the browser measured nothing"]
    faults = [f"{m['page']}: {m['wide']} pixels in a window of {m['width']}; {m['out']}"
              for m in measured["widths"] if m["wide"] > m["width"] or m["out"]]
    for search in measured["searches"]:
        expected = queries[search["words"]]
        if not any(expected in link for link in search["found"]):
            faults.append(f"search for '{search['words']}': expected {expected} in the first "
                          f"{FIRST} pages, found {search['found']}")
    return faults


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
        measured = measured_by(chromium, folder, [f"{page}.html" for page in WIDE], QUERIES)
        faults += browser_faults(measured, QUERIES)
        print(f"{len(WIDE)} pages at {WIDTHS} pixels and {len(QUERIES)} searches in {chromium}")
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
    width, search = {"page": "a", "width": 400, "wide": 400, "out": []}, {"words": "b"}
    assert browser_faults({"widths": [width], "searches": [search | {"found": ["x/c.html#b"]}]},
                          {"b": "c.html"}) == []
    assert len(browser_faults({"widths": [width | {"wide": 401}, width | {"out": ["P b"]}],
                               "searches": [search | {"found": []}]}, {"b": "c.html"})) == 3
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
