#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reference of the documentation site: pages of public functions and types, from docstrings.

usage: reference.py [--missing]
       reference.py --self-test

Prints how many names it has and how many of them have no example; with --missing, which. A name is
public if it is a layer, or if a page of docs/ or an example uses it and its header is in AREAS.
Its example is, in this order: one of test/docs/reference/*.cpp; the shortest block of a page that
uses it; lines of an example program; lines of a test.
"""
import collections
import pathlib
import re
import sys
import textwrap
import typing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import layer_page  # noqa: E402
import reference_examples  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"


class Symbol(typing.NamedTuple):
    """A function, type or constant that a header declares with a docstring."""
    header: str
    namespace: str
    name: str
    kind: str  # function, class, struct, enum, other
    call: str
    doc: str
    members: tuple

    @property
    def path(self):
        return f"{self.namespace}::{self.name}"


OPENS = re.compile(r"(?:inline )?namespace ([\w:]+)? ?\{")
TYPE = re.compile(r"(?:template <.*> )?(?:requires.*?\) )?(struct|class|enum class|enum|union) "
                  r"(?:LAMINA_\w+ )?(\w+)", re.S)
NAMED = re.compile(r"(?:using|concept) (\w+) =|(operator ?[^\s\w(]+|\boperator \w+|~?\w+)(?= ?\()|"
                   r"(\w+)(?:\[\])?(?:\{.*\})?(?: = .*)?$", re.S)


def template_end(text):
    """The place behind `template <...>` at the beginning of a text, or 0."""
    depth = inside = 0
    for i in range(len("template "), len(text) if text.startswith("template <") else 0):
        inside += (text[i] in "({") - (text[i] in ")}")
        if inside == 0:
            depth += (text[i] == "<") - (text[i] == ">" and text[i - 1] not in "-=")
            if depth == 0:
                return i + 1
    return 0


def declaration_at(lines, at, indent):
    """(text up to its body, body, the line after it) of the declaration that begins at a line."""
    depth, head = 0, ""
    text = "\n".join(line.removeprefix(indent) for line in lines[at:at + 400])
    inside = ""
    begin = template_end(text)
    for i, c in enumerate(text[begin:], begin):
        if inside:
            inside = "" if c == inside and text[i - 1] != "\\" else inside
            continue
        if c == '"':
            inside = c
        elif text.startswith("//", i):
            inside = "\n"
        elif c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif depth == 0 and c in "{;":
            head = text[:i]
            break
    else:
        return text.split("\n")[0], "", at + 1
    end = at + text.count("\n", 0, i)
    body = ""
    if text[i] == "{" and not re.search(r"\}.*$", lines[end][len(indent):]):
        begin = end
        while end < len(lines) and not re.match(indent + r"\}", lines[end]):
            end += 1
        body = "\n".join(line.removeprefix(indent) for line in lines[begin + 1:end])
    elif text[i] == "{":
        body = text[i + 1:].split("\n")[0].rsplit("}", 1)[0]
    return head, body, end + 1


def plain(head):
    """A declaration as a reader needs it: without attributes, and what the compiler fills in."""
    head = re.sub(r"//.*", "", head)
    head = re.sub(r"\bLAMINA_(?!OPTIONAL)\w+(\([^()]*\))? |\[\[.*?\]\] ?|\binline |\bfriend "
                  r"|\bexplicit ", "", head)
    head = re.sub(r",?\s*(?:const )?(?:int|char\*|std::uint_least32_t|detail::\w+) \w+ = "
                  r"(?:__builtin_\w+\(\)|detail::\w+::\w+\(\))", "", head)
    # The list that initialises a constructor's members.
    head = re.sub(r"\)\s*:\s(?!:).*", ")", head, flags=re.S)
    return re.sub(r"\n\s*\n", "\n", head).strip()


def name_of(head):
    """(kind, name) of a declaration."""
    text = re.sub(r"\s+", " ", head)
    while end := template_end(text):
        text = text[end:].lstrip()
        text = re.sub(r"^requires ?(?:requires )?(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|[\w:<>, .]+?> |"
                      r"\w+<[^()]*?>) ?", "", text)
    if found := TYPE.match(text):
        return found[1].split()[0], found[2]
    found = NAMED.search(text)
    if not found:
        return "other", ""
    return ("function" if found[2] else "other"), next(n for n in found.groups() if n).strip()


def documented(lines, indent=""):
    """(kind, name, head, body, doc) of the declarations of these lines with a docstring."""
    at = 0
    while at < len(lines):
        doc = []
        while at < len(lines) and lines[at].startswith(indent + "///"):
            doc.append(lines[at][len(indent) + 3:].removeprefix(" "))
            at += 1
        if not doc:
            yield None, lines[at], None, None, None
            at += 1
            continue
        head, body, after = declaration_at(lines, at, indent)
        kind, name = name_of(plain(head))
        yield kind, name, head, body, "\n".join(doc)
        at = max(after, at + 1)


def members_of(body):
    """The public functions and values of a class that have a docstring."""
    lines, public = [], []
    shown = True
    for line in body.splitlines():
        if re.match(r" (public|private|protected):", line):
            shown = "public" in line
        elif shown:
            lines.append(line)
    for kind, name, head, _, doc in documented(lines, "  "):
        if kind and not re.match(r"Reports |Refuses ", doc):
            public.append((plain(head), doc))
    return tuple(public)


def symbols_of(header, text):
    """The documented declarations of a header that are in no namespace detail."""
    spaces = []
    for kind, name, head, body, doc in documented(text.splitlines()):
        if kind is None:
            line = name
            if re.match(r"(inline )?namespace\b", line):
                spaces += [s or "" for s in OPENS.findall(line)]
            elif closing := re.match(r"(\}+)\s+// namespace", line):
                del spaces[-len(closing[1]):]
            continue
        names = [part for s in spaces if s != "LAMINA_ABI" for part in s.split("::")]
        if "detail" in names or "" in names or not name or re.match("Reports |Refuses ", doc):
            continue
        call = plain(head)
        if kind == "enum" or kind == "struct" and " public:" not in body and body.strip():
            shown = re.sub(r"^  (?:static constexpr )?[^\n]*\{\n(?:    [^\n]*\n)*?  \}\n?", "",
                           body, flags=re.M)
            if "\n" in body or "//" in body:
                shown = body if len(body.splitlines()) < 40 else shown
                call += f" {{\n{shown.rstrip()}\n}}"
            else:
                call += f" {{ {body.strip()} }}"
        yield Symbol(header, "::".join(names), name, kind, call + ";", doc, members_of(body))


def all_symbols():
    for path in sorted((INCLUDE / "lamina").rglob("*.hpp")):
        yield from symbols_of(str(path.relative_to(INCLUDE)), path.read_text())


# Page, title, what it has, the headers whose public names it lists.
AREAS = [
    ("programs", "Programs and variables",
     "How a program is recorded, how its parameters begin, and what changes a recorded program.",
     "program/block program/initializer program/indexed program/param_attr program/program "
     "program/composed_name program/returned_variables transform/* core/rows core/dtype "
     "core/pooling_type core/place layers/activation layers/shape layers/window"),
    ("models", "Models and evaluators",
     "A model holds the parameters of a program; an evaluator runs it forward.",
     "model/* tensor/* executor/executor executor/run_options engine/cuda/place"),
    ("training", "Training", "Trainers, events, validation, checkpoints, gradients.", "train/*"),
    ("optimizers", "Optimizers", "Rules that update parameters, schedules, decay, clips, averages. "
     "[Optimizers](../docs/optimizers.md) has their equations in one table.", "optimizer/*"),
    ("readers", "Readers", "Functions that make, change and combine sequences of samples. "
     "[Readers](../docs/readers.md) explains them.", "reader/*"),
    ("data_sets", "Data sets and tables", "Data sets that are read from their archives, CSV files.",
     "dataset/*"),
    ("images", "Images from files", "Reading of images, and random changes.", "image/*"),
    ("metrics", "Metrics", "Measures that are computed outside of programs.", "metric/*"),
    ("files", "Files and other libraries", "Models, parameters and programs in files.",
     "io/* codegen/* core/files/*"),
    ("serving", "Serving", "Requests of many threads, answered in mini-batches.", "serve/*"),
    ("processes", "Several processes", "Training in several processes, and how they are started.",
     "distributed/* launch/*"),
    ("inspection", "Look inside", "Tables, pictures and profiles of programs.", "inspect/*"),
    ("command_line", "Command line",
     "Programs with the flags of PaddlePaddle v2. [PaddlePaddle v2](../docs/v2.md) has its names.",
     "cli/*"),
]
# Pages that speak of internals, or list names of others.
NOT_FOR_USERS = ("architecture", "coverage", "operators", "layers", "compile_time")


SHOW = """

Names are in namespace `lamina::layer`. Where an example calls `show`, it records the lambda as a
program, runs it once by the [executor](../docs/executor.md) with the values behind the lambda, and
prints the variables that the lambda returns ([show.hpp](../test/docs/reference/show.hpp)).
"""
INTERNAL = tuple("lamina::" + name for name in (
    "layer", "operators", "onnx", "passes", "kernel", "fluid", "engine::cpu", "trainer_message"))


# Types that no program names, because functions of other names return, take or hold them; pages
# mention them where they explain how lamina works.
UNNAMED = set("""accumulated_gradients allreduce bfloat16_machine bfloat16_type bucket_memory
    communication_thread corrected_rate deferred_updates defined device_machine feeder in_process
    loops_on_threads mpi_packets no_reader parameter_list parameter_sync pass pieces
    ps_client ps_server traits""".split())
# What a function gives to the caller, by the function whose example shows its use.
SHOWN_BY = {
    "layer::rnn_step": "lamina::layer::dynamic_rnn",
    "layer::static_rnn_step": "lamina::layer::static_rnn",
    "layer::if_else_branch": "lamina::layer::if_else",
    "layer::open_rows": "lamina::layer::record",
    "parameter_choice": "lamina::only",
    "optimizer::rows_rule": "lamina::optimizer::rule",
    "optimizer::checkpoint_options": "lamina::trainer",
    "optimizer::serial_options": "lamina::train",
    "dataset::imikolov::sequences": "lamina::dataset::imikolov::read",
    "dataset::movielens::user": "lamina::dataset::movielens::read",
    "dataset::movielens::movie": "lamina::dataset::movielens::read",
    "dataset::mq2007::document": "lamina::dataset::mq2007::read",
    "dataset::mq2007::pair": "lamina::dataset::mq2007::read",
    "image::decoded": "lamina::image::read_picture",
    "image::loader": "lamina::image::load",
}


class Block(typing.NamedTuple):
    """Code that is compiled: a block of a page, or lines of an example."""
    where: str
    anchor: str
    code: str
    output: str
    words: frozenset


def block(where, anchor, code, output=""):
    return Block(where, anchor, code, output, frozenset(re.findall(r"\w+", code)))


def slug_of(title):
    return re.sub(r"[^a-z ]", "", title.lower()).replace(" ", "_")


def heading_before(text, at):
    """The anchor of the heading above a place in a page."""
    found = re.findall(r"^#+ +(.*?) *$", re.sub(r"^( *)```.*?^\1```", "", text[:at],
                                                flags=re.M | re.S), re.M)
    return re.sub(r"[^\w\- ]", "", found[-1].lower()).replace(" ", "-") if found else ""


def blocks_of_pages():
    """Every block of C++ in the pages, with the output below it."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        if path.stem in ("layers",):
            continue
        text = path.read_text()
        for found in re.finditer(r"^( *)```cpp[^\n]*\n(.*?)^\1```", text, re.M | re.S):
            code = "\n".join(line.removeprefix(found[1]) for line in found[2].splitlines())
            output = re.match(r"\n(?:[^\n#`]+\n)*\n?```text\n(.*?)^```", text[found.end():],
                              re.M | re.S)
            yield block(str(path.relative_to(ROOT)), heading_before(text, found.start()), code,
                        output[1] if output else "")


def blocks_of_examples():
    """Every example program; what is shown of it are the lines around a name."""
    for path in sorted((ROOT / "examples").rglob("*.?pp")):
        yield block(str(path.relative_to(ROOT)), "", path.read_text())


def own_examples():
    """{path of a symbol: block} of test/docs/reference/*.cpp, with what each prints."""
    found = {}
    for path in sorted((ROOT / "test/docs/reference").glob("*.cpp")):
        for example in reference_examples.EXAMPLE.finditer(path.read_text()):
            output = re.sub(r"^ *// = ", "", example[4], flags=re.M)
            code = textwrap.dedent(example[3]).strip()
            found[example[2]] = block(str(path.relative_to(ROOT)), "", code, output)
    return found


def blocks_of_tests():
    """Every test of C++: its comparisons are the output."""
    for path in sorted((ROOT / "test").rglob("*.?pp")):
        if path.parent.name not in ("docs", "compile_fail", "emulated", "reference"):
            yield block(str(path.relative_to(ROOT)), "", path.read_text())


class Examples:
    """Finds an example of a name."""

    def __init__(self):
        self.own = own_examples()
        self.pages, self.programs = list(blocks_of_pages()), list(blocks_of_examples())
        self.tests, self.of_tests = list(blocks_of_tests()), 0

    @staticmethod
    def pattern(symbol):
        last = symbol.namespace.split("::")[-1]
        name = re.escape(symbol.name)
        end = r"(?=\s*[(<{:;,.)>}&*\s|])"
        if symbol.namespace == "lamina":
            bare = rf"|(?<![\w.:]){name}(?=[(<{{])" if "_" in symbol.name else ""
            return re.compile(rf"\blamina::{name}\b(?!::){end}{bare}")
        if symbol.namespace.startswith("lamina::optimizer") or last in ("schedule", "init"):
            return re.compile(rf"\b{last}::{name}\b{end}|(?<![\w.:]){name}(?=\()")
        return re.compile(rf"\b{last}::{name}\b{end}")

    @staticmethod
    def using(blocks, symbol, pattern):
        return [b for b in blocks if symbol.name in b.words and pattern.search(b.code)]

    def of(self, symbol):
        """The example of a symbol in Markdown, or ""."""
        name = symbol.path.removeprefix("lamina::")
        if name in SHOWN_BY and name not in self.own:
            space, _, other = SHOWN_BY[name].rpartition("::")
            symbol = symbol._replace(namespace=space, name=other)
        pattern = self.pattern(symbol)
        own = self.own.get(symbol.path.removeprefix("lamina::"))
        if own:
            return (f"```cpp\n{own.code}\n```\n\nIt prints:\n\n```text\n{own.output}```\n\n"
                    f"From [{own.where}](../{own.where}).\n")
        using = self.using(self.pages, symbol, pattern)
        short = [b for b in using if len(b.code.splitlines()) <= 30]
        if short or using:
            best = min(short or using, key=lambda b: (not b.output, len(b.code)))
            code = best.code if best in short else lines_around(best.code, pattern)
            anchor = f"#{best.anchor}" if best.anchor else ""
            text = (f"```cpp\n{code.strip(chr(10))}\n```\n\n"
                    f"From [{best.where}](../{best.where}{anchor}).\n")
            return text + (f"It prints:\n\n```text\n{best.output}```\n" if best.output else "")
        using = self.using(self.programs, symbol, pattern)
        if not using:
            return self.of_test(symbol, pattern)
        best = min(using, key=lambda b: len(b.code))
        run = re.sub(r"^\d+_", "", pathlib.PurePath(best.where).stem)
        how = f"; `examples/run {run}` runs it" if best.where.endswith(".cpp") else ""
        return (f"```cpp\n{lines_around(best.code, pattern)}\n```\n\n"
                f"From [{best.where}](../{best.where}){how}.\n")


    def of_test(self, symbol, pattern):
        """Lines of a test, of the header's own one where that uses the name."""
        using = self.using(self.tests, symbol, pattern)
        if not using:
            return ""
        stem = pathlib.PurePath(symbol.header).stem
        best = min(using, key=lambda b: (stem not in b.where, len(b.code)))
        self.of_tests += 1
        return (f"```cpp\n{lines_around(best.code, pattern)}\n```\n\n"
                f"From the test [{best.where}](../{best.where}).\n")


def lines_around(code, pattern):
    """The statement in which a name is, with up to two lines around it."""
    lines = code.splitlines()
    use = next(m for m in pattern.finditer(code)
               if not code[:m.start()].rsplit("\n", 1)[-1].lstrip().startswith("//"))\
        if any(not code[:m.start()].rsplit("\n", 1)[-1].lstrip().startswith("//")
               for m in pattern.finditer(code)) else pattern.search(code)
    at = code.count("\n", 0, use.start())
    first, last = max(at - 2, 0), min(at + 3, len(lines))
    while last < len(lines) and last < at + 8 and not re.search(r"[;{}]\s*(//.*)?$",
                                                                lines[last - 1]):
        last += 1
    shown = lines[first:last]
    while shown and not shown[0].strip():
        shown.pop(0)
    margin = min((len(line) - len(line.lstrip()) for line in shown if line.strip()), default=0)
    return "\n".join(line[margin:] for line in shown).rstrip()


def public_names():
    """Words that pages and examples write as code."""
    words = set()
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        if path.stem not in NOT_FOR_USERS:
            code = "\n".join("".join(m) for m in re.findall(
                r"^ *```cpp[^\n]*\n(.*?)^ *```|`([^`\n]+)`", path.read_text(), re.M | re.S))
            words.update(re.findall(r"(?<![.\w])(?:\w+::)*~?\w+", code))
    for path in (ROOT / "examples").rglob("*.?pp"):
        text = re.sub(r"//.*|\"[^\"\n]*\"", "", path.read_text())
        words.update(re.findall(r"(?<![.\w])(?:\w+::)+\w+", text))
    return words


def is_public(symbol, words):
    """Whether pages or examples name a symbol."""
    parts = symbol.path.split("::")
    forms = {"::".join(parts[i:]) for i in range(len(parts) - 1)}
    if symbol.name in UNNAMED:
        return False
    generic = {"read", "source", "train", "test", "sample", "options", "element", "page", "check",
               "text", "set", "in", "out", "into", "size_of", "row", "finds", "gets"}
    if symbol.name not in generic and symbol.kind != "other":
        forms.add(symbol.name)
    return bool(forms & words)


def in_area(header, patterns):
    path = pathlib.PurePath(header.removeprefix("lamina/").removesuffix(".hpp"))
    return any(str(path).startswith(p[:-1]) if p.endswith("*") else str(path) == p
               for p in patterns.split())


def markdown_of(doc):
    """A docstring as paragraphs; what is indented is code or an equation."""
    lines, code = [], False
    for line in doc.splitlines():
        indented = line.startswith("  ") and (code or not lines or not lines[-1].strip())
        if indented and not code:
            lines.append("```text" if ";" not in line and "(" not in line else "```cpp")
        elif code and line.strip() and not line.startswith("  "):
            while not lines[-1].strip():
                lines.pop()
            lines += ["```", ""]
        code = indented or code and not line.strip()
        lines.append(line[2:] if code else line)
    if code:
        lines.append("```")
    parts = re.split(r"(^```.*?^```|`[^`]+`)", "\n".join(lines), flags=re.M | re.S)
    return "".join(p if p.startswith("`") else
                   re.sub(r"([<*_])", r"\\\1", p).replace("\\<", "&lt;") for p in parts)


def entry_of(group, examples, umbrella, missing, options):
    """The entry of the declarations of one name."""
    first = group[0]
    headers = list(dict.fromkeys(f"<{s.header}>" for s in group))
    if first.header in umbrella:
        headers.append("<lamina/lamina.hpp>")
    calls = "\n\n".join(dict.fromkeys(s.call for s in group))
    text = (f"### `{first.name}`\n\n`{first.path}`, from "
            f"{' or '.join(f'`{h}`' for h in headers)}\n\n```cpp\n{calls}\n```\n\n")
    text += "\n\n".join(dict.fromkeys(markdown_of(s.doc) for s in group)) + "\n\n"
    for option in options:
        text += f"```cpp\n{option.call}\n```\n\n"
    if first.kind == "class" or any(" public:" in s.call for s in group):
        for call, doc in first.members:
            text += f"```cpp\n{call};\n```\n\n{markdown_of(doc)}\n\n"
    example = examples.of(first)
    if not example:
        missing.append(first)
    return text + (f"**Example**\n\n{example}\n" if example else "")


def umbrella_headers():
    """The headers that <lamina/lamina.hpp> reaches."""
    reached, todo = set(), ["lamina/lamina.hpp"]
    while todo:
        header = todo.pop()
        if header not in reached and (INCLUDE / header).exists():
            reached.add(header)
            todo += re.findall(r"^ *# *include <(lamina/[^>]+)>", (INCLUDE / header).read_text(),
                               re.M)
    return reached


def groups_of(symbols):
    """Lists of the declarations of one name, in the order of the first ones."""
    groups = collections.OrderedDict()
    for symbol in symbols:
        groups.setdefault(symbol.path, []).append(symbol)
    return list(groups.values())


class Reference:
    """All pages, and what they lack."""

    def __init__(self):
        self.pages, self.missing, self.count = {}, [], 0
        symbols = list(all_symbols())
        words, self.examples, umbrella = public_names(), Examples(), umbrella_headers()
        index = ["# Reference\n\nEach page lists the functions and types of one topic: the header, "
                 "the call, what is computed, and an example that is compiled. The search finds "
                 "every name, and the text of each [error](../docs/errors.md).\n"]
        index.append("## Layers\n\nA layer records operators into a program. "
                     "[All layers on one page](../docs/layers.md).\n")
        headers = {str(p.relative_to(INCLUDE)): layer_page.name_of(p.relative_to(
            INCLUDE / "lamina")) for p in [
                *(INCLUDE / "lamina/layers").glob("*.hpp"),
                *(INCLUDE / "lamina/operators").rglob("layer*.hpp")]}
        by_name = {name: header for header, name in headers.items()}
        types = {s.name: s for s in symbols
                 if s.namespace == "lamina::layer" and s.kind in ("struct", "enum")}
        for title, text, listed in layer_page.FAMILIES:
            listed = layer_page.names_in(listed, by_name, layer_page.FAMILIES, layer_page.PARTS)
            found = [s for name in listed.split() for s in symbols
                     if s.header == by_name.get(name) and s.namespace == "lamina::layer"
                     and s.kind in ("function", "class")]
            text = re.sub(r"\]\((\w+\.md)", r"](../docs/\1", text) + SHOW
            self.add("layers_" + slug_of(title), title, text, found, umbrella, index, types)
        index.append("\n## By topic\n")
        for name, title, text, listed in AREAS:
            found = [s for s in symbols if in_area(s.header, listed) and is_public(s, words)
                     and s.namespace not in INTERNAL and not s.name.startswith("operator")]
            self.add(name, title, text, found, umbrella, index, {})
        self.pages["reference/index.md"] = "\n".join(index) + "\n"

    def summary(self):
        own, tests, missing = (len(self.examples.own), self.examples.of_tests, len(self.missing))
        return (f"{self.count} public names, each with its header; examples: {own} with output, "
                f"{self.count - own - tests - missing} of pages or programs, {tests} of tests, "
                f"{missing} missing")

    def add(self, name, title, text, found, umbrella, index, types):
        groups, used = groups_of(found), set()
        entries = []
        for group in groups:
            new = [t for t in types.values() if t.name not in used and any(
                re.search(rf"\b{t.name}\b", s.call) for s in group)]
            used.update(t.name for t in new)
            entries.append(entry_of(group, self.examples, umbrella, self.missing, new))
        self.count += len(groups)
        self.pages[f"reference/{name}.md"] = "\n".join([f"# {title}\n", text, "", *entries])
        names = " · ".join(f"[`{g[0].name}`]({name}.md#{g[0].name.lower()})" for g in groups)
        index.append(f"### [{title}]({name}.md)\n\n{names}\n")


def pages():
    return Reference().pages


def names():
    return ["reference/index.md",
            *(f"reference/layers_{slug_of(title)}.md" for title, _, _ in layer_page.FAMILIES),
            *(f"reference/{name}.md" for name, *_ in AREAS)]


SAMPLE = """#pragma once

namespace lamina { inline namespace LAMINA_ABI { namespace some {

/// Options of bend.
struct bend_options {
  float by = 1;  // how far
};

namespace detail {
/// Not to be seen.
inline int hidden(int x) { return x; }
}  // namespace detail

/// Returns x * by, for x of [rows, 2]:
///
///   y = x * by
///
template <int Axis = -1, extent E = extent{}, class T>
LAMINA_COLD inline auto bend(T x, const bend_options& options = {},
                             int line = __builtin_LINE()) {
  return x;
}
/// Reports a mistake.
inline void bend() {}

/// Holds.
class holder {
 public:
  /// Makes one.
  explicit holder(int n) : n_(n) {}

 private:
  /// Not to be seen.
  int n_;
};

}}}  // namespace lamina::some
"""


def self_test():
    found = {s.name: s for s in symbols_of("lamina/some.hpp", SAMPLE)}
    assert list(found) == ["bend_options", "bend", "holder"], list(found)
    assert found["bend"].path == "lamina::some::bend" and found["bend"].kind == "function"
    assert found["bend"].call == ("template <int Axis = -1, extent E = extent{}, class T>\n"
                                  "auto bend(T x, const bend_options& options = {});")
    assert found["bend_options"].call == ("struct bend_options {\n  float by = 1;  // how far\n};")
    assert found["holder"].members == (("holder(int n)", "Makes one."),), found["holder"]
    assert "```text\ny = x * by\n```" in markdown_of(found["bend"].doc)
    assert markdown_of("a_b<c> `d_e<f>`") == "a\\_b&lt;c> `d_e<f>`"
    code = "// bend(0)\nint x;\n\nint y = some::bend(\n    x);\nint z;\n"
    assert lines_around(code, Examples.pattern(found["bend"])) == (
        "int x;\n\nint y = some::bend(\n    x);\nint z;"), lines_around(
            code, Examples.pattern(found["bend"]))
    # The other page that is made from the layers' docstrings has the same layers.
    page = (ROOT / "docs/layers.md").read_text()
    named = re.findall(r"^(?:- |\| )`([a-z_0-9]+)[<(`]", page, re.M)
    layers = {s.name for s in all_symbols() if s.namespace == "lamina::layer"}
    assert set(named) <= layers, set(named) - layers
    print("ok")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    made = Reference()
    print(made.summary())
    if "--missing" in sys.argv:
        print("\n".join(f"{s.path} <{s.header}>" for s in made.missing))


if __name__ == "__main__":
    sys.exit(main())
