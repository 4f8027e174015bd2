#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints image_golden.inc: layers of images as PyTorch computes them on the CPU, in double.

    python3 make_image_golden.py > image_golden.inc
"""
import torch
import torch.nn.functional as F


def wave(*shape):
    """The numbers that image_golden_test.cpp feeds: sin(1), sin(2), ..."""
    count = 1
    for n in shape:
        count *= n
    return torch.sin(torch.arange(1, count + 1, dtype=torch.float64)).reshape(shape)


def show(name, values):
    text = ", ".join(f"{float(v):.12g}" for v in values.detach().reshape(-1))
    print(f"inline constexpr double {name}[] = {{{text}}};")


def layer(name, f, *inputs):
    """The result of f, and the gradients of the mean of its squares by each input."""
    given = [x.clone().requires_grad_(True) for x in inputs]
    y = f(*given)
    (y * y).mean().backward()
    show(name + "_y", y)
    for i, x in enumerate(given):
        show(f"{name}_d{i}", x.grad)


X = wave(2, 4, 5, 6)
print(
    "// SPDX-License-Identifier: Apache-2.0\n// Written by make_image_golden.py.\n// clang-format "
    "off\nnamespace golden {"
)
layer("conv", lambda x, w: F.conv2d(x, w, stride=(2, 1), padding=(1, 2), dilation=(1, 2), groups=2),
      X, wave(6, 2, 3, 2))
layer("depthwise", lambda x, w: F.conv2d(x, w, stride=1, padding=1, groups=4), X, wave(8, 1, 3, 3))
layer("transposed",
      lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1, groups=2), X,
      wave(4, 3, 3, 3))
layer("volume", lambda x, w: F.conv3d(x, w, stride=(1, 2, 1), padding=(1, 0, 1)),
      X.reshape(2, 2, 2, 5, 6), wave(3, 2, 2, 3, 2))
layer("most", lambda x: F.max_pool2d(x, 3, stride=2, padding=1, ceil_mode=True), X)
layer("average", lambda x: F.avg_pool2d(x, (2, 3), stride=2, padding=1, count_include_pad=False), X)
layer("counted", lambda x: F.avg_pool2d(x, (2, 3), stride=2, padding=1, count_include_pad=True), X)
layer("adaptive", lambda x: F.adaptive_avg_pool2d(x, (3, 4)), X)
W, B = wave(4) + 1.5, wave(8)[4:]
layer("batch", lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), X, W, B)
layer("group", lambda x, w, b: F.group_norm(x, 2, w, b), X, W, B)
layer("instance", lambda x, w, b: F.instance_norm(x, weight=w, bias=b), X, W, B)
# PyTorch divides alpha by the size.
layer("local", lambda x: F.local_response_norm(x, 3, alpha=0.3, beta=0.75, k=1.0), X)
layer("corners", lambda x: F.interpolate(x, (8, 3), mode="bilinear", align_corners=True), X)
layer("middle", lambda x: F.interpolate(x, (8, 3), mode="bilinear", align_corners=False), X)
layer("nearest", lambda x: F.interpolate(x, (8, 4), mode="nearest"), X)
layer("mirror", lambda x: F.pad(x, (1, 3, 2, 1), mode="reflect"), X)
layer("edge", lambda x: F.pad(x, (1, 3, 2, 1), mode="replicate"), X)
print("}  // namespace golden")
