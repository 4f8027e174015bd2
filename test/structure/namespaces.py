# SPDX-License-Identifier: Apache-2.0
"""The namespaces of headers, as the checks of sources read them."""
import re

OPENED = re.compile(
    r"^namespace lamina \{ inline namespace LAMINA_ABI \{(?: namespace ([\w:]+) \{)?$", re.M)
CLOSED = re.compile(r"^\}\}\}?(?=  // namespace lamina\b)", re.M)


def opening(name=""):
    """The line that opens namespace lamina::`name`, with the inline namespace of core/abi.hpp."""
    inner = f" namespace {name} {{" if name else ""
    return "namespace lamina { inline namespace LAMINA_ABI {" + inner


def closing(name=""):
    """The line that closes what opening(name) opens."""
    return f"}}}}}}  // namespace lamina::{name}" if name else "}}  // namespace lamina"


def plain(text):
    """The text without the inline namespace, with one namespace per line."""
    text = OPENED.sub(lambda m: "namespace lamina {" + (f"\nnamespace {m[1]} {{" if m[1] else ""),
                      text)
    return CLOSED.sub(lambda m: m[0][1:], text)
