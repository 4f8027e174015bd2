#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/layers.md: every layer with its call, what it computes and its options, from the docstrings
of the headers.

usage: layer_page.py [--update]
       layer_page.py --self-test

Fails where the page is not what the headers say, where a header is in no family, or where a public
function has no docstring; --update writes the page. What is written explicitly in a call is a
template parameter that no argument of the
function names.
"""
import itertools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE, PAGE = ROOT / "include" / "lamina", ROOT / "docs" / "layers.md"
PATH = re.compile(r"^// (lamina/\S+\.hpp) - ", re.M)

# Family, what is common to it, its headers in the order of the page: `glu` is layers/glu.hpp,
# `matrix/fc` is operators/matrix/fc/layer.hpp, and `conv/conv2d` is
# operators/conv/layer_conv2d.hpp. `reduce/*` are those of operators/reduce/ that are not named
# anywhere.
FAMILIES = [
    ("Data",
     "These layers declare the inputs of a program, and its variables that keep their values. "
     "[Sequences](sequences.md) explains sequences.",
     "data sequence control/read_minibatch create_parameter create_global_var store"),
    ("Fully connected, embeddings, products", "",
     "matrix/fc embedding/lookup_table matrix/matmul matrix/mul class_vectors einsum"),
    ("Activations",
     "`fc`, convolutions and the elementwise layers can apply an activation without "
     "parameters themselves: `{.act = lamina::activation::relu}`.",
     "activation/simple elementwise/unary activation/tunable "
     "activation/prelu_maxout glu activation/softmax log_softmax"),
    ("Arithmetic",
     "The operators of C++ are layers too: `x + y`, `x - 1.f`, `2.f * x` and so on.\n\n"
     "All layers that select the largest or smallest element (`reduce_max`, `argmax`, `topk`, "
     "`pool2d`, `maxout`, `sequence_pool`,\n"
     "`elementwise_max`, ...) follow two rules. If there is a NaN, they select the NaN; `argsort` "
     "sorts NaN after all numbers, and activations\n"
     "and `clip` keep NaN. If several elements are equal, they select the first one, and only "
     "this element gets a gradient.\n\n"
     "Sums, means and statistics of floats over many rows are computed in double: either each "
     "row is added in double, or groups of a few rows\n"
     "are added in float, and the sums of the groups in double.",
     "elementwise/binary elementwise/sum reduce/dimensions "
     "reduce/cumsum reduce/* elementwise/compare"),
    ("Costs",
     "Most of these layers return one number per row or per element. A program returns a single "
     "number as its cost: apply `mean` to the result.",
     "loss/cross_entropy loss/cross_entropy/softmax class_weights loss/pointwise "
     "loss/row hsigmoid nce loss/in_batch losses loss/crf loss/ctc"),
    ("Shapes and rows", "",
     "shape/reshape shape/concat/concat shape/concat/split shape/concat/slice "
     "shape/concat/crop embedding/gather embedding/gather/multiplex elementwise/assign "
     "elementwise/clip fill "
     "where "
     "metric/classification order/argsort shape/query norm/cos_sim reduce/squared_l2"),
    ("Normalisation and regularisation", "", "norm/batch_norm norm/layer_norm norm/norm "
     "norm/lrn rms_norm weight_norm random/dropout"),
    ("Images", "[Images](images.md) says how the engine computes them.",
     "conv/conv2d conv1d conv/conv2d_transpose conv/conv3d "
     "pool/pool2d pool/pool3d pool/pool3d/unpool "
     "resize pixel_shuffle region/roi region/patch residual img_conv_group "
     "simple_img_conv_pool"),
    ("Sequences", "[Sequences](sequences.md) has the rules of their rows.",
     "sequence/pool sequence/softmax sequence/conv sequence_conv_pool sequence/conv/row_conv "
     "sequence/expand sequence/expand/expand_as sequence/shape sequence/pad "
     "sequence/pad/unpad sequence/pad/mask sequence/ids sequence_rows"),
    ("Recurrent layers", "",
     "recurrent/lstm recurrent/gru recurrent/lstm_unit "
     "recurrent_nets simple_attention scaled_dot_product_attention "
     "multi_head_attention"),
    ("Loops and branches", "[Control flow](control_flow.md) has examples.",
     "control/block/while control/array control/split_merge control/block/conditional "
     "control/rnn/dynamic control/rnn/static control/rank_table"),
    ("Labels and decoding", "", "loss/crf/decoding loss/ctc/greedy_decoder decode/beam_search "
     "decode/beam_search/decode metric/sequence/chunk_eval metric/sequence/edit_distance"),
    ("Random numbers, side effects", "", "random/distribution random_choice control/print "
     "collective/all_reduce stop_gradient"),
    ("Any operator",
     "These functions record any operator by its slots and attributes. Programs that are made "
     "from files ([interop](interop.md#a-saved-model-as-c))\nuse them for operators to which no "
     "other layer corresponds exactly.", "record record_block"),
]
# What the layers are made of, and lists.
PARTS = set("activation broadcast elementwise/binary/arithmetic control/block "
     "control/block/hoist_inputs layer_helper layers one_operator recurrent "
     "control/rnn shape window".split())

BLOCK = re.compile(
    r"^(?P<open>namespace detail \{)|^(?P<close>\}  // namespace detail)|^(?P<note>(?:// .*\n)+)\n|"
    r"(?P<doc>(?:^///.*\n)*)^(?P<head>template <|struct |class |enum class |constexpr )", re.M)
# Functions that return these are no layers.
VALUES = re.compile(r"constexpr (int|bool|extent2|extents|attribute_value) ")
OPTIONS = re.compile("_attr$|_form$|^window|^extent")
FEWEST_IN_TABLE = 4


def closing(text, at, pairs="<>"):
    """The place behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        if text[i] == pairs[0]:
            depth += 1
        elif text[i] == pairs[1] and text[i - 1] != "-":
            depth -= 1
            if depth == 0:
                return i + 1
    raise ValueError(f"no {pairs[1]} for: {text[at:at + 60]}")


def parts_of(text):
    """A list as its elements: commas within brackets of any kind do not part them."""
    found, depth, begin = [], 0, 0
    for i, c in enumerate(text + ","):
        if c in "<({[":
            depth += 1
        elif c in ">)}]" and text[i - 1] != "-":
            depth -= 1
        elif c == "," and depth == 0:
            found.append(" ".join(text[begin:i].split()))
            begin = i + 1
    return [part for part in found if part]


def parameter_name(parameter):
    """The name of one parameter of a template: that of `int... D` is D."""
    return re.split(r"\s*=", parameter)[0].replace("...", " ").split()[-1]


def entries_of(text):
    """What one header declares outside of detail, in order: notes, types and functions, each a
    dict."""
    inside, at, found = 0, 0, []
    while match := BLOCK.search(text, at):
        at = match.end()
        if match["open"] or match["close"]:
            inside += 1 if match["open"] else -1
            continue
        if inside:
            continue
        if match["note"]:
            if found or "#include" not in text[at:]:
                found.append({
                    "kind": "note",
                    "doc": "\n".join(line[3:] for line in match["note"].splitlines())
                })
            continue
        entry = {
            "doc": "\n".join(line.lstrip()[4:] for line in match["doc"].splitlines()),
            "template": []
        }
        begin = match.start("head")
        if match["head"] == "template <":
            end = closing(text, match.end() - 1)
            entry["template"], begin = parts_of(text[match.end():end - 1]), end
        rest = re.sub(r"^\s*requires .*\n", "", text[begin:]).lstrip()
        if kind := re.match(r"(struct|class|enum class) (\w+)[^;{<]*\{", rest):
            body = rest[kind.end():closing(rest, kind.end() - 1, "{}") - 1]
            found.append(entry | {"kind": kind[1], "name": kind[2], "body": body})
            at = max(at, text.index(body, begin) + len(body))
        elif kind := re.match(r"constexpr [^(;{=]*?\b(\w+)\(", rest):
            end = closing(rest, kind.end() - 1, "()")
            at = max(at, text.index(rest[:end], begin) + end)
            if VALUES.match(rest):
                continue
            refuses = entry["doc"].startswith("Refuses ")
            if "static_assert(never<" not in rest[end:end + 80] and not refuses:
                found.append(
                    entry | {
                        "kind": "function",
                        "name": kind[1],
                        "arguments": parts_of(rest[kind.end():end - 1])
                    })
    return found


def call_of(entry):
    """How a function is called."""
    shown = [a for a in entry["arguments"] if not re.match(r"int line\b|const char\* file\b", a)]
    named = " ".join(shown)
    own = [
        re.sub(r" = detail::.*", "", p) for p in entry["template"]
        if not re.search(rf"\b{parameter_name(p)}\b", named)
    ]
    shown = [re.sub(r"^const (.*?)&", r"\1", a) for a in shown]
    shown = [re.sub(r"^options<(\w+), .*?>( attr)", r"\1\2", a) for a in shown]
    return f"{entry['name']}{'<' + ', '.join(own) + '>' if own else ''}({', '.join(shown)})"


def members_of(body):
    """[(member, comment)] of options; the name of the layer, which all have, is left out."""
    found = []
    for line in body.splitlines():
        if re.match(r"  (using|static|friend) ", line):
            continue
        if member := re.match(r"  ([\w:<>, ]+ \w+(?:\{.*?\}| = [^;]*)?);(?:\s*//\s*(.*))?$", line):
            if not re.match(r"std::string_view name\b", member[1]):
                found.append((member[1], member[2] or ""))
        elif found and (more := re.match(r"\s+// (.*)$", line)):
            found[-1] = (found[-1][0], f"{found[-1][1]} {more[1]}".strip())
    return found


def methods_of(body):
    """The functions of a class that have a docstring."""
    public = body.split(" private:")[0]
    public = public.split(" public:")[-1]
    return [
        e for e in entries_of(re.sub(r"^  ", "", public, flags=re.M))
        if e["kind"] == "function" and e["doc"]
    ]


def paragraphs(doc, indent):
    """A docstring in Markdown: what is indented is code where it has statements, else an
    equation."""
    lines, code = [], False
    every = doc.splitlines()
    for number, line in enumerate(every):
        indented = line.startswith("  ")
        if indented and not code:
            run = itertools.takewhile(lambda l: l.startswith("  ") or not l.strip(), every[number:])
            fence = "  ```cpp" if ";" in "".join(run) else "  ```text"
            lines += ["", fence] if lines and lines[-1] else [fence]
        elif code and not indented and line.strip():
            while lines[-1] == "":
                lines.pop()
            lines += ["  ```", ""]
        if indented or line.strip():
            code = indented
        lines.append("" if not line.strip() else line if indented else "  " + line)
    if code:
        lines.append("  ```")
    return "\n".join((indent + line).rstrip() for line in lines).strip()


def option_line(entry):
    if entry["kind"] == "enum class":
        values = [v for v in parts_of(re.sub(r"//.*", "", entry["body"]))]
        return f"  - `{entry['name']}`: {', '.join(f'`{v}`' for v in values)}."
    members = members_of(entry["body"]) if OPTIONS.search(entry["name"]) else []
    listed = ", ".join(f"`{m}`" + (f" ({c})" if c else "") for m, c in members)
    return f"  - `{entry['name']}`: {listed}." if members else None


def header_lines(name, text, types, used, faults):
    """The lines of one header. TYPES are those of all headers by name, USED those that the page has
    already."""
    found, documented = [], set()  # of lists of lines; one line: a short function
    for entry in entries_of(text):
        kind = entry["kind"]
        if kind == "note":
            found.append(["", entry["doc"], ""])
            continue
        if kind == "class":
            found.append([f"- `{entry['name']}`\\", "  " + paragraphs(entry["doc"], "")] + [
                f"  - `{call_of(m)}`\\\n    {paragraphs(m['doc'], '  ')}"
                for m in methods_of(entry["body"])
            ])
        if kind != "function":
            continue
        if not entry["doc"]:
            if entry["name"] not in documented:
                faults.append(f"{name}: {entry['name']} has no docstring")
            continue
        documented.add(entry["name"])
        options, more = [], entry["template"] + entry["arguments"]
        while more:
            new = [
                t for t in types if t not in used and any(re.search(rf"\b{t}\b", m) for m in more)
            ]
            used.update(new)
            options += [line for t in new if (line := option_line(types[t]))]
            more = [types[t]["body"] for t in new]
        if options or "\n" in entry["doc"]:
            found.append([f"- `{call_of(entry)}`\\", "  " + paragraphs(entry["doc"], "")] + options)
        else:
            found.append([(call_of(entry), entry["doc"])])
    return in_tables(found)


def in_tables(found):
    """Where short functions follow each other they become a table."""
    lines, i = [], 0
    while i < len(found):
        run = 0
        while i + run < len(found) and isinstance(found[i + run][0], tuple):
            run += 1
        if run >= FEWEST_IN_TABLE:
            cells = [tuple(part.replace("|", "\\|") for part in row[0]) for row in found[i:i + run]]
            lines += [
                "", "| call | result |", "| --- | --- |",
                *(f"| `{call}` | {doc} |" for call, doc in cells), ""
            ]
        elif run:
            lines += [
                line for row in found[i:i + run]
                for line in (f"- `{row[0][0]}`\\", "  " + row[0][1])
            ]
        else:
            lines += found[i]
            run = 1
        i += run
    return lines


def names_in(names, headers, families, parts):
    """The names of a family, with what `folder/*` stands for."""
    named = {name for _, _, all_names in families for name in all_names.split()} | set(parts)
    rest = {name: sorted(h for h in headers if h.startswith(name[:-1]) and h not in named)
            for name in names.split() if name.endswith("/*")}
    return " ".join(h for name in names.split() for h in rest.get(name, [name]))


def page(headers, families=FAMILIES, parts=PARTS):
    """(the page, what is wrong) of {header: text}."""
    faults = []
    families = [(title, text, names_in(names, headers, families, parts))
                for title, text, names in families]
    placed = [h for _, _, names in families for h in names.split()]
    faults += [
        f"{h}: in no family of layer_page.py" for h in sorted(headers)
        if h not in placed and h not in parts
    ]
    faults += [
        f"layer_page.py: there is no header {h}" for h in [*placed, *parts] if h not in headers
    ]
    faults += [
        f"layer_page.py: {h} is named twice" for h in set(placed)
        if placed.count(h) > 1 or h in parts
    ]
    lines = [
        "# Layers", "",
        "This page lists every layer: the functions in namespace `lamina::layer` that record "
        "operators into a program",
        "([quickstart](quickstart.md)). `tools/check --fix` writes the page from the docstrings of "
        "`layers/*.hpp` and `operators/**/layer*.hpp`.", "",
        "Each entry begins with the call: the template arguments that you write, then the "
        "arguments. Template arguments that the compiler",
        "deduces are omitted. In a call, `T` is the element type, `R` the type of the rows "
        "(`batch`, `tokens<...>`, or `once` for a variable",
        "without rows), and `D...` are the dimensions of one row.", "",
        "Options are named in braces: `{.act = lamina::activation::relu, .name = \"hidden\"}`. The "
        "list of options shows the default of each one.",
        "One option is `name`: by this name you can read the layer's result later, and the names "
        "of its parameters begin with it.",
        "The types of options, such as `fc_attr`, are in `lamina::layer` too. "
        "`<lamina/lamina.hpp>` includes all layers.", ""
    ]
    lines += [
        f"[{title}](#{re.sub(r'[^a-z ]', '', title.lower()).replace(' ', '-')}) ·"
        for title, _, _ in families
    ]
    lines[-1] = lines[-1][:-2]
    types = {
        e["name"]: e for text in headers.values() for e in entries_of(text)
        if e["kind"] in ("struct", "enum class")
    }
    used = set()
    for title, text, names in families:
        lines += ["", f"## {title}", ""] + ([text, ""] if text else [])
        for name in names.split():
            if name in headers:
                if path := PATH.search(headers[name]):
                    lines += ["", f"From `<{path[1]}>`:", ""]
                lines += header_lines(name, headers[name], types, used, faults)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n", faults


SAMPLE = """#pragma once

#include <x.hpp>

namespace lamina::layer {

/// Options of bend.
struct bend_attr {
  float by = 1;  // how
                 // far
  std::string_view name{};
};

namespace detail {
/// Not to be seen.
constexpr auto hidden(int x) { return x; }
}  // namespace detail

// Of both.

/// x bent. Fluid: bend.
template <int Axis = -1, class T, int... D>
constexpr auto bend(variable<T, D...> x, const options<bend_attr, T>& attr = {},
                    int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return x;
}

/// Axis was forgotten.
template <class X>
constexpr auto bend(X x) {
  static_assert(never<X>, "");
}
/// Refuses an axis among the arguments.
constexpr auto bend(any_input x, int) { return x; }
template <class T>
constexpr auto fold(variable<T> x) { return x; }

/// Walks:
///
///   walk().go(1);
class walk {
 public:
  /// On.
  constexpr walk& go(int steps) { return *this; }

 private:
  /// Not to be seen.
  constexpr void rest(int x) {}
};

}  // namespace lamina::layer
"""


def self_test():
    text, faults = page({
        "bend": SAMPLE,
        "lost": "",
        "part": ""
    }, [("Shapes", "All.", "bend gone")], {"part"})
    assert faults == [
        "lost: in no family of layer_page.py", "layer_page.py: there is no header gone",
        "bend: fold has no docstring"
    ], faults
    body = text[text.index("## Shapes"):]
    expected = [
        "## Shapes", "", "All.", "", "Of both.", "",
        "- `bend<int Axis = -1>(variable<T, D...> x, bend_attr attr = {})`\\",
        "  x bent. Fluid: bend.", "  - `bend_attr`: `float by = 1` (how far).", "- `walk`\\",
        "  Walks:", "", "  ```cpp", "  walk().go(1);", "  ```", "  - `go(int steps)`\\", "    On."
    ]
    assert body.rstrip().splitlines() == expected, "\n" + body
    names = {
        "layers/glu.hpp": "glu",
        "operators/matrix/fc/layer.hpp": "matrix/fc",
        "operators/resize/layer.hpp": "resize",
        "operators/conv/layer_conv2d_transpose.hpp": "conv/conv2d_transpose"
    }
    assert {path: name_of(pathlib.PurePath(path)) for path in names} == names
    print("ok")


def name_of(header):
    """How FAMILIES and PARTS call a header, given by its path below include/lamina."""
    if header.parts[0] == "layers":
        return header.stem
    return "/".join(header.parts[1:-1]) + header.stem.replace("layer", "", 1).replace("_", "/", 1)


def main():
    if "--self-test" in sys.argv:
        return self_test()
    paths = [*(INCLUDE / "layers").glob("*.hpp"), *(INCLUDE / "operators").rglob("layer.hpp"),
             *(INCLUDE / "operators").rglob("layer_*.hpp")]
    headers = {name_of(path.relative_to(INCLUDE)): path.read_text() for path in sorted(paths)}
    text, faults = page(headers)
    if "--update" in sys.argv:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        faults.append(
            "docs/layers.md is not what the headers say: run test/docs/layer_page.py --update")
    for fault in faults:
        print(fault)
    print(
        f"{len(headers)} headers, {sum(line.startswith('- ') for line in text.splitlines())} layers"
    )
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
