#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains on the chunks of a task queue in several processes of this machine.

Each chunk is read once in each pass, also by processes of two hosts (network namespaces), by more
processes than chunks, and with parameter servers. A process is killed in the middle of a pass;
another number of processes goes on from the newest checkpoint and reads the chunks that are not
finished, once. A chunk that cannot be read, lists that differ and a silence end all processes with
one message.

usage: tasks.py PROGRAM --mpirun MPIRUN
"""
import argparse
import collections
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import hosts as two_hosts
from processes import ENDS_WITHIN, LONGEST, end_of, expect_failure, failure, launcher


def openings(log):
    """How often a chunk was opened, by (pass, chunk), and the same by rank."""
    all_of, of_rank = collections.Counter(), {}
    for file in pathlib.Path(log).iterdir():
        if file.suffix:
            continue
        lines = [tuple(map(int, line.split())) for line in file.read_text().splitlines()]
        of_rank[int(file.name)] = len(lines)
        all_of.update(lines)
    return all_of, of_rank


def expect(what, found, wanted):
    if found != wanted:
        lacks, more = wanted - found, found - wanted
        raise failure(f"{what}: chunks that were read too seldom {dict(lacks)}, too often"
                      f" {dict(more)}")


def each(chunks, passes):
    return collections.Counter((p, c) for p in passes for c in range(chunks))


def once(launch):
    for ranks, chunks, options, where in (
            (0, 10, [], {}), (1, 10, [], {}), (3, 10, [], {}), (5, 3, [], {}),
            (3, 10, [], {"loopback": True}), (3, 10, ["slow=0", "pause=10"], {}),
            (3, 10, ["servers=1"], {}), (3, 40, ["servers=1", "staleness=100"], {}),
            (3, 40, ["servers=1", "staleness=100", "slow=1", "pause=20"], {})):
        with tempfile.TemporaryDirectory() as log:
            launch.results(ranks, f"chunks={chunks}", *options, f"log={log}", **where)
            found, of_rank = openings(log)
            expect(f"{ranks} processes {options} {where}", found, each(chunks, range(3)))
            if "slow=1" in options and of_rank[1] >= of_rank[0]:
                raise failure(f"expected fewer chunks for the slow rank 1, found {of_rank}")


def hosts(launch):
    """The same on two hosts, of which the slow one has the counter."""
    os.environ["OMPI_MCA_osc"] = "^ucx"  # Open MPI 4.1 fails over TCP with UCX
    try:
        with two_hosts.hosts() as pair, tempfile.TemporaryDirectory() as log:
            launch.results(2, "chunks=20", "slow=0", "pause=10", f"log={log}", pair=pair)
            expect("two hosts", openings(log)[0], each(20, range(3)))
    except two_hosts.unavailable as e:
        print(f"NOTE: no two hosts here ({e})", file=sys.stderr)
    finally:
        del os.environ["OMPI_MCA_osc"]


def newest(launch, folder):
    """Pass, mini-batch and finished chunks of the newest checkpoint."""
    shown, = launch.results(0, f"show={folder}")
    position, batch, finished = shown.split()
    return int(position), int(batch), finished


def kill(launch, before, after, victim):
    chunks, passes = 40, 4
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as first, \
            tempfile.TemporaryDirectory() as second:
        arguments = [f"chunks={chunks}", f"passes={passes}", f"checkpoint={folder}"]
        process = launch.start(before, *arguments, "pause=10", f"log={first}")
        deadline = time.monotonic() + LONGEST
        while True:
            position, _, finished = newest(launch, folder)
            if position == 1 and finished.count("1") > 5:
                break
            if time.monotonic() > deadline or process.poll() is not None:
                raise failure(f"no checkpoint in the middle of pass 1: {position} {finished}")
            time.sleep(0.01)
        os.kill(int(pathlib.Path(first, f"{victim}.pid").read_text()), signal.SIGKILL)
        try:
            end_of(process, ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise failure(f"no end within {ENDS_WITHIN} s after a kill")
        if process.returncode == 0:
            raise failure("a training whose process was killed ended with exit code 0")
        position, batch, finished = newest(launch, folder)
        if position != 1 or batch == 0 or not 0 < finished.count("1") < chunks:
            raise failure(f"expected a checkpoint in the middle of pass 1, found {position} {batch}"
                          f" {finished}")
        launch.results(after, *arguments, f"log={second}")
        rest, _ = openings(second)
        left = collections.Counter((1, c) for c in range(chunks) if finished[c] == "0")
        expect(f"{before} processes, {after} after a kill", rest,
               left + each(chunks, range(2, passes)))
        all_of = openings(first)[0] + rest
        if each(chunks, range(passes)) - all_of:
            raise failure("found chunks that were never read")
        return f"{finished.count('1')} of {chunks} chunks were finished"


def errors(launch):
    with tempfile.TemporaryDirectory() as log:
        for ranks, arguments, expected in (
                (3, ["fail=4"], r"lamina: task_queue: chunk 4: no such file.*\(in rank \d on "),
                (3, ["differ=2"], r"found another number of chunks in rank 2 than in rank 0"),
                (3, ["hang=0", "patience=2"], r"a word from .* within 2 s, found silence"),
                (3, ["hang=1", "patience=2"], r"a word from .* within 2 s, found silence")):
            expect_failure(launch, ranks, [*arguments, f"log={log}"], expected)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--mpirun", required=True)
    options = parser.parse_args()
    try:
        run = launcher(options.program, options.mpirun)
        once(run)
        hosts(run)
        for before, after, victim in ((3, 2, 1), (2, 4, 0), (3, 1, 2)):
            print(f"{before} processes, then {after}: {kill(run, before, after, victim)}")
        errors(run)
    except failure as e:
        sys.exit(f"tasks: {e}")
