#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the test models of the onnx package through lamina's load_onnx and executor.

usage: run_onnx.py PROGRAM FOLDER [--kind KIND] [--cases CASES] [--seconds N] [--again]
                   [--update] [--only NAME...]

PROGRAM is run_onnx. Models and values are written to FOLDER, KIND by KIND: `node` has the backend
cases, one operator or a function of some; `light`, `simple` and `converted` are directories of
models; `exported` are the programs in CASES, which interop_cases wrote; `torch` are the models in
CASES, which export_torch.py wrote. onnx_KIND.txt beside this
script has a line for each case: its name, a tab, and `pass`, or why it does not pass. A case may
pass only with inputs that are constants, for example the shape of a Reshape: `pass, fixed: NAME
...`. The command runs the cases that pass, and fails if one does not. --again runs the others, and
fails if one passes. --update does both and writes the file."""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from case_results import values_in  # noqa: E402  pylint: disable=wrong-import-position

KINDS = {"node": None, "exported": None, "torch": None, "light": "light", "simple": "simple",
         "converted": "pytorch-converted"}
NEEDED = re.compile(r"found input \d+, '([^']+)', which is computed or fed"
                    r"|(to be known before a run)")


def held(value):
    """An array with the element type in which lamina holds it, or None for other values."""
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value)
    if not isinstance(value, (np.ndarray, np.generic)):
        return None
    value = np.asarray(value)
    if value.dtype in (np.uint16, np.uint32, np.uint64):
        wide = np.int32 if value.dtype == np.uint16 else np.int64
        return None if value.size and value.max() > np.iinfo(wide).max else value.astype(wide)
    if value.dtype in (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.float32,
                       np.float64):
        return value
    if value.dtype.kind in "USOcM":
        return None
    name = value.dtype.name  # float16, and the types of ml_dtypes
    if "uint" in name or "int" in name:
        return value.astype(np.uint8 if name.startswith("u") else np.int8)
    return value.astype(np.float32)


def difference(found, expected, rtol, atol, of_largest, name):
    """What differs between the outputs of a case and those expected, or ''. `of_largest`: atol is
    relative to the largest expected number."""
    shape = expected.shape or (1,)
    if found.shape != shape:
        return f"output {name}: expected shape {list(shape)}, found {list(found.shape)}"
    if found.dtype != expected.dtype:
        return f"output {name}: expected {expected.dtype}, found {found.dtype}"
    if of_largest and expected.size and expected.dtype.kind == "f":
        atol *= float(np.max(np.abs(expected)))
    if np.allclose(found, expected.reshape(shape), rtol=rtol, atol=atol, equal_nan=True):
        return ""
    with np.errstate(all="ignore"):
        worst = np.nanmax(np.abs(found.astype(np.float64) - expected.reshape(shape)))
    return f"output {name}: other values, by up to {worst:.3g}"


class case:
    """A model with its data sets: a folder each."""

    def __init__(self, name, folder, rtol, atol, of_largest=False):
        self.name, self.folder, self.rtol, self.atol = name, folder, rtol, atol
        self.of_largest = of_largest
        self.reason, self.sets, self.inputs = "", [], {}
        self.may_fix = True

    def write(self, model, data_sets, path=None):
        shutil.rmtree(self.folder, ignore_errors=True)
        inputs = [v.name for v in model.graph.input]
        given = {t.name for t in model.graph.initializer}
        names = [n for n in inputs if n not in given]
        for i, (feeds, expected) in enumerate(data_sets):
            folder = self.folder / str(i)
            for part in ("feed", "found"):
                (folder / part).mkdir(parents=True)
            values = [held(v) for v in feeds]
            wanted = [held(v) for v in expected]
            if any(v is None for v in values + wanted):
                self.reason = "other values than numbers: strings, sequences, optional values"
                return
            for k, v in enumerate(values):
                np.save(folder / "feed" / f"{k}.npy", v)
            self.inputs = dict(zip(names, values))
            (folder / "feed" / "names").write_text("".join(f"{n}\n" for n in names[:len(values)]))
            if path is None:
                onnx.save(model, folder / "model.onnx")
            else:
                (folder / "model").write_text(f"{path}\n")
            self.sets.append((folder, wanted, [v.name for v in model.graph.output]))

    def fix(self, names):
        for folder, _, _ in self.sets:
            (folder / "fixed").write_text("".join(f"{n}\n" for n in names))

    def judge(self, results):
        for folder, wanted, outputs in self.sets:
            result = results.get(str(folder), "the program ended")
            if result != "ran":
                return re.sub(r"^lamina: \S+, offset \d+: ", "", result.replace(str(folder), "."))
            for k, expected in enumerate(wanted):
                file = folder / "found" / f"{k}.npy"
                if not file.is_file():
                    return f"output {outputs[k]}: none"
                what = difference(np.load(file), expected, self.rtol, self.atol,
                                  self.of_largest, outputs[k])
                if what:
                    return what
        return "pass"


def run(program, cases, seconds):
    """Runs the folders of cases; a case that ends the program or takes too long loses only its own
    result. Returns results by folder."""
    waiting = [str(folder) for c in cases for folder, _, _ in c.sets]
    results = {}
    while waiting:
        process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        part = waiting[:100]
        try:
            out, _ = process.communicate("".join(f"{f}\n" for f in part),
                                         timeout=seconds + len(part))
            lost = "the program ended"
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            lost = "no result in time"
        done = [line.split("\t", 1) for line in out.split("\n") if "\t" in line]
        results.update(done)
        if len(done) < len(part):
            results[part[len(done)]] = lost
        waiting = waiting[min(len(done) + 1, len(part)):]
    return results


def run_all(program, cases, seconds):
    """The result of each case by name. Inputs that must be constant become so, one after the other,
    at last all integers."""
    found = {c.name: c.reason for c in cases if c.reason}
    fixed = {c.name: [] for c in cases}
    waiting = [c for c in cases if not c.reason]
    for c in waiting:
        c.fix([])
    for _ in range(8):
        results = run(program, waiting, seconds)
        again = []
        for c in waiting:
            result = c.judge(results)
            found[c.name] = result
            if result == "pass" and fixed[c.name]:
                found[c.name] = "pass, fixed: " + " ".join(fixed[c.name])
            needed = NEEDED.search(result)
            if not needed or not c.may_fix:
                continue
            more = [needed[1]] if needed[1] in c.inputs else [
                n for n, v in c.inputs.items() if v.dtype.kind in "iub"]
            more = [n for n in more if n not in fixed[c.name]]
            if more:
                fixed[c.name] += more
                c.fix(fixed[c.name])
                again.append(c)
        waiting = again
        if not waiting:
            break
    return found


def node_cases(folder, names=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for t in load_model_tests(kind="node"):
            if names is not None and t.name not in names:
                continue
            made = case(t.name, folder / t.name, t.rtol, t.atol)
            made.write(t.model, t.data_sets)
            yield made


def directory_cases(folder, directory):
    data = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / directory
    for path in sorted(data.glob("*/model.onnx")) or sorted(data.glob("*.onnx")):
        name = path.parent.name if path.name == "model.onnx" else path.stem
        made = case(name, folder / name, 1e-3, 1e-7 if directory == "simple" else 1e-5)
        model = onnx.load(path, load_external_data=False)
        sets = []
        for one in sorted(path.parent.glob("test_data_set_*")):
            sets.append(tuple([values_of(one / f"{part}_{i}.pb")
                               for i in range(len(list(one.glob(f"{part}_*.pb"))))]
                              for part in ("input", "output")))
        expected = path.with_name(f"{name}_output_0.pb")
        if expected.is_file():  # of the models without parameters of their own
            sets.append(([counted(v) for v in model.graph.input if v.name not in
                          {t.name for t in model.graph.initializer}], [values_of(expected)]))
        made.write(model, sets, path)
        if not made.reason and not made.sets:
            made.reason = "no data set"
        yield made


def counted(value):
    """The input of a model for which the package has results only: 0, 1 / n, 2 / n, ..."""
    shape = [d.dim_value or 1 for d in value.type.tensor_type.shape.dim]
    size = int(np.prod(shape))
    return (np.arange(size).reshape(shape) / size).astype(np.float32)


def exported_cases(folder, written):
    """The ONNX files of lamina's own cases, with the results of the programs."""
    for path in sorted(written.glob("*/onnx/model.onnx")):
        name = path.parent.parent.name
        model = onnx.load(path)
        feeds = [v.name for v in model.graph.input]
        fetches = [v.name for v in model.graph.output]
        made = case(name, folder / name, 1e-4, 1e-5)
        sets = []
        for batch in sorted(p for p in path.parent.iterdir() if p.is_dir() and p.name != "edges"):
            feed, fetch = values_in(batch / "feed"), values_in(batch / "fetch")
            sets.append(([feed[n][0] for n in feeds], [fetch[n][0] for n in fetches]))
        made.write(model, sets, path)
        yield made


def torch_cases(folder, written, names=None):
    """The models of export_torch.py. Their results are compared relative to the largest one."""
    for path in sorted(p for p in written.iterdir() if p.is_dir()):
        if names is not None and path.name not in names:
            continue
        made = case(path.name, folder / path.name, 0, 1e-4, of_largest=True)
        made.may_fix = False  # all inputs are data
        reason = path / "reason"
        if reason.is_file():
            made.reason = reason.read_text().strip()
        else:
            arrays = np.load(path / "values.npz")
            sets = [tuple([arrays[k] for k in sorted((k for k in arrays.files
                                                      if k.startswith(f"{i}/{part}/")),
                                                     key=lambda k: int(k.split("/")[2]))]
                          for part in ("feed", "fetch"))
                    for i in sorted({k.split("/")[0] for k in arrays.files})]
            made.write(onnx.load(path / "model.onnx", load_external_data=False), sets,
                       path / "model.onnx")
        yield made


def values_of(path):
    made = onnx.TensorProto()
    try:
        made.ParseFromString(path.read_bytes())
        return numpy_helper.to_array(made)
    except Exception:  # a sequence or an optional value in place of a tensor
        return None


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--kind", choices=KINDS, default="node")
    options.add_argument("--cases", type=pathlib.Path)
    options.add_argument("--seconds", type=int, default=60, help="for a group of cases")
    options.add_argument("--again", action="store_true")
    options.add_argument("--update", action="store_true")
    options.add_argument("--only", nargs="*")
    arguments = options.parse_args()
    listed = HERE / f"onnx_{arguments.kind}.txt"
    expected = {}
    if listed.is_file():
        lines = [line for line in listed.read_text().splitlines() if not line.startswith("#")]
        expected = dict(line.split("\t", 1) for line in lines)
    folder = arguments.folder.resolve() / "onnx" / arguments.kind
    directory = KINDS[arguments.kind]
    if arguments.kind in ("exported", "torch"):
        cases_of = exported_cases if arguments.kind == "exported" else torch_cases
        cases = list(cases_of(folder, arguments.cases.resolve()))
    else:
        cases = list(directory_cases(folder, directory) if directory else node_cases(folder))
    whole = len(cases)

    def passes(text):
        return text.startswith("pass")

    if arguments.only:
        cases = [c for c in cases if any(c.name == o or c.name.startswith(o + ".")
                                         for o in arguments.only)]
    elif not arguments.update:
        cases = [c for c in cases if passes(expected.get(c.name, "new")) != arguments.again]
    found = run_all(arguments.program, cases, arguments.seconds)
    passed = sum(passes(r) for r in found.values())
    if arguments.only:
        for name, result in found.items():
            print(f"{name}\t{result}")
        return 0
    print(f"onnx {onnx.__version__}, {arguments.kind}: {passed} of {len(found)} cases that "
          f"ran pass, {whole} in all")
    if arguments.update:
        listed.write_text(
            f"# The cases of onnx {onnx.__version__} that run_onnx.py runs: the name, and `pass` "
            "or why not.\n" + "".join(f"{n}\t{r}\n" for n, r in sorted(found.items())))
        return 0
    wrong = [n for n, r in found.items() if passes(r) == arguments.again]
    for name in wrong:
        print(f"{name}: expected {expected.get(name, 'a line in ' + listed.name)!r}, "
              f"found {found[name]!r}")
    return 1 if wrong or (not found and not arguments.again) else 0


if __name__ == "__main__":
    sys.exit(main())
