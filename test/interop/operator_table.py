#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/operators.md: every operator of the library, its folder, its layers, whether it
has a gradient, and which engine and other library was compared with it.

usage: operator_table.py compare COLUMN FILE [--update]      COLUMN is library, paddle, onnx or
                                                             torch
       operator_table.py compare engines|cuda FOLDER TESTS [--update]
       operator_table.py page [--update]
       operator_table.py self-test

operators.tsv beside this script is the table as data. `compare` holds one column of it against what
a run of the cases found (FILE is what compare_paddle.py and the others write for --operators; for
`library`, what `interop_cases operators` prints) and fails where they differ. `compare engines`
does so with the columns executor and compiled: unit tests write into FOLDER which operators they
compared (test/laws/compared_operators.hpp), and TESTS is a file that names those tests; what a peer
agrees with counts for the executor too, which every peer is compared with. `compare cuda` does so
with the column of the CUDA engine. `page` fails where the page is not what the data and the headers
say (operator_places.py), and where a cell is empty without a reason: where an operator has no
layer, no gradient, or no counterpart in another library, absent.txt says why. --update writes the
data, or the page.
"""
import pathlib
import sys
import tempfile

from operator_places import definitions, recorded_by
from table_parts import HERE, known_differences, with_part

ROOT = HERE.parents[1]
DATA, ABSENT, PAGE = HERE / "operators.tsv", HERE / "absent.txt", ROOT / "docs" / "operators.md"
MARK = "table of operators"
SKIPPED = 77
MOST_LAYERS = 3
PEERS = {
    "paddle": ("PaddlePaddle", "differences.txt"),
    "onnx": ("ONNX Runtime", "onnx_differences.txt"),
    "torch": ("PyTorch", "torch_differences.txt")
}
# What unit tests write down, by name of the comparison.
LOGGED = {"engines": ["executor", "compiled"], "cuda": ["cuda"]}
COLUMNS = ["gradient", "executor", "compiled", "cuda", *PEERS]
NAMES = {
    "layer": "layer",
    "gradient": "gradient",
    "executor": "executor",
    "compiled": "CPU engine",
    "cuda": "CUDA engine"
} | {peer: name
     for peer, (name, _) in PEERS.items()}
COMPARED = COLUMNS[1:]


def read_data():
    """{operator: {column: state}}; an empty state: nothing was compared."""
    lines = [line.split("\t") for line in DATA.read_text().splitlines() if line and line[0] != "#"]
    return {line[0]: dict(zip(COLUMNS, line[1:])) for line in lines}


def write_data(table):
    head = ("# Written by operator_table.py: operator, whether it has a gradient, and what was"
            " compared, by column.\n")
    rows = ["\t".join([kind, *(table[kind].get(c, "") for c in COLUMNS)]) for kind in sorted(table)]
    DATA.write_text(head + "".join(row + "\n" for row in rows))


def read_absent():
    """{column: {operator: why there is none}}."""
    absent = {column: {} for column in NAMES}
    for line in ABSENT.read_text().splitlines():
        if line and line[0] != "#":
            peer, kinds, why = line.split(None, 2)
            absent[peer] |= {kind: why for kind in kinds.split(",")}
    return absent


def updated(table, column, lines):
    """The table with what a run found."""
    found = dict(line.split("\t", 1) for line in lines)
    if column == "library":
        return {
            kind: table.get(kind, {}) | {
                "gradient": gradient
            } for kind, gradient in found.items()
        }
    return {kind: states | {column: found.get(kind, "")} for kind, states in table.items()}


def updated_engines(table, logs, columns):
    """The table with what unit tests compared: LOGS are lines of column, operator and state."""
    best = {kind: {c: [states.get(p, "") for p in PEERS if c == "executor"] for c in columns}
            for kind, states in table.items()}
    for line in logs:
        column, kind, state = line.split("\t")
        if kind in best and column in columns:  # not an operator that a test defines
            best[kind][column].append(state)
    rank = ["", "values", "gradients"]
    return {kind: states | {c: max((s for s in found if s in rank), key=rank.index, default="")
                            for c, found in best[kind].items()} for kind, states in table.items()}


def engine_logs(folder, tests):
    """All lines that the named tests have left, and the tests that have left none."""
    files = {name: folder / f"{name}.tsv" for name in tests}
    lines = [
        line for file in files.values() if file.exists() for line in file.read_text().splitlines()
    ]
    return lines, [name for name, file in files.items() if not file.exists()]


def differences(old, new):
    lines = []
    for kind in sorted(old.keys() | new.keys()):
        if kind not in new:
            lines.append(f"{kind}: in operators.tsv, but the library has no such operator")
        elif kind not in old:
            lines.append(f"{kind}: an operator of the library that operators.tsv has not")
        else:
            lines += [
                f"{kind}: {c} is '{old[kind].get(c, '')}' in operators.tsv, "
                f"'{new[kind].get(c, '')}' in this run"
                for c in COLUMNS if old[kind].get(c, "") != new[kind].get(c, "")
            ]
    return lines


def with_places(table, base):
    """The table with the folder and the layers of each operator, as the headers say."""
    defined = definitions(base)
    layers = recorded_by(base, defined)
    optimizers = {path.stem for path in base.glob("optimizer/*.hpp")}
    placed = {}
    for kind, states in table.items():
        _, header = defined.get(kind, ("", ""))
        # An optimizer is chosen by its name, and minimize() records the operator.
        called = layers.get(kind) or (["optimizer::" + kind] if kind in optimizers else [])
        shown = [f"`{name}`" for name in called[:MOST_LAYERS]] + ["..."] * (
            len(called) > MOST_LAYERS)
        placed[kind] = states | {
            "place": header.rpartition("/")[0].removeprefix("operators/"),
            "layer": ", ".join(shown)
        }
    return placed


def faults_of(table, absent):
    """What contradicts itself, and what is empty without a reason."""
    lines = []
    for kind, states in table.items():
        if not states.get("place"):
            lines.append(f"{kind}: no header defines it")
        for column in ("layer", "gradient"):
            there = states.get(column, "") not in ("", "no")
            if there == (kind in absent[column]):
                lines.append(f"absent.txt: {column} {kind}: " +
                             ("there is one" if there else "expected why there is none"))
        lines += [
            f"absent.txt: {column} {kind}: expected why it is compared with none, or a case"
            for column in COMPARED if state_of(table, absent, kind, column) == "open"
        ]
    for peer, kinds in absent.items():
        for kind, why in kinds.items():
            if kind not in table:
                lines.append(f"absent.txt: {peer} {kind}: the library has no such operator")
            elif peer in COMPARED and table[kind].get(peer) in ("values", "gradients"):
                lines.append(f"absent.txt: {peer} {kind}: {why}, though a case with it is equal")
    for peer, (_, file) in PEERS.items():
        known = known_differences(file)
        for kind in table:
            state, _, case = table[kind].get(peer, "").partition(" ")
            if state == "differs" and case not in known:
                lines.append(
                    f"operators.tsv: {peer} {kind}: case {case} differs, and {file} does not say "
                    "why"
                )
    return lines


def state_of(table, absent, kind, column):
    """One of: gradients, values, forward (values though there is a gradient), differs, absent,
    open."""
    state = table[kind].get(column, "")
    if column in absent and kind in absent[column]:
        return "absent"
    if state.startswith("differs"):
        return "differs"
    if state in ("", "-"):
        return "open"
    if state == "values" and table[kind]["gradient"] == "yes" and column != "onnx":
        return "forward"
    return state


def page_part(table, absent):
    names = {column: NAMES[column] for column in COMPARED}
    known = {peer: known_differences(file) for peer, (_, file) in PEERS.items()}
    cells = {
        "gradients": "✓∇",
        "values": "✓",
        "forward": "values",
        "absent": "—",
        "open": "**open**"
    }
    meaning = {
        "gradients": "values and gradients",
        "values": "values, all there is",
        "forward": "values alone",
        "differs": "differs as explained",
        "absent": "no counterpart",
        "open": "**open**"
    }
    states = {c: {k: state_of(table, absent, k, c) for k in table} for c in names}
    lines = [
        f"| {len(table)} operators | {' | '.join(names.values())} |",
        "| --- |" + " --- |" * len(names)
    ]
    for state, text in meaning.items():
        counts = [sum(1 for s in states[c].values() if s == state) for c in names]
        lines.append(f"| {text} | {' | '.join(map(str, counts))} |")
    notes, rows = [], []
    for kind in sorted(table):
        row = []
        for column in names:
            state = states[column][kind]
            if state == "differs":
                case = table[kind][column].split()[1]
                why = known[column].get(case, f"{case}: not explained")
                if why not in notes:
                    notes.append(why)
                row.append(f"≠ {notes.index(why) + 1}")
            else:
                row.append(cells[state])
        states_of = table[kind]
        own = [
            states_of["place"], states_of["layer"] or "—",
            "yes" if states_of["gradient"] == "yes" else "—"
        ]
        rows.append(f"| {kind} | {' | '.join(own + row)} |")
    head = ["operator", "folder", "layer", "gradient", *names.values()]
    lines += ["", f"| {' | '.join(head)} |", "|" + " --- |" * len(head), *rows, ""]
    lines += [f"{i}. {why}" for i, why in enumerate(notes, 1)]
    for column, kinds in absent.items():
        reasons = {}
        for kind, why in kinds.items():
            reasons.setdefault(why, []).append(f"`{kind}`")
        if kinds:
            lines += ["", f"Why the column {NAMES[column]} has —:", ""]
        lines += [f"- {', '.join(sorted(kinds))}: {why}" for why, kinds in reasons.items()]
    return "\n".join(lines) + "\n"


def self_test():
    table = {
        "a": {
            "gradient": "yes",
            "executor": "gradients",
            "compiled": "gradients",
            "torch": "gradients"
        },
        "b": {
            "gradient": "yes",
            "executor": "values",
            "compiled": "-",
            "torch": "values"
        }
    }
    none = {column: {} for column in NAMES}
    assert state_of(table, none, "a", "torch") == "gradients" and state_of(
        table, none, "b", "torch") == "forward"
    assert state_of(table, none, "b", "onnx") == "open" and state_of(table, none, "b",
                                                                     "compiled") == "open"
    assert state_of(table, none | {"onnx": {"b": "why"}}, "b", "onnx") == "absent"
    assert not differences(table, updated(table, "torch", ["a\tgradients", "b\tvalues"]))
    assert len(differences(table, updated(table, "torch", ["a\tvalues"]))) == 2
    assert len(differences(table, updated(table, "library", ["a\tyes", "c\tno"]))) == 2
    ran = updated_engines(table, [
        "compiled\ta\tvalues", "compiled\ta\tgradients", "executor\tb\tvalues",
        "compiled\tz\tvalues", "cuda\ta\tvalues"
    ], LOGGED["engines"])
    assert ran["a"]["executor"] == ran["a"]["compiled"] == "gradients" and ran["b"][
        "executor"] == "values"
    assert ran["b"]["compiled"] == "" and differences(
        table, ran) == ["b: compiled is '-' in operators.tsv, '' in this run"]
    assert "cuda" not in ran["a"]
    ran = updated_engines(table, ["cuda\ta\tvalues", "compiled\tb\tvalues"], LOGGED["cuda"])
    assert ran["a"] == table["a"] | {"cuda": "values"} and ran["b"] == table["b"] | {"cuda": ""}
    whole = {
        "a": {c: "gradients" for c in COMPARED} | {"gradient": "yes", "place": "p", "layer": "`a`"},
        "b": {c: "values" for c in COMPARED} | {"gradient": "no", "place": "p", "layer": ""},
    }  # yapf: disable
    reasons = none | {"layer": {"b": "why"}, "gradient": {"b": "why"}}
    assert not faults_of(whole, reasons)
    assert len(faults_of(whole, none)) == 2  # neither layer nor gradient, without a reason
    assert len(faults_of(whole, reasons | {"torch": {"a": "why", "d": "why"}})) == 2
    assert len(faults_of(whole, reasons | {"layer": {"a": "why", "b": "why"}})) == 1
    for column in COMPARED:
        hole = whole | {"a": whole["a"] | {column: ""}}
        assert len(faults_of(hole, reasons)) == 1
        assert not faults_of(hole, reasons | {column: {"a": "why"}})
    assert len(faults_of(whole | {"a": whole["a"] | {"place": ""}}, reasons)) == 1
    assert "| a | p | `a` | yes | ✓∇ |" in page_part(whole, reasons)
    assert "| b | p | — | — | ✓ |" in page_part(whole, reasons)
    places_self_test()
    return 0


def places_self_test():
    """Reads a small tree of headers."""
    with tempfile.TemporaryDirectory() as folder:
        base = pathlib.Path(folder)
        for name, text in {
                "operators/act/definition.hpp":
                    'struct relu : pointwise {\n  static constexpr const char* type = "relu";\n};\n'
                    'struct turn : base {\n  static constexpr const char* type = "turn2";\n};\n',
                "operators/act/layer.hpp":
                    "namespace detail {\ntemplate <class Op>\nvoid helper(int x) {\n"
                    "  use<operators::turn>();\n}\n}  // namespace detail\n\n"
                    "template <class T>\nconstexpr auto relu(int x) {\n"
                    "  f<lamina::operators::relu>(x);\n}\n"
                    "constexpr auto relu(...) = delete;  // Why.\n#endif\n"
                    "constexpr auto turned(int x) {\n  // f<lamina::relu>\n"
                    "  return detail::helper<int>(x);\n}\n",
                "optimizer/sgd.hpp": "",
        }.items():
            (base / name).parent.mkdir(parents=True, exist_ok=True)
            (base / name).write_text(text)
        placed = with_places({kind: {} for kind in ("relu", "turn2", "sgd", "gone")}, base)
    assert placed["relu"] == {"place": "act", "layer": "`relu`"}, placed
    assert placed["turn2"] == {"place": "act", "layer": "`turned`"}, placed
    assert placed["sgd"]["layer"] == "`optimizer::sgd`" and placed["gone"]["place"] == ""


def main(arguments):
    update = "--update" in arguments
    arguments = [a for a in arguments if a != "--update"]
    if arguments == ["self-test"]:
        return self_test()
    table = read_data() if DATA.exists() else {}
    logged = LOGGED.get(arguments[1]) if len(arguments) > 1 else None
    if len(arguments) == (4 if logged else 3) and arguments[0] == "compare":
        if logged:
            lines, missing = engine_logs(pathlib.Path(arguments[2]),
                                         pathlib.Path(arguments[3]).read_text().split())
            if missing:
                print(f"skipped: these tests have not run yet: {' '.join(missing)}")
                return SKIPPED
            new = updated_engines(table, lines, logged)
        else:
            new = updated(table, arguments[1], pathlib.Path(arguments[2]).read_text().splitlines())
        faults = differences(table, new)
        if update:
            write_data(new)
            print(f"operators.tsv: {len(faults)} changes")
            return 0
        hint = f"; operator_table.py {' '.join(arguments)} --update writes it"
    elif arguments == ["page"]:
        absent, table = read_absent(), with_places(table, ROOT / "include" / "lamina")
        faults, hint = faults_of(table, absent), "; operator_table.py page --update writes the page"
        old = PAGE.read_text()
        new = with_part(old, MARK, page_part(table, absent))
        if update:
            PAGE.write_text(new)
        elif new != old:
            faults.append(f"{PAGE.name}: the {MARK} is not what operators.tsv and absent.txt say")
    else:
        print(__doc__, file=sys.stderr)
        return 2
    for fault in faults:
        print(fault)
    if faults:
        print(f"{len(faults)} faults{hint}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
