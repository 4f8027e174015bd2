#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs lamina's cases in PaddlePaddle and compares the results.

usage: compare_paddle.py CASES [--table FILE] [--page FILE] [--operators FILE] [--only NAME...]

--page rewrites the part of a Markdown page between its two lines with "cases of PaddlePaddle".

CASES is what write_cases wrote. Each program is read by PaddlePaddle as it is, its parameters and
inputs are set from the files, and every result is compared within 1e-5 of the largest element,
doubles within 1e-9. Differences that are known and explained stand in differences.txt beside this
script: NAME, then why; anything else that differs, or a known difference that is none any more,
fails.
"""
import pathlib
import subprocess
import sys

import numpy

from case_results import difference, judged, options, values_in, write_operators
from table_parts import page_part, rewrite_page

TOLERANCE = 1e-5


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
        fault = difference(name, array, numpy.array(value), TOLERANCE, "there")
        if fault:
            faults.append(fault)
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
    """Runs cases in a process beside this one, for some mistakes end PaddlePaddle; then in the next
    one."""
    found, pending = {}, list(folders)
    while pending:
        command = [
            sys.executable, __file__,
            str(pending[0].parent), "--answer", *(f.name for f in pending)
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        for line in done.stdout.splitlines():
            if line.startswith("RESULT "):
                _, name, result = line.split(" ", 2)
                found[name] = result
        pending = [f for f in pending if f.name not in found]
        if pending:
            lines = [line for line in (done.stderr + done.stdout).splitlines() if "rror" in line]
            found[pending[0].name] = "stopped: " + (lines[-1].strip()
                                                    if lines else f"exit {done.returncode}")
            pending = pending[1:]
    return found


def main():
    parser = options()
    parser.add_argument("--also", type=pathlib.Path,
                        help="operators of programs that lamina runs with equal results")
    parser.add_argument("--answer", nargs="*", help="only these, a line each, in this process")
    arguments = parser.parse_args()
    if arguments.answer:
        for name in arguments.answer:
            print(f"RESULT {name} {answer(arguments.cases / name)}", flush=True)
        return 0
    folders = sorted(p for p in arguments.cases.iterdir() if (p / "__model__").is_file())
    if arguments.only:
        folders = [p for p in folders if p.name in arguments.only]
    rows, failed = judged(answers(folders), "differences.txt")
    equal = sum(1 for _, result in rows if result == "equal")
    print(
        f"{equal} of {len(rows)} cases are equal, {len(rows) - equal - failed} differ as "
        f"explained, {failed} failed"
    )
    if arguments.page:
        rewrite_page(arguments.page, "cases of PaddlePaddle", page_part(rows))
    if arguments.table:
        arguments.table.write_text("".join(f"{name}\t{result}\n" for name, result in rows))
    if arguments.operators:
        also = [line.split()
                for line in arguments.also.read_text().splitlines()] if arguments.also else []
        write_operators(arguments.operators, arguments.cases, rows, backward=True, also=also)
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
