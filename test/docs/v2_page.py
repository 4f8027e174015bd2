#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the examples of docs/v2.md: Python for PaddlePaddle beside the C++ of the tests.

usage: v2_page.py [--update]
       v2_page.py --self-test

An example of a test below test/v2/ stands between `// == CHAPTER: SECTION` and `// ==`. The comment
lines after the first marker are Python, the rest is C++. Parts with one marker are joined, in the
order of the file. CHAPTER is a key of CHAPTERS, and a test case of the file has a title that begins
with the chapter's title. The examples of all files, by chapter, are the text of docs/v2.md between
its two markers.
"""
import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "v2.md"
BEGIN = "<!-- From here on tools/check --fix writes this page from test/v2. -->\n"
END = "<!-- To here. -->\n"
# The key of a chapter in markers: its title, an introduction, and its sections in order.
CHAPTERS = {
    "trainer": ("Trainers", "A trainer of PaddlePaddle v2 tells a handler what it has done; "
                "`infer` uses what it has trained.",
                ("A network and its trainer", "Events", "Inference", "Feeding")),
    "configurations": ("Configurations", "Layers have other names in files for `paddle train`. The "
                       "[command line](command_line.md) has the flags of that program.",
                       ("A configuration", "Layers as functions")),
    "models": ("Models and evaluators", "The first design of v2 has models, evaluators and "
               "optimizers instead of `parameters`, `infer` and a trainer. Its `dist_train` is on "
               "the page on [clusters](cluster.md).",
               ("From a file to a trained model", "Activations by name", "The default optimizer",
                "A model for several threads", "One matrix in a model", "One matrix in two models",
                "Owners and references")),
    "readers": ("Readers of functions", "That design reads data by a function that yields a "
                "mini-batch and whether the pass ends with it. If no pass ends, an event stops the "
                "training.", ("A simulation", "A stream of messages")),
    "names": ("Names of variables in Fluid", "A variable is called by its layer, and a layer "
              "without a name by its kind and a number. A ParamAttr can name a parameter.",
              ("Names and a shared weight", )),
    "programs": ("Loops of programs and around models", "Either the program is a model, which a "
                 "loop of the host language trains, or the loop is a part of the program.",
                 ("A loop around a model", "A program with its loop", "A recurrence",
                  "A recurrence as a loop")),
}
PART = re.compile(
    r"^( *)// == (\w+): (.+)\n((?:^ *//(?! ==)(?: .*)?\n)*)((?:.*\n)*?)^ *// ==\n", re.M)


def undented(lines, width):
    return [line[width:] if line[:width].isspace() else line for line in lines]


def examples_of(name, text):
    """{(chapter, section): {file, python, cpp}} of one test, python and cpp as lists of lines; and
    what is wrong."""
    found, faults = {}, []
    if len(re.findall("^ *// == ", text, re.M)) != len(PART.findall(text)):
        faults.append(f"{name}: a `// == CHAPTER: SECTION` has no `// ==`, or has no chapter")
    for indent, chapter, section, python, cpp in PART.findall(text):
        if chapter not in CHAPTERS:
            faults.append(f"{name}: '{chapter}' is none of {', '.join(CHAPTERS)}")
            continue
        title = CHAPTERS[chapter][0]
        if not re.search(rf'TEST_CASE\("{re.escape(title)}, ', text):
            faults.append(f"{name}: no test case has a title that begins with '{title}, '")
        one = found.setdefault((chapter, section), {"file": name, "python": [], "cpp": []})
        one["python"] += [re.sub(r"^ *// ?", "", line) for line in python.splitlines()]
        if cpp.strip():
            one["cpp"] += ([""] if one["cpp"] else []) + undented(cpp.splitlines(), len(indent))
        else:
            faults.append(f"{name}: '{chapter}: {section}' has a part without code")
    return found, faults


def page_of(tests):
    """(the examples as Markdown, what is wrong) of {file: text}."""
    found, faults = {}, []
    for name, text in sorted(tests.items()):
        more, wrong = examples_of(name, text)
        faults += wrong
        faults += [f"{name}: '{d}: {s}' is in {found[d, s]['file']} too" for d, s in more
                   if (d, s) in found]
        found.update(more)
    lines = []
    for chapter, (title, rest, sections) in CHAPTERS.items():
        lines += [f"## {title}", ""] + ([rest, ""] if rest else [])
        faults += [f"{one['file']}: '{d}: {s}' is no section of v2_page.py"
                   for (d, s), one in found.items() if d == chapter and s not in sections]
        for section in sections:
            one = found.get((chapter, section))
            if not one:
                faults.append(f"no test has the example '{chapter}: {section}'")
                continue
            python = "\n".join(one["python"])
            if not python.strip():
                faults.append(f"{one['file']}: '{chapter}: {section}' has no Python")
            try:
                ast.parse(python)
            except SyntaxError as e:
                faults.append(f"{one['file']}: '{chapter}: {section}' is not Python: line "
                              f"{e.lineno}: {e.msg}")
            lines += [
                f"### {section}", "", f"Test: `{one['file']}`.", "",
                "<table><tr><th>Python</th><th>C++</th></tr><tr><td>", "", "```python",
                *one["python"], "```", "", "</td><td>", "", "```c++", *one["cpp"], "```", "",
                "</td></tr></table>", ""
            ]
    return "\n".join(lines), faults


SAMPLE = """
// == trainer: Events
// with f() as net:
//   g()
constexpr auto net = 1;
// ==
TEST_CASE("Trainers, a net is one") {
  // == trainer: Events
  //
  // h(net)
  h(
      net);  // done
  // ==
}
"""


def self_test():
    found, faults = examples_of("a.cpp", SAMPLE)
    assert not faults, faults
    assert found == {
        ("trainer", "Events"): {
            "file": "a.cpp",
            "python": ["with f() as net:", "  g()", "", "h(net)"],
            "cpp": ["constexpr auto net = 1;", "", "h(", "    net);  // done"]
        }
    }, found
    planted = [
        (SAMPLE.replace("  // ==\n}", "}"), "has no `// ==`"),
        (SAMPLE.replace("== trainer", "== trainee"), "'trainee' is none of"),
        (SAMPLE.replace("Trainers, a", "A"), "no test case has a title"),
        (SAMPLE.replace("constexpr auto net = 1;\n", ""), "has a part without code"),
        (SAMPLE.replace("// with f() as net:\n//   g()\n", "").replace("  //\n  // h(net)\n", ""),
         "has no Python"),
        (SAMPLE.replace("// h(net)", "// h(net"), "is not Python: line 4: "),
    ]
    for text, expected in planted:
        _, faults = page_of({"a.cpp": text})
        assert any(expected in fault for fault in faults), (expected, faults)
    _, faults = page_of({"a.cpp": SAMPLE, "b.cpp": SAMPLE})
    assert any("is in a.cpp too" in fault for fault in faults), faults
    assert "no test has the example 'readers: A simulation'" in faults, faults
    _, faults = page_of({"a.cpp": SAMPLE.replace("Events", "Pauses")})
    assert "a.cpp: 'trainer: Pauses' is no section of v2_page.py" in faults, faults
    print("ok")


def main():
    if "--self-test" in sys.argv:
        return self_test()
    tests = {
        path.relative_to(ROOT).as_posix(): path.read_text()
        for path in (ROOT / "test" / "v2").rglob("*.cpp") if "// == " in path.read_text()
    }
    examples, faults = page_of(tests)
    page = PAGE.read_text()
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        faults.append(f"docs/v2.md has not the lines '{BEGIN.strip()}' and '{END.strip()}' once")
    else:
        head, rest = page.split(BEGIN)
        made = head + BEGIN + "\n" + examples + END + rest.split(END)[1]
        if "--update" in sys.argv:
            PAGE.write_text(made)
        elif made != page:
            faults.append("docs/v2.md is not what the tests say: run test/docs/v2_page.py --update")
    print("\n".join(faults) or f"{examples.count('<table>')} examples")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
