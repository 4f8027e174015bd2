#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs lamina's ONNX files in OpenVINO, on the CPU, and compares the results.

usage: compare_openvino.py CASES [--table FILE] [--page FILE] [--only NAME...]

--page rewrites the part of a Markdown page between its two lines with "cases of OpenVINO".

CASES is what interop_cases wrote. Each file of floats runs once for each batch in the folder but
for the one of edge values; results are compared within 1e-4 of the largest element. OpenVINO
computes doubles as floats, so files in double are left out. Cases that lamina refuses to export, or
that differ on purpose, stand in openvino_differences.txt beside this script: NAME, then why;
anything else that is refused or differs, or one of these that is equal, fails.
"""
import sys

import numpy
import openvino

from case_results import judged, options
from onnx_batches import batches_of, page_part, run_batches
from table_parts import rewrite_page

# How OpenVINO names what numpy names differently.
TYPES = {"f32": numpy.float32, "f64": numpy.float64, "i64": numpy.int64, "i32": numpy.int32,
         "boolean": numpy.bool_}


class session:
    """OpenVINO with a file. `types` are those of the file's results, by name: OpenVINO gives whole
    numbers and truth values in types of its choice where a model is converted."""
    name = "OpenVINO"

    def __init__(self, core, path):
        model = core.read_model(str(path))
        self.inputs = [port.get_any_name() for port in model.inputs]
        self.outputs = [port.get_any_name() for port in model.outputs]
        self.types = [TYPES[port.get_element_type().get_type_name()] for port in model.outputs]
        self.compiled = core.compile_model(
            model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1,
                           "EXECUTION_MODE_HINT": "ACCURACY"})

    def run(self, feed):
        found = self.compiled(feed)
        return [numpy.asarray(found[i]).astype(kind, copy=False)
                for i, kind in enumerate(self.types)]


def run_case(core, folder):
    """What differs, or ''."""
    if (folder / "refused").is_file():
        return (folder / "refused").read_text()
    batches = [b for b in batches_of(folder) if b != "edges"]
    if not batches:
        return "expected batches to run, found none"
    faults = run_batches(folder, session(core, folder / "model.onnx"), batches)
    return "; ".join(f for f in faults.values() if f)


def main():
    arguments = options().parse_args()
    core, found = openvino.Core(), {}
    for folder in sorted(p.parent for p in arguments.cases.glob("*/onnx")):
        if folder.name.endswith("_in_double"):
            continue
        if arguments.only and folder.name not in arguments.only:
            continue
        try:
            found[folder.name] = run_case(core, folder / "onnx") or "equal"
        except Exception as e:  # whatever the other library throws is the answer
            found[folder.name] = f"{type(e).__name__}: {' '.join(str(e).split())[:600]}"
    rows, failed = judged(found, "openvino_differences.txt")
    equal = sum(1 for _, result in rows if result == "equal")
    print(f"OpenVINO {openvino.__version__}: {equal} of {len(rows)} cases are equal, "
          f"{len(rows) - equal - failed} differ as explained, {failed} failed")
    if arguments.page:
        rewrite_page(arguments.page, "cases of OpenVINO", page_part(rows))
    if arguments.table:
        arguments.table.write_text("".join(f"{name}\t{result}\n" for name, result in rows))
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
