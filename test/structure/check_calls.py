#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that headers call only functions of the headers that they include.

A template may call a function that no header before it declares: the compiler looks the name up
again for each instantiation, in the namespaces of the arguments. So a header can reach a higher
level without an include. Reported are

- an unqualified call of a name that neither the header nor any header it includes declares, if
  another header declares a function of that name in a namespace;
- a function of a higher level with the name and the namespace of one that a lower header calls,
  because an instantiation may choose either.

Each such function is a row of the table below "## Functions found by their arguments" in
docs/architecture.md: function, header that declares it, reason. Reported are also rows that no
header needs any more. The check reads text: it relies on clang-format, which writes declarations of
a namespace at the beginning of a line. Calls of operators are not found.

usage: check_calls.py [INCLUDE_FOLDER ARCHITECTURE_PAGE]
       check_calls.py --self-test
"""
import collections
import pathlib
import re
import sys
import tempfile

import check_layers
import namespaces

HEADING = "## Functions found by their arguments"
HIDDEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
NAMESPACE = re.compile(r"namespace ([\w:]*) ?\{")
# The beginning of a declaration in a namespace, up to the name of a function.
FUNCTION = re.compile(
    r"^(?!(?:template|namespace|struct|class|using|union|enum|concept|requires|static_assert|friend"
    r"|typedef|extern)\b)[A-Za-z_\[][^;{}=]*?(?<![:~])\b(\w+)\(", re.M)
# A member whose body is apart; what follows are its members' first values.
MEMBER = re.compile(r"\w::~?\w+\(")
CALL = re.compile(r"(?<![\w.:>~])(?<!template )(\w+)(?:<[^;{}()<>]*>)?\(")
# `T name(`, `T& name,`, `list<T> name =`; an operator has a space before it.
DECLARED = re.compile(r"(?:\b(\w+)|[\w>][>&*]+(?:\.\.\.)?|\(auto\))\s+(\w+)\s*(?=[({=;,)\[:])")
POINTER = re.compile(r"\(\*(?:const )?(\w+)\)\(")  # to a function
MACRO = re.compile(r"#\s*define\s+(\w+)")
KEYWORDS = set("""
    alignas alignof asm assert case catch co_return constexpr decltype defined
    delete do else for if new noexcept not operator or and requires return sizeof
    static_assert switch throw typeid while __attribute__
""".split())


class header_text:
    """What the check needs of one header."""
    def __init__(self, text):
        code = HIDDEN.sub(lambda m: '""' if m[0][0] in "\"'" else "", namespaces.plain(text))
        self.functions = collections.defaultdict(set)  # name: its namespaces
        names = {
            m.start(1): m[1]
            for m in FUNCTION.finditer(code) if not MEMBER.search(code, m.start(), m.start(1))
        }
        opens = {m.end() - 1: m[1] for m in NAMESPACE.finditer(code)}
        made = {m.start(2): m[2] for m in DECLARED.finditer(code) if m[1] not in KEYWORDS}
        self.declared = {*made.values(), *MACRO.findall(code), *POINTER.findall(code)}
        calls = {
            m.start(): m[1]
            for m in CALL.finditer(code)
            if m[1] not in KEYWORDS and m.start() not in made and m.start() not in names
        }
        self.calls = set()  # (name, the outermost namespace around the call)
        scopes = []  # None for a scope that is not a namespace
        for at in sorted({*names, *calls, *(m.start() for m in re.finditer(r"[{}]", code))}):
            if code[at] == "{":
                scopes.append(opens.get(at))
            elif code[at] == "}":
                del scopes[-1:]
            elif at in calls:
                root = scopes[0] if scopes else None
                self.calls.add((calls[at], root and root.split("::")[0]))
            elif None not in scopes and names[at] not in KEYWORDS:
                self.functions[names[at]].add("::".join(scopes))


def find_calls(include):
    """{(function, header that declares it): headers that may call it without including that}."""
    base = include / check_layers.LIBRARY
    layers, levels, _ = check_layers.read_layers(base / "LAYERS")
    paths = {p.relative_to(base): p for p in base.rglob("*") if p.suffix in check_layers.SUFFIXES}
    texts = {header: path.read_text(errors="replace") for header, path in paths.items()}
    known = {header: header_text(text) for header, text in texts.items()}
    included = {
        header: {
            pathlib.Path(name).relative_to(check_layers.LIBRARY)
            for name in check_layers.INCLUDE.findall(text)
            if name.startswith(check_layers.LIBRARY + "/")
        } & set(texts)
        for header, text in texts.items()
    }
    level = {header: levels.get(check_layers.layer_of(header, layers), 99) for header in texts}
    declarers = collections.defaultdict(set)
    for header, of in known.items():
        for name in of.functions:
            declarers[name].add(header)

    found = collections.defaultdict(set)
    for header, of in known.items():
        seen, open_ = {header}, [header]
        while open_:
            new = included[open_.pop()] - seen
            seen |= new
            open_ += new
        for name, root in of.calls:
            others = {
                other
                for other in declarers.get(name, set()) - seen
                if any(n.split("::")[0] == root for n in known[other].functions[name])
            }
            if not others:
                continue
            if declarers[name] & seen:
                namespaces = set().union(*(known[h].functions[name]
                                           for h in declarers[name] & seen))
                others = {
                    other
                    for other in others
                    if level[other] > level[header] and known[other].functions[name] & namespaces
                }
            elif any(name in known[h].declared for h in seen):
                continue
            for other in others:
                found[name, str(other)].add(str(header))
    return found, len(known)


def read_table(page):
    """{(function, header)} of the rows below the heading."""
    text = page.read_text()
    if HEADING not in text:
        return set()
    section = text.split(HEADING, 1)[1].split("\n## ", 1)[0]
    return set(re.findall(r"^\| `(\w+)` \| `([^`]+)` \| \S", section, re.M))


def check(include, page):
    """The faults, one sentence each, and the number of headers."""
    found, headers = find_calls(include)
    table = read_table(page)
    faults = [
        f"{sorted(callers)[0]}: calls {name}, which {where} declares and it does not include; "
        f"include it, rename one of the functions, or give the reason in {page.name}, '{HEADING}'"
        for (name, where), callers in sorted(found.items()) if (name, where) not in table
    ]
    faults += [
        f"{page.name}: no header calls {name} of {where} without including it"
        for name, where in sorted(table - set(found))
    ]
    return faults, headers


def self_test():
    """Plants each fault in a small tree and demands that exactly it is found."""
    good = {
        "lamina/LAYERS": "low\nhigh\n",
        "lamina/low/a.hpp": "namespace lamina {\ninline int twice(int x) {\n  return x;\n}\n}\n",
        "lamina/low/b.hpp": "#include <lamina/low/a.hpp>\nnamespace lamina {\ntemplate <class T>\n"
                            "auto use(const T& t, int (*call)(int)) {\n"
                            "  return twice(t) + call(t.reach());\n}\n}\n",
        "lamina/high/c.hpp": "namespace lamina {\nstruct wide {};\n"
                             "constexpr int reach(const wide&) {\n  return 3;\n}\n"
                             "inline int call(int x) {\n  return x;\n}\n}\n",
        "page.md": "# Page\n",
    }
    reaches = good["lamina/low/b.hpp"].replace("t.reach()", "reach(t)")
    hides = good["lamina/high/c.hpp"].replace("reach(", "twice(")
    row = f"# Page\n\n{HEADING}\n\n| function | header | reason |\n| --- | --- | --- |\n"
    planted = [
        ({}, None),
        ({"lamina/low/b.hpp": reaches}, "low/b.hpp: calls reach, which high/c.hpp declares"),
        ({"lamina/low/b.hpp": reaches,
          "page.md": row + "| `reach` | `high/c.hpp` | why |\n"}, None),
        ({"lamina/high/c.hpp": hides}, "low/b.hpp: calls twice, which high/c.hpp declares"),
        ({"lamina/high/c.hpp": hides.replace("lamina {", "other {")}, None),
        ({"lamina/low/b.hpp": reaches.replace("low/a", "low/d"),
          "lamina/low/d.hpp": "#include <lamina/low/a.hpp>\nnamespace lamina {\n"
                              "template <class T>\nint reach(const T& t);\n}\n"},
         "low/b.hpp: calls reach, which high/c.hpp declares"),
        ({"lamina/low/b.hpp": reaches.replace("call", "reach")}, None),
        ({"lamina/low/b.hpp": reaches,
          "lamina/high/c.hpp": "namespace lamina {\nreach::~reach() = default;\n}\n"}, None),
        ({"lamina/low/b.hpp": "// calls reach(t)\n" + good["lamina/low/b.hpp"]}, None),
        ({"page.md": row + "| `reach` | `high/c.hpp` | why |\n"},
         "page.md: no header calls reach of high/c.hpp"),
    ]  # yapf: disable
    wrong = 0
    for change, expected in planted:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**good, **change}.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            faults, _ = check(pathlib.Path(folder), pathlib.Path(folder, "page.md"))
        passed = not faults if expected is None else len(faults) == 1 and expected in faults[0]
        if not passed:
            wrong += 1
            print(f"planted {change}: expected one fault with '{expected}', found {faults}")
    print(f"{len(planted) - wrong} of {len(planted)} planted trees were judged rightly")
    return wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        return bool(self_test())
    root = pathlib.Path(__file__).resolve().parents[2]
    include, page = sys.argv[1:] or (root / "include", root / "docs" / "architecture.md")
    faults, headers = check(pathlib.Path(include), pathlib.Path(page))
    print("\n".join(faults) or f"{headers} headers: all call what they include")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
