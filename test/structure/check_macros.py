#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no header of lamina uses a name that headers of others define as a macro.

OBJECTS are macros without arguments: no token of a header may be one. FUNCTIONS are macros with
arguments: none may be followed by a parenthesis, so it is `(std::max)(a, b)`, or
`max LAMINA_NO_MACRO(a, b)` where the compiler looks the name up by its arguments. Comments and
literals are left out. With --compiler it also compiles all headers that lamina.hpp reaches, after
all these macros: what lamina includes of others comes before them.

Not in the lists are macros that their own headers remove in C++: those of curses
(move, clear, erase, box, refresh), and min, max, abs and round of Arduino.

usage: check_macros.py [--compiler CXX]... [-- COMPILER_FLAGS...]
       check_macros.py --self-test
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
OBJECTS = {
    "Qt": "slots signals emit forever Q_SLOTS Q_SIGNALS",
    "complex.h": "I complex imaginary _Complex_I",
    "X11": "Above Below None Bool Status Success True False Always Complex Convex Nonconvex "
           "Unsorted CursorShape FocusIn FocusOut KeyPress KeyRelease Expose CurrentTime "
           "GrayScale TrueColor Opposite InputFocus Never",
    "windows.h": "near far small interface hyper pascal cdecl ERROR NO_ERROR IN OUT OPTIONAL "
                 "DELETE STRICT CONST VOID THIS TRUE FALSE IGNORE ABSOLUTE RELATIVE TRANSPARENT "
                 "OPAQUE INFINITE DIFFERENCE CALLBACK WINAPI PASCAL CreateFile GetMessage "
                 "SendMessage GetObject DeleteFile CopyFile MoveFile LoadImage Yield",
    "curses.h": "OK ERR",
    "termios.h": "ECHO CR0 CR1 NL0 NL1 TAB0 TAB1 BS0 BS1 B0 B50 B75 B110 PENDIN VINTR VEOF",
    "math.h": "DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS HUGE",
    "gnu++": "unix linux i386",
    "Arduino": "HIGH LOW INPUT OUTPUT CHANGE FALLING RISING DEFAULT EXTERNAL INTERNAL DEC HEX OCT "
               "BIN PI HALF_PI TWO_PI DEG_TO_RAD RAD_TO_DEG EULER SERIAL DISPLAY",
    "Objective-C": "YES NO nil Nil",
    "ctype": "_B _C _D _L _N _P _S _U _X",
}
FUNCTIONS = {
    "Qt": "foreach Q_UNUSED",
    "windows.h": "min max RGB TEXT",
    "AssertMacros.h": "check verify check_noerr verify_noerr",
    "sys/sysmacros.h": "major minor makedev",
    "glib": "MIN MAX ABS CLAMP",
    "assert.h": "assert_",
    "curses.h": "timeout getch addch insch delch standout echo noecho beep scroll",
    "Arduino": "F bit constrain radians degrees sq lowByte highByte interrupts noInterrupts",
    "logging": "CHECK DCHECK LOG VERIFY ASSERT INFO WARN WARNING FATAL REQUIRE EXPECT TRY CATCH",
    "kernel": "likely unlikely",
    "ROOT": "ClassDef ClassImp Form Printf",
}
TOKEN = re.compile(
    r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:[^"\\\n]|\\.)*"|\b\d(?:[\w.]|\'(?=\w))*|\'(?:[^\'\\\n]|\\.)+\''
    r"|//[^\n]*|/\*(?:.|\n)*?\*/|[A-Za-z_]\w*")
INCLUDED = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", re.M)


def names(lists):
    return {name: world for world, words in lists.items() for name in words.split()}


def faults_of(name, text):
    """Uses of a macro of others in one header."""
    objects, functions = names(OBJECTS), names(FUNCTIONS)
    for found in TOKEN.finditer(text):
        word = found[0]
        line = text.count("\n", 0, found.start()) + 1
        if word in objects:
            yield f"{name}:{line}: {word} is a macro of {objects[word]}"
        elif word in functions and text[found.end():].lstrip()[:1] == "(":
            yield f"{name}:{line}: {word}(...) is a macro of {functions[word]}"


def headers_of(texts, name, seen):
    """lamina's headers that one reaches, and what they include of others, in order."""
    for included in INCLUDED.findall(texts[name]):
        inner = included.removeprefix("lamina/")
        if included in seen:
            continue
        seen[included] = True
        if inner != included and inner in texts:
            headers_of(texts, inner, seen)
    return seen


def program(texts):
    """A source that includes others' headers, defines the macros, and includes lamina.hpp."""
    reached = headers_of(texts, "lamina.hpp", {})
    others = [h for h in reached if not h.startswith("lamina/")]
    lines = [f"#if __has_include(<{h}>)\n#include <{h}>\n#endif" for h in others
             if "intrin" not in h]
    for name in names(OBJECTS):
        lines += [f"#undef {name}", f"#define {name} @a macro of others@"]
    for name in names(FUNCTIONS):
        lines += [f"#undef {name}", f"#define {name}(...) @a macro of others@"]
    return "\n".join([*lines, "#include <lamina/lamina.hpp>", ""])


def self_test():
    right = ["auto a = (std::max)(1, 2);", "// slots", 'auto s = "slots";', "int slots_x;",
             "max LAMINA_NO_MACRO(a, b)", "std::max<int>(1, 2)", "check<true>", "1'000 + 'I'",
             'R"(max(1))"', "int min;", "x.I_"]
    wrong = ["std::max(1, 2)", "int slots;", "template <int I>", "check (x)", "limits::min()",
             "bool near = true;", "1'000 + I + 'a'"]
    for line in right:
        assert not list(faults_of("a.hpp", line)), line
    for line in wrong:
        assert len(list(faults_of("a.hpp", "\n" + line))) == 1, line
    made = program({"lamina.hpp": "#include <vector>\n#include <lamina/a.hpp>", "a.hpp": ""})
    assert made.index("<vector>") < made.index("#define slots") < made.index("<lamina/lamina.hpp>")
    print("ok")


def main():
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("usage: ") + 7:])
    parser.add_argument("--compiler", action="append", default=[])
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("flags", nargs="*")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    base = INCLUDE / "lamina"
    texts = {str(p.relative_to(base)): p.read_text() for p in sorted(base.rglob("*"))
             if p.suffix in (".hpp", ".cuh")}
    faults = [fault for name, text in texts.items() for fault in faults_of(name, text)]
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "macros.cpp")
        source.write_text(program(texts))
        for compiler in options.compiler:
            run = subprocess.run([*compiler.split(), "-std=gnu++20", "-fsyntax-only",
                                  f"-I{INCLUDE}", *options.flags, source], text=True,
                                 capture_output=True)
            if run.returncode:
                faults.append(f"{compiler}: {run.stderr[:3000]}")
    print("\n".join(faults) or f"{len(texts)} headers use no macro of others")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
