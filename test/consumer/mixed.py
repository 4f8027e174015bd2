#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mixes files that are compiled for several instruction sets, and plugins.

- A model that is handed between files of different instruction sets is an error of the linker, in
  either order of the objects.
- Two copies of one file, each with a model of its own, give the same numbers in either order of the
  objects as alone.
- If the object for the old instruction set is linked first, no function that it defines or calls
  has an instruction of the new one. (Functions of std that both objects define are those of the
  first.)
- Two plugins with programs of the same name, opened with RTLD_LOCAL, compute what each computes
  alone; lamina::error passes from a plugin to its host; dlclose unloads them.

Exit code 77 (skipped) where the machine does not run the new instruction set.

usage: mixed.py --compiler CXX
       mixed.py --self-test
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "mixed"
INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
SKIPPED = 77
OLD, NEW = "-march=x86-64", "-march=haswell"
FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
# An instruction of AVX: its mnemonic begins with v, but for those of virtual machines.
WIDE = re.compile(r"^\s+[0-9a-f]+:\t(v(?!m|err|erw)\w+|vm(?!call|clear|launch|load|mcall|ptr|read"
                  r"|resume|run|save|write|xo)\w+|\{?evex\}?.*)")


def run(*command, works=True):
    """What a command says, which must succeed or, with works=False, must not."""
    result = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)
    if (result.returncode == 0) != works:
        sys.exit(f"expected this to {'succeed' if works else 'fail'}: "
                 f"{' '.join(map(str, command))}\n{result.stdout[:3000]}")
    return result.stdout


def wide_functions(disassembly):
    """The functions that have an instruction of AVX."""
    found, name = set(), ""
    for line in disassembly.splitlines():
        if begins := FUNCTION.match(line):
            name = begins[1]
        elif WIDE.match(line):
            found.add(name)
    return found


def self_test():
    text = """0000000000001000 <plain>:
    1000:\tmovaps %xmm0,%xmm1
    1004:\tverr   %ax
0000000000001010 <wide>:
    1010:\tvmovaps %xmm0,%xmm1
0000000000001020 <wider>:
    1020:\tvfmadd213ps %ymm0,%ymm1,%ymm2
"""
    assert wide_functions(text) == {"wide", "wider"}
    print("ok")


class workshop:
    """A folder with what one compiler makes."""

    def __init__(self, compiler, folder):
        self.folder = folder
        said = run(*compiler.split(), "-dM", "-E", "-x", "c++", "/dev/null")
        self.compiler = [*compiler.split(), "-std=c++20", "-O1", "-fPIC", "-DLAMINA_HAS_ZLIB=0",
                         f"-I{INCLUDE}"]
        if "__clang__" not in said:  # as the target lamina::lamina has it
            self.compiler += ["-fno-gnu-unique", "-ftoplevel-reorder"]

    def compile(self, source, name, *flags):
        made = self.folder / f"{name}.o"
        run(*self.compiler, *flags, "-c", HERE / source, "-o", made)
        return made

    def link(self, name, *objects, works=True):
        made = self.folder / name
        said = run(*self.compiler, *objects, "-o", made, "-pthread", works=works)
        return made if works else said


def check_handed(shop):
    source = shop.compile("handed_from.cpp", "handed_from", OLD)
    to = shop.compile("handed_to.cpp", "handed_to", NEW)
    for objects in ([source, to], [to, source]):
        said = shop.link("handed", *objects, works=False)
        if not re.search(r"undefined reference to .takes\(lamina::x1_", said):
            sys.exit(f"expected an undefined reference to takes(lamina::x1_...), found\n{said}")


def check_dispatch(shop, old, new):
    main = shop.compile("dispatch.cpp", "dispatch", OLD)
    alone = run(shop.link("old", main, old)) + run(shop.link("new", main, new))
    for objects in ([old, new], [new, old]):
        found = run(shop.link("both", main, *objects))
        if found != alone:
            sys.exit(f"expected the numbers of each alone:\n{alone}found\n{found}")
    program = shop.link("both", main, old, new)
    wide = wide_functions(run("objdump", "-d", "--no-show-raw-insn", program))
    if not any("score_new" in name or "x123" in name for name in wide):
        sys.exit("expected instructions of AVX in the functions for the new instruction set")
    defined = {line.split()[-1] for line in run("nm", "--defined-only", old, main).splitlines()
               if re.search(r" [TtWw] ", line)}
    called = {line.split()[-1] for line in run("nm", "-u", old).splitlines()
              if line.startswith(" ")}
    own = {line.split()[-1] for line in run("nm", "--defined-only", new).splitlines()
           if re.search(r" [TtWw] ", line)}
    reached = sorted(wide & (defined | (called & own)))
    if reached:
        sys.exit(f"{len(reached)} functions of the old instruction set have instructions of the "
                 "new one:\n" + "\n".join(reached[:20]))
    print(f"{len(wide)} functions have instructions of AVX, none of them is one of the "
          f"{len(defined)} of the old instruction set")


def check_plugins(shop, new):
    other = shop.compile("score.cpp", "other", NEW, "-DWIDTH=17", "-DSCORE=score_other",
                         "-DFAIL=fail_other")
    plugins = [[shop.link(f"lib{suffix}.so", "-shared", made), suffix]
               for made, suffix in ((new, "new"), (other, "other"))]
    host = shop.link("host", shop.compile("host.cpp", "host", NEW), "-ldl")
    alone = [run(host, *plugin) for plugin in plugins]
    if "still there" in "".join(alone) or not all("error" in said for said in alone):
        sys.exit(f"expected an error of each plugin, and that it is unloaded, found\n{alone}")
    for order in ((0, 1), (1, 0)):
        found = run(host, *plugins[order[0]], *plugins[order[1]])
        if found != alone[order[0]] + alone[order[1]]:
            sys.exit(f"expected what the plugins compute alone:\n{alone}found\n{found}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("usage: ") + 7:])
    parser.add_argument("--compiler")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    machine = pathlib.Path("/proc/cpuinfo")
    known = machine.read_text() if machine.exists() else ""
    if not all(re.search(rf"\b{flag}\b", known) for flag in ("avx2", "fma", "bmi2", "movbe")):
        print("SKIPPED: this machine does not run x86-64-v3")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        shop = workshop(options.compiler, pathlib.Path(folder))
        check_handed(shop)
        old, new = (shop.compile("score.cpp", name, march, f"-DSCORE=score_{name}",
                                 f"-DFAIL=fail_{name}")
                    for name, march in (("old", OLD), ("new", NEW)))
        check_dispatch(shop, old, new)
        check_plugins(shop, new)
    print(f"{options.compiler}: files of two instruction sets and two plugins stay apart")
    return 0


if __name__ == "__main__":
    sys.exit(main())
