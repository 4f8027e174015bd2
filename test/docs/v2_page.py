#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the examples of docs/v2.md: code of PaddlePaddle's documents beside the C++ of the tests.

usage: v2_page.py [--update]
       v2_page.py --self-test

An example of a test below test/v2/ stands between `// == DOCUMENT: SECTION` and `// ==`. The
comment lines behind the first marker are the document's code, the rest is C++. Parts with one
marker are joined, in the order of the file. DOCUMENT is one of DOCUMENTS, and a test case of the
file has a title that begins with the document's own title. The examples of all files, by document,
are what docs/v2.md has between its two markers.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "v2.md"
BEGIN = "<!-- From here on test/docs/v2_page.py --update writes this page from test/v2. -->\n"
END = "<!-- To here. -->\n"
# How a marker calls a document: its title, what is said of examples that no marker has, and its
# sections, in its order.
DOCUMENTS = {
    "API": ("PaddlePaddle API",
            "`paddle.dist_train`: [training in several processes](distributed.md).",
            ("Ingredients", "Evaluator", "Programming", "A Synthetic Data Reader",
             "A Reader for Online Learning", "Topology", "Sharing Parameters, within a model",
             "Sharing Parameters, between models", "Training")),
    "v2": ("PaddlePaddle v2 api design",
           "`train.sh`: [the command line](command_line.md). Programs for the API that the "
           "document introduces are from PaddlePaddle's book.",
           ("A configuration", "Layers as functions", "A program", "Events", "Inference",
            "Feeding")),
    "concepts": ("Fluid, basic concepts", "", ("Name", )),
    "design": ("Design Doc: PaddlePaddle Fluid", "",
               ("Deep Learning Programming Paradigms, a model",
                "Deep Learning Programming Paradigms, no model",
                "Describe Arbitrary Models for the Future, a recurrence",
                "Describe Arbitrary Models for the Future, loops of the program")),
}
PART = re.compile(
    r"^( *)// == (\w+): (.+)\n((?:^ *//(?! ==)(?: .*)?\n)*)((?:.*\n)*?)^ *// ==\n", re.M)


def undented(lines, width):
    return [line[width:] if line[:width].isspace() else line for line in lines]


def examples_of(name, text):
    """{(document, section): {file, theirs, ours}} of one test, theirs and ours as lists of lines;
    and what is wrong."""
    found, faults = {}, []
    if len(re.findall("^ *// == ", text, re.M)) != len(PART.findall(text)):
        faults.append(f"{name}: a `// == DOCUMENT: SECTION` has no `// ==`, or has no document")
    for indent, document, section, theirs, ours in PART.findall(text):
        if document not in DOCUMENTS:
            faults.append(f"{name}: '{document}' is none of {', '.join(DOCUMENTS)}")
            continue
        title = DOCUMENTS[document][0]
        if not re.search(rf'TEST_CASE\("{re.escape(title)}, ', text):
            faults.append(f"{name}: no test case has a title that begins with '{title}, '")
        one = found.setdefault((document, section), {"file": name, "theirs": [], "ours": []})
        one["theirs"] += [re.sub(r"^ *// ?", "", line) for line in theirs.splitlines()]
        if ours.strip():
            one["ours"] += ([""] if one["ours"] else []) + undented(ours.splitlines(), len(indent))
        else:
            faults.append(f"{name}: '{document}: {section}' has a part without code")
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
    for document, (title, rest, sections) in DOCUMENTS.items():
        lines += [f"## {title}", ""] + ([rest, ""] if rest else [])
        faults += [f"{one['file']}: '{d}: {s}' is no section of v2_page.py"
                   for (d, s), one in found.items() if d == document and s not in sections]
        for section in sections:
            one = found.get((document, section))
            if not one:
                faults.append(f"no test has the example '{document}: {section}'")
                continue
            if not "".join(one["theirs"]).strip():
                faults.append(f"{one['file']}: '{document}: {section}' has no code of the document")
            lines += [
                f"### {section}", "", f"Test: `{one['file']}`.", "",
                "<table><tr><th>document</th><th>C++</th></tr><tr><td>", "", "```python",
                *one["theirs"], "```", "", "</td><td>", "", "```c++", *one["ours"], "```", "",
                "</td></tr></table>", ""
            ]
    return "\n".join(lines), faults


SAMPLE = """
// == API: Training
// net = f()
//   g()
constexpr auto net = 1;
// ==
TEST_CASE("PaddlePaddle API, A net: it is one") {
  // == API: Training
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
        ("API", "Training"): {
            "file": "a.cpp",
            "theirs": ["net = f()", "  g()", "", "h(net)"],
            "ours": ["constexpr auto net = 1;", "", "h(", "    net);  // done"]
        }
    }, found
    planted = [
        (SAMPLE.replace("  // ==\n}", "}"), "has no `// ==`"),
        (SAMPLE.replace("== API", "== APJ"), "'APJ' is none of"),
        (SAMPLE.replace("PaddlePaddle API, A", "A"), "no test case has a title"),
        (SAMPLE.replace("constexpr auto net = 1;\n", ""), "has a part without code"),
        (SAMPLE.replace("// net = f()\n//   g()\n", "").replace("  //\n  // h(net)\n", ""),
         "has no code of the document"),
    ]
    for text, expected in planted:
        _, faults = page_of({"a.cpp": text})
        assert any(expected in fault for fault in faults), (expected, faults)
    _, faults = page_of({"a.cpp": SAMPLE, "b.cpp": SAMPLE})
    assert any("is in a.cpp too" in fault for fault in faults), faults
    assert "no test has the example 'concepts: Name'" in faults, faults
    _, faults = page_of({"a.cpp": SAMPLE.replace("Training", "Trainee")})
    assert "a.cpp: 'API: Trainee' is no section of v2_page.py" in faults, faults
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
