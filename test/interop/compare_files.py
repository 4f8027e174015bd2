#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads lamina's files of parameters with numpy, safetensors and as v2 did, and writes such files
for lamina.

usage: compare_files.py FOLDER [--table FILE]

FOLDER is what `file_cases write` wrote; what is written here goes there too, for `file_cases run`.
"""
import argparse
import io
import pathlib
import struct
import sys
import tarfile

import numpy
import safetensors.numpy
from case_results import read_varint

FLOATS = {
    "fc_0.w_0": ("float32", (3, 5)),
    "layer/größe": ("float32", (2, 2)),
    "n" * 150: ("float32", (1, 4))
}
ALL_TYPES = {
    **FLOATS, "double": ("float64", (2, 3, 4)),
    "long": ("int64", (7, )),
    "int": ("int32", (1, 4)),
    "short": ("int16", (2, 2)),
    "signed": ("int8", (5, )),
    "unsigned": ("uint8", (6, )),
    "truth": ("bool", (9, )),
    "scalar": ("float32", ()),
    "none": ("float32", (2, 0))
}


def value_of(name, kind, shape):
    """The bytes that file_cases.cpp makes."""
    size = int(numpy.prod(shape)) * numpy.dtype(kind).itemsize
    start = len(name.encode()) * 29
    data = bytes((k * 73 + k // 11 + start) & 255 for k in range(size))
    if kind == "bool":
        data = bytes(b & 1 for b in data)
    return numpy.frombuffer(data, kind).reshape(shape)


def values_of(table):
    """In the order of bytes, as a std::map has them."""
    return {name: value_of(name, *table[name]) for name in sorted(table, key=str.encode)}


def config_of(data):
    """name, size and dims of a ParameterConfig."""
    name, size, dims, at = None, None, [], 0
    while at < len(data):
        key, at = read_varint(data, at)
        if key == 1 << 3 | 2:
            length, at = read_varint(data, at)
            name, at = data[at:at + length].decode(), at + length
        elif key in (2 << 3, 9 << 3):
            value, at = read_varint(data, at)
            size, dims = (value, dims) if key == 2 << 3 else (size, dims + [value])
        else:
            raise ValueError(f"field {key >> 3} with wire type {key & 7}")
    return name, size, dims


def bytes_of_varint(value):
    data = b""
    while value > 127:
        data, value = data + bytes([value & 127 | 128]), value >> 7
    return data + bytes([value])


def config_bytes(name, shape):
    """As protobuf writes a ParameterConfig of v2: name, size, a learning rate, dims, device."""
    text = name.encode()
    return (b"\x0a" + bytes_of_varint(len(text)) + text + b"\x10" +
            bytes_of_varint(int(numpy.prod(shape))) + b"\x19" + struct.pack("<d", 1.0) +
            b"".join(b"\x48" + bytes_of_varint(d) for d in shape) + b"\x50" + b"\xff" * 9 + b"\x01")


def read_tar(path):
    """Parameters.from_tar of v2."""
    found = {}
    with tarfile.open(path) as archive:
        members = {m.name: archive.extractfile(m).read() for m in archive}
    for name, data in members.items():
        if not name.endswith(".protobuf"):
            continue
        name, size, dims = config_of(data)
        header, body = members[name][:16], members[name][16:]
        if struct.unpack("<IIQ", header) != (0, 4, size) or len(members) != 2 * len(FLOATS):
            raise ValueError(f"{name}: header {header}")
        found[name] = numpy.frombuffer(body, "float32").reshape(dims)
    return found


def write_tar(path, kind):
    """Parameters.to_tar of v2."""
    with tarfile.open(path, "w", format=kind) as archive:
        for name, value in values_of(FLOATS).items():
            for member, data in ((name, struct.pack("<IIQ", 0, 4, value.size) + value.tobytes()),
                                 (name + ".protobuf", config_bytes(name, value.shape))):
                info = tarfile.TarInfo(member)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))


def difference(found, expected):
    """What differs, or ""."""
    if set(found) != set(expected):
        return f"names {sorted(found)} instead of {sorted(expected)}"
    for name, value in expected.items():
        other = numpy.asarray(found[name])
        if other.dtype != value.dtype or other.shape != value.shape or other.tobytes(
        ) != value.tobytes():
            return (f"{name}: {other.dtype} {other.shape} with other bits than"
                    f" {value.dtype} {value.shape}")
    return ""


def check_here(folder):
    """[(file, what differs)] of all that lamina wrote."""
    values, results = values_of(ALL_TYPES), []

    def check(file, read, expected):
        try:
            results.append((file, difference(read(folder / file), expected)))
        except Exception as e:  # whatever the library throws is the answer
            results.append((file, f"{type(e).__name__}: {e}"))

    check("here.npz", lambda path: dict(numpy.load(path, allow_pickle=False)), values)
    check("here.safetensors", safetensors.numpy.load_file, values)
    check("here.tar", read_tar, values_of(FLOATS))
    for i, (name, value) in enumerate(values.items()):
        mode = "r" if value.size and value.shape else None
        check(f"here{i}.npy", lambda path, m=mode, n=name: {n: numpy.load(path, mmap_mode=m)},
              {name: value})
    return results


def write_there(folder):
    values = values_of(ALL_TYPES)
    numpy.savez(folder / "stored.npz", **values)
    numpy.savez_compressed(folder / "deflated.npz", **values)
    numpy.savez(folder / "columns_first.npz", **{
        n: numpy.asfortranarray(v) if v.shape else v for n, v in values.items()
    })
    safetensors.numpy.save_file(values, folder / "there.safetensors", metadata={"format": "np"})
    write_tar(folder / "gnu.tar", tarfile.GNU_FORMAT)
    write_tar(folder / "pax.tar", tarfile.PAX_FORMAT)
    whole = (folder / "gnu.tar").read_bytes().rstrip(b"\0")
    (folder / "without_end.tar").write_bytes(whole + bytes(-len(whole) % 512))
    for i, value in enumerate(values.values()):
        numpy.save(folder / f"there{i}.npy", value)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path)
    arguments = parser.parse_args()
    results = check_here(arguments.folder)
    write_there(arguments.folder)
    for file, fault in results:
        if fault:
            print(f"{file}: {fault}")
    failed = sum(1 for _, fault in results if fault)
    print(f"{len(results) - failed} of {len(results)} files of lamina read with equal bits "
          f"by numpy {numpy.__version__}, safetensors {safetensors.__version__}")
    if arguments.table:
        arguments.table.write_text("".join(f"{file}\t{fault or 'equal'}\n"
                                           for file, fault in results))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
