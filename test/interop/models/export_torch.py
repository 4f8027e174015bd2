#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports PyTorch models with random parameters to ONNX files, with the results of ONNX Runtime.

usage: export_torch.py FOLDER [--only NAME...]

Writes a folder per case to FOLDER: model.onnx and values.npz, or `reason`, the message of an
exporter that cannot write the case. A case is named MODEL.EXPORTER.OPSET.VARIANT. EXPORTER is
`script` (torch.onnx.export by TorchScript) or `dynamo` (by torch.export). VARIANT is

  batch      the first dimension is known at run time only; it is 1 and 3 in values.npz
  free       as batch; in addition the length of sequences, or the size of images, is unknown
  fixed      all dimensions are known; batch 1
  odd        as batch, with images of odd height and width
  unfolded   as batch; the exporter does not fold constants
  external   as batch; the parameters are in a second file
  constants  as batch; the parameters are Constant nodes

values.npz holds arrays `SET/feed/N` and `SET/fetch/N`, in the order of the model's inputs and
outputs. A case that is there already is kept if the versions of the packages and this script are
those with which it was made."""
import argparse
import contextlib
import copy
import hashlib
import io
import logging
import os
import pathlib
import re
import shutil
import sys
import warnings

import numpy as np
import onnx
import onnxruntime
import torch
import torchvision
import transformers
from torch import nn
from torch.nn import functional

OPSETS = (13, 17, 20, 23)
NEWEST = 20  # of the variants that are made once
SIZE, ODD = (64, 64), (65, 79)


class resized(nn.Module):
    """Images by scales that make no whole number of elements, and by positions outside of them."""

    def forward(self, x, grid):
        kept = {"recompute_scale_factor": False}
        small = functional.interpolate(x, scale_factor=(0.6, 0.7), mode="bilinear",
                                       align_corners=True, **kept)
        nearest = functional.interpolate(x, scale_factor=(0.6, 0.7), **kept)
        sampled = functional.grid_sample(x, grid, mode="bicubic", padding_mode="border",
                                         align_corners=False)
        return small, nearest, sampled


class decoder(nn.Module):
    """A convolution and two ways back to the size of the image."""

    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.GroupNorm(2, 8), nn.SiLU())
        self.up = nn.ConvTranspose2d(8, 4, 4, 2, 1)
        self.out = nn.Conv2d(8, 4, 1)

    def forward(self, x):
        y = self.down(x)
        wide = functional.interpolate(self.out(y), size=x.shape[2:], mode="bilinear")
        return self.up(y), wide + functional.interpolate(self.out(y), size=x.shape[2:])


class volumes(nn.Module):
    """Convolutions of volumes, there and back."""

    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv3d(2, 4, 3, 2, 1), nn.InstanceNorm3d(4, affine=True))
        self.up = nn.ConvTranspose3d(4, 2, 3, 2, 1, output_padding=1, groups=2)

    def forward(self, x):
        return self.up(functional.relu(self.down(x)))


class digits(nn.Module):
    """A small net for images of digits."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
                                      nn.Conv2d(8, 16, 5), nn.ReLU(), nn.MaxPool2d(2))
        self.classes = nn.Linear(16 * 5 * 5, 10)

    def forward(self, x):
        return self.classes(torch.flatten(self.features(x), 1))


class recurrent(nn.Module):
    """A recurrent net and a layer after its last step; returns its states too."""

    def __init__(self, kind, **options):
        super().__init__()
        self.batch_first = options["batch_first"]
        self.net = kind(6, 10, **options)
        self.last = nn.Linear(10 * (2 if options.get("bidirectional") else 1), 4)

    def forward(self, x):
        y, state = self.net(x)
        last = self.last(y[:, -1] if self.batch_first else y[-1])
        return (y, last, *(state if isinstance(state, tuple) else (state,)))


class chosen(nn.Module):
    """Outputs of a model of transformers, which returns a dictionary."""

    def __init__(self, model, call, *outputs):
        super().__init__()
        self.model, self.call, self.outputs = model, call, outputs

    def forward(self, *inputs):
        found = self.call(self.model, *inputs)
        return tuple(found[name] for name in self.outputs)


class spec:
    """How a model is made and fed. `axes` has the unknown dimensions per input: of the batch, and
    of the variant `free`."""

    def __init__(self, make, feed, axes, of_images=False):
        self.make, self.feed, self.axes, self.of_images = make, feed, axes, of_images


def image_net(name):
    def made(_):
        return getattr(torchvision.models, name)(weights=None, num_classes=10)

    def feed(batch, size):
        return (torch.randn(batch, 3, *size),)
    return spec(made, feed, [({0: "batch"}, {2: "height", 3: "width"})], of_images=True)


def recurrent_net(kind, **options):
    batch, steps = (0, 1) if options["batch_first"] else (1, 0)

    def feed(n, _):
        return (torch.randn(*((n, 7, 6) if batch == 0 else (7, n, 6))),)
    return spec(lambda _: recurrent(kind, **options), feed, [({batch: "batch"}, {steps: "steps"})])


def attention_of(exporter):
    """TorchScript's exporter writes the products of attention, the other one its operator."""
    return "eager" if exporter == "script" else "sdpa"


TOKENS = ({0: "batch"}, {1: "tokens"})


def bert(exporter):
    options = transformers.BertConfig(
        vocab_size=200, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=96, max_position_embeddings=32,
        attn_implementation=attention_of(exporter))

    def call(model, ids, mask):
        states = model(input_ids=ids, attention_mask=mask).last_hidden_state
        weights = mask.unsqueeze(-1).to(states.dtype)  # the mean of the tokens, as MiniLM has it
        mean = (states * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
        return {"states": states, "sentence": nn.functional.normalize(mean, dim=1)}
    return chosen(transformers.BertModel(options), call, "states", "sentence")


def gpt2(exporter):
    options = transformers.GPT2Config(
        vocab_size=200, n_positions=32, n_embd=48, n_layer=2, n_head=4,
        attn_implementation=attention_of(exporter))
    return chosen(transformers.GPT2LMHeadModel(options),
                  lambda model, ids, mask: model(input_ids=ids, attention_mask=mask,
                                                 use_cache=False), "logits")


def llama(exporter):
    options = transformers.LlamaConfig(
        vocab_size=200, hidden_size=48, intermediate_size=96, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=32,
        attn_implementation=attention_of(exporter))
    return chosen(transformers.LlamaForCausalLM(options),
                  lambda model, ids, mask: model(input_ids=ids, attention_mask=mask,
                                                 use_cache=False), "logits")


def whisper(exporter):
    options = transformers.WhisperConfig(
        vocab_size=200, num_mel_bins=16, d_model=32, encoder_layers=2, encoder_attention_heads=4,
        encoder_ffn_dim=64, decoder_layers=1, decoder_attention_heads=4, decoder_ffn_dim=64,
        max_source_positions=20, max_target_positions=20, pad_token_id=0, bos_token_id=1,
        eos_token_id=2, decoder_start_token_id=1, suppress_tokens=None, begin_suppress_tokens=None,
        attn_implementation=attention_of(exporter))
    return chosen(transformers.WhisperModel(options).encoder,
                  lambda model, x: model(input_features=x), "last_hidden_state")


def masked_tokens(batch, _):
    mask = torch.ones(batch, 9, dtype=torch.int64)
    mask[-1, 6:] = 0
    return torch.randint(0, 200, (batch, 9)), mask


MODELS = {
    "mnist": spec(lambda _: digits(), lambda n, _: (torch.randn(n, 1, 28, 28),),
                  [({0: "batch"}, {})]),
    "lstm": recurrent_net(nn.LSTM, batch_first=True),
    "lstm_of_2_layers": recurrent_net(nn.LSTM, num_layers=2, batch_first=False),
    "lstm_both_ways": recurrent_net(nn.LSTM, bidirectional=True, batch_first=True),
    "gru": recurrent_net(nn.GRU, batch_first=False),
    "gru_of_2_layers": recurrent_net(nn.GRU, num_layers=2, batch_first=True),
    "gru_both_ways": recurrent_net(nn.GRU, num_layers=2, bidirectional=True, batch_first=False),
    "squeezenet1_1": image_net("squeezenet1_1"),
    "mobilenet_v2": image_net("mobilenet_v2"),
    "mobilenet_v3_small": image_net("mobilenet_v3_small"),
    "shufflenet_v2_x0_5": image_net("shufflenet_v2_x0_5"),
    "efficientnet_b0": image_net("efficientnet_b0"),
    "resnet18": image_net("resnet18"),
    "bert": spec(bert, masked_tokens, [TOKENS, TOKENS]),
    "gpt2": spec(gpt2, masked_tokens, [TOKENS, TOKENS]),
    "llama": spec(llama, masked_tokens, [TOKENS, TOKENS]),
    "whisper_encoder": spec(whisper, lambda n, _: (torch.randn(n, 16, 40),), [({0: "batch"}, {})]),
    "resized": spec(lambda _: resized(), lambda n, _: (torch.randn(n, 2, 9, 8),
                                                       torch.rand(n, 4, 5, 2) * 2.6 - 1.3),
                    [({0: "batch"}, {}), ({0: "batch"}, {})]),
    "decoder": spec(lambda _: decoder(), lambda n, size: (torch.randn(n, 3, *size),),
                    [({0: "batch"}, {2: "height", 3: "width"})], of_images=True),
    "volumes": spec(lambda _: volumes(), lambda n, _: (torch.randn(n, 2, 6, 4, 8),),
                    [({0: "batch"}, {})]),
}


def made_model(name, exporter):
    """A model in test mode, whose parameters and statistics a seed determines."""
    torch.manual_seed(1 + list(MODELS).index(name))
    model = MODELS[name].make(exporter).eval()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.normal_(module.running_mean, 0, 0.1)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.normal_(module.bias, 0, 0.1)
    return model


def feeds_of(name, batch, size):
    torch.manual_seed(1000 * batch + size[1])
    return MODELS[name].feed(batch, size)


@contextlib.contextmanager
def quiet():
    """Exporters write pages of progress."""
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), \
            contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield
    logging.disable(logging.NOTSET)


class exports:
    """The exports of one model by one exporter. The trace of torch.export is shared by opsets."""

    def __init__(self, name, exporter):
        self.name, self.exporter, self.traces = name, exporter, {}
        self.model = made_model(name, exporter)

    def axes(self, variant):
        if variant == "fixed":
            return None
        return [{**of_batch, **(of_free if variant == "free" else {})}
                for of_batch, of_free in MODELS[self.name].axes]

    def trace(self, kind, feed):
        if kind not in self.traces:
            axes = self.axes(kind)
            if axes is not None:
                axes = tuple({d: torch.export.Dim.DYNAMIC for d in of} for of in axes)
                if isinstance(self.model, chosen):
                    axes = (axes,)  # its inputs are one variadic parameter
            try:
                self.traces[kind] = torch.export.export(self.model, feed, dynamic_shapes=axes,
                                                        strict=False)
            except Exception as e:  # an exporter may throw anything
                self.traces[kind] = e
        if isinstance(self.traces[kind], Exception):
            raise self.traces[kind]
        return self.traces[kind]

    def write(self, path, opset, variant):
        kind = variant if variant in ("fixed", "free", "odd") else "batch"
        feed = feeds_of(self.name, 1 if kind == "fixed" else 2, ODD if variant == "odd" else SIZE)
        if self.exporter == "script":
            axes, names = self.axes(kind), [f"input_{i}" for i in range(len(feed))]
            with torch.no_grad():
                torch.onnx.export(
                    self.model, feed, str(path), dynamo=False, opset_version=opset,
                    input_names=names, do_constant_folding=variant != "unfolded",
                    dynamic_axes=None if axes is None else dict(zip(names, axes)))
        else:
            made = torch.onnx.export(
                copy.deepcopy(self.trace(kind, feed)), dynamo=True, opset_version=opset,
                optimize=variant != "unfolded", verbose=False)
            made.save(str(path))
        model = onnx.load(path)
        if model.opset_import[0].version != opset:
            found = [o.version for o in model.opset_import if o.domain in ("", "ai.onnx")]
            if found != [opset]:
                raise RuntimeError(f"the exporter wrote operator set {found[0]}")
        for old in path.parent.glob("*.data"):
            old.unlink()
        if variant == "constants":
            without_initializers(model)
        if variant == "external":
            onnx.save(model, path, save_as_external_data=True, location="parameters.data",
                      size_threshold=128)  # ONNX Runtime wants shapes inside
        else:
            onnx.save(model, path)


def without_initializers(model):
    nodes = []
    for t in model.graph.initializer:
        nodes.append(onnx.helper.make_node("Constant", [], [t.name], value=t))
    del model.graph.initializer[:]
    nodes.extend(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def values_of(name, path, variant):
    """The arrays of values.npz."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    values = {}
    for i, batch in enumerate([1] if variant == "fixed" else [1, 3]):
        size = ODD if variant == "odd" else SIZE
        if variant == "free" and i == 1 and MODELS[name].of_images:
            size = ODD
        feeds = [v.numpy() for v in feeds_of(name, batch, size)]
        if variant == "free" and i == 1 and not MODELS[name].of_images:
            for k, (_, free) in enumerate(MODELS[name].axes):  # shorter sequences
                for axis in free:
                    feeds[k] = feeds[k].take(range(feeds[k].shape[axis] - 2), axis)
        names = [v.name for v in session.get_inputs()]
        for k, value in enumerate(feeds):
            values[f"{i}/feed/{k}"] = value
        for k, value in enumerate(session.run(None, dict(zip(names, feeds)))):
            values[f"{i}/fetch/{k}"] = value
    return values


def variants(name):
    """Pairs of an opset and a variant."""
    yield from ((opset, "batch") for opset in OPSETS)
    yield from ((NEWEST, v) for v in ("fixed", "unfolded", "external", "constants"))
    if any(free for _, free in MODELS[name].axes):
        yield NEWEST, "free"
    if MODELS[name].of_images:
        yield NEWEST, "odd"


def short(message, folder):
    """The sentence of a message that says why."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(message)).replace(str(folder), ".")
    text = re.sub(r"/onnxruntime_src/\S+ ", "", text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in reversed(lines):
        if re.match(r"^(<class '|[A-Za-z.]*(Error|Exception|Violation)\b).*:", line):
            return line[:200]
    return (lines[0] if lines else type(message).__name__)[:200]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--only", nargs="*", help="beginnings of names")
    arguments = options.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    stamp = "\n".join([*(f"{m.__name__} {m.__version__}" for m in
                         (torch, torchvision, transformers, onnx, onnxruntime)),
                       hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest(), ""])
    torch.set_num_threads(2)
    for name in MODELS:
        for exporter in ("script", "dynamo"):
            made = None
            for opset, variant in variants(name):
                case = f"{name}.{exporter}.{opset}.{variant}"
                folder = arguments.folder / case
                if arguments.only and not any(case.startswith(o) for o in arguments.only):
                    continue
                done = folder / "stamp"
                if done.is_file() and done.read_text() == stamp:
                    continue
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                path = folder / "model.onnx"
                try:
                    with quiet():
                        made = made or exports(name, exporter)
                        made.write(path, opset, variant)
                except Exception as e:  # an exporter may throw anything
                    for left in folder.iterdir():
                        left.unlink()
                    (folder / "reason").write_text(
                        f"torch.onnx.export does not write it: {short(e, folder)}\n")
                else:
                    try:
                        np.savez(folder / "values.npz", **values_of(name, path, variant))
                    except Exception as e:
                        (folder / "reason").write_text(
                            f"ONNX Runtime does not run it: {short(e, folder)}\n")
                done.write_text(stamp)
    if not arguments.only:  # cases of another version of this script
        for folder in arguments.folder.iterdir():
            if folder.is_dir() and not ((folder / "stamp").is_file() and
                                        (folder / "stamp").read_text() == stamp):
                shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    sys.exit(main())
