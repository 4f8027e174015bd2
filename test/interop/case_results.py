# SPDX-License-Identifier: Apache-2.0
"""What the scripts that compare cases share: files of values, what differs, answers by case and by
operator."""
import argparse
import json
import pathlib
import struct

import numpy

from table_parts import known_differences, page_part, rounded_differences, rewrite_page

TYPES = {
    0: numpy.bool_,
    1: numpy.int16,
    2: numpy.int32,
    3: numpy.int64,
    5: numpy.float32,
    6: numpy.float64,
    20: numpy.uint8,
    21: numpy.int8
}
BACKWARD, OPTIMIZE, LOSS_GRADIENT = 1, 2, 257  # values of op_role
DOUBLES = 1e-4  # how much less than floats doubles may differ
EDGES = "@edges"  # behind the name of a case that ran with edge values


def read_varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def read_value(path):
    """A LoDTensor stream as (array, LoD as offsets)."""
    data = path.read_bytes()
    levels, = struct.unpack_from("<Q", data, 4)
    at, lod = 12, []
    for _ in range(levels):
        size, = struct.unpack_from("<Q", data, at)
        lod.append(list(struct.unpack_from(f"<{size // 8}Q", data, at + 8)))
        at += 8 + size
    size, = struct.unpack_from("<i", data, at + 4)
    at += 8
    end, kind, dims = at + size, None, []
    while at < end:
        tag, at = read_varint(data, at)
        value, at = read_varint(data, at)
        if tag == 8:
            kind = TYPES[value]
        else:
            dims.append(value)
    return numpy.frombuffer(data, kind, offset=end).reshape(dims).copy(), lod


def values_in(folder):
    if not folder.is_dir():
        return {}
    return {
        str(p.relative_to(folder)): read_value(p) for p in sorted(folder.rglob("*")) if p.is_file()
    }


def difference(name, here, there, tolerance, peer, smallest=1e-2):
    """What differs between two arrays, or ''. Dimensions of 1 do not count: later libraries have
    scalars without any."""
    if here.size == there.size and [d for d in here.shape if d != 1
                                    ] == [d for d in there.shape if d != 1]:
        there = there.reshape(here.shape)
    if here.shape != there.shape:
        return f"{name}: shape {list(here.shape)} here, {list(there.shape)} {peer}"
    if here.size == 0:
        return ""
    if here.dtype.kind == "f":
        if here.dtype == numpy.float64:
            tolerance *= DOUBLES
        largest = max(numpy.abs(there).max(), smallest)
        error = numpy.abs(here.astype(numpy.float64) - there).max() / largest
        if not error <= tolerance:
            return (f"{name}: relative error {error:.3g}: {here.ravel()[:6]} here,"
                    f" {there.ravel()[:6]} {peer}")
    elif not (here == there).all():
        return f"{name}: {here.ravel()[:8]} here, {there.ravel()[:8]} {peer}"
    return ""


def edge_difference(name, here, there, tolerance, peer):
    """What differs between two arrays at the edges, or '': each number is compared for itself, and
    where a number is NaN
    or infinite, the other one is too. What the other library computes in double is rounded to the
    type here first."""
    if here.size != there.size:
        return f"{name}: shape {list(here.shape)} here, {list(there.shape)} {peer}"
    with numpy.errstate(all="ignore"):
        x, y = here.ravel(), there.ravel().astype(here.dtype)
        if here.dtype.kind != "f":
            same = x == y
        else:
            if here.dtype == numpy.float64:
                tolerance *= DOUBLES
            # Of what sums and differences of numbers around 1 leave, the least digits do not count.
            least = 2e-7 if here.dtype == numpy.float32 else 1e-11
            size = numpy.maximum(numpy.abs(x), numpy.abs(y))
            same = (x == y) | numpy.isnan(x) & numpy.isnan(y) | (numpy.abs(x - y)
                                                                 <= tolerance * size + least)
    places = numpy.flatnonzero(~same)
    if not len(places):
        return ""
    shown = ", ".join(f"[{i}] {x[i]!r} here, {y[i]!r} {peer}" for i in places[:6])
    return f"{name}: {len(places)} of {len(x)} differ: {shown}"


def operators_of(folder, backward=False):
    """{type: whether a gradient flows through it} of the operators of a case; what stands only in
    the part that computes
    gradients counts where BACKWARD says that it was run too."""
    program = json.loads((folder / "program.json").read_text())
    operators = [
        op for block in program["blocks"] for op in block.get("ops", [])
        if op["type"] not in ("feed", "fetch")
    ]

    def names(op, side):
        return {n for slot in op.get(side, []) for n in slot.get("arguments") or []}

    gradients = {
        n.split("@GRAD")[0] for op in operators for side in ("inputs", "outputs")
        for n in names(op, side) if "@GRAD" in n
    }
    found = {}
    for op in operators:
        role = next((a.get("i", 0) for a in op.get("attrs", []) if a["name"] == "op_role"), 0)
        if op["type"].endswith("_grad") or role in (BACKWARD, LOSS_GRADIENT) and not backward:
            continue
        flows = (role not in (BACKWARD, LOSS_GRADIENT, OPTIMIZE) and
                 names(op, "inputs") & gradients and names(op, "outputs") & gradients)
        found[op["type"]] = found.get(op["type"], False) or bool(flows)
    return found


def compared_operators(folders, rows, gradients=True, backward=False):
    """By operator: 'gradients' where a case with its gradient is equal, 'values' where one is,
    'differs CASE' where all
    cases with it differ as explained."""
    found = {}
    for name, result in rows:
        if name.endswith(EDGES):
            continue
        for kind, flows in operators_of(folders / name, backward).items():
            state = "gradients" if gradients and flows else "values"
            if result != "equal":
                state = f"differs {name}"
            rank = ["gradients", "values"]
            old = found.get(kind)
            if old is None or state in rank and (old not in rank or
                                                 rank.index(state) < rank.index(old)):
                found[kind] = state
    return found


def write_operators(path, folders, rows, gradients=True, backward=False, also=()):
    found = compared_operators(folders, rows, gradients, backward)
    rank = ["values", "gradients"]
    for kind, state in also:
        if found.get(kind) not in rank or rank.index(found[kind]) < rank.index(state):
            found[kind] = state
    path.write_text("".join(f"{kind}\t{found[kind]}\n" for kind in sorted(found)))


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path, help="a line a case")
    parser.add_argument("--operators", type=pathlib.Path,
                        help="a line an operator, for operator_table.py")
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--only", nargs="*")
    return parser


def judged(found, file):
    """Answers by case -> (rows, how many failed); a difference that FILE knows gives its reason."""
    known, rounded = known_differences(file), rounded_differences(file)
    rows, failed = [], 0
    for name, result in sorted(found.items()):
        if (result == "equal") == (name in known) and name not in rounded:
            failed += 1
            print(f"{name}: {result}" +
                  (f", though {file} says: {known[name]}" if name in known else ""))
        elif name in known:
            result = known[name]
        rows.append((name, result))
    return rows, failed


def compare_cases(peer, version, answer):
    """Compares every program among the cases in this process, with edge values too where a case has
    them:
    (arguments, rows, how many failed). ANSWER takes the folder of a case and that of the inputs in
    it."""
    arguments = options().parse_args()
    file = f"{peer}_differences.txt"
    folders = sorted(p for p in arguments.cases.iterdir() if (p / "program.json").is_file())
    if arguments.only:
        folders = [p for p in folders if p.name in arguments.only]
    found = {}
    for folder in folders:
        found[folder.name] = answer(folder)
        if (folder / "edges").is_dir() and not folder.name.endswith("_grad"):
            found[folder.name + EDGES] = answer(folder, edges=True)
    rows, failed = judged(found, file)
    equal = sum(1 for _, result in rows if result == "equal")
    print(
        f"{version}: {equal} of {len(rows)} cases are equal, {len(rows) - equal - failed} differ "
        "as explained, "
        f"{failed} failed")
    if arguments.page:
        rewrite_page(arguments.page, f"cases of {version.split()[0]}", page_part(rows))
    if arguments.table:
        arguments.table.write_text("".join(f"{name}\t{result}\n" for name, result in rows))
    if arguments.operators:
        write_operators(arguments.operators, arguments.cases, rows)
    return arguments, rows, failed
