# SPDX-License-Identifier: Apache-2.0
"""Where the headers define each operator, and which layers record it; needs nothing but Python."""
import re

STRUCT = re.compile(r"^struct (\w+)[^;{]*\{\n(.*?)^\};\n", re.M | re.S)
TYPE = re.compile(r'^  static constexpr const char\* type = "(\w+)";', re.M)
END = re.compile(r"^\};?$")
TEMPLATE = re.compile(r"^template <(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>\s*", re.S)
DEFINITIONS = ("operators/**/definition*.hpp", "optimizer/*.hpp", "executor/*.hpp")
# Functions that a user does not call: what they stand for.
INTERNAL = {"operator_of": None, "layer_helper": "param_attr", "minimize_with": "minimize"}
LAYERS = ("operators/**/layer*.hpp", "layers/*.hpp", "program/block.hpp", "optimizer/minimize.hpp")


def headers_of(base, patterns):
    return {
        str(path.relative_to(base)): path.read_text()
        for pattern in patterns for path in sorted(base.glob(pattern))
    }


def definitions(base):
    """{type: (name of the definition, its header)}; the first header is that of the operator."""
    found = {}
    for header, text in headers_of(base, DEFINITIONS).items():
        for name, body in STRUCT.findall(text):
            if kind := TYPE.search(body):
                found.setdefault(kind[1], (name, header))
    return found


def declarations(text):
    """(whether in detail, name, text) of each function and class of a header, without comments."""
    text = re.sub(r"[ \t]*//[^\n]*", "", text)
    inside, lines = 0, []
    for line in text.splitlines():
        if not lines and line.startswith("namespace"):
            inside += "detail" in line
            continue
        if not lines and (not line.strip() or line[0] in "#}"):
            inside -= line.startswith("}") and inside > 0
            continue
        lines.append(line)
        whole = "\n".join(lines)
        if END.match(line) or (line.endswith(";") and whole.count("{") == whole.count("}")
                               and whole.count("(") == whole.count(")")):
            lines = []
            bare = TEMPLATE.sub("", whole.replace("requires ", "", 1))
            if name := re.match(r"(?:struct|class) (\w+)", bare) or re.search(
                    r"\b(operator ?[^\s(]+|\w+)\(", bare):
                yield inside > 0, name[1], whole


def recorded_by(base, kinds):
    """{type: names of the layers that record it} of {type: (definition, header)}."""
    own = {name: kind for kind, (name, _) in kinds.items()}
    asked = re.compile(r"<(?:lamina::)?(?:operators::)?(\w+)[,>]")
    found, helpers, calls = {}, {}, []  # {(header, name): operators}, {name: operators}
    for header, text in headers_of(base, LAYERS).items():
        for in_detail, name, body in declarations(text):
            operators = {own[n] for n in asked.findall(body) if n in own}
            to = helpers.setdefault(name, set()) if in_detail else found.setdefault(
                (header, name), set())
            to |= operators
            calls.append((to, set(re.findall(r"\b(\w+)[<(]", body))))
    # What functions in detail record counts for the layers that call them.
    changed = True
    while changed:
        changed = False
        for to, called in calls:
            before = len(to)
            for other in called & helpers.keys():
                to |= helpers[other]
            changed = changed or len(to) > before
    return {kind: chosen(kind, header, found) for kind, (_, header) in kinds.items()}


def chosen(kind, header, layers):
    """The names of the layers that record one operator: those of its family where there are any."""
    names = [name for (_, name), operators in layers.items() if kind in operators]
    family = header.split("/")[:2]
    own = [name for (of, name), operators in layers.items()
           if kind in operators and of.split("/")[:2] == family]
    return sorted({INTERNAL.get(name, name) for name in own or names} - {None})
