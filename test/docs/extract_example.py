#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the first ```cpp block of a page that has a main function to a file.

usage: extract_example.py PAGE FILE
"""
import pathlib
import re
import sys

page, target = map(pathlib.Path, sys.argv[1:3])
for block in re.findall(r"^```cpp\n(.*?)^```", page.read_text(), re.M | re.S):
    if "int main" in block:
        target.write_text(block)
        sys.exit(0)
sys.exit(f"{page} has no ```cpp block with 'int main'")
