#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no header of lamina uses a name that headers of others define as a macro.

OBJECTS are macros without arguments: no token of a header may be one. FUNCTIONS are macros with
arguments: none may be followed by a parenthesis, so it is `(std::max)(a, b)`, or `max
LAMINA_NO_MACRO(a, b)` where the compiler looks the name up by its arguments. Comments and literals
are left out. An include of one of GUARDED, libraries in C++, stands between
core/simd/macros_hidden.hpp and core/simd/macros_shown.hpp. With --compiler it also compiles all
headers that lamina.hpp reaches, after all these macros, and after real headers of others (REAL, and
windows.h of mingw-w64, of which only the macros are read): those of the system come before, the
libraries of GUARDED after them. It says which of these headers are missing here.

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
HEADERS = {
    "complex.h": ("complex.h",),
    "X11": ("X11/Xlib.h", "X11/Xutil.h", "X11/Xatom.h"),
    "Qt": ("QtCore/QObject",),
}
# Where else headers are found, and flags that they need.
PLACES = ("-fPIC", "-I/usr/include/x86_64-linux-gnu/qt5", "-I/usr/include/aarch64-linux-gnu/qt5",
          "-I/usr/include/qt5", "-I/usr/include/qt")
WINDOWS = pathlib.Path("/usr/share/mingw-w64/include/windows.h")
# Headers of the C library, which are other ones where lamina is compiled.
C_LIBRARY = re.compile(
    r"(?:_mingw|corecrt|crtdefs|vadefs|intrin|std|str|ctype|limits|malloc|wchar|time|errno|io|process"
    r"|direct|signal|psdk|poppack|pshpack|winsock|ws2|inaddr)\w*|\w*intrin")
GUARDED = ("xsimd", "xtensor", "xtl", "protozero", "nlohmann", "CLI")
HIDES, SHOWS = "core/simd/macros_hidden.hpp", "core/simd/macros_shown.hpp"
INCLUDED = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", re.M)


def names(lists):
    return {name: world for world, words in lists.items() for name in words.split()}


def faults_of(name, text):
    """Uses of a macro of others in one header, and libraries that see those macros."""
    objects, functions = names(OBJECTS), names(FUNCTIONS)
    hidden = False
    for included in INCLUDED.findall(text):
        if included in (f"lamina/{HIDES}", f"lamina/{SHOWS}"):
            hidden = included.endswith(HIDES)
        elif included.split("/")[0] in GUARDED and not hidden:
            yield f"{name}: expected <{included}> after <lamina/{HIDES}>"
    if hidden:
        yield f"{name}: expected <lamina/{SHOWS}> after <lamina/{HIDES}>"
    if name == HIDES:
        text = re.sub(r"^#undef \w+$", "", text, flags=re.M)
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


def system_headers(texts):
    """Includes of the system's headers that lamina.hpp reaches, as far as they are here."""
    reached = headers_of(texts, "lamina.hpp", {})
    return [f"#if __has_include(<{h}>)\n#include <{h}>\n#endif" for h in reached
            if h.split("/")[0] not in ("lamina", *GUARDED) and "intrin" not in h]


def program(texts):
    """A source that includes the system's headers, defines the macros, and includes lamina.hpp."""
    lines = system_headers(texts)
    for name in names(OBJECTS):
        lines += [f"#undef {name}", f"#define {name} @a macro of others@"]
    for name in names(FUNCTIONS):
        lines += [f"#undef {name}", f"#define {name}(...) @a macro of others@"]
    return "\n".join([*lines, "#include <lamina/lamina.hpp>", ""])


def windows_macros(compiler):
    """The macros of windows.h as lines `#define NAME ...`, without those of the C library."""
    run = subprocess.run([*compiler.split(), "-E", "-dD", "-xc++", "-D_WIN32", "-D__MINGW32__",
                          "-D_X86_", "-U__linux__", "-U__unix__", f"-I{WINDOWS.parent}", "-"],
                         text=True, capture_output=True, input="#include <windows.h>\n")
    found, header = {}, ""
    for line in run.stdout.splitlines():
        if place := re.match(r'# \d+ "([^"]+)"', line):
            header = pathlib.Path(place[1]).name
        elif macro := re.match(r"#(define|undef) ([A-Za-z]\w*)", line):
            found.pop(macro[2], None)
            if macro[1] == "define" and header != "<built-in>" and not C_LIBRARY.match(header):
                found[macro[2]] = line
    return found


def real_programs(compiler, texts):
    """{headers: a source that includes them before lamina.hpp}; None where they are missing."""
    made = {}
    for world, headers in HEADERS.items():
        text = "".join(f"#include <{h}>\n" for h in headers)
        run = subprocess.run([*compiler.split(), "-std=gnu++20", *PLACES, "-E", "-xc++", "-"],
                             text=True, capture_output=True, input=text)
        made[world] = None if run.returncode else text + "#include <lamina/lamina.hpp>\n"
    macros = windows_macros(compiler) if WINDOWS.exists() else {}
    lines = [f"#ifndef {name}\n{line}\n#endif" for name, line in macros.items()]
    made["windows.h"] = "\n".join([*system_headers(texts), *lines, "#include <lamina/lamina.hpp>",
                                   ""]) if "ERROR" in macros and "near" in macros else None
    return made


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
    guard = "#include <lamina/core/simd/macros_{}.hpp>"
    hides, shows = guard.format("hidden"), guard.format("shown")
    for lines, count in (([hides, "#include <xsimd/a.hpp>", shows, "#include <vector>"], 0),
                         (["#include <xsimd/a.hpp>"], 1), ([hides, shows, "#include <CLI/a>"], 1),
                         ([hides, "#include <xsimd/a.hpp>"], 1)):
        assert len(list(faults_of("a.hpp", "\n".join(lines)))) == count, lines
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
        for compiler in options.compiler:
            for world, text in {"lists": program(texts), **real_programs(compiler, texts)}.items():
                if text is None:
                    print(f"LEFT OUT: {compiler}: found no headers of {world} (test/install)")
                    continue
                source = pathlib.Path(folder, "macros.cpp")
                source.write_text(text)
                run = subprocess.run([*compiler.split(), "-std=gnu++20", "-fsyntax-only",
                                      f"-I{INCLUDE}", *PLACES, *options.flags, source], text=True,
                                     capture_output=True)
                if run.returncode:
                    faults.append(f"{compiler}: {world}: {run.stderr[:3000]}")
    print("\n".join(faults) or f"{len(texts)} headers use no macro of others")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
