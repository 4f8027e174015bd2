#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks lamina's ONNX files with onnx.checker, runs them in ONNX Runtime and compares the results.

usage: compare_onnx.py CASES [--table FILE] [--page FILE] [--operators FILE] [--only NAME...]

--page rewrites the part of a Markdown page between its two lines with "cases of ONNX Runtime".

CASES is what interop_cases wrote. Each file is checked with shape inference, and run once for each batch in the folder
without another export; results are compared within 1e-4 of the largest element. Cases that lamina refuses to export, or
that differ on purpose, stand in onnx_differences.txt beside this script: NAME, then why; anything else that is refused
or differs, or one of these that is equal, fails.
"""
import sys

import numpy
import onnx
import onnxruntime

from case_results import judged, options, values_in, write_operators
from table_parts import known_differences, rewrite_page

TOLERANCE = 1e-4


def difference(name, expected, found):
    """What differs between two arrays, or ''."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return (f"{name}: {expected.dtype} {list(expected.shape)} here, "
                f"{found.dtype} {list(found.shape)} in ONNX Runtime")
    if expected.size == 0:
        return ""
    if expected.dtype.kind == "f":
        largest = max(numpy.abs(expected).max(), 1e-2)
        error = numpy.abs(expected.astype(numpy.float64) - found).max() / largest
        if not error <= TOLERANCE:
            return (f"{name}: relative error {error:.3g}: {expected.ravel()[:6]} here, "
                    f"{found.ravel()[:6]} in ONNX Runtime")
    elif not (expected == found).all():
        return f"{name}: {expected.ravel()[:8]} here, {found.ravel()[:8]} in ONNX Runtime"
    return ""


def run_case(folder):
    """Runs one case; returns what differs, or ''."""
    if (folder / "refused").is_file():
        return (folder / "refused").read_text()
    path = folder / "model.onnx"
    onnx.checker.check_model(str(path), full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    inputs = {v.name for v in session.get_inputs()}
    outputs = [v.name for v in session.get_outputs()]
    batches = sorted((p for p in folder.iterdir() if p.is_dir()), key=lambda p: int(p.name))
    if not batches:
        return "expected batches to run, found none"
    faults = []
    for batch in batches:
        feed = {name: value for name, (value, _) in values_in(batch / "feed").items() if name in inputs}
        expected = values_in(batch / "fetch")
        if set(outputs) != set(expected):
            return f"outputs {sorted(expected)} here, {sorted(outputs)} in the file"
        for name, found in zip(outputs, session.run(outputs, feed)):
            fault = difference(name, expected[name][0], found)
            if fault:
                faults.append(f"batch {batch.name}: {fault}")
    return "; ".join(faults)


def page_part(rows):
    """The results as Markdown: cases that are equal, and the others."""
    equal = [name for name, result in rows if result == "equal"]
    lines = [f"Equal ({len(equal)}): {', '.join(equal)}.", "", "| case | why there is none |", "| --- | --- |"]
    return "\n".join(lines + [f"| {name} | {why} |" for name, why in rows if why != "equal"]) + "\n"


def main():
    arguments = options().parse_args()
    found = {}
    for folder in sorted(p.parent for p in arguments.cases.glob("*/onnx")):
        if arguments.only and folder.name not in arguments.only:
            continue
        try:
            found[folder.name] = run_case(folder / "onnx") or "equal"
        except Exception as e:  # whatever the other library throws is the answer
            found[folder.name] = f"{type(e).__name__}: {' '.join(str(e).split())[:600]}"
    rows, failed = judged(found, known_differences("onnx_differences.txt"), "onnx_differences.txt")
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
