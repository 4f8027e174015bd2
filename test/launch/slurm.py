#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program submits itself to a real Slurm of this machine alone: munged, slurmctld and slurmd with
files in a folder of its own. Its words and variables arrive as they were given, also under
SBATCH_EXPORT=NONE and from within an allocation; the job ends with the exit code of the process
that knows why, and starts again unless that is 64 or 65; a program that is started by hand in a
shell of srun is no process of a job. Exits with 77 without Slurm or root.

usage: slurm.py PROGRAM [SESSIONS...]      SESSIONS: builds of test/distributed/use_sessions.cpp
"""
import os
import pathlib
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from launching import (CLEAN, NASTY, expect, expect_shown, failure, generator_of_words, must_run,
                       nasty_words, run)

TOOLS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "script")
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class cluster:
    """One node that is this machine."""

    def __init__(self, folder):
        self.folder, self.daemons = folder, []
        for name in ("state", "spool", "munge", "out"):
            (folder / name).mkdir(mode=0o700 if name == "munge" else 0o755)
        key = folder / "munge" / "key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        host = socket.gethostname().split(".")[0]
        conf = folder / "slurm.conf"
        conf.write_text(f"""ClusterName=test
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
SlurmUser=root
SlurmdUser=root
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
ReturnToService=2
KillWait=5
LaunchParameters=use_interactive_step
NodeName={host} NodeAddr=127.0.0.1 CPUs=64 RealMemory=100000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
""")
        self.env = {**CLEAN, **ROOT, "SLURM_CONF": str(conf)}
        self.start("munged", "--foreground", f"--key-file={key}", "--force",
                   f"--socket={folder}/munge/socket", f"--pid-file={folder}/munge/pid",
                   f"--log-file={folder}/munge/log", f"--seed-file={folder}/munge/seed")
        self.start("slurmctld", "-D", "-c")
        self.start("slurmd", "-D")

    def start(self, *command):
        log = open(self.folder / f"{command[0]}.log", "w")
        self.daemons.append(subprocess.Popen(command, env=self.env if self.daemons else CLEAN,
                                             stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                             start_new_session=True))

    def wait(self, is_so, what, seconds=60):
        end = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > end:
                logs = "".join(path.read_text(errors="replace")[-1500:]
                               for path in self.folder.glob("*.log"))
                raise failure(f"{what}: not within {seconds} s\n{logs}")
            time.sleep(0.2)

    def run(self, *command, **options):
        return run(command, **{"env": self.env, "errors": "surrogateescape", "timeout": 60,
                               "cwd": self.folder / "out", **options})

    def field(self, job, name):
        said = self.run("scontrol", "show", "job", job).stdout
        return next((word.split("=", 1)[1] for word in said.split() if word.startswith(name + "=")),
                    "")

    def ended(self, job):
        """The state and exit code of a job that Slurm was given."""
        self.wait(lambda: self.field(job, "JobState") in ("COMPLETED", "FAILED", "CANCELLED",
                                                          "TIMEOUT", "NODE_FAIL"), f"job {job}")
        return self.field(job, "JobState"), self.field(job, "ExitCode").split(":")[0]

    def by_hand(self, line, *how):
        """What a shell within a terminal of Slurm prints."""
        shell = shlex.join([*how, "sh", "-c", f"{line}; true"])
        return self.run("script", "-qec", shell, "/dev/null", stdin=subprocess.DEVNULL).stdout

    def stop(self):
        subprocess.run(["scancel", "-u", "root"], env=self.env, capture_output=True)
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def submitted(done):
    expect(done.returncode == 0 and "Submitted batch job" in done.stdout, f"{done}")
    return done.stdout.split()[-1]


def check(program, sessions, here):
    generator = generator_of_words()
    slurm = cluster(here)
    try:
        slurm.wait(lambda: "idle" in slurm.run("sinfo", "-h", "-o", "%T").stdout, "a node")
        words(slurm, program, generator)
        exit_codes(slurm, program, sessions)
        shells(slurm, program, sessions)
    finally:
        slurm.stop()


FEW = ("--launch", "slurm", "--memory", "64Mi", "--cpus", "1")


def words(slurm, program, generator):
    shown = slurm.folder / "shown"
    shown.mkdir()
    environments = [{}, {"SBATCH_EXPORT": "NONE"}, {"SLURM_EXPORT_ENV": "NONE"}, {}]
    for n, more in enumerate(environments):
        own = [f"show={shown}", *(NASTY if n == 0 else nasty_words(generator, 8))]
        submit = [program, *FEW, "-n", "2", "--parameter-servers", "1", "--", *own]
        if n == 3:  # from within an allocation, whose variables contradict those of the job
            submit = ["salloc", "-Q", "--mem=100", "--ntasks-per-node=1", "-n", "1", *submit]
        job = submitted(slurm.run(*submit, env={**slurm.env, **more}))
        state, code = slurm.ended(job)
        out = slurm.folder / "out" / f"slurm-{job}.out"
        expect(state == "COMPLETED", f"{more}: {state} {code} {out.read_text(errors='replace')}")
        expect_shown(shown, 3, own,
                     {"LAMINA_ROLE": "trainer", "LAMINA_PARAMETER_SERVERS": "1"},
                     f"slurm, {more}")


def exit_codes(slurm, program, sessions):
    # A process that ends while Slurm lets the others go on would wait for them.
    for code, starts in (("65", 1), ("64", 1), ("3", 2)):
        job = submitted(slurm.run(program, *FEW, "-n", "3", "--retries", "1", "--",
                                  f"code={code}", "sleep=30"))
        if starts == 2:
            # Slurm waits before it starts a job again.
            slurm.wait(lambda: slurm.field(job, "Restarts") == "1", f"code {code}: another start")
            slurm.run("scancel", job)
            slurm.ended(job)
            continue
        state, found = slurm.ended(job)
        expect((state, found, slurm.field(job, "Restarts")) == ("FAILED", code, "0"),
               f"code {code}: {state} {found} {slurm.field(job, 'Restarts')}")
    plugins = slurm.run("srun", "--mpi=list").stderr + slurm.run("srun", "--mpi=list").stdout
    for name in sessions:
        mpi = "pmix" if "openmpi" in name else "pmi2"
        if mpi not in plugins:
            print(f"test/launch: left out: Slurm without {mpi}")
            continue
        for rank in range(3):
            done = slurm.run("srun", f"--mpi={mpi}", "-n", "3", "--kill-on-bad-exit=1", name,
                             "exit_code", str(rank), "65")
            expect(done.returncode == 65, f"srun --mpi={mpi}: rank {rank} knows: {done}")


def shells(slurm, program, sessions):
    """Programs that a user starts in a shell that srun or salloc has started."""
    for how in (("srun", "--pty", "-n", "1"), ("srun", "--pty", "-n", "2"), ("salloc", "-n", "2")):
        first = "[ ${SLURM_PROCID:-0} = 0 ] && "
        said = slurm.by_hand(first + shlex.join([program, "--dry-run", "-n", "2", "a"]), *how)
        expect(" mpirun -n 2 " in said and "[a]" not in said, f"{how}: {said}")
        said = slurm.by_hand(first + shlex.join([program, "--launch", "local", "-n", "2", "a"]),
                             *how)
        expect("rank 0 [a]" in said and "rank 1 [a]" in said, f"{how}: {said}")
        for name in sessions:
            again = f"{shlex.quote(name)} at_end && echo well"
            said = slurm.by_hand(f"{first}{{ {again}; {again}; }}", *how)
            expect(said.count("well") == 2, f"{how}: {name}: {said}")
    # What srun itself starts is one of its tasks, also within such a shell.
    inner = shlex.join([program, "a"])
    for line, how in ((inner + " | cat", ("srun", "-n", "2")),
                      (f"srun -n 2 {inner}", ("salloc", "-n", "2")),
                      (f"srun -n 2 sh -c {shlex.quote(inner + '; true')}", ("salloc", "-n", "2")),
                      (f"[ $SLURM_PROCID = 0 ] && srun --overlap -n 2 {inner}",
                       ("srun", "--pty", "-n", "2"))):
        said = slurm.by_hand(line, *how)
        expect(said.count("[a]") == 2, f"{how}: {line}: {said}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    lacking = [tool for tool in TOOLS if not shutil.which(tool)]
    if lacking or os.geteuid() != 0:
        print("test/launch: skipped: found no " + (", ".join(lacking) or "root")
              + " (slurm-wlm, bsdutils)")
        sys.exit(77)
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # a short path: it has sockets
        try:
            check(os.path.abspath(sys.argv[1]), [os.path.abspath(s) for s in sys.argv[2:]],
                  pathlib.Path(name).resolve())
        except failure as e:
            sys.exit(f"slurm: {e}")
