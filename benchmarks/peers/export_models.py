#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports the models of rows I1 to I10 of benchmarks/run from PyTorch to FOLDER/NAME/model.onnx.

usage: export_models.py FOLDER NAME...

The parameters are random numbers of a seed, the batch is 1, and all dimensions are known. The
input is beside the model, in x.npy. A model that is there already is kept.
"""
import contextlib
import io
import logging
import pathlib
import sys
import warnings

sys.path.pop(0)  # a package of torchvision has the name of a file in this folder
import numpy
import torch
import torchvision
from torch import nn


class Digits(nn.Module):
    """A convolutional net for the images of MNIST."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 20, 5), nn.ReLU(), nn.MaxPool2d(2),
                                      nn.Conv2d(20, 50, 5), nn.ReLU(), nn.MaxPool2d(2))
        self.classes = nn.Sequential(nn.Linear(50 * 4 * 4, 500), nn.ReLU(), nn.Linear(500, 10))

    def forward(self, x):
        return self.classes(torch.flatten(self.features(x), 1))


class Predictor(nn.Module):
    """A recurrent net that predicts the next value of a series of 32 steps."""

    def __init__(self, kind):
        super().__init__()
        self.net = kind(8, 64, batch_first=True)
        self.last = nn.Linear(64, 1)

    def forward(self, x):
        return self.last(self.net(x)[0][:, -1])


class Sentences(nn.Module):
    """MiniLM with two layers: the states of its tokens."""

    def __init__(self):
        super().__init__()
        import transformers
        self.net = transformers.BertModel(transformers.BertConfig(
            vocab_size=8000, hidden_size=384, num_hidden_layers=2, num_attention_heads=12,
            intermediate_size=1536, attn_implementation="eager"))

    def forward(self, tokens):
        return self.net(input_ids=tokens).last_hidden_state


def image(*shape):
    return lambda: torch.randn(1, *shape)


def vision(name):
    return lambda: getattr(torchvision.models, name)(weights=None)


MODELS = {
    "I1": (Digits, image(1, 28, 28)),
    "I2": (lambda: Predictor(nn.LSTM), image(32, 8)),
    "I3": (lambda: Predictor(nn.GRU), image(32, 8)),
    "I4": (vision("squeezenet1_1"), image(3, 224, 224)),
    "I5": (vision("mobilenet_v2"), image(3, 224, 224)),
    "I6": (vision("mobilenet_v3_small"), image(3, 224, 224)),
    "I7": (vision("shufflenet_v2_x1_0"), image(3, 224, 224)),
    "I8": (vision("efficientnet_b0"), image(3, 224, 224)),
    "I9": (vision("resnet18"), image(3, 224, 224)),
    "I10": (Sentences, lambda: torch.randint(0, 8000, (1, 64))),
}


def export(folder, name):
    model, feed = MODELS[name]
    torch.manual_seed(1)
    net = model().eval()
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.normal_(module.running_mean, 0, 0.1)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
    x = feed()
    folder.mkdir(parents=True, exist_ok=True)
    numpy.save(folder / "x.npy", x.numpy())
    part = folder / "part.onnx"
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        torch.onnx.export(net, (x,), part, input_names=["x"], output_names=["result"],
                          opset_version=20, dynamo=True, external_data=False)
    part.rename(folder / "model.onnx")


def main():
    top = pathlib.Path(sys.argv[1])
    for name in sys.argv[2:]:
        if not (top / name / "model.onnx").exists():
            export(top / name, name)


if __name__ == "__main__":
    main()
