#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds tests and runs them: what `test/run` does after it has installed packages.

usage: stages.py [--discard-objects] [--times] [WHAT...] [-- CTEST_OPTIONS...]

WHAT is described in test/run.
"""
import collections
import concurrent.futures
import datetime
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]
TEST, BUILD = ROOT / "test", ROOT / "build"
QUICK = ("default", "unit", "sanitize")
FULL = ("basic", "sanitize", "thread", "clang", "emulated")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.M)
ADD_TEST = re.compile(r'^add_test\((?:\[=*\[)?([^\s\]"]+)(?:\]=*\])? (.*)\)$', re.M)
PROPERTIES = re.compile(
    r'^set_tests_properties\((?:\[=*\[)?([^\s\]"]+)(?:\]=*\])? PROPERTIES (.*)\)$', re.M)
FIXTURES = re.compile(r'FIXTURES_(SETUP|REQUIRED) "([^"]*)"')

Tiers = collections.namedtuple("Tiers", "files tests parts")
Part = collections.namedtuple("Part", "name stage minutes tests reached")


def read_tiers(text):
    """The lines of tiers.txt: [(pattern, home)] of files and of tests, and the parts."""
    files, tests, parts = [], [], []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] in ("file", "test") and len(words) == 3:
            (files if words[0] == "file" else tests).append((words[1], words[2]))
        elif words[0] == "part" and len(words) == 6:
            parts.append(Part(words[1], words[2], float(words[3]), words[4], words[5]))
        else:
            sys.exit(f"tiers.txt:{number}: expected 'file PATTERN HOME', 'test PATTERN HOME' or "
                     f"'part NAME STAGE MINUTES TESTS REACHED', found '{line}'")
    return Tiers(files, tests, parts)


def tiers():
    return read_tiers((TEST / "tiers.txt").read_text())


# What a change reaches.


def changed_files(base):
    """The files that differ from a revision, new ones included, relative to the root."""
    def lines(*command):
        return subprocess.run(command, cwd=ROOT, check=True, text=True,
                              capture_output=True).stdout.splitlines()
    return sorted({*lines("git", "diff", "--name-only", base),
                   *lines("git", "ls-files", "--others", "--exclude-standard")})


def base_revision():
    """What continuous integration compares with: LAMINA_TEST_BASE, or else where the branch left
    the upstream branch, or else the last commit that is a day older than the newest."""
    def one(*command):
        run = subprocess.run(["git", *command], cwd=ROOT, text=True, capture_output=True)
        return run.stdout.strip() if run.returncode == 0 else ""
    if named := os.environ.get("LAMINA_TEST_BASE"):
        return named
    left, head = one("merge-base", "HEAD", "origin/HEAD"), one("rev-parse", "HEAD")
    if left and left != head:
        return left
    newest = int(one("log", "-1", "--format=%ct") or 0)
    return one("rev-list", "-1", f"--before={newest - 86400}", "HEAD") or \
        one("rev-list", "--max-parents=0", "HEAD").splitlines()[-1]


class Includes:
    """Which files of the tree a source file includes, at any depth."""

    def __init__(self):
        self.known = {}

    def of(self, path):
        if path not in self.known:
            self.known[path] = frozenset([path])  # ends a circle
            inner = [path]
            for name in INCLUDE.findall(path.read_text(errors="replace")):
                for folder in (path.parent, ROOT / "include", TEST, ROOT / "benchmarks"):
                    found = pathlib.Path(os.path.normpath(folder / name))
                    if found.is_file():
                        inner.append(found)
                        break
            self.known[path] = frozenset([path]).union(*(self.of(f) for f in inner if f != path))
        return self.known[path]


def unit_files():
    return sorted(p for p in TEST.rglob("*.cpp") if p.stem.endswith(("_test", "_static")))


def test_of(file):
    """The name of a unit test, without the prefix of its build."""
    path = file.relative_to(TEST).with_suffix("").as_posix()
    return re.sub(r"_test$", "", path).replace("/", ".")


def reached_units(changed):
    """The names of the unit tests that include a changed file, or are one."""
    files = {ROOT / name for name in changed}
    build = re.compile(r"CMake|cmake/|test/(CMakeLists|[^/]*\.(hpp|cmake|txt|cpp|py)$|laws/)")
    everywhere = any(build.match(name) for name in changed)
    includes = Includes()
    return {test_of(f) for f in unit_files() if everywhere or not files.isdisjoint(includes.of(f))}


def reached_parts(parts, changed):
    units = reached_units(changed)

    def is_reached(part):
        if part.reached == "-":
            prefix = "" if part.stage == "basic" else part.stage + "."
            return any(re.search(part.tests, prefix + name) for name in units)
        return any(re.search(part.reached, name) for name in changed)
    return [part for part in parts if is_reached(part)]


def slice_of(parts, minutes, day):
    """The parts of a day, in `minutes` at most: all of them if they fit, or else the slice whose
    turn it is."""
    slices = [[]]
    for part in parts:
        if slices[-1] and sum(p.minutes for p in slices[-1]) + part.minutes > minutes:
            slices.append([])
        slices[-1].append(part)
    return slices[day % len(slices)], len(slices)


# Builds.


def second_clang():
    """clang-19, or else the newest of those with a number."""
    found = {name for folder in os.get_exec_path() if os.path.isdir(folder)
             for name in os.listdir(folder) if re.fullmatch(r"clang\+\+-\d+", name)}
    if "clang++-19" in found or not found:
        return "clang++-19" if found else "clang++"
    return max(found, key=lambda name: int(name[8:]))


class Stage:
    """A build folder."""

    def __init__(self, name, quick):
        self.name, self.quick = name, quick
        self.folder = BUILD / ("quick" if quick else "") / name

    def configure(self):
        preset = {"default": "basic", "unit": "basic"}.get(self.name, self.name)
        options = []
        # A compiler can only be chosen once for a build folder; so is the rest, which a developer
        # may have set otherwise since.
        if not (self.folder / "CMakeCache.txt").is_file():
            options = ["-DLAMINA_TEST_BATCH=8", "-DLAMINA_TEST_PRECOMPILE=ON",
                       "-DCMAKE_CXX_FLAGS_CHECKED=-O0"]
            if self.quick:
                options += [f"-DLAMINA_TEST_HOME={self.name}", "-DLAMINA_TEST_OTHER_LOCALE="]
                options += ["-DLAMINA_BUILD_BENCHMARKS=OFF"]
                if self.name != "default":
                    options += ["-DLAMINA_BUILD_EXAMPLES=OFF"]
                if self.name == "sanitize":
                    options += ["-DLAMINA_FUZZ=OFF"]
                if self.name == "unit" and shutil.which("clang++"):
                    options += ["-DCMAKE_CXX_COMPILER=clang++"]
            if self.name == "sanitize":
                options += ["-DCMAKE_CXX_COMPILER=clang++"]
            if self.name == "thread":
                options += [f"-DCMAKE_CXX_COMPILER={second_clang()}"]
            # Given again, a preset would reset what the options above have set.
            options += ["--preset", preset]
        return subprocess.run(["cmake", "-S", ROOT, "-B", self.folder, *options,
                               "--log-level=NOTICE"], cwd=ROOT,
                              stdout=subprocess.DEVNULL).returncode == 0

    def build(self, targets=()):
        """Builds targets, or everything."""
        command = ["cmake", "--build", self.folder, "-j", str(jobs())]
        if targets:
            command += ["-t", *targets]
        return subprocess.run([*command, "--", "--quiet", "-k", "0"], cwd=ROOT).returncode == 0

    def tests(self):
        """{name: (command, fixtures that it sets up, fixtures that it requires)}."""
        found = {}
        for file in sorted(self.folder.rglob("CTestTestfile.cmake")):
            text = file.read_text()
            for name, command in ADD_TEST.findall(text):
                found[name] = (re.findall(r'"((?:[^"\\]|\\.)*)"', command), [], [])
            for name, properties in PROPERTIES.findall(text):
                if name in found:
                    for what, names in FIXTURES.findall(properties):
                        found[name][1 if what == "SETUP" else 2].extend(names.split(";"))
        return found

    def targets_of(self, names):
        """What has to be built for tests, those of their fixtures included."""
        tests = self.tests()
        needed = {f for n in names for f in tests[n][2]}
        names = {*names, *(n for n, t in tests.items() if needed.intersection(t[1]))}
        outputs = set(subprocess.run(["ninja", "-C", self.folder, "-t", "targets", "all"],
                                     check=True, text=True, capture_output=True).stdout
                      .replace(": ", "\n").split("\n"))
        wanted = set()
        for name in names:
            for word in tests[name][0]:
                for path in re.findall(re.escape(str(self.folder)) + r"/([^\s\";]+)", word):
                    if path in outputs:
                        wanted.add(path)
        return sorted(wanted)

    def discard_objects(self):
        for file in self.folder.rglob("*"):
            if "CMakeFiles" in file.parts and file.suffix in (".o", ".gch", ".pch"):
                file.unlink()


def jobs():
    return max(2, os.cpu_count() or 2)


def megabytes(folder):
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file() and
               not f.is_symlink()) >> 20


def run_ctest(stages, names, options, report):
    """Runs the tests of stages; `names` {stage: names} may choose them."""
    BUILD.mkdir(exist_ok=True)
    (BUILD / "CTestTestfile.cmake").write_text(
        "".join(f'subdirs("{s.folder.relative_to(BUILD).as_posix()}")\n' for s in stages))
    command = ["ctest", "--test-dir", str(BUILD), "--output-on-failure", "--no-label-summary",
               "--no-tests=error", "-j", str(jobs() + 1), "--output-junit", str(report)]
    if sys.stdout.isatty():
        command.append("--progress")
    if names is not None:
        wanted = set().union(*names.values())
        listed = subprocess.run(["ctest", "--test-dir", str(BUILD), "-N"], text=True,
                                capture_output=True, check=True).stdout
        numbers = [number for number, name in re.findall(r"Test +#(\d+): (\S+)", listed)
                   if name in wanted]
        chosen = BUILD / "chosen_tests.txt"
        chosen.write_text("0,0,0," + ",".join(numbers) + "\n")
        command += ["-I", str(chosen)]
    environment = dict(os.environ)
    environment.setdefault("ASAN_OPTIONS",
                           "detect_stack_use_after_return=1:strict_string_checks=1")
    environment.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    environment.setdefault("TSAN_OPTIONS", "halt_on_error=1")
    return subprocess.run([*command, *options], cwd=ROOT, env=environment).returncode


def print_times(stages, report):
    """What tests cost, the longest first: seconds of compilers by file, of tests by name."""
    compiled, ran = collections.Counter(), collections.Counter()
    for stage in stages:
        log = stage.folder / ".ninja_log"
        seen = {}
        for line in log.read_text().splitlines()[1:] if log.is_file() else []:
            begin, end, _, output, _ = line.split("\t")
            seen[output] = (int(end) - int(begin)) / 1000
        for output, seconds in seen.items():
            compiled[f"{stage.folder.relative_to(BUILD)}/{output}"] += seconds
    if report.is_file():
        for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
            ran[case.get("name")] += float(case.get("time") or 0)
    for title, costs in (("built", compiled), ("run", ran)):
        print(f"== {title}: {sum(costs.values()):.0f} s of two processors' time")
        for name, seconds in costs.most_common(60):
            if seconds >= 1:
                print(f"{seconds:8.1f}  {name}")


def print_skipped(report):
    """Why tests did not run. ctest prints the output of tests that fail alone."""
    if not report.is_file():
        return
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        if case.find("skipped") is None:
            continue
        lines = (case.findtext("system-out") or "").strip().splitlines()
        for line in [l for l in lines if re.search("skipped", l, re.I)] or lines[-1:]:
            print(f"== {case.get('name')}: {line}")


def run_stages(stages, names, given):
    """Builds stages, or what the chosen tests need, and runs the tests; returns an exit status."""
    failed = []
    # To configure takes one processor; the stages do it together.
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        configured = dict(zip(stages, pool.map(Stage.configure, stages)))
    for stage in stages:
        begin = time.monotonic()
        label = ("quick " if stage.quick else "") + stage.name
        print(f"== {label}", flush=True)
        good = configured[stage]
        if good and names is not None:
            names[stage] = [n for n in names[stage] if n in stage.tests()]
            targets = stage.targets_of(names[stage])
            good = not targets or stage.build(targets)
        elif good:
            good = stage.build(given.targets)
        seconds = time.monotonic() - begin
        if good:
            size = megabytes(stage.folder)
            if given.discard:
                stage.discard_objects()
            print(f"== {label} is built ({seconds:.0f} s, {size} MB)", flush=True)
        else:
            failed.append(label)
            print(f"== {label} did not build ({seconds:.0f} s)", flush=True)
    report = BUILD / "tests.xml"
    report.unlink(missing_ok=True)
    result = run_ctest(stages, names, given.ctest, report)
    print_skipped(report)
    if given.times:
        print_times(stages, report)
    if failed:
        print("== did not build: " + ", ".join(failed))
    return result or bool(failed)


def run_parts(parts, given):
    """Runs parts of the full matrix."""
    stages, names = {}, {}
    for part in parts:
        if part.stage not in stages:
            stage = stages[part.stage] = Stage(part.stage, quick=False)
            if not stage.configure():
                print(f"== {part.stage} cannot be configured")
                return 1
            names[stage] = []
        stage = stages[part.stage]
        names[stage] += [n for n in stage.tests() if re.search(part.tests, n)]
    return run_stages(list(stages.values()), names, given)


def run_changed(base, given):
    """Runs the tests of the quick tier that a change reaches."""
    changed = changed_files(base)
    units = reached_units(changed)
    stages, names = [], {}
    for name in QUICK:
        stage = Stage(name, quick=True)
        if not stage.configure():
            return 1
        chosen = [n for n in stage.tests()
                  if n.removeprefix("sanitize.") in units or re.match(r"(structure|docs)[.]", n)]
        if chosen:
            stages.append(stage)
            names[stage] = chosen
    print(f"== {len(changed)} files differ from {base}: {len(units)} unit tests include one")
    return run_stages(stages, names, given)


def run_reached(minutes, given):
    """Runs the parts of the matrix that a change reaches, as far as they fit in the time."""
    base = base_revision()
    all_parts = tiers().parts
    reached = reached_parts(all_parts, changed_files(base))
    day = int(os.environ.get("LAMINA_TEST_DAY") or datetime.date.today().toordinal())
    parts, slices = slice_of(reached, minutes, day)
    turn = f" (slice {day % slices + 1} of {slices})" if slices > 1 else ""
    print(f"== {len(reached)} of {len(all_parts)} parts of the matrix are reached since "
          f"{base[:12]}; today {', '.join(p.name for p in parts) or 'none'}{turn}", flush=True)
    return run_parts(parts, given) if parts else 0


class Given:
    """The command line."""

    def __init__(self, arguments):
        self.discard = self.times = False
        self.targets, self.ctest, self.what = [], [], []
        if "--" in arguments:
            at = arguments.index("--")
            arguments, self.ctest = arguments[:at], arguments[at + 1:]
        for argument in arguments:
            if argument == "--discard-objects":
                self.discard = True
            elif argument == "--times":
                self.times = True
            else:
                self.what.append(argument)


def main():
    given = Given(sys.argv[1:])
    for name in ("CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CMAKE_GENERATOR"):
        os.environ.pop(name, None)  # stages must not differ from machine to machine
    what = [word.removeprefix("--") for word in given.what]
    parts = {part.name: part for part in tiers().parts}
    if not what:
        return run_stages([Stage(name, quick=True) for name in QUICK], None, given)
    if what[0] == "changed":
        return run_changed(what[1] if len(what) > 1 else "HEAD", given)
    if what[0] == "reached":
        return run_reached(float(what[1]) if len(what) > 1 else 18, given)
    if what == ["all"]:
        return run_stages([Stage(name, quick=False) for name in FULL], None, given)
    if what == ["distributed"]:
        given.targets = ["test_distributed", "test/distributed/all", "test_launch",
                         "test/launch/all"]
        given.ctest = ["-R", "^(distributed|launch)[.]", *given.ctest]
        return run_stages([Stage("basic", quick=False)], None, given)
    if all(word in FULL for word in what):
        return run_stages([Stage(name, quick=False) for name in FULL if name in what], None, given)
    if all(word in parts for word in what):
        return run_parts([parts[word] for word in what], given)
    sys.exit(f"test/run: expected all, changed, reached, stages ({', '.join(FULL)}, distributed) "
             f"or parts ({', '.join(parts)}), found '{' '.join(given.what)}'")


if __name__ == "__main__":
    sys.exit(main())
