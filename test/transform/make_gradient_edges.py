#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints gradient_edges.inc: derivatives of order 1 to 4 at places where their factors vanish or
overflow, computed by mpmath with 600 digits. Those at infinity
are limits; `none` stands for what is not finite.

    python3 make_gradient_edges.py > gradient_edges.inc
"""
from mpmath import mp, mpf, tanh, exp, log, sqrt, erf, pi, sin, cos, atan, asin, acos

mp.dps = 600
SMALL, LARGE = [0, 1e-30, 1], [30, 1e4, 1e20, 1e38]
BOTH = [s * x for x in SMALL + LARGE for s in (1.0, -1.0)]
NEAR = [x for x in BOTH if abs(x) <= 1e4]  # of several operators, whose parts overflow


def sigmoid(x):
    return 1 / (1 + exp(-x))


def softplus(x):
    return log(1 + exp(x)) if x < 100 else x + log(1 + exp(-x))


def gelu_tanh(x):
    return x / 2 * (1 + tanh(sqrt(2 / pi) * (x + mpf("0.044715") * x**3)))


FUNCTIONS = {
    "tanh": (tanh, BOTH), "sigmoid": (sigmoid, BOTH), "softplus": (softplus, BOTH),
    "logsigmoid": (lambda x: -softplus(-x), BOTH),
    "tanh_shrink": (lambda x: x - tanh(x), BOTH),
    "mish": (lambda x: x * tanh(softplus(x)), BOTH),
    "softsign": (lambda x: x / (1 + abs(x)), [x for x in BOTH if x != 0]),
    "gelu": (lambda x: x / 2 * (1 + erf(x / sqrt(2))), BOTH), "gelu_tanh": (gelu_tanh, BOTH),
    "stanh": (lambda x: mpf(1.5) * tanh(x / 2), BOTH),
    "swish": (lambda x: x * sigmoid(x), BOTH),
    "steep_swish": (lambda x: x * sigmoid(mpf(2.5) * x), BOTH),
    "elu": (lambda x: exp(x) - 1 if x < 0 else x, [x for x in BOTH if x != 0]),
    "exp": (exp, [x for x in BOTH if x < 40]),
    "power_0": (lambda x: mpf(1), BOTH), "power_1": (lambda x: x, BOTH),
    "power_2": (lambda x: x * x, BOTH), "power_3": (lambda x: x**3, BOTH),
    "bell": (lambda x: exp(-x * x), NEAR),
    "reciprocal": (lambda x: 1 / x, [x for x in BOTH if abs(x) >= 1]),
    "sqrt": (sqrt, [x for x in BOTH if x >= 1]), "log": (log, [x for x in BOTH if x >= 1]),
    "rsqrt": (lambda x: 1 / sqrt(x), [x for x in BOTH if x >= 1]),
    "sin": (sin, [x for x in BOTH if abs(x) <= 30]),
    "cos": (cos, [x for x in BOTH if abs(x) <= 30]), "atan": (atan, BOTH),
    "asin": (asin, [x for x in BOTH if abs(x) < 1]),
    "acos": (acos, [x for x in BOTH if abs(x) < 1]),
    "quotient": (lambda x: x / (1 + x * x), NEAR),
}


def derivative(f, x, order):
    return mp.diff(f, x, order, h=mpf(10)**-60) if order else f(x)


def limit(f, sign, order):
    """The limit at infinity, or None where there is none."""
    a, b = (derivative(f, sign * mpf(10)**p, order) for p in (40, 50))
    if abs(b) < 1e-30:
        return 0.0
    return float(b) if abs(a - b) < 1e-20 * abs(b) else None


def text(y):
    if y is None:
        return "none"
    return repr(float(y)) if abs(y) >= 1e-60 else "0"


def main():
    print("// Written by make_gradient_edges.py.")
    print("inline constexpr edge edges[] = {")
    for name, (f, places) in FUNCTIONS.items():
        rows = [(repr(x), [derivative(f, mpf(x), n) for n in (1, 2, 3, 4)]) for x in places]
        for sign, at in ((1, "infinity"), (-1, "-infinity")):
            if sign * 1e38 in places:
                rows.append((at, [limit(f, sign, n) for n in (1, 2, 3, 4)]))
        for at, orders in rows:
            print(f'    {{"{name}", {at}, {{{", ".join(map(text, orders))}}}}},')
    print("};")


if __name__ == "__main__":
    main()
