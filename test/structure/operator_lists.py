#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The lists of operators: written from the headers below operators/, so that nobody edits them.

A header of definitions states its operators in one line, `using FOLDERS_operators =
operator_list<...>`; FOLDERS are its folders below operators/ joined by _, and what its stem has
behind `definition`. From the places and stems of headers the script writes
  operators/operators.hpp               all definitions, and the operator_list of each
  layers/layers.hpp                     all layers
  executor/library_kernels.hpp          all kernels of the executor
  engine/cpu/schedule/call_kernels.hpp  all kernels of the CPU engine
  engine/cuda/schedule/call_kernels.cuh all kernels of the CUDA engine
  io/onnx/library_conversions.hpp       all conversions to ONNX
  optimizer/optimizers.hpp              all optimizers

The lists of both engines have the kernels that all engines share, too.

usage: operator_lists.py [--update] [INCLUDE_FOLDER]
       operator_lists.py --self-test

Fails where a list is not what the headers say, where a definition is in no operator_list, or where
two kernels of the executor have one name; --update writes the lists, and adds definitions to the
operator_list of their header.
"""
import pathlib
import re
import sys
import tempfile

import namespaces

LIBRARY = "lamina"
# Headers that a list leaves out, and definitions that no file names; each with the reason.
LEFT_OUT = {
    "operators/pointwise_evaluation.hpp": "only the executor evaluates arrays",
    "operators/update/definition_fluid.hpp": "only programs that were read have them",
}
UNLISTED = {"selected_rows_sum": "the sum of sparse gradients, which the plan chooses"}
STRUCT = re.compile(r"^struct (\w+)(?: final)?(?: : [^{;]*)? ?\{\n(.*?)^\};\n", re.M | re.S)
HAS_TYPE = re.compile(r"^  static constexpr const char\* type = \"", re.M)
ALIAS = re.compile(r"^using (\w+_operators) =\s+operator_list<([^;]*)>;\n", re.M)
KERNELS = re.compile(r"^void (add_\w+_kernels)\(kernel_table<Real>& ", re.M)
SHARED_KERNEL = re.compile(r"^struct shared_kernel<(.*), Real>", re.M)
KERNEL_NAME = re.compile(r'^  table\["(\w+)"\] = ', re.M)
# What extends the conversions of other headers comes after them.
CONVERSIONS = re.compile(r"^inline void ((add|extend)_\w+)\(onnx_operators& ", re.M)
OPTIMIZER = re.compile(r"^struct (\w+) final : rule<\1> \{", re.M)


class library:
    """The headers of an include folder, by their names below lamina/."""

    def __init__(self, include):
        self.base = include / LIBRARY
        self.texts = {
            str(p.relative_to(self.base)): p.read_text()
            for p in sorted(self.base.rglob("*")) if p.suffix in (".hpp", ".cuh")
        }

    def stage(self, stage, suffix=".hpp"):
        """The headers of one stage of all operators, in alphabetic order."""
        pattern = re.compile(rf"operators/.+/{stage}(_\w+)?{re.escape(suffix)}")
        return [
            name for name in sorted(self.texts) if pattern.fullmatch(name) and name not in LEFT_OUT
        ]

    def beside(self, header):
        """The other headers in the folder of one, in alphabetic order."""
        folder = header.rsplit("/", 1)[0]
        return [
            name for name in sorted(self.texts)
            if name.rsplit("/", 1)[0] == folder and name not in (header, *LEFT_OUT)
        ]


def definitions_of(text):
    """The operators that one header defines, in order."""
    return [name for name, body in STRUCT.findall(text) if HAS_TYPE.search(body)]


def alias_name(header):
    """The name of the operator_list of a header of definitions."""
    _, *folders, stem = header.removesuffix(".hpp").split("/")
    return "_".join([*folders, *stem.split("_")[1:], "operators"])


def with_list(header, text):
    """The text of a header of definitions with its operator_list."""
    found = ALIAS.search(text)
    stated = [name.strip() for name in found[2].split(",")] if found else []
    own = [name for name in definitions_of(text) if name not in UNLISTED]
    gradients = [name for name in stated if re.fullmatch(r"gradient_of<(\w+)>", name)]
    if sorted(stated) == sorted(own + gradients) and (not own or found[1] == alias_name(header)):
        return text
    text = ALIAS.sub("", text)
    if not own:
        return text
    last = list(STRUCT.finditer(text))[-1].end()
    line = f"using {alias_name(header)} = operator_list<{', '.join(own + gradients)}>;\n"
    return text[:last] + "\n" + line + "\n" + text[last:].lstrip("\n")


def includes(headers):
    return "".join(f"#include <{LIBRARY}/{header}>\n" for header in headers)


def head(header, purpose):
    return (f"// SPDX-License-Identifier: Apache-2.0\n// {LIBRARY}/{header} - {purpose}\n"
            "// Generated: test/structure/operator_lists.py --update writes this list.\n"
            f"#pragma once\n\n#include <{LIBRARY}/core/config.hpp>\n\n")


def calls(names, argument):
    return "".join(f"  {name}({argument});\n" for name in names)


def instances(operators):
    """The declarations by which lamina::compiled has the shared kernels of some operators."""
    lines = "".join(
        f"LAMINA_EXTERN(void call_kernel<{operator}>::run<{real}>(const call_context&))\n"
        for operator in operators for real in ("float", "double"))
    return lines and (f"\n{namespaces.opening('engine::cpu')}\n\n{lines}\n"
                      f"{namespaces.closing('engine::cpu')}\n")


def written_lists(tree):
    """{header: text} of all lists."""
    lists = {}
    name = "operators/operators.hpp"
    definitions = tree.stage("definition")
    stated = [ALIAS.search(tree.texts[d]) for d in definitions]
    lists[name] = (
        head(name, "all operators.") + includes(sorted([*definitions, *tree.beside(name)])) +
        f"\n{namespaces.opening()}\n\n"
        "/// Calls f(operator_list<...>{}) for the operators of each header of definitions. "
        "Gradient\n/// operators are derived from them, and update operators from the optimizers.\n"
        "template <class F>\nvoid for_each_operator_list(F&& f) {\n" +
        "".join(f"  f(operators::{found[1]}{{}});\n" for found in stated if found) +
        f"}}\n\n{namespaces.closing()}\n")
    name = "layers/layers.hpp"
    lists[name] = (
        head(name, "all layers, and the operators they record.") +
        "// Operators come first: a compiler prints the first path of includes that leads to a "
        "header, and a\n// short path makes a short message.\n// clang-format off\n" +
        includes(sorted([*tree.stage("layer"), "operators/operators.hpp"])) +
        includes(tree.beside(name)) + "// clang-format on\n")
    name = "executor/library_kernels.hpp"
    kernels = tree.stage("executor")
    lists[name] = (
        head(name, "the executor's kernels of all operators.") + includes(kernels) +
        f"\n{namespaces.opening('kernel')}\n\n"
        "/// Adds the kernels of all operators of the library.\n"
        "template <class Real>\nvoid add_library_kernels(kernel_table<Real>& table) {\n" +
        calls([call for k in kernels for call in KERNELS.findall(tree.texts[k])], "table") +
        f"}}\n\n{namespaces.closing('kernel')}\n")
    name = "engine/cpu/schedule/call_kernels.hpp"
    shared = tree.stage("kernel")
    lists[name] = (
        head(name, "the kernels of all operators that are not fused.") +
        includes(sorted(["engine/cpu/schedule/shared_kernel.hpp", *tree.stage("cpu"), *shared])) +
        instances([op for k in shared for op in SHARED_KERNEL.findall(tree.texts[k])]))
    name = "engine/cuda/schedule/call_kernels.cuh"
    lists[name] = head(name, "the kernels of all operators that are not fused.") + includes(
        sorted(["engine/cuda/body/bound_kernel.cuh", *tree.stage("cuda", ".cuh"), *shared]))
    name = "io/onnx/library_conversions.hpp"
    conversions = tree.stage("onnx")
    lists[name] = (
        head(name, "the conversions of all operators to ONNX.") + includes(conversions) +
        f"\n{namespaces.opening('onnx')}\n\n"
        "/// Adds the conversions of all operators of the library that ONNX can express.\n"
        "inline void add_library_conversions(onnx_operators& to) {\n" +
        calls([
            call for first in ("add", "extend") for c in conversions
            for call, word in CONVERSIONS.findall(tree.texts[c]) if word == first
        ], "to") +
        f"}}\n\n{namespaces.closing('onnx')}\n")
    name = "optimizer/optimizers.hpp"
    optimizers = {
        header: found for header in tree.beside(name)
        for found in [OPTIMIZER.search(tree.texts[header])] if found
    }
    lists[name] = (
        head(name, "all optimizers.") + includes(["operators/operator_definition.hpp", *optimizers])
        + f"\n{namespaces.opening('optimizer')}\n\n/// The optimizers of the library.\n"
        "using library_optimizers =\n    operator_list<" +
        ", ".join(found[1] for found in optimizers.values()) +
        f">;\n\n{namespaces.closing('optimizer')}\n")
    return lists


def faults_of(tree):
    """What --update does not repair."""
    for header in tree.stage("executor"):
        if 'table["' in tree.texts[header] and not KERNELS.search(tree.texts[header]):
            yield f"{header}: expected a function add_..._kernels(kernel_table<Real>&), found none"
    owners = {}
    for header in tree.stage("executor"):
        text = tree.texts[header]
        for name in [*KERNEL_NAME.findall(text), *KERNELS.findall(text)]:
            if name in owners:
                yield f"{header}: '{name}' is in {owners[name]} already"
            owners[name] = header
    for name in LEFT_OUT:
        if name not in tree.texts:
            yield f"{name}: is left out of the lists, and does not exist"
    defined = {name for text in tree.texts.values() for name in definitions_of(text)}
    for name in sorted(UNLISTED.keys() - defined):
        yield f"{name}: is in no operator_list on purpose, and does not exist"


def check(include, update):
    """The faults under an include folder, one sentence each, and the number of lists."""
    tree, faults = library(include), []
    stated = [
        name for name in tree.texts
        if re.fullmatch(r"operators/.+/definition(_\w+)?\.hpp", name)
    ]
    changed = {}
    for header in stated:
        text = with_list(header, tree.texts[header])
        if text != tree.texts[header]:
            changed[header] = tree.texts[header] = text
            faults.append(f"{header}: expected {alias_name(header)} with "
                          f"{', '.join(definitions_of(text)) or 'nothing'}")
    for header, text in written_lists(tree).items():
        # clang-format may break a list of operators over lines.
        if "".join(tree.texts.get(header, "").split()) != "".join(text.split()):
            changed[header] = text
            faults.append(f"{header}: is not what the headers of operators say")
    if update:
        for header, text in changed.items():
            (tree.base / header).parent.mkdir(parents=True, exist_ok=True)
            (tree.base / header).write_text(text)
        faults = []
    return [*faults, *faults_of(tree)], len(written_lists(tree))


def self_test():
    """Plants each fault in a small tree and demands that exactly it is found."""
    relu = ('struct relu : pointwise {\n  // Why.\n  static constexpr const char* type = "relu";\n'
            '};\n')
    helper = "struct helper {\n  int x;\n};\n"
    definition = "operators/act/simple/definition.hpp"
    listed = ("namespace lamina {\n\n" + relu +
              "\nusing act_simple_operators = operator_list<relu>;\n\n}\n")
    good = {
        definition: listed,
        "operators/act/definition_more.hpp": helper,
        "operators/act/layer.hpp": "",
        "operators/act/executor.hpp":
            "template <class Real>\nvoid add_act_kernels(kernel_table<Real>& table) {\n"
            '  table["relu"] = relu_forward;\n}\n',
        "operators/act/cpu_part.hpp": "",
        "operators/act/cuda.cuh": "",
        "operators/act/kernel.hpp":
            "struct shared_kernel<gradient_of<operators::relu>, Real> : bound_call<> {\n};\n",
        "operators/act/onnx.hpp": "inline void extend_act(onnx_operators& to) {\n}\n",
        "operators/more/onnx.hpp": "inline void add_more(onnx_operators& to) {\n}\n",
        "optimizer/sgd.hpp": "struct sgd final : rule<sgd> {\n};\n",
        "optimizer/rule.hpp": "",
        "layers/data.hpp": "",
        "operators/pointwise.hpp": "struct selected_rows_sum {\n"
                                   '  static constexpr const char* type = "sum";\n};\n',
        **{name: "" for name in LEFT_OUT},
    }  # yapf: disable

    def written(changes):
        folder = tempfile.TemporaryDirectory()
        for name, text in {**good, **changes}.items():
            path = pathlib.Path(folder.name, LIBRARY, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return folder

    def after(changes, later):
        """The faults of a tree with lists of which some headers change afterwards."""
        with written(changes) as folder:
            check(pathlib.Path(folder), True)
            for name, text in later.items():
                path = pathlib.Path(folder, LIBRARY, name)
                if text is None:
                    path.unlink()
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check(pathlib.Path(folder), False)[0]

    def list_of(header, changes):
        with written(changes) as folder:
            check(pathlib.Path(folder), True)
            return pathlib.Path(folder, LIBRARY, header).read_text()

    elu = relu.replace("relu", "elu")
    second = good["operators/act/executor.hpp"].replace("add_act", "add_more")
    cases = [
        ({}, {}, []),
        # A definition in no list, one of another header, and a list under the name of another one.
        ({}, {definition: listed.replace(relu, relu + elu)}, [f"{definition}: expected"]),
        ({}, {definition: listed.replace("<relu>", "<relu, tanh>")}, [f"{definition}: expected"]),
        ({}, {definition: listed.replace("using act_simple", "using act")},
         [f"{definition}: expected"]),
        ({}, {definition: listed.replace("<relu>", "<\n    relu>")}, []),
        ({}, {definition: listed.replace("<relu>", "<relu, gradient_of<relu>>")}, []),
        # New and deleted headers.
        ({}, {"operators/act/layer_more.hpp": ""}, ["layers/layers.hpp: is not"]),
        ({}, {"layers/more.hpp": ""}, ["layers/layers.hpp: is not"]),
        ({}, {"operators/act/cpu_part.hpp": None}, ["engine/cpu/schedule/call_kernels.hpp: is"]),
        ({}, {"operators/new/kernel.hpp": ""},
         ["engine/cpu/schedule/call_kernels.hpp: is", "engine/cuda/schedule/call_kernels.cuh: is"]),
        ({}, {"operators/new/cuda_body.cuh": ""}, ["engine/cuda/schedule/call_kernels.cuh: is"]),
        ({}, {"operators/new/onnx.hpp": ""}, ["io/onnx/library_conversions.hpp: is not"]),
        ({}, {"optimizer/adam.hpp": "struct adam final : rule<adam> {\n};\n"},
         ["optimizer/optimizers.hpp: is not"]),
        ({}, {"optimizer/event.hpp": ""}, []),
        ({}, {"layers/layers.hpp": ""}, ["layers/layers.hpp: is not"]),
        ({"operators/new/executor.hpp": second.replace("relu", "elu")}, {}, []),
        ({"operators/new/executor.hpp": second}, {}, ["'relu' is in operators/act/executor.hpp"]),
        ({"operators/new/executor.hpp": second.replace("_kernels", "").replace("relu", "elu")}, {},
         ["operators/new/executor.hpp: expected a func"]),
        ({"operators/new/executor.hpp": ""}, {}, []),
        ({}, {"operators/pointwise.hpp": ""}, ["selected_rows_sum: is in no operator_list"]),
    ]  # yapf: disable
    for number, (changes, later, expected) in enumerate(cases):
        faults = after(changes, later)
        if len(faults) != len(expected) or not all(e in f for e, f in zip(expected, faults)):
            raise SystemExit(f"self-test {number}: expected {expected}, found {faults}")
    # --update adds a definition to the list, and names the list after the place.
    moved = {definition: "", "operators/act/moved/definition.hpp": listed}
    assert "\nusing act_moved_operators = operator_list<relu>;\n\n}" in list_of(
        "operators/act/moved/definition.hpp", moved)
    bare = {definition: "namespace lamina {\n\n" + relu + "\n" + elu + "\n}\n"}
    assert list_of(definition, bare).endswith(
        elu + "\nusing act_simple_operators = operator_list<relu, elu>;\n\n}\n")
    assert "f(operators::act_simple_operators{});" in list_of("operators/operators.hpp", {})
    assert "add_act_kernels(table);" in list_of("executor/library_kernels.hpp", {})
    assert ("LAMINA_EXTERN(void call_kernel<gradient_of<operators::relu>>::run<double>("
            in list_of("engine/cpu/schedule/call_kernels.hpp", {}))
    assert "add_more(to);\n  extend_act(to);" in list_of("io/onnx/library_conversions.hpp", {})
    print(f"{len(cases)} planted trees are judged right")


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    update = "--update" in arguments
    folders = [argument for argument in arguments if argument != "--update"]
    root = pathlib.Path(__file__).resolve().parents[2]
    faults, lists = check(pathlib.Path(folders[0]) if folders else root / "include", update)
    print("\n".join(faults) or f"{lists} lists are what the headers of operators say")
    if faults:
        print("operator_lists.py --update writes the lists")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
