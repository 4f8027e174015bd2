#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PaddlePaddle's executor runs the inference models that lamina's workload `executor` saves.

usage: paddlepaddle.py FOLDER THREADS
Answers `check NAME` and `time NAME` on standard input, as ../job.hpp says.
"""
import os
import pathlib
import statistics
import sys
import time

import numpy

FOLDER, THREADS = pathlib.Path(sys.argv[1]), int(sys.argv[2])
# With one thread, PaddlePaddle's executor must also run one operator after the other. The variable
# is read when paddle is imported.
os.environ.setdefault("FLAGS_new_executor_serial_run", str(int(THREADS == 1)))

import paddle  # noqa: E402
from paddle.base import core  # noqa: E402


def job(name):
    """Returns a function that runs a model once and returns the values of its first target."""
    model = FOLDER / name / "model"
    if not model.exists():
        raise RuntimeError("not written for this one")
    place = paddle.CPUPlace()
    executor, scope = paddle.static.Executor(place), core.Scope()
    with paddle.static.scope_guard(scope):
        program, feeds, targets = paddle.static.load_inference_model(
            str(model), executor, model_filename="__model__", params_filename=None)
    feed = {}
    for file in feeds:
        value = core.LoDTensor()
        value.set(numpy.load(FOLDER / name / f"{file}.npy"), place)
        lengths = FOLDER / name / f"{file}.lengths.npy"
        if lengths.exists():
            value.set_recursive_sequence_lengths([numpy.load(lengths).tolist()])
        feed[file] = value

    def run():
        with paddle.static.scope_guard(scope):
            return executor.run(program, feed=feed, fetch_list=targets, return_numpy=False)[0]

    return run


def microseconds(run):
    """Returns the median time of a run, measured for half a second."""
    took = []
    run()
    while sum(took) < 0.5 or len(took) < 5:
        start = time.perf_counter()
        run()
        took.append(time.perf_counter() - start)
    return statistics.median(took) * 1e6


def main():
    paddle.enable_static()
    made = {}
    for line in sys.stdin:
        question, name = line.split()
        try:
            if question == "check":
                made[name] = job(name)
                print(*numpy.array(made[name]()).flatten(), flush=True)
            else:
                print(microseconds(made[name]), flush=True)
        except Exception as e:  # any error of PaddlePaddle is the answer
            print("absent", " ".join(str(e).split())[-300:], flush=True)


if __name__ == "__main__":
    main()
