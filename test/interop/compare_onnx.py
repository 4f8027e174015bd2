#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks lamina's ONNX files with onnx.checker, runs them in ONNX Runtime and compares the results.

usage: compare_onnx.py CASES [--table FILE] [--page FILE] [--operators FILE] [--only NAME...]

--page rewrites the part of a Markdown page between its two lines with "cases of ONNX Runtime".

CASES is what interop_cases wrote. Each file is checked with shape inference, and run once for each
batch in the folder without another export; results are compared within 1e-4 of the largest element,
doubles within 1e-8, edge values (the
batch `edges`) each for itself, NaN and infinity at the same places; its result is that of
NAME@edges. What ONNX Runtime has of floats alone, ONNX's own reference evaluator runs in double,
without edge values. Cases that lamina refuses to export, or that differ on purpose, stand in
onnx_differences.txt beside this script: NAME, then why; anything else that is refused or differs,
or one of these that is equal, fails.
"""
import sys
import warnings

import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NoKernel, RuntimeException

from case_results import EDGES, judged, options, write_operators
from onnx_batches import batches_of, page_part, run_batches
from table_parts import rewrite_page


class runtime:
    """ONNX Runtime with a file. Throws NoKernel, here or in run, where it has a node of floats
    alone."""
    name = "ONNX Runtime"

    def __init__(self, path):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        self.session = onnxruntime.InferenceSession(str(path), options,
                                                    providers=["CPUExecutionProvider"])
        self.inputs = [v.name for v in self.session.get_inputs()]
        self.outputs = [v.name for v in self.session.get_outputs()]

    def run(self, feed):
        try:
            return self.session.run(self.outputs, feed)
        except RuntimeException as e:
            if "does not support double" in str(e):
                raise NoKernel(str(e)) from e
            raise


class reference:
    """ONNX's reference evaluator, in numpy, with a file."""
    name = "ONNX's reference evaluator"

    def __init__(self, path):
        self.evaluator = ReferenceEvaluator(str(path))
        self.inputs, self.outputs = self.evaluator.input_names, self.evaluator.output_names

    def run(self, feed):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.evaluator.run(None, feed)


def run_case(folder):
    """Runs one case; returns what differs, or '', of ordinary batches and of the one at the edges,
    if any."""
    if (folder / "refused").is_file():
        return (folder / "refused").read_text(), None
    path = folder / "model.onnx"
    onnx.checker.check_model(str(path), full_check=True)
    batches = batches_of(folder)
    if batches in ([], ["edges"]):
        return "expected batches to run, found none", None
    try:
        faults = run_batches(folder, runtime(path), batches)
    except NoKernel:
        # The evaluator's own answers to NaN and infinity are not those of ONNX's text.
        faults = run_batches(folder, reference(path), [b for b in batches if b != "edges"])
    edges = faults.pop("edges", None)
    return "; ".join(f for f in faults.values() if f), edges


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
