# SPDX-License-Identifier: Apache-2.0
"""Conan 2 in a virtual environment and with a home of its own, which knows no remote."""
import fcntl
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from command import run  # noqa: E402

SKIPPED = 77
PACKAGE = "conan>=2,<3"
# The libraries of the system, as packages: where their headers may be, and how these say the
# version.
LIBRARIES = {
    "xtl": {"headers": ["xtl/xtl_config.hpp"], "version": "XTL_VERSION_{}"},
    "xsimd": {"headers": ["xsimd/xsimd.hpp"], "version": "XSIMD_VERSION_{}"},
    "xtensor": {"headers": ["xtensor/core/xtensor_config.hpp", "xtensor/xtensor_config.hpp"],
                "version": "XTENSOR_VERSION_{}", "requires": ["xtl"]},
    "zlib": {"headers": ["zlib.h"], "version": "ZLIB_VERSION", "library": "z"},
    "cli11": {"headers": ["CLI/CLI.hpp"], "version": "CLI11_VERSION"},
}
RECIPE = '''from conan import ConanFile
from conan.tools.files import copy


class Library(ConanFile):
    name = "{name}"
    version = "{version}"
    exports_sources = "include/*", "lib/*"

    def requirements(self):
        for reference in {requires}:
            self.requires(reference, transitive_headers=True)

    def package_id(self):
        self.info.clear()

    def package(self):
        copy(self, "*", self.source_folder, self.package_folder)

    def package_info(self):
        self.cpp_info.libs = {libraries}
'''


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(SKIPPED)


def answers(program):
    """Whether a program runs; that of an environment whose Python is gone does not."""
    return program.exists() and subprocess.run([str(program), "--version"],
                                               stdout=subprocess.DEVNULL,
                                               stderr=subprocess.DEVNULL).returncode == 0


def install(folder, packages=(PACKAGE,), name="conan"):
    """The program `name` in the virtual environment of a folder, which is made where there is none
    with these packages. Ends the test as skipped where pip cannot provide them."""
    folder.mkdir(parents=True, exist_ok=True)
    program, wanted = folder / "venv/bin" / name, " ".join(packages)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several tests share the environment
        made = folder / "installed"
        if made.exists() and made.read_text() == wanted and answers(program):
            return program
        made.unlink(missing_ok=True)
        for command in ([sys.executable, "-m", "venv", "--clear", folder / "venv"],
                        [folder / "venv/bin/python", "-m", "pip", "install", "--quiet",
                         "--disable-pip-version-check", "--retries=1", *packages]):
            try:
                result = subprocess.run([str(c) for c in command], text=True, timeout=300,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                said = result.stdout if result.returncode else ""
            except (OSError, subprocess.TimeoutExpired) as why:
                said = str(why)
            if said:
                skip(f"pip provides no {wanted} here:\n{said[-2000:]}")
        made.write_text(wanted)
    return program


class conan:
    """Conan's commands, in a home below a folder. The packages that lamina requires are made of
    the headers and libraries that the compiler finds."""

    def __init__(self, program, folder, compiler):
        self.program, self.home, self.compiler = program, folder / "home", compiler
        self.home.mkdir(parents=True)
        self.env = {name: value for name, value in os.environ.items()
                    if not name.startswith("CONAN_")}
        self.env.update(CONAN_HOME=str(self.home), CXX=str(compiler), PYTHONDONTWRITEBYTECODE="1")
        self.env.pop("CC", None)
        (self.home / "remotes.json").write_text('{"remotes": []}')
        settings = ["core:non_interactive=True", "tools.build:jobs=1"]
        if shutil.which("ninja"):
            settings.append("tools.cmake.cmaketoolchain:generator=Ninja")
        (self.home / "global.conf").write_text("\n".join(settings) + "\n")
        self("profile", "detect")
        self.libraries = {}
        for name in LIBRARIES:
            if made := self.write_library(name, folder / "libraries" / name):
                self("export", made)

    def __call__(self, *arguments, **options):
        return run(self.program, *arguments, env=self.env, **options)

    def json(self, *arguments, **options):
        """What a command answers in JSON, None where it fails, and the end of its messages."""
        result = subprocess.run([str(a) for a in (self.program, *arguments, "--format=json")],
                                env=self.env, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **options)
        answer = None if result.returncode else json.loads(result.stdout)
        return answer, result.stderr[-3000:]

    def preprocessed(self, headers):
        """The first of some headers that the compiler finds, and the text and macros of all that it
        includes; None where it finds none."""
        for header in headers:
            command = [str(self.compiler), "-std=c++20", "-E", "-dD", "-x", "c++", "-"]
            result = subprocess.run(command, input=f"#include <{header}>\n", text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            if result.returncode == 0:
                return header, result.stdout
        return None, ""

    def write_library(self, name, folder):
        """The recipe of a library of the system and its files in a folder; None where the compiler
        finds none."""
        library = LIBRARIES[name]
        header, text = self.preprocessed(library["headers"])
        if not header:
            return None
        macros = dict(re.findall(r"^#define (\w+) \"?([\w.]+)", text, re.M))
        parts = ("MAJOR", "MINOR", "PATCH") if "{}" in library["version"] else ("",)
        version = ".".join(macros[library["version"].format(part)] for part in parts)
        self.libraries[name] = version
        included = set(re.findall(r'^# \d+ "(/[^"]+)"', text, re.M))
        if "/" in header:  # the library has a folder of its own
            [path] = [path for path in included if path.endswith("/" + header)]
            part = pathlib.Path(header).parts[0]
            shutil.copytree(pathlib.Path(path.removesuffix(header)) / part,
                            folder / "include" / part)
        else:
            (folder / "include").mkdir(parents=True)
            for path in included:
                if pathlib.Path(path).name in (header, "zconf.h"):
                    shutil.copy(path, folder / "include")
        libraries = []
        if "library" in library:
            libraries = [library["library"]]
            (folder / "lib").mkdir()
            file = f"lib{libraries[0]}.so"
            path = run(self.compiler, f"-print-file-name={file}").strip()
            shutil.copy(path, folder / "lib" / file)
        (folder / "conanfile.py").write_text(RECIPE.format(
            name=name, version=version, libraries=libraries,
            requires=[f"{other}/{self.libraries[other]}" for other in library.get("requires", ())]))
        return folder
