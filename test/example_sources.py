# SPDX-License-Identifier: Apache-2.0
"""Where the programs of examples/ are: NN_NAME.cpp, a learner's ten in order, and TOPIC/NAME.cpp.

A name is enough to find a program, and a program that gets a number or moves to another topic keeps
its name. So scripts that compile examples ask here for the path.
"""
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "examples"


def sources(folder=FOLDER):
    """{name: path} of all programs: those with numbers in their order, then the topics."""
    found = {}
    for path in [*sorted(folder.glob("*.cpp")), *sorted(folder.glob("*/*.cpp"))]:
        name = re.sub(r"^[0-9]+_", "", path.stem)
        if name in found:
            raise ValueError(f"two examples have the name {name}: {found[name]} and {path}")
        found[name] = path
    return found


def source_of(name):
    """The path of a program; raises KeyError where there is none."""
    return sources()[name]
