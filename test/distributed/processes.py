#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains nets in several processes of this machine and compares, kills, stops and resumes them.

 bits     R processes of T threads reach the bits of one process of R x T threads, with small
          buckets and large ones
 hosts    so do processes of two hosts, which are network namespaces; without the right to make
          them, processes that talk over the loopback device
 errors   an error, a difference or a silence in one process ends all, with one message
 kills    a training whose processes are killed at random times goes on from its checkpoints and
          reaches the bits of an undisturbed one; the others end within seconds
 memory   a process has its shard of a table with is_distributed in memory (of servers, if there are
          some, these only), and its shard of the accumulators of other parameters
 programs a training loop that is a program reaches the numbers of one process; one that a process
          leaves alone ends all
 resume   a checkpoint of four processes goes on with one, two, three or four
 servers  trainers with parameter servers reach the bits of as many without; errors and checkpoints
 async    trainers that are some steps apart learn as well; checkpoints, errors, kills

usage: processes.py PROGRAM --mpirun MPIRUN [--kills N] [--seed N] WHAT
"""
import argparse
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

import hosts as two_hosts

NETS = ["dense", "conv", "lstm", "sparse", "crf", "loop"]
OPTIMIZERS = ["sgd", "momentum", "adam", "clipped"]
ALL = [f"{net}/{optimizer}" for net in NETS for optimizer in OPTIMIZERS] + ["sparse/lazy"]
# Those whose tables each process has whole.
WHOLE = [net.replace("sparse/", "rows/") for net in ALL if net != "sparse/lazy"]
# One table is divided.
TABLES = [net for net in ALL if net.startswith("sparse/")]
TABLE = 1000000 * 16 * 4  # bytes of the net "table"
WIDE = 100000 * 64 * 4  # bytes of the table of the net "wide"
ENDS_WITHIN = 60  # seconds after a process was killed or has failed: longer is a hang
LONGEST = 120  # seconds for any run: what takes longer hangs
ALONE = 15  # seconds that a launcher may take when its processes have ended, or before they start


class failure(Exception):
    pass


def environment():
    """More processes than cores are allowed, and so is root: tests run in containers."""
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_btl": "self,vader",
            "OMPI_MCA_orte_abort_timeout": "2",
            "UCX_LOG_LEVEL": "fatal"}


class launcher:
    def __init__(self, program, mpirun):
        self.program, self.mpirun = program, mpirun

    def command(self, ranks, arguments, pair):
        alone = [self.program, *arguments]
        if pair is not None:
            return pair.launch(self.mpirun, *alone)
        return alone if ranks == 0 else [self.mpirun, "-n", str(ranks), *alone]

    def start(self, ranks, *arguments, pair=None, loopback=False):
        environ = environment()
        if pair is not None or loopback:
            environ.update(two_hosts.environment(two_hosts.LINK if pair else "lo"))
        return subprocess.Popen(self.command(ranks, arguments, pair), env=environ, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                start_new_session=True)

    def run(self, ranks, *arguments, **where):
        with self.start(ranks, *arguments, **where) as process:
            try:
                wait = end_of if ranks > 0 else subprocess.Popen.communicate
                out, err = wait(process, timeout=LONGEST)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise failure(f"{ranks} processes, {' '.join(arguments)}: no end within"
                              f" {LONGEST} s")
        return process.returncode, out, err

    def results(self, ranks, *arguments, **where):
        code, out, err = self.run(ranks, *arguments, **where)
        if code != 0:
            raise failure(f"{ranks} processes, {' '.join(arguments)}: exit code {code}\n{err}")
        return out.splitlines()


def has_results(out):
    """Whether there is a line of results. The launcher may write lines of its own there."""
    return re.search(r"^\w+/\w+ [0-9a-f]{16} ", out, re.MULTILINE) is not None


def numbers_differ(a, b):
    """Whether two lines differ in more than the last digits of cost and metric, which are sums."""
    a, b = a.split(), b.split()
    return a[:2] != b[:2] or a[4:] != b[4:] or any(
        abs(float(x) - float(y)) > 1e-6 * max(1, abs(float(x))) for x, y in zip(a[2:4], b[2:4]))


def bits(launch, _):
    # Ranks, threads, bytes of a bucket, mini-batches per update, with a communication thread.
    for ranks, threads, bucket, together, thread in (
            (2, 2, 256, 1, False), (4, 1, 1 << 18, 1, False), (3, 1, 512, 1, True),
            (2, 1, 0, 1, False), (2, 2, 512, 3, True)):
        given = f"accumulate={together}"
        expected = launch.results(0, f"threads={ranks * threads}", given, *ALL)
        own = ["thread=1"] if thread else []
        found = launch.results(ranks, f"threads={threads}", f"bucket={bucket}", given, *own, *ALL)
        if len(expected) != len(ALL) or len(found) != len(ALL):
            raise failure(f"expected {len(ALL)} lines, found {len(expected)} and {len(found)}")
        for a, b in zip(expected, found):
            if numbers_differ(a, b):
                raise failure(f"{ranks} x {threads}, {given}: expected {a}, found {b}")
        if len({line.split()[1] for line in found}) < len(ALL) // 2:
            raise failure("the nets do not differ: do they train?")
    # Statistics of the whole mini-batch: the bits of as many threads, the numbers of one.
    nets = [f"conv/{optimizer}" for optimizer in OPTIMIZERS]
    for ranks, threads, bucket in ((2, 2, 256), (3, 1, 1 << 18), (4, 1, 0)):
        given = [f"bucket={bucket}", "sync=1", *(["thread=1"] if bucket == 256 else []), *nets]
        expected = launch.results(0, f"threads={ranks * threads}", *given)
        found = launch.results(ranks, f"threads={threads}", *given)
        if len(found) != len(nets) or any(map(numbers_differ, expected, found)):
            raise failure(f"{ranks} x {threads}, sync=1: expected {expected}, found {found}")
        alone = [float(line.split()[2]) for line in launch.results(0, "threads=1", *nets)]
        apart = [float(line.split()[2]) for line in launch.results(ranks, *nets)]
        for cost, a, b in zip((float(line.split()[2]) for line in found), alone, apart):
            if abs(cost - a) > 1e-4 * max(1, a) or abs(cost - a) * 10 > abs(b - a):
                raise failure(f"{ranks} x {threads}, sync=1: a cost of {cost}, {a} in one thread, "
                              f"{b} without")


def hosts(launch, _):
    nets = ["dense/adam", "conv/momentum", "lstm/clipped", "sparse/sgd"]
    try:
        with two_hosts.hosts() as pair:
            compare_hosts(launch, nets, pair)
            kill_on_host(launch, pair)
    except two_hosts.unavailable as e:
        print(f"NOTE: no two hosts here ({e}); the same over the loopback device", file=sys.stderr)
        compare_hosts(launch, nets, None)


def compare_hosts(launch, nets, pair):
    before = pair.sent() if pair else None
    for threads, bucket in ((1, 512), (2, 1 << 18)):
        expected = launch.results(0, f"threads={2 * threads}", *nets)
        found = launch.results(2, f"threads={threads}", f"bucket={bucket}", *nets, pair=pair,
                               loopback=pair is None)
        if len(found) != len(nets) or any(map(numbers_differ, expected, found)):
            raise failure(f"2 hosts x {threads}: expected {expected}, found {found}")
    if pair and any(b - a < 100000 for a, b in zip(before, pair.sent())):
        raise failure(f"the link had {before}, then {pair.sent()} bytes: do the hosts talk?")


def kill_on_host(launch, pair):
    """A process on the other host is killed in the middle of its training."""
    process = launch.start(2, "dense/adam", "passes=100000", "bucket=512", pair=pair)
    deadline = time.monotonic() + LONGEST
    while not (victims := [pid for pid in pair.processes(1) if is_training(pid)]):
        if time.monotonic() > deadline:
            raise failure("found no training process on the second host")
        time.sleep(0.02)
    time.sleep(0.5)
    os.kill(victims[0], signal.SIGKILL)
    try:
        end_of(process, ENDS_WITHIN)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise failure(f"no end within {ENDS_WITHIN} s after a process of a host was killed")
    if process.returncode == 0:
        raise failure("a training whose process was killed ended with exit code 0")


def errors(launch, _):
    in_step = r"\(mini-batch \d+ of pass 0, sample \d+(, position \d+)?\)"
    for ranks, arguments, expected in (
            (3, ["fail=1"], r"lamina: test: the disk is full.*\(in rank 1 on \S+\)"),
            (3, ["break=1", "bucket=512"], r"lamina: test: a group fails.*\(in rank 1 on \S+\)"),
            (3, ["break=1", "bucket=512", "thread=1"],
             r"lamina: test: a group fails.*\(in rank 1 on \S+\)"),
            (2, ["hang=0", "patience=2", "bucket=512", "thread=1"],
             r"expected a word from rank 0 on \S+ within 2 s, found silence"),
            (2, ["break=0", "threads=2"], r"lamina: test: a group fails.*\(in rank 0 on \S+\)"),
            (2, ["hang=1", "patience=2", "bucket=512"],
             r"expected a word from rank 1 on \S+ within 2 s, found silence"),
            (2, ["fail=0"], r"lamina: test: the disk is full.*\(in rank 0 on \S+\)"),
            (3, ["differ=2"], r"expected the same seed in each process, found 0 in rank 0 and 1 in"
                              r" rank 2"),
            (3, ["break=1", "sync=1", "threads=2", "conv/adam"],
             r"lamina: test: a group fails.*\(in rank 1 on \S+\)"),
            (3, ["wrong/adam"], r"layer embedding_0, feed 'words': id.*200.*" + in_step),
            (2, ["stop=1", "patience=2"], r"expected a word from .* within 2 s, found silence")):
        net = [] if "/" in arguments[-1] else ["dense/adam"]
        expect_failure(launch, ranks, [*arguments, *net], expected)
    # The launcher of another MPI: each process would be alone.
    alone = subprocess.run([launch.program, "dense/sgd"], text=True, capture_output=True,
                           env={**environment(), "SLURM_STEP_NUM_TASKS": "3"})
    if alone.returncode != 1 or "expected 3 processes, as the launcher started" not in alone.stderr:
        raise failure(f"a process that is alone: {alone.returncode}, {alone.stderr}")


def end_of(process, timeout):
    """What a launcher has written, when it ends. mpirun of Open MPI 4.1 sometimes waits for a lock
    of its own after one of its processes was killed (PMIx_server_finalize): it is ended then."""
    deadline = alone = time.monotonic()
    deadline += timeout
    while True:
        try:
            return process.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            now = time.monotonic()
            if now > deadline:
                raise
            if descendants(process, is_alive):
                alone = now
            elif now - alone > ALONE:
                print("NOTE: the launcher hangs after its processes have ended", file=sys.stderr)
                os.killpg(process.pid, signal.SIGKILL)


def is_alive(pid):
    """Whether a process has not ended. One that has ended, and whose parent has not asked for its
    exit code, has no command line."""
    try:
        return bool(pathlib.Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


def children(process):
    """The training processes below a launcher."""
    return descendants(process, is_training)


def descendants(process, has):
    """The processes below a launcher for which has(number) is true."""
    found, pending = [], [process.pid]
    while pending:
        pid = pending.pop()
        for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
            try:
                below = [int(word) for word in task.read_text().split()]
            except OSError:
                continue
            pending += below
            found += filter(has, below)
    return found


def is_training(pid):
    try:
        command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return command.split(b"\0")[0].endswith(os.path.basename(launch_name).encode())


def kills(launch, options):
    draw = random.Random(options.seed)
    nets = [["dense/adam"], ["sparse/lazy"], ["dense/momentum", "thread=1"]]
    nets = [[*net, "passes=12", "threads=1"] for net in nets]
    all_expected = [launch.results(2, *net) for net in nets]
    done, runs, starts = 0, 0, 0
    while done < options.kills or runs < len(nets):
        net, expected = nets[runs % len(nets)], all_expected[runs % len(nets)]
        runs += 1
        with tempfile.TemporaryDirectory() as folder:
            arguments = [*net, "pause=15", f"checkpoint={folder}"]
            while True:
                starts += 1
                process = launch.start(2, *arguments)
                wait = draw.uniform(0.05, 0.9)
                try:
                    out, err = process.communicate(timeout=wait)
                    break
                except subprocess.TimeoutExpired:
                    pass
                if done < options.kills and (victims := children(process)):
                    os.kill(draw.choice(victims), signal.SIGKILL)
                    done += 1
                begin = time.monotonic()
                out, err = end_of(process, LONGEST)
                if process.returncode == 0:
                    break
                if time.monotonic() - begin > ENDS_WITHIN:
                    raise failure(f"the launcher ended {time.monotonic() - begin:.1f} s after a"
                                  " kill")
            if process.returncode != 0:
                raise failure(f"exit code {process.returncode}\n{err}")
            found = out.splitlines()
            if len(found) != 1 or found[0].split()[1] != expected[0].split()[1]:
                raise failure(f"expected {expected}, found {found} after {done} kills")
    print(f"{done} kills, {starts} starts, {runs} trainings")


def resume(launch, _):
    for ranks, net in ((r, n) for n in ("conv/adam", "sparse/adam") for r in (1, 2, 3, 4)):
        with tempfile.TemporaryDirectory() as folder:
            launch.results(4, net, "passes=2", f"checkpoint={folder}")
            line = launch.results(ranks, net, "passes=4", f"checkpoint={folder}")[0].split()
            whole = launch.results(4, net, "passes=4")[0].split()
            if line[4] != whole[4]:
                raise failure(f"{ranks} processes: expected step {whole[4]}, found {line[4]}")
            if ranks == 4 and line[1] != whole[1]:
                raise failure("four processes go on with other numbers than without a stop")
            if abs(float(line[2]) - float(whole[2])) > 0.1:
                raise failure(f"{ranks} processes: expected a cost near {whole[2]}, found"
                              f" {line[2]}")


def memory(launch, _):
    """A rank has its shard of a large table; the accumulators of a lazy adam have the rows used."""
    constant = 4 << 20
    alone = launch.results(0, "threads=4", "table/lazy")
    for ranks in (2, 4):
        code, out, err = launch.run(ranks, f"threads={4 // ranks}", "memory=1", "table/lazy")
        if code != 0 or numbers_differ(alone[0], out.splitlines()[0]):
            raise failure(f"{ranks} processes: expected {alone}, found {code} {out} {err}")
        bytes_of = [int(n) for n in re.findall(r"rank \d+: (\d+) bytes", err)]
        most = TABLE / ranks * 1.02 + constant
        if len(bytes_of) != ranks or min(bytes_of) < TABLE / ranks or max(bytes_of) > most:
            raise failure(f"{ranks} processes: expected {TABLE / ranks:.0f} to {most:.0f} bytes in"
                          f" each, found {bytes_of}")
    # With parameter servers these have all rows.
    for given in (["servers=2"], ["servers=2", "staleness=2"]):
        code, out, err = launch.run(4, "memory=1", *given, "table/lazy")
        bytes_of = {int(r): int(n) for r, n in re.findall(r"rank (\d+): (\d+) bytes", err)}
        most = [2 * constant] * 2 + [TABLE / 2 * 1.02 + 2 * constant] * 2
        if code != 0 or len(bytes_of) != 4 or any(bytes_of[r] > most[r] for r in range(4)):
            raise failure(f"{given}: expected at most {most} bytes, found {code} {bytes_of} {err}")
        if min(bytes_of[2], bytes_of[3]) < TABLE / 2:
            raise failure(f"{given}: expected {TABLE / 2} bytes in servers, found {bytes_of}")
    accumulators(launch)


def accumulators(launch):
    """What adam takes more than sgd, which has no accumulators: both moments of a rank's shard
    while it trains, also with checkpoints; and rank 0 alone has all at a checkpoint or the end."""
    whole, slack = 2 * WIDE, 3 << 20
    received = 10 << 20  # what MPI keeps of messages that come too early differs from run to run
    with tempfile.TemporaryDirectory() as folder:
        for ranks in (1, 2, 4):
            for given in ("threads=1", "checkpoint"):
                sgd, adam = (memory_of_ranks(launch, ranks, net, given.replace(
                    "checkpoint", f"checkpoint={folder}/{ranks}.{net[5:]}"))
                             for net in ("wide/sgd", "wide/adam"))
                for r in range(ranks):
                    end, steps, peak = (a - b for a, b in zip(adam[r], sgd[r]))
                    full = whole if r == 0 else whole / ranks
                    found = f"rank {r} of {ranks}, {given}: {end}, {steps}, {peak} of {whole}"
                    # A page at each end of a range of a bucket may belong to two ranks.
                    if not whole / ranks - slack < steps < whole / ranks * 1.07 + slack:
                        raise failure(f"accumulators in steps: {found}")
                    # The file is written from a copy.
                    copied = whole if r == 0 and given == "checkpoint" else 0
                    if not (full - slack < end < full * 1.07 + slack and
                            peak < full * 1.07 + copied + received):
                        raise failure(f"accumulators at the end: {found}")


def memory_of_ranks(launch, ranks, net, given):
    """By rank: bytes at the end, in steps, and at most."""
    code, out, err = launch.run(ranks, "memory=1", "passes=2", given, net)
    found = {int(r): [int(n) for n in numbers] for r, *numbers in re.findall(
        r"rank (\d+): (\d+) bytes, (\d+) in steps, (\d+) at most", err)}
    if code != 0 or sorted(found) != list(range(ranks)):
        raise failure(f"{ranks} processes, {net}: {code} {out} {err}")
    return found


def expect_failure(launch, ranks, arguments, expected):
    """The launcher ends all processes when the first one ends, sometimes before another one has
    printed what it heard of the failure: then this runs again, at most three times in all."""
    own = re.split(r"\.\*\\\(in rank", expected)[0]  # what the rank that fails prints
    for _ in range(3):
        begin = time.monotonic()
        code, out, err = launch.run(ranks, *arguments)
        if re.search(expected, err) or not re.search(own, err):
            break
        print(f"NOTE: {arguments}: only the rank that failed has printed it", file=sys.stderr)
    if code == 0 or has_results(out):
        raise failure(f"{arguments}: expected a failure, found code {code} and '{out}'")
    if not re.search(expected, err):
        raise failure(f"{arguments}: expected {expected}, found\n{err}")
    if time.monotonic() - begin > ENDS_WITHIN:
        raise failure(f"{arguments}: ended after {time.monotonic() - begin:.1f} s")


def servers(launch, _):
    for trainers, count, threads, nets in (
            (2, 1, 2, WHOLE), (3, 2, 1, ["dense/adam", "conv/momentum"]),
            (1, 2, 1, ["rows/adam", "crf/clipped"]), (2, 2, 2, TABLES), (1, 3, 1, TABLES)):
        options = [f"threads={threads}", f"servers={count}"]
        expected = launch.results(0, f"threads={trainers * threads}", *nets)
        found = launch.results(trainers + count, *options, *nets)
        if len(expected) != len(nets) or len(found) != len(nets):
            raise failure(f"expected {len(nets)} lines, found {len(expected)} and {len(found)}")
        for a, b in zip(expected, found):
            if numbers_differ(a, b):
                raise failure(f"{trainers} + {count} x {threads}: expected {a}, found {b}")
    # The servers have all parameters at the end, also those that they do not update.
    for name in ("conv/adam", "rows/momentum", "dense/clipped"):
        lines = [launch.results(4, "servers=2", f"say={rank}", name)[0].split() for rank in (0, 3)]
        if lines[0][1] != lines[1][1] or lines[0][4] != lines[1][4]:
            raise failure(f"a server ends with other parameters: {lines}")
    with tempfile.TemporaryDirectory() as folder:
        # A checkpoint has the state that the servers hold.
        launch.results(3, "conv/adam", "servers=1", "passes=2", f"checkpoint={folder}")
        line = launch.results(3, "conv/adam", "servers=1", "passes=4", f"checkpoint={folder}")[0]
        whole = launch.results(2, "conv/adam", "passes=4")[0]
        if line.split()[1] != whole.split()[1]:
            raise failure(f"resumed with a server: expected {whole}, found {line}")
    with tempfile.TemporaryDirectory() as folder:
        # One with tables goes on with other numbers of trainers and servers.
        for ranks, threads, count, passes in ((5, 1, 1, 1), (3, 4, 2, 2), (2, 2, 0, 3),
                                              (6, 2, 4, 4)):
            line = launch.results(ranks, "sparse/lazy", f"threads={threads}", f"servers={count}",
                                  f"passes={passes}", f"checkpoint={folder}")[0]
        whole = launch.results(0, "sparse/lazy", "threads=4", "passes=4")[0]
        if line.split()[1] != whole.split()[1]:
            raise failure(f"tables resumed with servers: expected {whole}, found {line}")
    for ranks, arguments, expected in (
            (3, ["servers=1", "fail=1"], r"the disk is full.*\(in rank 1 on \S+\)"),
            (3, ["servers=1", "differ=2"], r"expected the same seed in each process, found 0 in"
                                           r" rank 0 and 1 in rank 2"),
            (3, ["servers=1", "stop=1", "patience=2"], r"expected a word from .*within \d s"),
            (2, ["servers=2"], r"expected 2 parameter servers and 1 or more trainers, found 2"),
            (2, ["staleness=1"], r"expected parameter servers with a staleness of 1, found none")):
        expect_failure(launch, ranks, [*arguments, "dense/adam"], expected)
    for arguments, expected in ((["fail=1"], r"the disk is full.*\(in rank 1 on \S+\)"),
                                (["stop=1", "patience=2"], r"expected a word from .*within \d s")):
        expect_failure(launch, 4, ["servers=2", *arguments, "sparse/adam"], expected)
    expect_failure(launch, 3, ["servers=1", "wrong/sgd"], r"200.*\(in rank \d on \S+\)")
    # One of several processes with other roles, and another number than the launcher's.
    told = {**environment(), "LAMINA_PARAMETER_SERVERS": "2"}
    other = subprocess.run(launch.command(4, ["servers=1", "dense/sgd"], None), text=True,
                           capture_output=True, env=told, timeout=LONGEST)
    if other.returncode == 0 or "expected 2 parameter servers, as the launcher" not in other.stderr:
        raise failure(f"another number of servers: {other.returncode}, {other.stderr}")
    kill_each(launch, 3, "servers=1")


def kill_each(launch, ranks, *arguments):
    """Kills one process, whichever it is, of a training: it ends the others."""
    for victim in range(ranks):
        process = launch.start(ranks, "dense/adam", "passes=100000", *arguments)
        try:
            end = time.monotonic() + LONGEST
            while len(children(process)) != ranks and time.monotonic() < end:
                time.sleep(0.1)
            time.sleep(0.5)
            victims = sorted(children(process))
            if len(victims) != ranks:
                raise failure(f"expected {ranks} processes, found {len(victims)}")
            os.kill(victims[victim], signal.SIGKILL)
            end_of(process, ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise failure("a killed process does not end the others")
        if process.returncode == 0:
            raise failure("a killed process is no failure")


def async_(launch, _):
    steady = ["staleness=4", "servers=2"]
    for optimizer in ("sgd", "momentum", "adam", "clipped"):
        name, passes = f"rule/{optimizer}", "passes=20"
        expected = launch.results(2, name, passes)[0].split()
        for more in ([], ["shard=1"]):
            found = launch.results(5, name, passes, *steady, *more)[0].split()
            # Metric: the accuracy over the last pass, with dropout.
            if float(found[3]) < float(expected[3]) - 0.08:
                raise failure(f"{name} {more}: expected an accuracy near {expected[3]}, found"
                              f" {found[3]}")
            # The last mini-batch has samples for two of three trainers.
            updates = 20 * (3 * 8 if more else 3 * 23 + 2)
            if int(found[4]) != updates:
                raise failure(f"{name} {more}: expected {updates} updates, found {found[4]}")
    for name in ("rows/adam", "rows/sgd", "conv/momentum", "lstm/adam", "crf/clipped",
                 "sparse/lazy", "sparse/adam", "sparse/clipped"):
        first = launch.results(5, name, "passes=1", *steady)[0].split()
        last = launch.results(5, name, "passes=12", *steady)[0].split()
        if not float(last[2]) < float(first[2]):
            raise failure(f"{name}: expected a cost below {first[2]}, found {last[2]}")
    with tempfile.TemporaryDirectory() as folder:
        # A server ends with the parameters of the trainers, as their last checkpoint has them.
        run = ["conv/adam", *steady, f"checkpoint={folder}"]
        first = launch.results(4, *run, "passes=2")[0].split()
        again = [launch.results(4, *run, "passes=2", f"say={rank}")[0].split() for rank in (0, 3)]
        if not first[1] == again[0][1] == again[1][1]:
            raise failure(f"a finished training changes: {first}, {again}")
        last = launch.results(4, *run, "passes=4")[0].split()
        if int(first[4]) != 16 or int(last[4]) != 32:
            raise failure(f"expected 16 and 32 updates, found {first[4]} and {last[4]}")
    with tempfile.TemporaryDirectory() as folder:
        run = ["rule/adam", *steady, "shard=1", f"checkpoint={folder}"]
        launch.results(4, *run, "passes=1")
        last = launch.results(4, *run, "passes=3")[0].split()
        if int(last[4]) != 3 * 2 * 12:
            raise failure(f"shards: expected {3 * 2 * 12} updates, found {last[4]}")
    with tempfile.TemporaryDirectory() as folder:
        # Tables: with other numbers of trainers and servers.
        run = ["sparse/lazy", "staleness=2", f"checkpoint={folder}"]
        first = launch.results(5, *run, "servers=2", "passes=2")[0].split()
        again = launch.results(3, *run, "servers=1", "passes=2")[0].split()
        last = launch.results(4, *run, "servers=3", "passes=9")[0].split()
        if first[1] != again[1] or not float(last[2]) < float(first[2]):
            raise failure(f"tables from a checkpoint: {first}, {again}, {last}")
    expect_failure(launch, 4, [*steady, "fail=1", "rule/adam"],
                   r"the disk is full.*\(in rank 1 on \S+\)")
    expect_failure(launch, 4, [*steady, "stop=1", "patience=2", "rule/adam"],
                   r"expected a word from .*rank 1 on .*within 2 s")
    kill_each(launch, 4, *steady)


def programs(launch, _):
    alone = launch.results(0, "program/adam")[0].split()
    for ranks in (2, 3, 4):
        found = launch.results(ranks, "program/adam")[0].split()
        if found[4] != alone[4] or any(abs(float(a) - float(b)) > 1e-5 * float(a)
                                       for a, b in zip(alone[2:4], found[2:4])):
            raise failure(f"{ranks} processes: expected {alone}, found {found}")
    begin = time.monotonic()
    code, _, err = launch.run(2, "leaves/adam")
    if code == 0 or time.monotonic() - begin > ENDS_WITHIN or not re.search(
            r"rank 0 reading mini-batch 2 and rank 1 at the end of its program", err):
        raise failure(f"a process that leaves the loop: code {code}\n{err}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--mpirun", required=True)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("what", choices=["bits", "hosts", "errors", "kills", "memory", "programs",
                                         "resume", "servers", "async"])
    options = parser.parse_args()
    launch_name = options.program
    try:
        what = {"async": async_}.get(options.what, globals().get(options.what))
        what(launcher(options.program, options.mpirun), options)
    except failure as e:
        sys.exit(f"{options.what}: {e}")
