#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Repeats lamina's cases in PyTorch and compares the results and the gradients.

usage: compare_torch.py CASES [--table FILE] [--page FILE] [--operators FILE] [--only NAME...]

A program is run operator by operator: torch_operators.py and torch_sequences.py say with PyTorch,
in double, what an operator computes, and autograd gives the gradients, so that no gradient operator
of lamina is followed. Each result is compared within 1e-5 of the largest element, doubles within
1e-9, and results of edge values (NAME@edges) each for itself, NaN and infinity at the same places.
Differences that are known and explained stand in torch_differences.txt; anything else that differs,
or a known difference that is none any more, fails.

Then each operator is made wrong by a thousandth, its values and its gradients, and the cases have
to notice: an operator counts as compared only where a mistake in it would be seen.
"""
import json
import pathlib
import sys

import numpy
import torch

from case_results import (BACKWARD, EDGES, LOSS_GRADIENT, compare_cases, compared_operators,
                          difference, edge_difference, operators_of, values_in)
from torch_operators import REAL, TABLE, Call
import torch_sequences  # noqa: F401, fills TABLE

TOLERANCE = 1e-5
VALUE = {
    "INT": "i",
    "FLOAT": "f",
    "STRING": "s",
    "INTS": "ints",
    "FLOATS": "floats",
    "STRINGS": "strings",
    "BOOLEAN": "b",
    "BOOLEANS": "bools",
    "BLOCK": "blockIdx",
    "LONG": "l",
    "BLOCKS": "blocksIdx",
    "LONGS": "longs"
}


class Nudge(torch.autograd.Function):
    """x, with a gradient that is a little wrong."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient + 1e-3 * (gradient.abs() + 1e-2)


class Unknown(Exception):
    """An operator that the table has not."""


def attributes_of(op):
    found = {}
    for attribute in op.get("attrs", []):
        value = attribute.get(VALUE[attribute["type"]], [])
        if attribute["type"] == "FLOAT":  # what a file keeps
            value = float(numpy.float32(value))
        found[attribute["name"]] = int(value) if attribute["type"] == "LONG" else value
    return found


def slots(parameters):
    return {p["parameter"]: p.get("arguments", []) for p in parameters}


class Run:
    """A program's variables while its operators run one after the other."""

    def __init__(self, program, leaves, wrong=("", "")):
        self.blocks, self.leaves, self.wrong = program["blocks"], leaves, wrong
        self.values, self.offsets = {}, {}
        self.shapes, self.dtypes = {}, {}
        for block in self.blocks:
            for v in block.get("vars", []):
                tensor = v["type"].get("lodTensor", {}).get("tensor", {})
                self.shapes[v["name"]] = [int(d)
                                          for d in tensor["dims"]] if "dims" in tensor else None
        self.loss = None

    def set(self, name, value, offsets):
        shape = self.shapes.get(name)
        if shape is not None and isinstance(value, torch.Tensor) and value.dim() != len(shape) and \
                all(d > 0 for d in shape[1:]):
            rows = value.numel() // max(torch.Size(shape[1:]).numel(), 1)
            value = value.reshape([rows if shape[0] < 0 else shape[0], *shape[1:]] if shape else [])
        self.values[name], self.offsets[name] = value, offsets

    def start(self, name, array, offsets):
        value = torch.from_numpy(array)
        if value.is_floating_point():
            value = value.to(REAL)
        if name in self.leaves:
            value.requires_grad_(True)
        self.set(name, value, offsets)

    def block(self, index):
        for op in self.blocks[index].get("ops", []):
            self.operator(op)

    def operator(self, op):
        kind, attributes = op["type"], attributes_of(op)
        role = attributes.get("op_role", 0)
        if kind in ("feed", "fetch"):
            return
        inputs, outputs = slots(op.get("inputs", [])), slots(op.get("outputs", []))
        if role == LOSS_GRADIENT:
            self.loss = outputs["Out"][0][:-len("@GRAD")]
            self.differentiate()
            return
        if role == BACKWARD:
            return
        if kind in FLOW:
            FLOW[kind](self, inputs, outputs, attributes)
            return
        if kind not in TABLE:
            raise Unknown(kind)
        given = {s: [self.values[n] for n in names] for s, names in inputs.items() if names}
        offsets = {s: self.offsets[names[0]] for s, names in inputs.items() if names}
        if self.wrong == (kind, "gradients"):
            given = {
                s: [Nudge.apply(v) if v.requires_grad else v for v in values]
                for s, values in given.items()
            }
        found = TABLE[kind](Call(kind, given, outputs, attributes, offsets))
        if not isinstance(found, dict):
            found = {next(s for s in ("Out", "Output", "Y", *outputs) if outputs.get(s)): found}
        for slot, value in found.items():
            values = value if isinstance(
                value, (list, torch.Size)) or slot == "Out" and kind == "split" else [value]
            for name, one in zip(outputs.get(slot, []), values):
                lod = None
                if isinstance(one, tuple):
                    one, lod = one
                if self.wrong == (kind, "values"):
                    one = one + 1e-3 * (one.abs() + 1e-2) if one.is_floating_point() else \
                        ~one if one.dtype == torch.bool else one + 1
                if lod is None:  # the sequences of the first input with as many rows
                    lod = next(
                        (self.offsets[n] for names in inputs.values() for n in names
                         if self.offsets[n] and one.dim() and len(one) == self.offsets[n][-1][-1]),
                        [])
                self.set(name, one, lod)

    def differentiate(self):
        leaves = [n for n in sorted(self.leaves) if n in self.values]
        found = torch.autograd.grad(self.values[self.loss].sum(), [self.values[n] for n in leaves],
                                    allow_unused=True)
        for name, gradient in zip(leaves, found):
            zero = torch.zeros_like(self.values[name])
            self.values[name + "@GRAD"] = zero if gradient is None else gradient
            self.offsets[name + "@GRAD"] = []


def run_while(run, inputs, outputs, attributes):
    while bool(run.values[inputs["Condition"][0]]):
        run.block(attributes["sub_block"])


def run_conditional(run, inputs, outputs, attributes):
    condition = run.values[inputs["Cond"][0]]
    if bool(condition) if attributes["is_scalar_condition"] else condition.numel() > 0:
        run.block(attributes["sub_block"])


def write_array(run, inputs, outputs, attributes):
    array = run.values.setdefault(outputs["Out"][0], {})
    name = inputs["X"][0]
    array[int(run.values[inputs["I"][0]])] = run.values[name], run.offsets[name]
    run.offsets[outputs["Out"][0]] = []


def read_array(run, inputs, outputs, attributes):
    run.set(outputs["Out"][0], *run.values[inputs["X"][0]][int(run.values[inputs["I"][0]])])


def cut_array(run, inputs, outputs, attributes):
    steps = torch.unbind(run.values[inputs["X"][0]], attributes["axis"])
    run.values[outputs["Out"][0]] = {i: (s, []) for i, s in enumerate(steps)}
    run.offsets[outputs["Out"][0]] = []


def join_array(run, inputs, outputs, attributes):
    array = run.values[inputs["X"][0]]
    steps = [array[i][0] for i in sorted(array)]
    join = torch.stack if attributes["use_stack"] else torch.cat
    run.set(outputs["Out"][0], join(steps, attributes["axis"]), [])


def select(run, inputs, outputs, attributes):
    name = inputs["X"][int(run.values[inputs["Mask"][0]])]
    run.set(outputs["Out"][0], run.values[name], run.offsets[name])


def array_length(run, inputs, outputs, attributes):
    run.set(outputs["Out"][0], torch.tensor([len(run.values[inputs["X"][0]])]), [])


def split_rows(run, inputs, outputs, attributes):
    mask = run.values[inputs["Mask"][0]].reshape(-1).bool()
    for slot, rows in (("OutTrue", mask), ("OutFalse", ~mask)):
        for name in outputs.get(slot, []):
            run.set(name, run.values[inputs["X"][0]][rows], [])


def merge_rows(run, inputs, outputs, attributes):
    mask = run.values[inputs["Mask"][0]].reshape(-1).bool()
    yes, no = run.values[inputs["InTrue"][0]], run.values[inputs["InFalse"][0]]
    order = torch.where(mask, torch.cumsum(mask, 0) - 1, torch.cumsum(~mask, 0) - 1 + len(yes))
    run.set(outputs["Out"][0], torch.cat([yes, no])[order], [])


def rank_table(run, inputs, outputs, attributes):
    """Sequences by falling length: (begin, length, number)."""
    offsets = run.offsets[inputs["X"][0]][-1]
    lengths = [(a, b - a, i) for i, (a, b) in enumerate(zip(offsets, offsets[1:]))]
    run.values[outputs["Out"][0]] = sorted(lengths, key=lambda entry: -entry[1])
    run.offsets[outputs["Out"][0]] = [offsets]


def longest(run, inputs, outputs, attributes):
    run.set(outputs["Out"][0],
            torch.tensor([max(n for _, n, _ in run.values[inputs["RankTable"][0]])]), [])


def rows_to_array(run, inputs, outputs, attributes):
    x, table = run.values[inputs["X"][0]], run.values[inputs["RankTable"][0]]
    steps = max(n for _, n, _ in table)
    run.values[outputs["Out"][0]] = {t: (torch.stack([x[a + t] for a, n, _ in table if n > t]), [])
                                     for t in range(steps)}
    run.offsets[outputs["Out"][0]] = []


def array_to_rows(run, inputs, outputs, attributes):
    array, table = run.values[inputs["X"][0]], run.values[inputs["RankTable"][0]]
    rows = {a + t: array[t][0][place] for place, (a, n, _) in enumerate(table) for t in range(n)}
    run.set(outputs["Out"][0], torch.stack([rows[i] for i in range(len(rows))]),
            run.offsets[inputs["RankTable"][0]])


def shrink_memory(run, inputs, outputs, attributes):
    step = int(run.values[inputs["I"][0]])
    alive = sum(1 for _, n, _ in run.values[inputs["RankTable"][0]] if n > step)
    run.set(outputs["Out"][0], run.values[inputs["X"][0]][:alive], [])


def reorder_rows(run, inputs, outputs, attributes):
    order = torch.tensor([i for _, _, i in run.values[inputs["RankTable"][0]]])
    run.set(outputs["Out"][0], run.values[inputs["X"][0]][order], [])


def last_memory(run, inputs, outputs, attributes):
    array, table = run.values[inputs["X"][0]], run.values[inputs["RankTable"][0]]
    last = {number: array[n][0][place] for place, (_, n, number) in enumerate(table)}
    run.set(outputs["Out"][0], torch.stack([last[i] for i in range(len(table))]), [])


FLOW = {
    "last_rnn_memory": last_memory,
    "lod_rank_table": rank_table,
    "max_sequence_len": longest,
    "lod_tensor_to_array": rows_to_array,
    "array_to_lod_tensor": array_to_rows,
    "shrink_rnn_memory": shrink_memory,
    "reorder_lod_tensor_by_rank": reorder_rows,
    "while": run_while,
    "conditional_block": run_conditional,
    "write_to_array": write_array,
    "read_from_array": read_array,
    "tensor_to_tensor_array": cut_array,
    "tensor_array_to_tensor": join_array,
    "lod_array_length": array_length,
    "select_input": select,
    "split_lod_tensor": split_rows,
    "merge_lod_tensor": merge_rows
}


def run_case(folder, wrong=("", ""), edges=False):
    """Runs one case, with one kind of operator wrong or none, or with edge values; returns what
    differs, or ''."""
    program = json.loads((folder / "program.json").read_text())
    inputs = folder / "edges" if edges else folder
    expected = values_in(inputs / "fetch")
    written = {
        n for b in program["blocks"] for op in b.get("ops", [])
        for names in slots(op.get("outputs", [])).values() for n in names if n.endswith("@GRAD")
    }
    run = Run(program, {n[:-len("@GRAD")] for n in written}, wrong)
    for part in (folder / "parameters", inputs / "feed"):
        for name, (array, offsets) in values_in(part).items():
            leaf = array.dtype.kind == "f"
            if not leaf:
                run.leaves.discard(name)
            run.start(name, array, offsets)
    run.leaves &= set(run.values)
    run.block(0)
    faults = []
    for name, (array, offsets) in expected.items():
        if edges and name.endswith("@GRAD"):
            # of infinity and NaN autograd keeps other rules: test/laws has those of gradients
            continue
        found = run.values[name]
        compare = edge_difference if edges else difference
        faults.append(compare(name, array, found.detach().numpy(), TOLERANCE, "in PyTorch"))
        if offsets and "@GRAD" not in name and run.offsets[name] != offsets:
            faults.append(f"{name}: sequences {offsets} here, {run.offsets[name]} in PyTorch")
    return "; ".join(f for f in faults if f)


def unnoticed(cases, rows):
    """Operators whose values or gradients may be wrong without any case that differs."""
    names = [name for name, result in rows if result == "equal" and not name.endswith(EDGES)]
    kinds = {name: operators_of(cases / name) for name in names}
    for kind, state in compared_operators(cases, rows).items():
        for what in ("values", "gradients")[:2 if state == "gradients" else 1]:
            tried = [n for n in names if kind in kinds[n] and (what == "values" or kinds[n][kind])]
            tried.sort(key=lambda n: (len(kinds[n]), n))
            if kind in TABLE and all(answer(cases / n, (kind, what)) == "equal" for n in tried):
                yield f"{kind}: wrong {what} would not be noticed by {', '.join(tried)}"


def answer(folder, wrong=("", ""), edges=False):
    try:
        return run_case(folder, wrong, edges) or "equal"
    except Unknown as e:
        return f"no counterpart of {e}"
    except Exception as e:  # whatever PyTorch throws is the answer
        return f"{type(e).__name__}: {' '.join(str(e).split())[:600]}"


def main():
    torch.set_num_threads(1)
    arguments, rows, failed = compare_cases("torch", f"PyTorch {torch.__version__}", answer)
    for line in unnoticed(arguments.cases, rows):
        failed += 1
        print(line)
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
