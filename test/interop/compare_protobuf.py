#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads programs that interop_cases wrote with protobuf's own runtime, under framework.proto.

The bytes of a program have no field that framework.proto does not know; the JSON is the same
message; and what the runtime prints of it is that JSON, name by name, floats rounded to 32 bits.

usage: compare_protobuf.py CASES [--table FILE]
"""
import argparse
import importlib
import json
import pathlib
import struct
import sys
import tempfile

from google.protobuf import json_format
from grpc_tools import protoc


def program_desc(folder):
    """The class ProgramDesc, from framework.proto."""
    here = pathlib.Path(__file__).resolve().parent
    if protoc.main(["protoc", f"-I{here}", f"--python_out={folder}", "framework.proto"]):
        raise RuntimeError("protoc does not take framework.proto")
    sys.path.insert(0, folder)
    return importlib.import_module("framework_pb2").ProgramDesc


def unknown_bytes(message):
    """How many bytes of a message are lost when what its description does not know is dropped."""
    known = type(message)()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    return message.ByteSize() - known.ByteSize()


def same(a, b):
    """Whether two JSON values are equal."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) or isinstance(b, float):
        return type(a) in (int, float) and type(b) in (int, float) and struct.pack(
            "f", a) == struct.pack("f", b)
    return type(a) is type(b) and a == b


def fault_of(folder, description):
    """What is wrong with a case, or ''."""
    message = description.FromString((folder / "__model__").read_bytes())
    text = (folder / "program.json").read_text()
    if unknown_bytes(message):
        return f"{unknown_bytes(message)} bytes are fields that framework.proto does not know"
    if json_format.Parse(text, description()) != message:
        return "the JSON is not the message that the bytes are"
    printed = json.loads(json_format.MessageToJson(message))
    return "" if same(printed, json.loads(text)) else "protobuf prints another JSON"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path)
    arguments = parser.parse_args()
    folders = sorted(p for p in arguments.cases.iterdir() if (p / "program.json").is_file())
    failed, rows = 0, []
    with tempfile.TemporaryDirectory() as folder:
        description = program_desc(folder)
        for case in folders:
            fault = fault_of(case, description)
            rows.append(f"{case.name}\t{fault or 'equal'}\n")
            if fault:
                failed += 1
                print(f"{case.name}: {fault}")
    print(f"{len(folders) - failed} of {len(folders)} programs are the same to protobuf")
    if arguments.table:
        arguments.table.write_text("".join(rows))
    return 1 if failed or not folders else 0


if __name__ == "__main__":
    sys.exit(main())
