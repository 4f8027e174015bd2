#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the workloads in PyTorch, eager or compiled, from the files that lamina's programs write.

usage: pytorch.py MODE FOLDER THREADS      MODE is eager, channels_last or compiled; on a GPU
                                           cuda_eager, cuda_compiled,
                                           cuda_reduced (compiled, with CUDA graphs of its own) or
                                           cuda_graph (a whole step recorded as one CUDA graph)
Answers `check NAME` and `time NAME` on standard input, as ../workload.hpp says.
"""
import pathlib
import statistics
import sys
import time

import numpy
import torch
import torch.nn.functional as F

MODE, FOLDER, THREADS = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
CUDA = MODE.startswith("cuda_")
DEVICE = "cuda" if CUDA else "cpu"
# Products of floats must be computed in float, not in TF32.
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False


class Start:
    """The inputs and initial parameters of a job; parameters are in lamina's order of creation."""

    def __init__(self, name):
        self.folder = FOLDER / name
        self.parameters = [
            torch.from_numpy(numpy.load(f)).to(DEVICE)
            for f in sorted(self.folder.glob("parameter_*.npy"))
        ]

    def __getitem__(self, name):
        return torch.from_numpy(numpy.load(self.folder / f"{name}.npy")).to(DEVICE)


def linear(weight, bias=None):
    """Makes a torch.nn.Linear from lamina's weight, whose shape is [inputs, outputs], and bias."""
    layer = torch.nn.Linear(*weight.shape, bias=bias is not None)
    layer.weight.data = weight.t().contiguous()
    if bias is not None:
        layer.bias.data = bias.flatten().clone()
    return layer


def conv(weight, bias=None, stride=1):
    """Makes a convolution. Without a bias, as in ResNet, it is padded so that only the stride
    changes the size."""
    out, into, size, _ = weight.shape
    padding = size // 2 if bias is None else 0
    layer = torch.nn.Conv2d(into, out, size, stride, padding, bias=bias is not None)
    layer.weight.data = weight.clone()
    if bias is not None:
        layer.bias.data = bias.flatten().clone()
    return layer


def perceptron(start):
    p = start.parameters
    return torch.nn.Sequential(linear(p[0], p[1]), torch.nn.ReLU(), linear(p[2], p[3]),
                               torch.nn.ReLU(), linear(p[4], p[5]))


def narrow(start):
    layers = []
    for weight, bias in zip(start.parameters[::2], start.parameters[1::2]):
        layers += [linear(weight, bias), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def lenet(start):
    p = start.parameters
    return torch.nn.Sequential(conv(p[0], p[1]), torch.nn.MaxPool2d(2), torch.nn.ReLU(),
                               conv(p[2], p[3]), torch.nn.MaxPool2d(2), torch.nn.ReLU(),
                               torch.nn.Flatten(), linear(p[4], p[5]), torch.nn.ReLU(),
                               linear(p[6], p[7]))


class ConvNorm(torch.nn.Sequential):
    def __init__(self, parameters, stride=1):
        weight, scale, bias = (next(parameters) for _ in range(3))
        next(parameters), next(parameters)  # the moving statistics: 0 and 1
        norm = torch.nn.BatchNorm2d(weight.shape[0])
        norm.weight.data, norm.bias.data = scale.flatten().clone(), bias.flatten().clone()
        super().__init__(conv(weight, stride=stride), norm)


class Block(torch.nn.Module):
    def __init__(self, parameters, changes, stride=1):
        super().__init__()
        self.first = ConvNorm(parameters, stride)
        self.second = ConvNorm(parameters)
        self.shortcut = ConvNorm(parameters, stride) if changes else torch.nn.Identity()

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))) + self.shortcut(x))


def resnet(start):
    p = iter(start.parameters)
    blocks = [ConvNorm(p), torch.nn.ReLU()]
    for stage in range(3):
        blocks += [Block(p, stage > 0, 1 if stage == 0 else 2), Block(p, False)]
    return torch.nn.Sequential(*blocks, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
                               linear(next(p), next(p)))


class Sentiment(torch.nn.Module):
    def __init__(self, start):
        super().__init__()
        table, into, weight, bias, last, last_bias = start.parameters
        self.embedding = torch.nn.Embedding(*table.shape, _weight=table.clone())
        width = weight.shape[0]
        self.lstm = torch.nn.LSTM(table.shape[1], width, batch_first=True)
        # The order of the gates in lamina is candidate, input, forget, output; in PyTorch it is
        # input, forget, candidate, output.
        order = torch.cat([torch.arange(k * width, (k + 1) * width)
                           for k in (1, 2, 0, 3)]).to(DEVICE)
        self.lstm.weight_ih_l0.data = into[:, order].t().contiguous()
        self.lstm.weight_hh_l0.data = weight[:, order].t().contiguous()
        self.lstm.bias_ih_l0.data = bias.flatten()[order].clone()
        self.lstm.bias_hh_l0.data.zero_()
        self.lstm.bias_hh_l0.requires_grad_(False)  # one bias is trained, as in lamina
        self.last = linear(last, last_bias)

    def forward(self, words, lengths):
        packed = torch.nn.utils.rnn.pack_padded_sequence(self.embedding(words), lengths,
                                                         batch_first=True, enforce_sorted=False)
        hidden, _ = self.lstm(packed)
        # -2 is less than every tanh, so padding is never the maximum.
        padded, _ = torch.nn.utils.rnn.pad_packed_sequence(hidden, batch_first=True,
                                                           padding_value=-2.0)
        return self.last(padded.max(1).values)


class Recurrence(torch.nn.Module):
    def __init__(self, start):
        super().__init__()
        into, weight, bias = start.parameters
        self.into, self.weight = linear(into, bias), linear(weight)

    def forward(self, x):
        # One product for all inputs before the loop, so that the loop has less to do.
        all_into = self.into(x)
        h = torch.zeros(x.shape[0], x.shape[2], device=x.device)
        for t in range(x.shape[1]):
            h = torch.tanh(all_into[:, t] + self.weight(h))
        return h


class Encoder(torch.nn.Module):
    def __init__(self, start):
        super().__init__()
        p = start.parameters
        self.into = linear(torch.cat([p[0], p[2], p[4]], 1),
                           torch.cat([b.flatten() for b in p[1:6:2]]))
        self.out = linear(p[6], p[7])
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(p[6].shape[1]) for _ in range(2)])
        self.wide, self.narrow = linear(p[10], p[11]), linear(p[12], p[13])

    def forward(self, x):
        rows, positions, width = x.shape
        q, k, v = (y.view(rows, positions, 4, width // 4).transpose(1, 2)
                   for y in self.into(x).chunk(3, 2))
        seen = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)
        half = self.norms[0](x + self.out(seen))
        return self.norms[1](half + self.narrow(F.gelu(self.wide(half))))


def compiled(f):
    if MODE == "cuda_reduced":
        return torch.compile(f, mode="reduce-overhead")
    return torch.compile(f) if MODE.endswith("compiled") else f


def recorded(once):
    """Returns `once` or, if MODE is cuda_graph, a function that replays it as one CUDA graph.
    `once` must do the same with the same arrays in each call."""
    if MODE != "cuda_graph":
        return once
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            once()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        value = once()

    def replay():
        graph.replay()
        return value

    return replay


def to_layout(x):
    return x.to(
        memory_format=torch.channels_last) if MODE == "channels_last" and x.dim() == 4 else x


def training(model, cost, rate=0.01, optimizer=torch.optim.SGD):
    """Returns (results, once) of training steps; cost(model) must compute the cost."""
    if MODE == "channels_last":
        model = model.to(memory_format=torch.channels_last)
    model = model.to(DEVICE)
    of_graph = {
        "capturable": True
    } if MODE == "cuda_graph" and optimizer is torch.optim.Adam else {}
    updates = optimizer([p for p in model.parameters() if p.requires_grad], lr=rate, **of_graph)
    f = compiled(lambda: cost(model))

    def once():
        updates.zero_grad()
        value = f()
        value.backward()
        updates.step()
        return value

    # The costs of the first five steps are compared; a CUDA graph is recorded after them.
    def results():
        costs = [once().item() for _ in range(5)]
        step[0] = recorded(once)
        return costs

    step = [once]
    return results, lambda: step[0]()


def inference(model, *inputs, most=None):
    model.eval()
    if MODE == "channels_last":
        model = model.to(memory_format=torch.channels_last)
    f = compiled(model)

    def once():
        with torch.inference_mode():
            return f(*inputs)

    return lambda: once().flatten()[:most].tolist(), once


def classifier(make, train):
    def job(start):
        image, label = to_layout(start["image"]), start["label"]
        if not train:
            return inference(make(start), image)
        return training(make(start), lambda model: F.cross_entropy(model(image), label))

    return job


def sentiment(start):
    lengths, label = start["lengths"].cpu(), start["label"]
    words = torch.nn.utils.rnn.pad_sequence(torch.split(start["words"], lengths.tolist()),
                                            batch_first=True)
    return training(Sentiment(start), lambda model: F.cross_entropy(model(words, lengths), label),
                    1e-3, torch.optim.Adam)


def recurrence(start):
    x, y = start["x"], start["y"]
    return training(Recurrence(start), lambda model: F.mse_loss(model(x), y))


def lstm_step(start):
    weight, bias = start.parameters
    width = bias.numel() // 4
    # The order of the gates in lamina is i, f, o, g.
    order = torch.cat([torch.arange(k * width, (k + 1) * width) for k in (0, 1, 3, 2)])
    cell = torch.nn.LSTMCell(weight.shape[0] - width, width)
    cell.weight_ih.data = weight[:-width, order].t().contiguous()
    cell.weight_hh.data = weight[-width:, order].t().contiguous()
    cell.bias_ih.data = bias.flatten()[order].clone()
    cell.bias_hh.data.zero_()
    f = compiled(cell)
    x = start["x"].reshape(-1, 1, weight.shape[0] - width)
    state = [torch.zeros(1, width), torch.zeros(1, width)]

    def once(at=0):
        with torch.inference_mode():
            state[0], state[1] = f(x[at], (state[0], state[1]))

    def results():
        for t in range(len(x)):
            once(t)
        return state[0].flatten().tolist()

    return results, once


def chain(a, b, c, d):
    return torch.tanh(a * b + c) * torch.sigmoid(d) + torch.relu(a - c)


def pointwise(start):
    operands = [p.clone() for p in start.parameters]
    f = compiled(chain)
    kept = [None]

    def once():
        with torch.inference_mode():
            kept[0] = f(*operands)

    def results():
        once()
        some = kept[0][:: 1 << 14].tolist()
        step[0] = recorded(once)
        return some

    step = [once]
    return results, lambda: step[0]()


def pointwise_gradients(start):
    operands = [p.clone().requires_grad_() for p in start.parameters]
    f = compiled(lambda *x: chain(*x).mean())

    def once():
        for x in operands:
            x.grad = None
        cost = f(*operands)
        cost.backward()
        return cost

    def results():
        cost = once().item()
        return [cost] + [g for x in operands for g in (x.grad[:: 1 << 14] * x.numel()).tolist()]

    return results, once


def encoder(train):
    def job(start):
        x = start["x"]
        if not train:
            return inference(Encoder(start), x, most=4096)
        y = start["y"]
        return training(Encoder(start), lambda model: F.mse_loss(model(x), y))

    return job


class Words(torch.nn.Module):
    def __init__(self, start, sparse):
        super().__init__()
        p = start.parameters
        self.table = torch.nn.Embedding(*p[0].shape, sparse=sparse, _weight=p[0].clone())
        self.hidden, self.last = linear(p[1], p[2]), linear(p[3], p[4])

    def forward(self, words):
        return self.last(torch.sigmoid(self.hidden(self.table(words).flatten(1))))


def words(sparse):
    def job(start):
        before, after = torch.stack([start[f"word_{i}"] for i in range(4)], 1), start["word_4"]
        return training(Words(start, sparse), lambda model: F.cross_entropy(model(before), after))

    return job


JOBS = {
    "W1": classifier(perceptron, True),
    "W1f": classifier(perceptron, False),
    "W1b": classifier(perceptron, False),
    "B1": classifier(perceptron, False),
    "W2": classifier(lenet, True),
    "W2i": classifier(lenet, False),
    "W2i1": classifier(lenet, False),
    "W3": sentiment,
    "W4": recurrence,
    **{f"W5h{n}": lstm_step for n in (8, 16, 32, 64)},
    "W6f": pointwise,
    "W6": pointwise_gradients,
    "N1": classifier(narrow, True),
    "N1f": classifier(narrow, False),
    "W7": classifier(resnet, True),
    "W7b": classifier(resnet, True),
    "W7i": classifier(resnet, False),
    "W8": encoder(True),
    "W8i": encoder(False),
    "W9": words(True),
    "W9d": words(False)
}
IMAGES = ("W2", "W2i", "W2i1", "W7", "W7b", "W7i")


def microseconds(once):
    """Returns the median of many short measurements, which take half a second together."""
    def measure(n):
        start = time.perf_counter()
        for _ in range(n):
            once()
        if CUDA:
            torch.cuda.synchronize()
        return (time.perf_counter() - start) * 1e6

    n, took = 1, measure(1)
    while took < 2000:
        n *= 2
        took = measure(n)
    each, total = [], 0
    while total < 5e5 or len(each) < 5:
        took = measure(n)
        total += took
        each.append(took / n)
    return statistics.median(each)


def main():
    torch.set_num_threads(THREADS)
    made = {}
    for line in sys.stdin:
        question, name = line.split()
        try:
            if question == "check":
                if MODE == "channels_last" and name not in IMAGES:
                    raise NotImplementedError("no images")
                results, made[name] = JOBS[name](Start(name))
                print(*results(), flush=True)
            else:
                print(microseconds(made[name]), flush=True)
        except Exception as error:  # an error of one workload in one mode must not end the others
            print("absent", str(error).replace("\n", " ")[:200], flush=True)


if __name__ == "__main__":
    main()
