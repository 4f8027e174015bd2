#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the ONNX files that fuzzing begins with, beyond those that write_corpus makes: graphs in
nodes, recurrent nodes, quantised operators, functions of the model, external data, symbolic
dimensions, and element types without arithmetic. Needs the package onnx.

usage: write_onnx_corpus.py FOLDER"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper, parser

# The name of a file, and the text of its graph; functions follow the graph.
GRAPHS = {
    "loop": """main (int64 n, bool c, float[2] x) => (float[2] last, float[k, 2] all) {
        last, all = Loop (n, c, x) <body = sum (int64 i, bool on, float[2] a)
            => (bool on, float[2] b, float[2] b2) { b = Add (a, x) b2 = Identity (b) }>
    }""",
    "known_loop": """main (float[2] x) => (float[2] y) <int64 n = {3}> {
        y = Loop (n, , x) <body = twice (int64 i, bool on, float[2] a)
            => (bool go, float[2] b) { b = Add (a, a) go = Identity (on) }>
    }""",
    "scan": """main (float[2] s, float[t, 2] x) => (float[2] last, float[t, 2] all) {
        last, all = Scan <num_scan_inputs = 1, scan_input_directions = [1],
                          scan_output_axes = [1],
                          body = add (float[2] a, float[2] b)
            => (float[2] c, float[2] d) { c = Add (a, b) d = Relu (c) }> (s, x)
    }""",
    "branches": """main (bool c, float[n, 3] x) => (float[n, m] y) {
        y = If (c) <then_branch = a () => (float[n, 3] p) { p = Relu (x) },
                    else_branch = b () => (float[n, 6] q) { q = Concat <axis = 1> (x, x) }>
    }""",
    "lstm": """main (float[t, n, 2] x, int32[n] len) => (float[t, 2, n, 1] y, float[2, n, 1] h)
        <float[2, 4, 2] w = {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8},
         float[2, 4, 1] r = {1, 2, 3, 4, 5, 6, 7, 8}> {
        y, h = LSTM <hidden_size = 1, direction = "bidirectional", clip = 2.0> (x, w, r, , len)
    }""",
    "gru": """main (float[2, n, 2] x) => (float[2, 1, n, 1] y)
        <float[1, 3, 2] w = {1, 2, 3, 4, 5, 6}, float[1, 3, 1] r = {1, 2, 3}> {
        y = GRU <hidden_size = 1, linear_before_reset = 1,
                 activations = ["HardSigmoid", "Affine"], activation_alpha = [0.3, 2.0]> (x, w, r)
    }""",
    "quantized": """main (float[n, 2] x) => (float[n, 2] y)
        <int8[2, 2] w = {1, -2, 3, 4}, float s = {0.5}, int8 z = {1}> {
        q = QuantizeLinear (x, s, z)
        p = QLinearMatMul (q, s, z, w, s, z, s, z)
        y = DequantizeLinear (p, s, z)
    }""",
    "dynamic_quantized": """main (float[n, 2] x) => (int32[n, 2] y)
        <uint8[2, 2] w = {1, 2, 3, 4}, uint8 zero = {2}> {
        q, s, z = DynamicQuantizeLinear (x)
        y = MatMulInteger (q, w, z, zero)
    }""",
    "quantized_conv": """main (uint8[n, 1, 4, 4] x) => (uint8[n, 1, h, w] y)
        <float s = {0.5}, uint8 z = {1}, uint8[1, 1, 2, 2] k = {1, 2, 3, 4}> {
        y = QLinearConv <pads = [1, 0, 0, 1], strides = [2, 1]> (x, s, z, k, s, z, s, z)
    }""",
    "symbols": """main (float[batch, seq, 4] x) => (float[batch, heads, seq, width] y)
        <int64[1] i = {1}, int64[2] last = {2, 2}, int64[1] zero = {0}, int64[1] two = {2}> {
        s = Shape (x)
        rows = Slice (s, zero, two)
        shape = Concat <axis = 0> (rows, last)
        split = Reshape (x, shape)
        t = Transpose <perm = [0, 2, 1, 3]> (split)
        n = Gather <axis = 0> (s, i)
        n1 = Squeeze (n)
        end = Add (n1, n1)
        step = Constant <value_int = 1> ()
        start = Constant <value_int = 0> ()
        r = Range (start, end, step)
        f = Cast <to = 1> (r)
        m = ReduceMax (f)
        y = Mul (t, m)
    }""",
    "function": """main (float[n, 2] x) => (float[n, 2] y) { y = own.twice <alpha = 2.0> (x) }
        <domain: "own", opset_import: ["" : 18]>
        twice <alpha: float = 1.0> (a) => (c) {
            b = LeakyRelu <alpha: float = @alpha> (a)
            c = own.inner (b)
        }
        <domain: "own", opset_import: ["" : 18]>
        inner (a) => (c) { c = Add (a, a) }""",
    "images": """main (float[n, 2, h, w] x) => (float[n, 2, a, b] y)
        <float[2, 2, 3, 3] k, float[2] one = {1, 1}, float[4] scales = {1, 1, 2, 0.5},
         int64[8] pads = {0, 0, 1, 0, 0, 0, 0, 2}> {
        p = Pad <mode = "reflect"> (x, pads)
        c = Conv <dilations = [1, 2], auto_pad = "SAME_LOWER"> (p, k)
        b = BatchNormalization (c, one, one, one, one)
        m = AveragePool <kernel_shape = [3, 2], ceil_mode = 1, strides = [2, 2]> (b)
        y = Resize <mode = "linear"> (m, , scales)
    }""",
    "tensor_lists": """main (float[n, 5] x) => (float[n, m] y)
        <int64 two = {2}, int64[2] parts = {1, 4}, int64 last = {-1}> {
        a = SplitToSequence <axis = 1> (x, two)
        b = SplitToSequence <axis = 1, keepdims = 0> (x)
        c = SequenceAt (b, last)
        d = SequenceEmpty ()
        e = SequenceInsert (d, x)
        f = SequenceInsert (e, x, last)
        g = SequenceErase (f, last)
        h = ConcatFromSequence <axis = 1, new_axis = 0> (g)
        i = ConcatFromSequence <axis = -1> (a)
        j = SequenceConstruct (h, i)
        k = SequenceLength (j)
        l = Cast <to = 1> (k)
        o = SequenceAt (j, last)
        y = Mul (o, l)
    }""",
    "regions": """main (float[2, 1, 4, 4] x, float[r, 4] boxes, int64[r] image)
        => (float[r, 1, 2, 2] y, float[2, 1, 4, 4] z)
        <int64[4] shape = {2, 1, 4, 5}> {
        y = RoiAlign <coordinate_transformation_mode = "output_half_pixel", output_height = 2,
                      output_width = 2> (x, boxes, image)
        p, at = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)
        z = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (p, at, shape)
    }""",
    "chosen": """main (float[t, n] x, int64[n] len, bool[c] on) => (float[k, n] y)
        <int64[1, 1] zero = {0}> {
        r = ReverseSequence <batch_axis = 1, time_axis = 0> (x, len)
        c = Compress <axis = 0> (r, on)
        f = Compress (r, on)
        m = ReduceMax (f)
        a = Add (c, m)
        s = GatherND (a, zero)
        y = ScatterND <reduction = "min"> (a, zero, s)
    }""",
    "indices": """main (float[n, 4] x, int64[k, 2] i) => (float[a, b] y)
        <int64[2, 2] at = {0, 1, 1, 0}, float[2] new = {5, 6}, int64 top = {2},
         int64[1] axes = {1}> {
        s = ScatterND <reduction = "max"> (x, at, new)
        g = GatherElements <axis = 0> (s, i)
        t, index = TopK <axis = 1> (g, axes)
        e = Einsum <equation = "ij,kj->ik"> (t, t)
        nz = NonZero (e)
        f = Cast <to = 1> (nz)
        y = CumSum (f, top)
    }""",
}


def model_of(text):
    made = parser.parse_model('<ir_version: 10, opset_import: ["" : 18, "own" : 1]>\n' + text)
    for node in made.graph.initializer:
        if node.name == "k" and not node.raw_data and not node.float_data and node.data_type == 1:
            node.CopyFrom(numpy_helper.from_array(np.ones(tuple(node.dims), np.float32), "k"))
    return made


def with_types():
    """Initializers of the element types that are read as wider ones."""
    graph = parser.parse_graph("""main (float[2] x) => (float[2] y) {
        h = Cast <to = 1> (half)  b = Cast <to = 1> (brain)  q = Cast <to = 1> (four)
        e = Cast <to = 1> (eight)  u = Cast <to = 1> (wide)
        y = Sum (x, h, b, q, e, u)
    }""")
    t = graph.initializer.add()
    t.CopyFrom(numpy_helper.from_array(np.array([1, 2], np.float16), "half"))
    for name, kind, data in (("brain", TensorProto.BFLOAT16, b"\x80\x3f\x00\x40"),
                             ("four", TensorProto.INT4, b"\x92"),
                             ("eight", TensorProto.FLOAT8E4M3FN, b"\x38\x40")):
        t = graph.initializer.add(name=name, data_type=kind, dims=[2])
        t.raw_data = data
    t = graph.initializer.add(name="wide", data_type=TensorProto.UINT64, dims=[2])
    t.uint64_data.extend([1, 2])
    return onnx.helper.make_model(graph, ir_version=10,
                                  opset_imports=[onnx.helper.make_opsetid("", 21)])


def with_external(location):
    graph = parser.parse_graph("main (float[2] x) => (float[2] y) { y = Add (x, w) }")
    t = graph.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[2])
    t.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0"), ("length", "8")):
        t.external_data.add(key=key, value=value)
    return onnx.helper.make_model(graph, ir_version=10,
                                  opset_imports=[onnx.helper.make_opsetid("", 21)])


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    models = {name: model_of(text) for name, text in GRAPHS.items()}
    models["types"] = with_types()
    models["external"] = with_external("weights/w.bin")
    models["external_above"] = with_external("../w.bin")
    for name, model in models.items():
        (folder / name).write_bytes(model.SerializeToString())


if __name__ == "__main__":
    main()
