#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints golden.inc: results of another library (PyTorch on the CPU, in double), or for what it has
not, of numpy formulas.

    python3 make_golden.py > golden.inc
"""
import numpy as np
import torch
import torch.nn.functional as F

X = torch.tensor(np.sin(np.arange(1, 13)).reshape(3, 4) * 1.5)
LABEL = torch.tensor([2, 0, 3])
TARGET = torch.tensor(0.5 + 0.4 * np.cos(np.arange(12)).reshape(3, 4))


def show(name, values):
    text = ", ".join(repr(float(v)) for v in np.asarray(values).ravel())
    print(f"inline constexpr double {name}[] = {{{text}}};")


def layer(name, f):
    """The result of f(X), and the gradient of the mean of its squares."""
    x = X.clone().requires_grad_(True)
    y = f(x)
    (y * y).mean().backward()
    show(name + "_y", y.detach())
    show(name + "_dx", x.grad)


W0 = [0.5, -1.0, 2.0, 0.1]
GRADIENTS = [[0.3, -0.2, 0.1, 1.5], [-0.4, -0.1, 0.25, 1.0], [0.2, 0.6, -0.3, 0.5]]


def optimizer(name, make):
    w = torch.tensor(W0, dtype=torch.float64, requires_grad=True)
    o = make([w])
    for g in GRADIENTS:
        w.grad = torch.tensor(g, dtype=torch.float64)
        o.step()
    show(name, w.detach())


def formula(name, step):
    w, state = np.array(W0), {}
    for g in GRADIENTS:
        w = step(w, np.array(g), state)
    show(name, w)


def lars(w, g, s, lr=0.1, mu=0.9, coeff=0.01, decay=0.001):
    rate = lr * coeff * np.linalg.norm(w) / (np.linalg.norm(g) + decay * np.linalg.norm(w))
    s["v"] = mu * s.get("v", 0) + rate * (g + decay * w)
    return w - s["v"]


def decayed_adagrad(w, g, s, lr=0.1, decay=0.9, epsilon=1e-6):
    s["m"] = decay * s.get("m", 0) + (1 - decay) * g * g
    return w - lr * g / (np.sqrt(s["m"]) + epsilon)


def ftrl(w, g, s, lr=0.1, l1=0.05, l2=0.2):
    n = s.get("n", np.zeros(4))
    s["n"] = n + g * g
    s["z"] = s.get("z", 0) + g - (np.sqrt(s["n"]) - np.sqrt(n)) / lr * w
    y = np.sqrt(s["n"]) / lr + 2 * l2
    return np.where(np.abs(s["z"]) > l1, (np.sign(s["z"]) * l1 - s["z"]) / y, 0)


def lamb(w, g, s, lr=0.1, b1=0.9, b2=0.99, epsilon=1e-6, decay=0.01):
    s["m"] = b1 * s.get("m", 0) + (1 - b1) * g
    s["v"] = b2 * s.get("v", 0) + (1 - b2) * g * g
    u = s["m"] / (np.sqrt(s["v"]) + epsilon) + decay * w
    return w - lr * np.linalg.norm(w) / np.linalg.norm(u) * u


def rmsprop(w, g, s, lr=0.01, decay=0.9, epsilon=1e-6, mu=0.5):
    s["s"] = decay * s.get("s", 0) + (1 - decay) * g * g
    s["c"] = decay * s.get("c", 0) + (1 - decay) * g
    s["v"] = mu * s.get("v", 0) + lr * g / np.sqrt(s["s"] - s["c"] ** 2 + epsilon)
    return w - s["v"]


print("// SPDX-License-Identifier: Apache-2.0")
print("// Written by make_golden.py; do not edit.")
show("x", X)
show("target", TARGET)
layer("gelu", F.gelu)
layer("elu", F.elu)
layer("selu", F.selu)
layer("softplus", F.softplus)
layer("softsign", F.softsign)
layer("swish", F.silu)
layer("logsigmoid", F.logsigmoid)
layer("leaky_relu", lambda x: F.leaky_relu(x, 0.02))
layer("softmax", lambda x: F.softmax(x, 1))
layer("layer_norm", lambda x: F.layer_norm(x, (4,), eps=1e-5))
layer("l2_normalize", lambda x: F.normalize(x, dim=1, eps=1e-12))
layer("cumsum", lambda x: torch.cumsum(x, 1))
layer("cross_entropy", lambda x: F.cross_entropy(x, LABEL, reduction="none"))
layer("soft_cross_entropy", lambda x: F.cross_entropy(x, TARGET, reduction="none"))
layer("sigmoid_cross_entropy",
      lambda x: F.binary_cross_entropy_with_logits(x, TARGET, reduction="none"))
layer("huber", lambda x: F.huber_loss(x, TARGET, delta=0.5, reduction="none"))
layer("smooth_l1", lambda x: F.smooth_l1_loss(x, TARGET, beta=1.0, reduction="none").sum(1))
layer("kldiv", lambda x: F.kl_div(x, TARGET, reduction="mean"))
layer("cos_sim", lambda x: F.cosine_similarity(x, TARGET, dim=1))
layer("topk", lambda x: torch.topk(x, 2, dim=1)[0])

show("w0", W0)
show("gradients", GRADIENTS)
optimizer("sgd", lambda p: torch.optim.SGD(p, lr=0.1))
optimizer("momentum", lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9))
optimizer("nesterov", lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True))
optimizer("adagrad", lambda p: torch.optim.Adagrad(p, lr=0.1, eps=1e-6))
optimizer("adam", lambda p: torch.optim.Adam(p, lr=0.1, betas=(0.9, 0.99), eps=1e-8))
optimizer("adamax", lambda p: torch.optim.Adamax(p, lr=0.1, betas=(0.9, 0.99), eps=1e-8))
optimizer("adadelta", lambda p: torch.optim.Adadelta(p, lr=1.0, rho=0.95, eps=1e-6))
formula("rmsprop", rmsprop)
formula("lars_momentum", lars)
formula("decayed_adagrad", decayed_adagrad)
formula("ftrl", ftrl)
formula("lamb", lamb)
