#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Saves nets of PaddlePaddle's static API for lamina to run: save_paddle.py FOLDER.

Each case is a folder: __model__ and `parameters` (all in one file), feed/NAME and fetch/NAME as
LoDTensor streams.
The training programs are whole programs: after one run, the parameters stand in fetch/.
FOLDER.operators names the operators of all nets.
"""
import pathlib
import struct
import sys

import numpy

NUMBERS = {
    "bool": 0,
    "int16": 1,
    "int32": 2,
    "int64": 3,
    "float32": 5,
    "float64": 6,
    "uint8": 20,
    "int8": 21
}


def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def stream(value):
    """The bytes of an array, or of an array and the lengths of its sequences."""
    array, lengths = value if isinstance(value, tuple) else (value, None)
    array = numpy.ascontiguousarray(array)
    desc = b"\x08" + varint(NUMBERS[array.dtype.name]) + b"".join(b"\x10" + varint(d)
                                                                  for d in array.shape)
    lod = struct.pack("<IQ", 0, 0)
    if lengths is not None:
        offsets = numpy.concatenate([[0], numpy.cumsum(lengths)]).astype("uint64")
        lod = struct.pack("<IQQ", 0, 1, offsets.nbytes) + offsets.tobytes()
    return lod + struct.pack("<Ii", 0, len(desc)) + desc + array.tobytes()


def write(folder, values):
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in values.items():
        (folder / name).write_bytes(stream(array))


def main():
    folder = pathlib.Path(sys.argv[1])
    import paddle
    import paddle.nn.functional as F
    from paddle import static
    paddle.enable_static()
    random = numpy.random.RandomState(5)
    reals = lambda *shape: random.uniform(-1, 1, shape).astype("float32")
    whole = lambda high, *shape: random.randint(0, high, shape).astype("int64")
    exe = static.Executor(paddle.CPUPlace())
    operators = {}

    def case(name, build, feed, training=False):
        """build() returns the results; with training also the step that is run once."""
        main_program, startup = static.Program(), static.Program()
        main_program.random_seed = startup.random_seed = 3
        with static.program_guard(main_program, startup), paddle.utils.unique_name.guard(), \
                static.scope_guard(static.Scope()):
            results = build()
            exe.run(startup)
            place = folder / name
            place.mkdir(parents=True, exist_ok=True)
            persistable = sorted(v.name for v in main_program.list_vars()
                                 if v.persistable and v.name not in ("feed", "fetch"))
            value = lambda n: numpy.array(static.global_scope().find_var(n).get_tensor())
            if training:
                program = main_program.desc.serialize_to_string()
                (place / "parameters").write_bytes(b"".join(stream(value(n)) for n in persistable))
            else:
                feeds = [main_program.global_block().var(n) for n in feed]
                program = static.serialize_program(feeds, results, program=main_program)
                static.save_inference_model(str(place / "net"), feeds, results, exe,
                                            program=main_program)
                (place / "net.pdmodel").rename(place / "__model__")
                if (place / "net.pdiparams").exists():
                    (place / "net.pdiparams").rename(place / "parameters")
            if training:
                (place / "__model__").write_bytes(program)
            types = {op.type for block in main_program.blocks for op in block.ops}
            for kind in types:
                if not kind.endswith("_grad"):
                    operators[kind] = "gradients" if kind + "_grad" in types else operators.get(
                        kind, "values")
            found = exe.run(main_program, feed=feed, fetch_list=results)
            write(place / "feed", feed)
            write(place / "fetch", {f"{i}": numpy.asarray(v) for i, v in enumerate(found)})
            (place / "names").write_text("".join(r.name + "\n" for r in results))
            if training:
                write(place / "after", {n: value(n) for n in persistable})

    def perceptron():
        x = static.data("x", [-1, 4])
        h = static.nn.fc(x, 5, activation="relu")
        h = static.nn.fc(h, 6, activation="tanh")
        return [F.softmax(static.nn.fc(h, 3))]

    def images():
        x = static.data("x", [-1, 1, 12, 12])
        h = static.nn.conv2d(x, 4, 3, padding=1, act="relu")
        h = F.max_pool2d(h, 2, 2)
        h = static.nn.batch_norm(static.nn.conv2d(h, 6, 3, stride=2), is_test=True, act="relu")
        h = F.avg_pool2d(h, 2, 1)
        return [F.softmax(static.nn.fc(paddle.flatten(h, 1), 3))]

    def words():
        w = static.data("w", [-1, 3], "int64")
        e = static.nn.embedding(w, [7, 4])
        q = paddle.matmul(e, e, transpose_y=True)
        t = paddle.transpose(q, [0, 2, 1])
        both = paddle.concat([t, q], 1)
        return [
            paddle.reshape(q, [-1, 9]),
            paddle.mean(both, axis=1),
            F.dropout(both, 0.3, training=False)
        ]

    def loop():
        x = static.data("x", [-1, 3])
        i, n = paddle.full([1], 0, "int64"), paddle.full([1], 5, "int64")
        i, h = static.nn.while_loop(lambda i, h: i < n,
                                    lambda i, h: [i + 1, paddle.tanh(h * 1.5)],
                                    [i, paddle.assign(x)])
        return [i, h]

    def trained(make):
        def build():
            x, y = static.data("x", [-1, 4]), static.data("y", [-1, 1], "int64")
            logits = static.nn.fc(static.nn.fc(x, 5, activation="relu"), 3)
            loss = paddle.mean(F.softmax_with_cross_entropy(logits, y))
            make().minimize(loss)
            return [loss]
        return build

    def trained_words():
        w, y = static.data("w", [-1, 3], "int64"), static.data("y", [-1, 1], "int64")
        logits = static.nn.fc(paddle.flatten(static.nn.embedding(w, [7, 4]), 1), 3)
        loss = paddle.mean(F.softmax_with_cross_entropy(logits, y))
        paddle.optimizer.SGD(0.1).minimize(loss)
        return [loss]

    case("perceptron", perceptron, {"x": reals(6, 4)})
    case("images", images, {"x": reals(3, 1, 12, 12)})
    case("words", words, {"w": whole(7, 5, 3)})
    case("loop", loop, {"x": reals(4, 3)})
    optimizer = paddle.optimizer
    for name, make in {
            "sgd": lambda: optimizer.SGD(0.1),
            "momentum": lambda: optimizer.Momentum(0.1, 0.9),
            "nesterov": lambda: optimizer.Momentum(0.1, 0.9, use_nesterov=True),
            "adagrad": lambda: optimizer.Adagrad(0.1),
            "adam": lambda: optimizer.Adam(0.01),
            "adamax": lambda: optimizer.Adamax(0.01),
            "adadelta": lambda: optimizer.Adadelta(1.0),
            "rmsprop": lambda: optimizer.RMSProp(0.01),
            "rmsprop_centered": lambda: optimizer.RMSProp(0.01, momentum=0.5, centered=True),
            "sgd_decayed": lambda: optimizer.SGD(0.1, weight_decay=paddle.regularizer.L2Decay(0.1)),
            "sgd_clipped": lambda: optimizer.SGD(0.1, grad_clip=paddle.nn.ClipGradByValue(0.05)),
    }.items():
        case("train_" + name, trained(make), {"x": reals(6, 4), "y": whole(3, 6, 1)}, training=True)
    case("train_words", trained_words, {"w": whole(7, 6, 3), "y": whole(3, 6, 1)}, training=True)
    lines = [f"{kind}\t{state}\n" for kind, state in sorted(operators.items())]
    pathlib.Path(f"{folder}.operators").write_text("".join(lines))


if __name__ == "__main__":
    main()
