#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks lamina's ONNX files with onnx.checker, runs them in ONNX Runtime and compares the results.

usage: compare_onnx.py CASES [--table FILE] [--page FILE] [--operators FILE] [--only NAME...]

--page rewrites the part of a Markdown page between its two lines with "cases of ONNX Runtime".

CASES is what interop_cases wrote. Each file is checked with shape inference, and run once for each batch in the folder
without another export; results are compared within 1e-4 of the largest element, doubles within 1e-8, edge values (the
batch `edges`) each for itself, NaN and infinity at the same places; its result is that of NAME@edges. Cases that lamina refuses to export, or
that differ on purpose, stand in onnx_differences.txt beside this script: NAME, then why; anything else that is refused
or differs, or one of these that is equal, fails.
"""
import sys

import onnx
import onnxruntime

from case_results import EDGES, difference, edge_difference, judged, options, values_in, write_operators
from table_parts import differing, listed, plain_names, rewrite_page

TOLERANCE = 1e-4


def compared(name, expected, found, edges):
    """What differs between two arrays, or ''."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return (f"{name}: {expected.dtype} {list(expected.shape)} here, "
                f"{found.dtype} {list(found.shape)} in ONNX Runtime")
    return (edge_difference if edges else difference)(name, expected, found, TOLERANCE, "in ONNX Runtime")


def batches_of(folder):
    """The batches of a case, those at the edges last."""
    names = [p.name for p in folder.iterdir() if p.is_dir()]
    return sorted((n for n in names if n != "edges"), key=int) + [n for n in names if n == "edges"]


def run_case(folder):
    """Runs one case; returns what differs, or '', of ordinary batches and of the one at the edges, if any."""
    if (folder / "refused").is_file():
        return (folder / "refused").read_text(), None
    path = folder / "model.onnx"
    onnx.checker.check_model(str(path), full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    inputs = {v.name for v in session.get_inputs()}
    outputs = [v.name for v in session.get_outputs()]
    batches = batches_of(folder)
    if batches in ([], ["edges"]):
        return "expected batches to run, found none", None
    faults = {batch: [] for batch in batches}
    for batch in batches:
        feed = {name: value for name, (value, _) in values_in(folder / batch / "feed").items() if name in inputs}
        expected = values_in(folder / batch / "fetch")
        if set(outputs) != set(expected):
            return f"outputs {sorted(expected)} here, {sorted(outputs)} in the file", None
        for name, found in zip(outputs, session.run(outputs, feed)):
            fault = compared(name, expected[name][0], found, batch == "edges")
            if fault:
                faults[batch].append(f"batch {batch}: {fault}")
    edges = faults.pop("edges", None)
    return "; ".join(f for all in faults.values() for f in all), None if edges is None else "; ".join(edges)


def page_part(rows):
    """The results as Markdown: cases that are equal, and the others."""
    result = dict(rows)
    equal = [n for n in plain_names(rows) if result[n] == "equal"]
    text = f"Equal ({len(equal)}; with a star also in double): {listed(rows, equal)}.\n"
    return text + differing(rows, "why there is none, or it differs")


def main():
    arguments = options().parse_args()
    found = {}
    for folder in sorted(p.parent for p in arguments.cases.glob("*/onnx")):
        if arguments.only and folder.name not in arguments.only:
            continue
        try:
            result, edges = run_case(folder / "onnx")
            found[folder.name] = result or "equal"
            if edges is not None:
                found[folder.name + EDGES] = edges or "equal"
        except Exception as e:  # whatever the other library throws is the answer
            found[folder.name] = f"{type(e).__name__}: {' '.join(str(e).split())[:600]}"
    rows, failed = judged(found, "onnx_differences.txt")
    equal = sum(1 for _, result in rows if result == "equal")
    print(f"ONNX Runtime {onnxruntime.__version__}: {equal} of {len(rows)} cases are equal, "
          f"{len(rows) - equal - failed} differ as explained, {failed} failed")
    if arguments.page:
        rewrite_page(arguments.page, "cases of ONNX Runtime", page_part(rows))
    if arguments.table:
        arguments.table.write_text("".join(f"{name}\t{result}\n" for name, result in rows))
    if arguments.operators:
        write_operators(arguments.operators, arguments.cases, rows, gradients=False)
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
