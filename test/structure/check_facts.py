#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that what is known of an operator is stated in its definition: no other header asks for
its type; and that all of it lies in one folder.

A definition is a struct with a `type` in a header below operators/ or optimizer/ or in
plan/*_operators.hpp, or one that is a gradient_of another.
A header outside of operators/ names an operator where it has the type as a string, a
`schema_of<NAME>` that it does not record, `is<NAME>(...)`, or `__is_same(Op, NAME)`. Each such
header is a row of the table below "## Where operators are named" in docs/architecture.md: header,
operators in backticks (or `any`), reason. Reported are names that the table does not have, and rows
and names of the table that no header has any more.
A header in operators/ that has a kernel of an operator (`call_kernel<NAME>`, `shared_kernel<NAME`,
`table["TYPE"]`) or its conversion to ONNX (`to.add("TYPE"`) lies in the folder of the operator's
definition; a family has one header of conversions.
Definitions outside of operators/ may have theirs anywhere.

usage: check_facts.py [INCLUDE_FOLDER ARCHITECTURE_PAGE]
       check_facts.py --self-test
"""
import pathlib
import re
import sys
import tempfile

HEADING = "## Where operators are named"
SUFFIXES = {".hpp", ".cuh"}
GRADIENT = re.compile(r"struct (\w+) : gradient_of<")
DEFINITION = re.compile(
    r'struct (\w+)[^;{]*\{\n(?:[^\n{}]*\n){0,3}?  static constexpr const char\* type = "(\w+)";')
# Comments, and the namespace of operators: what remains are their names.
COMMENT = re.compile(r"//[^\n]*|\boperators::")
NAME = r"(?:lamina::)?((?:gradient_of<(?:lamina::)?\w+>)|\w+)"
RECORDED = re.compile(
    rf"\b(?:add_operator|begin|begin_images|copied|emit_call|startup|push)\(\s*(?:s,\s*)?"
    rf"(?:fusion_anchor::\w+,\s*)?\{{?&?schema_of<{NAME}>\(\)"
)
NAMED = [
    re.compile(rf"\bschema_of<{NAME}>\(\)"),
    re.compile(rf"\bis<{NAME}>\("),
    re.compile(rf"__is_same\(Op, {NAME}\)"),
    re.compile(rf"is_same_v<Op, {NAME}>")
]
KERNEL = re.compile(r"struct (?:call|shared)_kernel<(?:gradient_of<)?(?:\w+::)*(\w+)")
STAGE = re.compile(r'(?:\btable\[|\bto\.add\(|\b\w+\(to, )"(\w+?)(?:_grad)?"')
# Words of file formats and of options, which are types of operators too.
OTHER_WORDS = {
    "dataset/cifar.hpp": {"data"},
    "dataset/column_encoding.hpp": {"mean"},
    "io/arrays/safetensors_header.hpp": {"shape"},
    "executor/paddle2_kernels.hpp": {"shape"},
    "io/npy.hpp": {"shape"},
    "metric/accuracy.hpp": {"accuracy"},
    "model/parameters/tensor_file.hpp": {"data"},
    "optimizer/lars_momentum.hpp": {"momentum"},
    "optimizer/minimize.hpp": {"gradient_scale"},
    "optimizer/momentum.hpp": {"momentum"},
    "optimizer/option_check.hpp": {"clip"},
    "optimizer/rmsprop.hpp": {"mean_grad", "momentum"},
    "optimizer/update_operator.hpp": {"gradient_scale"},
}


def definitions(base):
    """(names of definitions, Fluid's types) of all operators."""
    headers = [
        *base.glob("operators/**/*.hpp"), *base.glob("optimizer/*.hpp"),
        *base.glob("plan/*_operators.hpp")
    ]
    texts = [header.read_text() for header in headers]
    found = [pair for text in texts for pair in DEFINITION.findall(text)]
    names = {name
             for name, _ in found} | {name for text in texts for name in GRADIENT.findall(text)}
    types = {t for _, t in found}
    return names | {f"gradient_of<{name}>" for name in names}, types | {f"{t}_grad" for t in types}


def named_operators(text, names, types):
    """The operators that the text of one header names."""
    text = COMMENT.sub("", text)
    own = {t for _, t in DEFINITION.findall(text)} | set(
        re.findall(r'const char\* type = "(\w+)"', text))
    found = {t for t in re.findall(r'"(\w+)"', text) if t in types} - own
    text = RECORDED.sub("", text)
    return found | {name for pattern in NAMED for name in pattern.findall(text) if name in names}


def homeless(base):
    """A sentence for each stage of an operator that lies in another folder than its definition."""
    texts = {
        str(p.relative_to(base)): COMMENT.sub("", p.read_text())
        for p in sorted(base.rglob("*")) if p.suffix in SUFFIXES
    }
    homes = {}
    for header, text in texts.items():
        folder = header.rsplit("/", 1)[0]
        for name, operator in DEFINITION.findall(text):
            homes.setdefault(f"<{name}>", set()).add(folder)
            homes.setdefault(operator, set()).add(folder)
        for name in GRADIENT.findall(text):
            homes.setdefault(f"<{name}>", set()).add(folder)
    for header, text in texts.items():
        folder = header.rsplit("/", 1)[0]
        if not header.startswith("operators/"):
            continue
        kernels = {f"<{name}>" for name in KERNEL.findall(text)}
        for name in sorted(kernels | set(STAGE.findall(text))):
            home = homes.get(name, {folder})
            families = {place.rsplit("/", 1)[0] for place in home}
            if folder in home or header.endswith("/onnx.hpp") and folder in families:
                continue
            if all(place.startswith("operators/") for place in home):
                yield f"{header}: '{name.strip('<>')}' is defined in {' and '.join(sorted(home))}"


def table_rows(page):
    """{header: operators} of the table, `any` for all."""
    if HEADING not in page:
        return None
    rows = {}
    for line in page.split(HEADING, 1)[1].split("\n## ", 1)[0].splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < 5 or not cells[1].startswith("`"):
            continue
        for header in re.findall(r"`([^`]+)`", cells[1]):
            rows[header] = None if cells[2] == "any" else set(re.findall(r"`([^`]+)`", cells[2]))
            if not cells[3]:
                rows[header] = set()
    return rows


def check(include, page):
    """The faults, one sentence each, and the number of headers that name operators."""
    base = include / "lamina"
    names, types = definitions(base)
    rows = table_rows(page.read_text())
    if rows is None:
        return [f"{page}: has no section '{HEADING}'"], 0
    faults, seen = [], 0
    for header in sorted(base.rglob("*")):
        name = str(header.relative_to(base))
        if header.suffix not in SUFFIXES or name.startswith("operators/"):
            continue
        found = named_operators(header.read_text(errors="replace"), names, types) - OTHER_WORDS.get(
            name, set())
        if not found:
            continue
        seen += 1
        allowed = rows.pop(name, set())
        if allowed is None:
            continue
        for operator in sorted(found - allowed):
            faults.append(
                f"{name}: names the operator '{operator}'; a fact of its definition tells what is "
                "asked for, or the table "
                f"'{HEADING[3:]}' in {page.name} says why there is none")
        for operator in sorted(allowed - found):
            faults.append(f"{page.name}: '{name}' does not name '{operator}' any more")
    faults += [f"{page.name}: '{name}' names no operator any more" for name in sorted(rows)]
    faults += homeless(base)
    return faults, seen


def self_test():
    """Plants each fault in a small tree and demands that exactly it is found."""
    good = {
        "operators/family/definition.hpp":
            'struct relu : pointwise {\n  static constexpr const char* type = "relu";\n};\n'
            'struct turn : operator_definition {\n  // Why.\n  static constexpr const char* type = '
            '"turn2";\n};\n',
        "operators/family/cpu.hpp": 'if (type == "relu") return;\n',
        "plan/heads.hpp": 'if (is<relu>(op)) return; // "turn2"\nb.add_operator(schema_of<turn>(), '
                          '{x}, {y});\n',
        "plan/free.hpp": 'if (schema->facts.random) return "other";\n',
        "io/format.hpp": 'table["relu"] = 1;\n',
    }
    table = (f"# Page\n\n{HEADING}\n\n| header | operators | reason |\n| --- | --- | --- |\n"
             "| `plan/heads.hpp` | `relu` | it fuses |\n"
             "| `io/format.hpp` | any | spelling |\n\n## Next\n")
    cases = [
        ({}, table, []),
        ({
            "plan/free.hpp": 'if (type == "turn2_grad") return;\n'
        }, table, ["plan/free.hpp: names the operator 'turn2_grad'"]),
        ({
            "plan/free.hpp": "if (s == &schema_of<gradient_of<turn>>()) return;\n"
        }, table, ["plan/free.hpp: names the operator 'gradient_of<turn>'"]),
        ({
            "plan/free.hpp": "constexpr bool b = __is_same(Op, turn) || std::is_same_v<Op, relu>;\n"
        }, table,
         ["plan/free.hpp: names the operator 'relu'", "plan/free.hpp: names the operator 'turn'"]),
        ({
            "plan/heads.hpp": "return;\n"
        }, table, ["page.md: 'plan/heads.hpp' names no operator any more"]),
        ({
            "plan/heads.hpp": "if (is<turn>(op) || is<relu>(op)) return;\n"
        }, table, ["plan/heads.hpp: names the operator 'turn'"]),
        ({}, table.replace("`relu` |", "`relu`, `turn` |"),
         ["page.md: 'plan/heads.hpp' does not name 'turn' any more"]),
        ({}, table.replace("it fuses", ""), ["plan/heads.hpp: names the operator 'relu'"]),
        ({}, "# Page\n", ["page.md: has no section"]),
        ({
            "operators/family/cuda.cuh": "struct call_kernel<gradient_of<turn>> {\n",
            "operators/family/executor.hpp": 'table["turn2"] = turn;\ntable["reshape2"] = turn;\n'
        }, table, []),
        ({
            "operators/other/cuda.cuh": "struct call_kernel<gradient_of<operators::turn>> {\n"
        }, table, ["operators/other/cuda.cuh: 'turn' is defined in operators/family"]),
        ({
            "operators/other/kernel.hpp": "struct shared_kernel<operators::turn, Real> {\n"
        }, table, ["operators/other/kernel.hpp: 'turn' is defined in operators/family"]),
        ({
            "operators/family/part/executor.hpp": 'table["turn2_grad"] = turn;\n'
        }, table, ["operators/family/part/executor.hpp: 'turn2' is defined in operators/family"]),
        ({
            "operators/other/onnx.hpp": 'to.add("relu", f);\nfold(to, "turn2", g);\n'
        }, table, ["onnx.hpp: 'relu' is defined in", "onnx.hpp: 'turn2' is defined in"]),
        ({
            "operators/all/onnx.hpp": 'to.add("mean", f);\n',
            "operators/all/executor.hpp": 'table["mean"] = f;\n',
            "operators/all/part/definition.hpp":
                'struct mean : pointwise {\n  static constexpr const char* type = "mean";\n};\n'
        }, table, ["operators/all/executor.hpp: 'mean' is defined in operators/all/part"]),
        ({
            "operators/other/cpu.hpp": "struct call_kernel<sign> {\n",
            "optimizer/sign.hpp":
                'struct sign : rule {\n  static constexpr const char* type = "sign";\n};\n'
        }, table, []),
    ]
    for number, (changed, text, expected) in enumerate(cases):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, content in {**good, **changed}.items():
                header = root / "lamina" / name
                header.parent.mkdir(parents=True, exist_ok=True)
                header.write_text(content)
            (root / "page.md").write_text(text)
            faults, _ = check(root, root / "page.md")
        if len(faults) != len(expected) or not all(e in f for e, f in zip(expected, faults)):
            raise SystemExit(f"self-test {number}: expected {expected}, found {faults}")
    print(f"{len(cases)} planted trees are judged right")


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    root = pathlib.Path(__file__).resolve().parents[2]
    include, page = map(pathlib.Path, arguments) if arguments else (root / "include", root /
                                                                    "docs" / "architecture.md")
    faults, seen = check(include, page)
    print("\n".join(faults) if faults else
          f"{seen} headers outside of operators/ name operators, each with its reason; kernels and "
          "conversions lie in the folders of their definitions")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
