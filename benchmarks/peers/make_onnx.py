#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes FOLDER/NAME/model.onnx for each inference workload whose files are in FOLDER.

usage: make_onnx.py FOLDER NAME...
"""
import pathlib
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """The nodes and constants of a model, and lamina's parameters in the order of their
    creation."""

    def __init__(self, folder):
        self.folder = folder
        self.parameters = [numpy.load(f) for f in sorted(folder.glob("parameter_*.npy"))]
        self.rest = iter(self.parameters)
        self.nodes, self.constants = [], []

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(numpy.ascontiguousarray(value), name))
        return name

    def parameter(self):
        return self.constant(next(self.rest))

    def vector(self):
        return self.constant(next(self.rest).reshape(-1))

    def node(self, kind, *inputs, **attributes):
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def save(self, inputs, outputs):
        def info(values):
            return [
                helper.make_tensor_value_info(n, TensorProto.FLOAT, shape)
                for n, shape in values.items()
            ]

        model = helper.make_model(
            helper.make_graph(self.nodes, "workload", info(inputs), info(outputs), self.constants),
            opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
        onnx.checker.check_model(model)
        onnx.save(model, self.folder / "model.onnx")

    def save_result(self, name, width):
        """Completes the model. Its output is that of the last node: `width` columns, and the rows
        of the input `name`."""
        shape = list(numpy.load(self.folder / f"{name}.npy").shape)
        self.nodes[-1].output[0] = "result"
        self.save({name: shape},
                  {"result": [*(shape[:1] if len(shape) != 3 else shape[:2]), width]})


def fc(g, x):
    return g.node("Gemm", x, g.parameter(), g.vector())


def perceptron(g):
    x = g.node("Relu", fc(g, "image"))
    fc(g, g.node("Relu", fc(g, x)))
    g.save_result("image", 10)


def lenet(g):
    x = "image"
    for _ in range(2):
        x = g.node("Conv", x, g.parameter(), g.vector())
        x = g.node("Relu", g.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]))
    x = g.node("Relu", fc(g, g.node("Flatten", x)))
    fc(g, x)
    g.save_result("image", 10)


def conv_norm(g, x, stride=1):
    weight = next(g.rest)
    pad = weight.shape[2] // 2
    x = g.node("Conv", x, g.constant(weight), strides=[stride] * 2, pads=[pad] * 4)
    return g.node("BatchNormalization", x, *(g.vector() for _ in range(4)), epsilon=1e-5)


def block(g, x, changes, stride=1):
    y = conv_norm(g, g.node("Relu", conv_norm(g, x, stride)))
    return g.node("Relu", g.node("Add", y, conv_norm(g, x, stride) if changes else x))


def resnet(g):
    x = g.node("Relu", conv_norm(g, "image"))
    for stage in range(3):
        x = block(g, block(g, x, stage > 0, 1 if stage == 0 else 2), False)
    fc(g, g.node("Flatten", g.node("GlobalAveragePool", x)))
    g.save_result("image", 10)


def encoder(g):
    rows, positions, width = numpy.load(g.folder / "x.npy").shape

    def product(x):
        return g.node("Add", g.node("MatMul", x, g.parameter()), g.vector())

    def heads(x, order):
        shape = g.constant(numpy.array([rows, positions, 4, width // 4]))
        return g.node("Transpose", g.node("Reshape", x, shape), perm=order)

    def norm(x, y):
        return g.node("LayerNormalization", g.node("Add", x, y), g.vector(), g.vector(),
                      epsilon=1e-5)

    q, k, v = heads(product("x"),
                    [0, 2, 1, 3]), heads(product("x"),
                                         [0, 2, 3, 1]), heads(product("x"), [0, 2, 1, 3])
    scores = g.node("Mul", g.node("MatMul", q, k), g.constant(numpy.float32((width // 4) ** -0.5)))
    seen = g.node("Transpose", g.node("MatMul", g.node("Softmax", scores, axis=-1), v),
                  perm=[0, 2, 1, 3])
    half = norm("x",
                product(g.node("Reshape", seen, g.constant(numpy.array([rows, positions, width])))))
    norm(half, product(g.node("Gelu", product(half))))
    g.save_result("x", width)


def lstm_step(g):
    weight, bias = g.parameters
    width = bias.size // 4
    # The order of the gates in ONNX is i, o, f, c.
    order = numpy.concatenate([numpy.arange(k * width, (k + 1) * width) for k in (0, 2, 1, 3)])
    biases = numpy.concatenate([bias.reshape(-1)[order], numpy.zeros(4 * width, numpy.float32)])
    g.nodes.append(
        helper.make_node("LSTM", [
            "x",
            g.constant(weight[:-width, order].T[None]),
            g.constant(weight[-width:, order].T[None]),
            g.constant(biases[None]), "", "hidden", "cell"
        ], ["", "next_hidden", "next_cell"], hidden_size=width))
    state = [1, 1, width]
    g.save({
        "x": [1, 1, 1],
        "hidden": state,
        "cell": state
    }, {
        "next_hidden": state,
        "next_cell": state
    })


MODELS = {
    "W1f": perceptron,
    "W1b": perceptron,
    "B1": perceptron,
    "W2i": lenet,
    "W2i1": lenet,
    "W7i": resnet,
    "W8i": encoder,
    **{
        f"W5h{n}": lstm_step for n in (8, 16, 32, 64)
    }
}


def main():
    for name in sys.argv[2:]:
        if name in MODELS:
            MODELS[name](Graph(pathlib.Path(sys.argv[1], name)))


if __name__ == "__main__":
    main()
