#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles examples with headers alone and with lamina::compiled: both must print the same.

Times and names of temporary folders are not compared. An example that needs a library or a server
is left out, with the reason. Between both ways, a program of two files is linked of which one has
LAMINA_COMPILED and the other one has not. At last two faults are planted: a source without one of
its headers must be an error of the linker, and a program without the library too.

usage: compiled_examples.py --compiler CXX [--optimise=-O0] [EXAMPLE]...
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))
from example_sources import source_of, sources  # noqa: E402

SOURCES = ROOT / "cmake" / "compiled"
LEFT_OUT = {
    "distributed": "needs MPI", "online_kafka": "needs a server", "serve_http": "is a server",
    "paddle_train": "needs CLI11",
}  # yapf: disable
# Not the same in each run: times such as "0.3 s left", "963 ns a sample" and "1.3e+05 samples/s",
# the seconds since 1970 that begin a line of the layer print, and names of temporary folders.
VARYING = re.compile(r"[-+.\de]+ (?:s|ms|us|ns|seconds|samples/s|[\w ]+ per second)\b"
                     r"|^\d+(?=\t)|(?<=_)\w{6}(?=/)", re.M)


def run(*command, **options):
    return subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options)


class both_ways:
    def __init__(self, compiler, optimise, folder):
        self.folder = folder
        self.flags = [compiler, "-std=c++20", optimise, "-march=native", f"-I{ROOT / 'include'}"]
        if "clang" not in compiler:
            self.flags.append("-ftoplevel-reorder")
        self.library = folder / "liblamina_compiled.a"

    def object(self, source, name, *flags):
        to = self.folder / f"{name}.o"
        said = run(*self.flags, *flags, "-c", source, "-o", to)
        if said.returncode != 0:
            sys.exit(f"{source}: does not compile\n{said.stdout[-3000:]}")
        return to

    def archive(self):
        objects = [
            self.object(source, f"lib_{source.stem}", "-DLAMINA_COMPILED")
            for source in sorted(SOURCES.glob("*.cpp"))
        ]
        run("ar", "rcs", self.library, *objects)

    def link(self, name, *inputs):
        return run(*self.flags, *inputs, "-o", self.folder / name, "-lz", "-pthread")

    def printed(self, name):
        said = run(self.folder / name, cwd=self.folder)
        return said.returncode, VARYING.sub("", said.stdout)

    def example(self, name):
        main = source_of(name)
        files = [main, *sorted((main.parent / name).glob("*.cpp"))]
        said = {}
        for way, flags, library in (("headers", [], []),
                                    ("compiled", ["-DLAMINA_COMPILED"], [self.library])):
            objects = [self.object(file, f"{name}_{way}_{number}", *flags)
                       for number, file in enumerate(files)]
            linked = self.link(f"{name}_{way}", *objects, *library)
            if linked.returncode != 0:
                sys.exit(f"{name}, {way}: does not link\n{linked.stdout[-3000:]}")
            said[way] = self.printed(f"{name}_{way}")
        if said["headers"] != said["compiled"] or said["headers"][0] != 0:
            sys.exit(f"{name}: expected\n{said['headers']}\nfound\n{said['compiled']}")
        print(f"{name}: prints the same both ways", flush=True)

    def mixed(self):
        """One file with LAMINA_COMPILED, the other one without: they share models."""
        net = self.folder / "net.hpp"
        net.write_text("""#include <lamina/lamina.hpp>
namespace layer = lamina::layer;
inline constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::fc<3>(layer::data<"x", float, 4>(main), {.name = "y"});
});
using net_model = decltype(lamina::model{net, 1});
void save(const net_model& from);
""")
        (self.folder / "write.cpp").write_text('#include "net.hpp"\n'
                                               "void save(const net_model& from)"
                                               ' { from.save("mixed.model"); }\n')
        (self.folder / "read.cpp").write_text("""#include "net.hpp"
#include <cstdio>
int main() {
  net_model from{net, 1}, to{net, 2};
  save(from);
  to.load("mixed.model");
  std::puts(to.get(0) == from.get(0) ? "the same" : "others");
}
""")
        for one, other in (([], ["-DLAMINA_COMPILED"]), (["-DLAMINA_COMPILED"], [])):
            inputs = [self.object(self.folder / "write.cpp", "write", *one),
                      self.object(self.folder / "read.cpp", "read", *other)]
            linked = self.link("mixed", *inputs, self.library)
            if linked.returncode != 0 or self.printed("mixed") != (0, "the same\n"):
                sys.exit(f"mixed files: {linked.stdout[-3000:]}{self.printed('mixed')}")
        print("files with and without LAMINA_COMPILED make one program", flush=True)

    def faults(self):
        """A header that the sources leave out, and a program without the library, do not link."""
        digits = self.folder / "digits_compiled_0.o"
        if self.link("faulty", digits).returncode == 0:
            sys.exit("expected a program without the library not to link")
        source = self.folder / "core.cpp"
        text = (SOURCES / "core.cpp").read_text()
        header = "#include <lamina/core/messages/error.hpp>\n"
        if text.count(header) != 1:
            sys.exit(f"core.cpp: expected '{header.strip()}' once")
        kept = text.replace(header, "").replace("#include <lamina/core/compiles.hpp>\n",
                                                f"{header}#include <lamina/core/compiles.hpp>\n")
        source.write_text(kept)
        objects = [self.folder / f"lib_{s.stem}.o" for s in SOURCES.glob("*.cpp")
                   if s.stem != "core"]
        said = self.link("faulty", digits, *objects, self.object(source, "faulty_core",
                                                                 "-DLAMINA_COMPILED"))
        if said.returncode == 0 or "error::error(" not in said.stdout:
            sys.exit(f"expected an undefined error::error, found {said.stdout[-2000:]}")
        print("both planted faults are found", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("usage: ") + 7:])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--optimise", default="-O1")
    parser.add_argument("examples", nargs="*")
    options = parser.parse_args()
    every = sorted(sources())
    names = options.examples or [n for n in every if n not in LEFT_OUT]
    if not options.examples:
        for name in sorted(LEFT_OUT.keys() & set(every)):
            print(f"{name}: left out: {LEFT_OUT[name]}")
    with tempfile.TemporaryDirectory() as folder:
        made = both_ways(options.compiler, options.optimise, pathlib.Path(folder))
        made.archive()
        for name in dict.fromkeys(["digits", *names]):
            made.example(name)
        made.mixed()
        made.faults()


if __name__ == "__main__":
    main()
