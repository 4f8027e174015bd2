#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Converts models that PyTorch exports to C++, compiles and runs the C++, and compares the outputs
with those of ONNX Runtime.

usage: run_torch_native.py PROGRAM FOLDER --cases CASES [--only NAME...] [--update]
       run_torch_native.py --names

PROGRAM is run_onnx. CASES is the folder that export_torch.py wrote; models, C++ and values are
written to FOLDER. Every model of export_torch.py is compiled once, by the compiler of the variable
CXX with -O1; a warning is an error. Exporters and operator sets take turns, so that all occur. The
case has batches of 1 and 3, except recurrent nets: they return states whose batch is not the first
dimension, so their C++ is made for a batch of 3. Values may differ by 1e-4 of the largest one. All
other cases in CASES are converted, but not compiled. onnx_torch_native.txt beside this script has a
line for each case that does not pass: its name, a tab, and the reason. The command fails if another
case does not pass, and if one of these passes. --only compiles the named cases and prints their
results. --names prints the cases that are compiled."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
# pylint: disable=wrong-import-position
from run_onnx import difference, torch_cases  # noqa: E402
from run_onnx_native import HERE, compile_program, results_of, table_of  # noqa: E402

LISTED = HERE / "onnx_torch_native.txt"
MODELS = ("mnist", "lstm", "lstm_of_2_layers", "lstm_both_ways", "gru", "gru_of_2_layers",
          "gru_both_ways", "squeezenet1_1", "mobilenet_v2", "mobilenet_v3_small",
          "shufflenet_v2_x0_5", "efficientnet_b0", "resnet18", "bert", "gpt2", "llama",
          "whisper_encoder", "decoder", "volumes")
# Of opset 13, torch.export writes no model.
TURNS = ("script.13", "dynamo.17", "script.20", "dynamo.23", "script.17", "dynamo.20", "script.23")


# Of these models, torch.export writes operator set 18 or later only.
LATER = {"mobilenet_v2": "dynamo.20", "llama": "dynamo.20"}


def compiled_cases():
    turns = {model: TURNS[i % len(TURNS)] for i, model in enumerate(MODELS)} | LATER
    return [f"{model}.{turns[model]}.batch" for model in MODELS]


def is_recurrent(name):
    return name.startswith(("lstm", "gru"))


def symbols(path):
    """The names of the unknown dimensions of inputs."""
    graph = onnx.load(path, load_external_data=False).graph
    return sorted({d.dim_param for v in graph.input for d in v.type.tensor_type.shape.dim
                   if d.dim_param})


def prepare(c):
    """Writes what run_onnx and run_native.hpp read beside the feeds of a case."""
    if is_recurrent(c.name) and len(c.sets) > 1:
        c.sets = c.sets[1:]
        path = (c.sets[0][0] / "model").read_text().strip()
        (c.sets[0][0] / "dims").write_text("".join(f"{n}=3\n" for n in symbols(path)))
    for folder, _, outputs in c.sets:
        (folder / "name").write_text("net\n")
        (folder / "fixed").write_text("")
        (folder / "outputs").write_text("".join(f"{n}\n" for n in outputs))
        (folder / "native").mkdir()


def converted(program, cases):
    """Converts cases; returns the reasons of those that cannot be converted."""
    asked = "".join(f"{c.sets[0][0]}\n" for c in cases)
    out = subprocess.run([program, "import"], input=asked, capture_output=True, text=True).stdout
    results = results_of(out)
    reasons = {}
    for c in cases:
        why = results.get(str(c.sets[0][0]), "the importer ended")
        if why != "ran":
            reasons[c.name] = re.sub(r"^lamina: \S+, offset \d+: ", "", why)
    return reasons


def compiled(c):
    """Compiles and runs the C++ of a case; returns `pass` or the reason."""
    folders = [folder for folder, _, _ in c.sets]
    for folder in folders[1:]:
        shutil.copy(folders[0] / "net.safetensors", folder)
    source = c.folder / "program.cpp"
    calls = "".join(f'  run_native_case(net, "{folder}");\n' for folder in folders)
    source.write_text(f'#include <run_native.hpp>\n#include "{folders[0]}/net.hpp"\n'
                      f"int main() {{\n{calls}}}\n")
    program, why, _ = compile_program(source, optimisation="-O1")
    if why:
        return why
    run = subprocess.run([program], capture_output=True, text=True, timeout=600, check=False)
    results = results_of(run.stdout)
    for folder, wanted, names in c.sets:
        why = results.get(str(folder), "the program ended")
        if why != "ran":
            return re.sub(r"^lamina: ", "", why)
        for k, expected in enumerate(wanted):
            what = difference(np.load(folder / "native" / f"{k}.npy"), expected, c.rtol, c.atol,
                              c.of_largest, names[k])
            if what:
                return what
    return "pass"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program", nargs="?")
    options.add_argument("folder", nargs="?", type=pathlib.Path)
    options.add_argument("--cases", type=pathlib.Path)
    options.add_argument("--only", nargs="*")
    options.add_argument("--names", action="store_true")
    options.add_argument("--update", action="store_true")
    arguments = options.parse_args()
    if arguments.names:
        print("\n".join(compiled_cases()))
        return 0
    folder = arguments.folder.resolve() / "onnx" / "torch_native"
    chosen = arguments.only or compiled_cases()
    found, cases = {}, []
    for c in torch_cases(folder, arguments.cases.resolve(), arguments.only):
        if c.reason:  # neither the exporter nor ONNX Runtime is lamina's
            continue
        prepare(c)
        cases.append(c)
    found = converted(arguments.program, cases)
    for c in cases:
        if c.name in chosen and c.name not in found:
            found[c.name] = compiled(c)
            print(f"{c.name}\t{found[c.name]}", flush=True)
        found.setdefault(c.name, "pass")
    missing = [n for n in chosen if n not in found]
    if arguments.only:
        for name in chosen:
            print(f"{name}\t{found.get(name, 'there is no such case')}")
        return 0
    passed = sum(found.get(n) == "pass" for n in chosen)
    print(f"C++ of PyTorch's models: {passed} of {len(chosen)} agree with ONNX Runtime, "
          f"{sum(r == 'pass' for r in found.values())} of {len(found)} cases were converted")
    if arguments.update:
        LISTED.write_text(
            "# The cases of run_torch_native.py that do not pass: the name, and why.\n"
            + "".join(f"{n}\t{r}\n" for n, r in sorted(found.items()) if r != "pass"))
        return 0
    expected = table_of(LISTED)
    wrong = [n for n, r in sorted(found.items())
             if (r == "pass") != (expected.get(n, "pass") == "pass")]
    for name in wrong:
        print(f"{name}: expected {expected.get(name, 'pass')!r}, found {found[name]!r}")
    for name in missing:
        print(f"{name}: expected this case in {arguments.cases}, found none")
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    sys.exit(main())
