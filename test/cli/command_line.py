#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line of PaddlePaddle v2, as users, scripts and readers of logs meet it.

Runs the example paddle_train with many flags: a script that calls `paddle`; a training that is
killed and goes on; tests, times and gradients; damaged and foreign files; mistakes in flags. Logs
are read as PaddlePaddle's plotcurve.py reads them.

usage: command_line.py PROGRAM
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SCRIPT = r"""set -e
paddle train --config=configs/digits.linear.py --num_passes=12 --save_dir=passes \
  --trainer_count=4 --use_gpu=0 --show_parameter_stats_period=80 --log_period=80 \
  --test_all_data_in_one_period=true 2>&1 |
  tee linear.log
"""
NUMBER = r"([0-9e\-\.]*)"
HEAD = re.compile(r"I[01]\d[0-3]\d [0-2]\d:\d\d:\d\d\.\d{6} +\d+ [a-z_]+\.hpp:\d+\] (.*)")
LINEAR, HIDDEN = "--config=digits.linear", "--config=digits.hidden"


class failure(Exception):
    pass


def require(holds, text):
    if not holds:
        raise failure(text)


class runner:
    """Runs the program in a folder."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def start(self, *flags, log):
        return subprocess.Popen([self.program, *flags], cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=(self.folder / log).open("w"))

    def __call__(self, *flags, code=0):
        """What a run logs; it must end with this code, and print nothing but its log."""
        done = subprocess.run([self.program, *flags], cwd=self.folder, text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        require(done.returncode == code,
                f"{flags}: expected code {code}, found {done.returncode}\n{done.stderr[-2000:]}")
        require(done.stdout == "", f"{flags}: expected nothing on standard output, found"
                f" {done.stdout}")
        return done.stderr

    def mistake(self, *flags, text, code=1):
        """A run that fails with one line, after at most the line of its command."""
        lines = [line for line in self(*flags, code=code).splitlines() if not HEAD.match(line)]
        require(len(lines) == 1 and lines[0].startswith("lamina: "),
                f"{flags}: expected one line of an error, found {lines}")
        require(text in lines[0], f"{flags}: expected '{text}' in '{lines[0]}'")

    def bytes(self, path):
        return (self.folder / path).read_bytes()


def messages(log):
    """The lines of a log without their heads; dots are lines too."""
    for line in log.splitlines():
        match = HEAD.match(line)
        require(match or set(line) == {"."}, f"expected the head of glog or dots, found '{line}'")
        yield match[1] if match else line


def curve(log, pattern):
    return [[float(x) for x in m.groups()] for m in map(re.compile(pattern).search,
                                                        log.splitlines()) if m]


def check_script(run):
    """A script in which `paddle` is the program."""
    paths = run.folder / "bin"
    paths.mkdir()
    (paths / "paddle").symlink_to(run.program)
    (run.folder / "train.sh").write_text(SCRIPT)
    done = subprocess.run(["sh", "train.sh"], cwd=run.folder, text=True, timeout=60,
                          env={**os.environ, "PATH": f"{paths}:{os.environ['PATH']}"},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    require(done.returncode == 0 and done.stderr == "", f"train.sh: {done.stderr}")
    log = (run.folder / "linear.log").read_text()
    require(log == done.stdout, "tee has another log")
    all_lines = list(messages(log))
    require(all_lines[0].startswith("commandline: paddle train --config=configs/digits.linear.py "),
            f"expected the command line first, found '{all_lines[0]}'")
    kinds = "".join("P" if line.startswith(" Pass=") else "B" if line.startswith(" Batch=80 ")
                    else "T" if line.startswith(" Test ") else "s" if " avg_abs_grad=" in line
                    else f"<{len(line)}>" for line in all_lines[1:])
    require(kinds == "<79>ssB<40>PT" * 12, f"expected 12 times dots, two parameters, a log line,"
            f" dots, a pass, a test; found {kinds}")
    passes = curve(log, rf"Pass=([0-9]*).*?AvgCost={NUMBER}.*?accuracy={NUMBER}")
    tests = curve(log, rf"Test samples=([0-9]*).*?cost={NUMBER}.*?accuracy={NUMBER}")
    require([p[0] for p in passes] == list(range(12)), f"passes {passes}")
    require(passes[0][1] > 3 * passes[11][1] and passes[11][2] > 0.9, f"did not learn: {passes}")
    require(all(t[0] == 360 for t in tests) and tests[11][2] > 0.9, f"did not learn: {tests}")
    batch = [line for line in all_lines if line.startswith(" Batch=")][3]
    require(re.fullmatch(r" Batch=80 samples=960 AvgCost=[\d.e-]+ CurrentCost=[\d.e-]+ Eval: "
                         r"accuracy=[\d.e-]+  CurrentEval: accuracy=[\d.e-]+ ", batch),
            f"found '{batch}'")
    for name in ("fc_0.w_0", "fc_0.b_0"):
        require(any(re.fullmatch(rf"{name} +avg_abs_val=[\d.e-]+ +max_val=[\d.e-]+ +avg_abs_grad="
                                 rf"[\d.e-]+ +max_grad=[\d.e-]+ *", line) for line in all_lines),
                f"no statistics of {name}")
    for number in range(12):
        names = sorted(p.name for p in (run.folder / f"passes/pass-{number:05d}").iterdir())
        require(names == ["done", "model", "path.txt", "trainer"], f"pass {number}: {names}")
    return log


def check_tests(run, log):
    """--job=test says of each saved pass what the training said of it; --config comes from a
    folder."""
    said = [m[1] for m in re.finditer(r" Test samples=360 cost=(.*)", log)]
    found = run(LINEAR, "--job=test", "--save_dir=passes", "--test_pass=3", "--num_passes=12")
    lines = list(messages(found))[1:]
    require(lines == [f" Pass={i} samples=360 AvgCost={said[i]}" for i in range(3, 12)],
            f"expected {said[3:]}, found {lines}")
    found = run("--job=test", "--init_model_path=passes/pass-00007")
    require(list(messages(found))[-1] == f" Pass=0 samples=360 AvgCost={said[7]}", found)
    found = run("--job=test", LINEAR, "--init_model_path=passes/pass-00007/model")
    require(list(messages(found))[-1] == f" Pass=0 samples=360 AvgCost={said[7]}", found)
    run.mistake(LINEAR, "--job=test", "--save_dir=passes", "--test_pass=11", "--num_passes=13",
                text="expected the folder of a whole pass, passes/pass-00012, found none")


def check_spellings(run):
    """Other spellings of the same flags train the same model."""
    run("-config", "other/place/digits.linear.py", "-save_dir", "other", "-trainer_count",
        "4", "--num_passes", "3", "--nouse_gpu", "--dot_period=0", "--log_period=1000")
    for name in ("model", "trainer"):
        require(run.bytes(f"other/pass-00002/{name}") == run.bytes(f"passes/pass-00002/{name}"),
                f"pass 2: another {name}")
    run(LINEAR, "--save_dir=other", "--trainer_count=1", "--num_passes=1", "--seed=2")
    require(run.bytes("other/pass-00000/model") != run.bytes("passes/pass-00000/model"),
            "another seed, the same model")


def check_killed(run):
    """A training that is killed goes on from its last whole pass, and ends as one that was not."""
    flags = [HIDDEN, "--config_args=batch_size=20,learning_rate=4e-3", "--trainer_count=2",
             "--seed=9"]
    run(*flags, "--save_dir=whole", "--num_passes=6")
    killed = run.start(*flags, "--save_dir=killed", "--num_passes=100000", log="killed.log")
    until = time.monotonic() + 30
    while not (run.folder / "killed/pass-00002/done").exists() and time.monotonic() < until:
        time.sleep(0.001)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    log = (run.folder / "killed.log").read_text()
    require(log.count(" Pass=2 ") == 1, "the log lacks the pass that was saved")
    last = max(int(p.parent.name[5:]) for p in (run.folder / "killed").glob("*/done"))
    require(2 <= last, f"expected three passes, found {last}")
    for pass_folder in (run.folder / "killed").iterdir():  # as if it had been killed in pass 3
        if int(pass_folder.name[5:]) > 3:
            shutil.rmtree(pass_folder)
    if (run.folder / "killed/pass-00003").exists():
        (run.folder / "killed/pass-00003/done").unlink(missing_ok=True)
        (run.folder / "killed/pass-00003/model").write_bytes(b"half of it")
    run.mistake(*flags, "--save_dir=killed", "--start_pass=4",
                text="--start_pass=4: expected the folder of a whole pass, killed/pass-00003")
    log = run(*flags, "--save_dir=killed", "--start_pass=3", "--num_passes=3", "--log_period=20")
    require([int(p) for p in re.findall(r" Pass=(\d+) ", log)] == [3, 4, 5], log)
    for name in ("model", "trainer"):
        require(run.bytes(f"killed/pass-00005/{name}") == run.bytes(f"whole/pass-00005/{name}"),
                f"the training that went on has another {name}")
    run.mistake(*flags, "--save_dir=killed", "--start_pass=3", "--seed=10",
                text="expected a checkpoint with seed 10, found 9")
    run.mistake(LINEAR, "--save_dir=killed", "--start_pass=3", "--seed=9", text="fc_0.w_0")


def check_models(run):
    """Models to begin with: they count, and damaged or foreign ones are refused."""
    log = run(LINEAR, "--init_model_path=passes/pass-00011", "--start_pass=7", "--num_passes=1",
              "--log_period=1", "--save_dir=begun", "--config_args=learning_rate=1e-9")
    first = curve(log, rf"Batch=([0-9]*) .*?AvgCost={NUMBER}")[0]
    require(first[1] < 1, f"expected the cost of a trained model, found {first}")
    require((run.folder / "begun/pass-00007/done").exists(), "no folder of pass 7")
    damaged = run.folder / "damaged"
    damaged.mkdir()
    good = run.bytes("passes/pass-00011/model")
    for at, text in ((len(good) // 2, "the checksum does not match"), (0, "expected a lamina file"),
                     (20, "checksum does not match")):
        (damaged / "model").write_bytes(good[:at] + bytes([good[at] ^ 64]) + good[at + 1:])
        run.mistake(LINEAR, "--init_model_path=damaged", text=text)
    (damaged / "model").write_bytes(good[:-30])
    run.mistake(LINEAR, "--init_model_path=damaged", text="damaged/model")
    (damaged / "model").write_bytes(b"")
    run.mistake(LINEAR, "--init_model_path=damaged", text="found 0")
    run.mistake(LINEAR, "--init_model_path=nothing", text="nothing: cannot be opened")
    run.mistake(HIDDEN, "--init_model_path=passes/pass-00011",
                text="passes/pass-00011/model: fc_0.w_0: expected float32 [64, 64], found float32"
                     " [64, 10]")
    trainer = run.folder / "passes/pass-00010/trainer"
    trainer.write_bytes(trainer.read_bytes()[:-1])
    run.mistake(LINEAR, "--save_dir=passes", "--start_pass=11", "--trainer_count=4",
                text="passes/pass-00010/trainer")
    (run.folder / "file").write_text("")
    run.mistake(LINEAR, "--save_dir=file/below", text="file/below: cannot be made a directory")


def check_saving(run):
    run(LINEAR, "--save_dir=some", "--num_passes=6", "--saving_period=2")
    require(sorted(p.name for p in (run.folder / "some").iterdir()) ==
            ["pass-00000", "pass-00002", "pass-00004", "pass-00005"], "saving_period")
    run(LINEAR, "--save_dir=one", "--num_passes=3", "--save_only_one")
    require([p.name for p in (run.folder / "one").iterdir()] == ["pass-00002"], "save_only_one")
    before = sorted(run.folder.rglob("*"))
    run(LINEAR, "--num_passes=1")
    require(sorted(run.folder.rglob("*")) == before, "a run without --save_dir wrote something")


def check_other_jobs(run):
    log = list(messages(run(HIDDEN, "--job=time", "--test_period=12", "--log_period=5")))
    require([line for line in log if line[0] != "."][1:2] == ["Burning time..."] and
            re.match(r"Stat=FwdBwd {25}TID=\d+ +total=[\d.e-]+ +avg=[\d.e-]+ +max=[\d.e-]+ +min="
                     r"[\d.e-]+ +count=12 ", log[-1]), f"found {log}")
    log = list(messages(run(HIDDEN, "--job=checkgrad")))
    found = [re.match(r"([\w.]+?)[ .]+step=.* ?diff=([\d.e+-]+)$", line) for line in log[2:]]
    require(log[1].startswith("original cost=2.") and all(found) and
            [m[1] for m in found] == ["fc_0.w_0", "fc_0.b_0", "fc_1.w_0", "fc_1.b_0"] and
            max(abs(float(m[2])) for m in found) < 1e-4, f"found {log}")
    trained = run(HIDDEN, "--job=checkgrad", "--start_pass=6", "--save_dir=whole")
    require(re.search(r"original cost=0\.\d", trained), f"the model was not loaded: {trained}")
    run.mistake(HIDDEN, "--job=checkgrad", "--start_pass=9", "--save_dir=whole",
                text="expected the folder of a whole pass, whole/pass-00008, found none")
    log = run(HIDDEN, "--job=checkgrad", "--checkgrad_eps=1e-7", "--config_args=batch_size=100")
    require(log.count("diff=") == 4, log)
    log = list(messages(run(LINEAR, "--num_passes=1", "--test_period=40", "--dot_period=0")))
    require([line[:7] for line in log[1:]] ==
            [" Test s", " Test s", " Batch=", " Test s", " Pass=0", " Test s"], f"found {log}")
    require(run(LINEAR, "--num_passes=0", "--seed=0").count("seed=") == 2, "no seed in the log")


def check_mistakes(run):
    for flags, text in (
            (["--save_dri=x"], "unknown flag --save_dri; the nearest is --save_dir"),
            (["--num_pass=3"], "the nearest is --num_passes"),
            (["--pservers=127.0.0.1"], "--pservers: this flag of PaddlePaddle v2 is not one of"),
            (["--num_passes=many"], "expected a whole number from 0 to 2147483647, found 'many'"),
            (["--use_gpu=perhaps"], "expected true or false, found 'perhaps'"),
            (["--job=test_all"], "expected train, test, time or checkgrad, found 'test_all'"),
            (["pserver"], "expected the command train, version or usage, found 'pserver'"),
            ([LINEAR, "more"], "expected flags alone, found 'more'"),
            ([], "expected --config with one of digits.linear, digits.hidden, found none"),
            (["--config=digits.liner.py"],
             "expected one of digits.linear, digits.hidden, found 'digits.liner.py'; the nearest is"
             " digits.linear")):
        run.mistake(*flags, text=text, code=2)
    for flags, text in (
            (["--use_gpu"], "include <lamina/lamina.cuh> first"),
            (["--trainer_count=257"], "expected 1 to 256 threads, found 257"),
            (["--start_pass=1"], "expected --save_dir with the folder of the pass before"),
            (["--job=test"], "expected --init_model_path, or --test_pass and --save_dir"),
            (["--config_args=batchsize=3"], "reads no 'batchsize'; the nearest is 'batch_size'"),
            (["--config_args=batch_size=-3"], "-3"),
            (["--config_args=learning_rate=nan"], "learning_rate")):
        run.mistake(LINEAR, *flags, text=text)
    for flag, text in (("--help", "Programs: digits.linear, digits.hidden"),
                       ("--version", "lamina 0."), ("usage", "--show_parameter_stats_period")):
        done = subprocess.run([run.program, flag], text=True, capture_output=True, timeout=60)
        require(done.returncode == 0 and done.stderr == "" and text in done.stdout,
                f"{flag}: {done}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as name:
        run = runner(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(name))
        try:
            log = check_script(run)
            check_tests(run, log)
            check_spellings(run)
            check_killed(run)
            check_models(run)
            check_saving(run)
            check_other_jobs(run)
            check_mistakes(run)
        except failure as e:
            sys.exit(str(e))
    print("the command line does what it says")


if __name__ == "__main__":
    main()
