#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs lamina's cases in PaddlePaddle and compares the results.

usage: compare_paddle.py CASES [--table FILE] [--page FILE] [--only NAME...]

--page rewrites the part of a Markdown page between its two lines with "cases of PaddlePaddle".

CASES is what write_cases wrote. Each program is read by PaddlePaddle as it is, its parameters and inputs are set from
the files, and every result is compared within 1e-5 of the largest element. Differences that are known and explained
stand in differences.txt beside this script: NAME, then why; anything else that differs, or a known difference that is
none any more, fails.
"""
import argparse
import pathlib
import struct
import subprocess
import sys

import numpy

TYPES = {0: numpy.bool_, 1: numpy.int16, 2: numpy.int32, 3: numpy.int64, 5: numpy.float32, 6: numpy.float64,
         20: numpy.uint8, 21: numpy.int8}
TOLERANCE = 1e-5


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
    return {str(p.relative_to(folder)): read_value(p) for p in sorted(folder.rglob("*")) if p.is_file()}


def run_case(folder):
    """Runs one case; returns what differs, or ''."""
    import paddle
    from paddle.base import core
    paddle.enable_static()
    place = paddle.CPUPlace()
    program = paddle.static.Program.parse_from_string((folder / "__model__").read_bytes())
    scope = core.Scope()

    def tensor_of(array, lod):
        tensor = core.LoDTensor()
        tensor.set(array, place)
        if lod:
            tensor.set_lod(lod)
        return tensor

    with paddle.static.scope_guard(scope):
        for name, (array, lod) in values_in(folder / "parameters").items():
            scope.var(name).get_tensor().set(array, place)
        feed = {name: tensor_of(*value) for name, value in values_in(folder / "feed").items()}
        expected = values_in(folder / "fetch")
        block = program.global_block()
        order = [(op.attr("col"), op.input("X")[0]) for op in block.ops if op.type == "fetch"]
        names = [name for _, name in sorted(order)]
        # The executor puts feed and fetch operators of its own around a program.
        for i in reversed(range(len(block.ops))):
            if block.ops[i].type in ("feed", "fetch"):
                block._remove_op(i)
        exe = paddle.static.Executor(place)
        found = exe.run(program, feed=feed, fetch_list=names, return_numpy=False)
    faults = []
    for name, value in zip(names, found):
        array, lod = expected[name]
        other = numpy.array(value)
        if other.size == array.size and other.shape != array.shape and \
                [d for d in other.shape if d != 1] == [d for d in array.shape if d != 1]:
            other = other.reshape(array.shape)  # scalars have no dimension in later versions
        if other.shape != array.shape:
            faults.append(f"{name}: shape {list(array.shape)} here, {list(other.shape)} there")
            continue
        if array.size == 0:
            continue
        if array.dtype.kind == "f":
            largest = max(numpy.abs(other).max(), 1e-2)
            error = numpy.abs(array.astype(numpy.float64) - other).max() / largest
            if not error <= TOLERANCE:
                faults.append(f"{name}: relative error {error:.3g}: {array.ravel()[:6]} here, {other.ravel()[:6]} there")
        elif not (array == other).all():
            faults.append(f"{name}: {array.ravel()[:8]} here, {other.ravel()[:8]} there")
        # Gradients carry no LoD everywhere.
        if lod and "@GRAD" not in name and [list(level) for level in value.lod()] != lod:
            faults.append(f"{name}: LoD {lod} here, {value.lod()} there")
    return "; ".join(faults)


def answer(folder):
    """One line about one case."""
    try:
        return run_case(folder) or "equal"
    except Exception as e:  # whatever PaddlePaddle throws is the answer
        text = " ".join(line.strip() for line in str(e).splitlines() if line.strip())
        at = max(text.find("Error Message Summary"), 0)
        return f"refused: {type(e).__name__} {text[at:at + 600]}"


def answers(folders):
    """Runs cases in a process beside this one, for some mistakes end PaddlePaddle; then in the next one."""
    found, pending = {}, list(folders)
    while pending:
        command = [sys.executable, __file__, str(pending[0].parent), "--answer", *(f.name for f in pending)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        for line in done.stdout.splitlines():
            if line.startswith("RESULT "):
                _, name, result = line.split(" ", 2)
                found[name] = result
        pending = [f for f in pending if f.name not in found]
        if pending:
            lines = [line for line in (done.stderr + done.stdout).splitlines() if "rror" in line]
            found[pending[0].name] = "stopped: " + (lines[-1].strip() if lines else f"exit {done.returncode}")
            pending = pending[1:]
    return found


def known_differences(file="differences.txt"):
    path = pathlib.Path(__file__).resolve().parent / file
    rows = [line.split(maxsplit=1) for line in path.read_text().splitlines() if line.strip() and line[0] != "#"]
    return {row[0]: row[1] for row in rows}


def page_part(rows):
    """The results as Markdown: cases whose gradients are compared too, others, those that differ."""
    result = dict(rows)
    forward = [name for name, _ in rows if not name.endswith("_grad")]
    both = [n for n in forward if result[n] == "equal" and result.get(n + "_grad") == "equal"]
    alone = [n for n in forward if result[n] == "equal" and n + "_grad" not in result]
    lines = [f"Equal, gradients too ({len(both)}): {', '.join(both)}.", "",
             f"Equal, no gradient compared ({len(alone)}): {', '.join(alone)}.", "", "| case | why it differs |", "| --- | --- |"]
    lines += [f"| {n} | {why} |" for n, why in rows if why != "equal"]
    return "\n".join(lines) + "\n"


def rewrite_page(path, mark, part):
    lines = path.read_text().splitlines(keepends=True)
    first, last = [i for i, line in enumerate(lines) if mark in line and line.startswith("<!--")]
    path.write_text("".join(lines[:first + 1]) + "\n" + part + "\n" + "".join(lines[last:]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--answer", nargs="*", help="only these, a line each, in this process")
    arguments = parser.parse_args()
    if arguments.answer:
        for name in arguments.answer:
            print(f"RESULT {name} {answer(arguments.cases / name)}", flush=True)
        return 0
    known = known_differences()
    folders = sorted(p for p in arguments.cases.iterdir() if (p / "__model__").is_file())
    if arguments.only:
        folders = [p for p in folders if p.name in arguments.only]
    rows, failed = [], 0
    found = answers(folders)
    for folder in folders:
        result = found[folder.name]
        name = folder.name
        if result == "equal" and name in known:
            result = "equal, though differences.txt explains a difference: " + known[name]
            failed += 1
        elif result != "equal" and name not in known:
            failed += 1
        elif result != "equal":
            rows.append((name, known[name]))
            continue
        if result != "equal":
            print(f"{name}: {result}")
        rows.append((name, "equal" if result == "equal" else result))
    equal = sum(1 for _, result in rows if result == "equal")
    print(f"{equal} of {len(rows)} cases are equal, {len(rows) - equal - failed} differ as explained, {failed} failed")
    if arguments.page:
        rewrite_page(arguments.page, "cases of PaddlePaddle", page_part(rows))
    if arguments.table:
        arguments.table.write_text("".join(f"{name}\t{result}\n" for name, result in rows))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
