#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example online_kafka, killed again and again.

A broker lives through all runs. One run is left alone. Others are killed with SIGKILL 50 times, at
any time, and go on from their file. In the end parameters, moments, steps and offsets must be the
same, bit for bit: no message is lost and none is learnt twice.

usage: online_kafka.py TRAINER KAFKA_TRIPS [--kills=N] [--seed=N]
"""
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

PARTITIONS, BATCH, STEPS = 3, 16, 600
MESSAGES = BATCH * STEPS


class failure(Exception):
    pass


def require(holds, *what):
    if not holds:
        raise failure(" ".join(map(str, what)))


class trainer:
    def __init__(self, program, address, folder, file, *flags):
        self.flags = [program, f"--brokers={address}", "--topic=trips", f"--file={file}",
                      f"--batch={BATCH}", f"--steps={STEPS}", *flags]
        self.folder = folder

    def start(self):
        return subprocess.Popen(self.flags, cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def finish(self):
        done = subprocess.run(self.flags, cwd=self.folder, text=True, capture_output=True,
                              timeout=120)
        require(done.returncode == 0, done.stdout[-500:], done.stderr)
        return done.stdout.splitlines()[-1]


def offsets_in(path):
    """Turn and next offsets in a trainer's file: model/parameters/tensor_file.hpp has the
    format."""
    data = path.read_bytes()
    require(data[:8] == b"LAMINA\0\2", path, "is no file of lamina")
    header, entries = struct.unpack_from("<QQ", data, 8)
    at, place = 24, header
    for _ in range(entries):
        length, = struct.unpack_from("<Q", data, at)
        name = data[at + 8:at + 8 + length].decode()
        at += 8 + (length + 7) // 8 * 8
        kind, rank = struct.unpack_from("<QQ", data, at)
        dims = struct.unpack_from(f"<{rank}Q", data, at + 16)
        at += 16 + 8 * rank
        size = {3: 8, 5: 4, 6: 8, 20: 1}[kind]
        for d in dims:
            size *= d
        if name == "@kept@":
            return struct.unpack_from(f"<{dims[0]}d", data, place)
        place += (size + 63) // 64 * 64
    raise failure(f"{path}: no kept numbers")


def check_kills(programs, address, folder, kills, seed):
    draw = random.Random(seed)
    alone = trainer(programs[0], address, folder, "alone.trainer", "--every=100")
    last = alone.finish()
    said = re.fullmatch(r"(\d+) mini-batches, cost .*, (\d+) messages refused", last)
    require(said and [int(n) for n in said.groups()] == [STEPS, MESSAGES // 50],
            "expected", STEPS, "mini-batches and", MESSAGES // 50, "refused messages, found", last)
    expected = (folder / "alone.trainer").read_bytes()
    found = offsets_in(folder / "alone.trainer")
    require(found[1:1 + PARTITIONS] == (MESSAGES / PARTITIONS,) * PARTITIONS, found[:5])

    file = folder / "killed.trainer"
    killed, whole, resumed = 0, 0, 0
    while killed < kills:
        run = trainer(programs[0], address, folder, file.name,
                      f"--every={draw.choice([1, 2, 3])}").start()
        # Most are killed while they train, some before they begin.
        if draw.random() < 0.8:
            line = run.stdout.readline()
            require(line.startswith("goes on behind mini-batch "), line)
            resumed += int(line.split()[-1]) > 0
            time.sleep(draw.random() * 0.08)
        else:
            time.sleep(draw.random() * 0.03)
        run.send_signal(signal.SIGKILL)
        _, said = run.communicate(timeout=60)
        if run.returncode == -signal.SIGKILL:
            killed += 1
        else:  # it was ready before
            require(run.returncode == 0, "a run ended with", run.returncode, said)
            require(file.read_bytes() == expected, "the file of a killed run differs")
            whole += 1
            file.unlink()
    trainer(programs[0], address, folder, file.name, "--every=50").finish()
    require(file.read_bytes() == expected, "the file of a killed run differs:",
            offsets_in(file)[:5])
    require(resumed > kills // 4, "expected runs that go on, found", resumed, "of", killed)
    left = [p.name for p in folder.iterdir() if p.name.endswith(".writing")]
    print(f"{killed} runs killed, {resumed} went on, {whole + 1} ended with the same file; "
          f"{len(left)} unfinished files")


def check_any_order(programs, address, folder, seed):
    """In any order each message counts once too."""
    draw = random.Random(seed + 1)
    file = folder / "any.trainer"
    run = trainer(programs[0], address, folder, file.name, "--any-order", "--every=1")
    for _ in range(5):
        process = run.start()
        process.stdout.readline()
        time.sleep(draw.random() * 0.1)
        process.kill()
        process.communicate()
    require(run.finish().startswith(f"{STEPS} mini-batches"), "expected all mini-batches")
    found = offsets_in(file)[1:1 + PARTITIONS]
    require(sum(found) == MESSAGES, "expected", MESSAGES, "messages, found", found)


def check_stop(programs, address, folder):
    """SIGTERM ends a run with a file; the next one goes on, or waits for messages."""
    file = folder / "stopped.trainer"
    run = trainer(programs[0], address, folder, file.name, "--every=1000000")
    run.flags = [f for f in run.flags if not f.startswith("--steps")]
    process = run.start()
    process.stdout.readline()
    time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    out, said = process.communicate(timeout=60)
    require(process.returncode == 0 and file.exists(), process.returncode, said)
    steps = int(re.findall(r"(\d+) mini-batches", out)[-1])
    found = offsets_in(file)[1:1 + PARTITIONS]
    require(sum(max(n, 0) for n in found) == BATCH * steps, "expected whole mini-batches", steps,
            found)


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    given = dict(a[2:].split("=") for a in sys.argv[1:] if a.startswith("--"))
    if len(arguments) != 2:
        print(__doc__)
        return 2
    seed = int(given.get("seed", time.time_ns() % 10**6))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        broker = subprocess.Popen([arguments[1], "trips", str(PARTITIONS), str(MESSAGES)],
                                  text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        try:
            address = broker.stdout.readline().strip()
            require(re.fullmatch(r"[0-9.]+:\d+", address), "expected an address, found", address)
            check_stop(arguments, address, folder)
            check_kills(arguments, address, folder, int(given.get("kills", 50)), seed)
            check_any_order(arguments, address, folder, seed)
        except failure as e:
            print(f"online_kafka.py --seed={seed}: {e}", file=sys.stderr)
            return 1
        finally:
            broker.stdin.close()
            broker.wait(60)
            broker.stdout.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
