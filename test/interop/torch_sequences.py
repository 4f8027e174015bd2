# SPDX-License-Identifier: Apache-2.0
"""Operators over sequences, recurrent ones and steps of optimizers in PyTorch; see
torch_operators.py."""
import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

from torch_operators import REAL, TABLE, TYPES, offsets_of, operator


def joined(parts):
    return torch.cat(parts), offsets_of(parts)


@operator("sequence_pool")
def sequence_pool(c):
    how = {
        "SUM": lambda p: p.sum(0),
        "AVERAGE": lambda p: p.mean(0),
        "SQRT": lambda p: p.sum(0) / len(p)**0.5,
        "MAX": lambda p: p.amax(0),
        "FIRST": lambda p: p[0],
        "LAST": lambda p: p[-1]
    }[c["pooltype"]]
    empty = torch.full(c.x.shape[1:], c.get("pad_value", 0.0), dtype=c.x.dtype)
    return {
        "Out": (torch.stack([how(p) if len(p) else empty for p in c.parts()]), c.offsets["X"][:-1])
    }


TABLE["sequence_softmax"] = lambda c: joined([F.softmax(p, 0) for p in c.parts()])
TABLE["sequence_reverse"] = lambda c: {"Y": joined([p.flip(0) for p in c.parts()])}


@operator("sequence_conv")
def sequence_conv(c):
    length, start = c["contextLength"], c["contextStart"]
    width = c.x.shape[1]
    kernel = c.at("Filter").reshape(length, width, -1).permute(2, 1, 0)
    found = []
    for part in c.parts():
        after = length - 1 + start
        x = F.pad(part.t()[None], (max(-start, 0), max(after, 0)))
        x = x[:, :, max(start, 0):x.shape[2] + min(after, 0)]
        found.append(F.conv1d(x, kernel)[0].t())
    return torch.cat(found)


@operator("row_conv")
def row_conv(c):
    kernel = c.at("Filter")  # [steps, width]
    found = [
        F.conv1d(F.pad(p.t()[None], (0, len(kernel) - 1)),
                 kernel.t()[:, None], groups=kernel.shape[1])[0].t() for p in c.parts()
    ]
    return torch.cat(found)


@operator("sequence_expand")
def sequence_expand(c):
    counts = [b - a for a, b in zip(*[c.offsets["Y"][c["ref_level"]][i:] for i in (0, 1)])]
    if c.offsets["X"]:
        return joined([part for part, n in zip(c.parts(), counts) for _ in range(n)])
    return torch.repeat_interleave(c.x, torch.tensor(counts), 0), c.offsets["Y"]


TABLE["sequence_expand_as"] = lambda c: (torch.repeat_interleave(
    c.x, torch.tensor([b - a for a, b in c.bounds("Y")]), 0), c.offsets["Y"])


@operator("sequence_reshape")
def sequence_reshape(c):
    width = c["new_dim"]
    return c.x.reshape(-1, width), [[n * c.x.shape[1] // width for n in c.offsets["X"][-1]]]


@operator("sequence_pad")
def sequence_pad(c):
    longest, value = c["padded_length"], c.at("PadValue").reshape(-1)
    parts = c.parts()
    rest = [longest - len(p) for p in parts]
    filled = [
        torch.cat([p, value.expand(n, *p.shape[1:]) if len(value) == 1 else value.expand(n, -1)])
        for p, n in zip(parts, rest)
    ]
    return {"Out": (pad_sequence(filled, batch_first=True), []),
            "Length": (torch.tensor([len(p) for p in parts]), [])}


@operator("sequence_unpad")
def sequence_unpad(c):
    return joined([row[:n] for row, n in zip(c.x, c.at("Length").reshape(-1).tolist())])


@operator("sequence_slice")
def sequence_slice(c):
    start, length = [c.at(s).reshape(-1).tolist() for s in ("Offset", "Length")]
    return joined([p[i:i + n] for p, i, n in zip(c.parts(), start, length)])


@operator("sequence_concat")
def sequence_concat(c):
    bounds = list(zip(c.offsets["X"][-1], c.offsets["X"][-1][1:]))
    return joined([torch.cat([x[a:b] for x in c.all("X")]) for a, b in bounds])


@operator("sequence_scatter")
def sequence_scatter(c):
    ids, updates = c.at("Ids").reshape(-1), c.at("Updates").reshape(-1)
    row = torch.tensor([i for i, (a, b) in enumerate(c.bounds("Ids")) for _ in range(a, b)])
    return c.x.index_put((row, ids), updates, accumulate=True)


@operator("sequence_enumerate")
def sequence_enumerate(c):
    size, padding = c["win_size"], c["pad_value"]
    return torch.cat(
        [F.pad(p.reshape(-1), (0, size - 1), value=padding).unfold(0, size, 1) for p in c.parts()])


@operator("sequence_erase")
def sequence_erase(c):
    return joined([p[~torch.isin(p.reshape(-1), torch.tensor(c["tokens"]))] for p in c.parts()])


@operator("sequence_mask")
def sequence_mask(c):
    lengths = c.x.reshape(-1)
    longest = c["maxlen"] if c["maxlen"] > 0 else int(lengths.max())
    return {"Y": (torch.arange(longest)[None] < lengths[:, None]).to(TYPES[c["out_dtype"]])}


@operator("lod_reset")
def lod_reset(c):
    if c.all("Y"):
        return c.x.clone(), c.offsets["Y"] or [c.at("Y").reshape(-1).tolist()]
    return c.x.clone(), [[int(n) for n in c["target_lod"]]]


# Recurrent operators.
ACTIVATIONS = {
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "relu": F.relu,
    "identity": lambda x: x
}


def over_time(c, parts, step):
    """Results of step(x, first) for every row; a step keeps its own state."""
    found = []
    for number, part in enumerate(parts):
        rows = range(len(part) - 1, -1, -1) if c["is_reverse"] else range(len(part))
        results = {}
        for i, row in enumerate(rows):
            results[row] = step(part[row:row + 1], i == 0, number)
        found += [results[row] for row in range(len(part))]
    return [torch.cat(column) for column in zip(*found)]


def peephole_cell(c, gates, memory, width):
    """An LSTM's step; the gates lie as candidate, input, forget, output."""
    bias = c.at("Bias").reshape(-1)
    peephole = [bias[(4 + k) * width:(5 + k) * width]
                for k in range(3)] if c["use_peepholes"] else [0, 0, 0]
    gate, cell, candidate = [
        ACTIVATIONS[c[k]] for k in ("gate_activation", "cell_activation", "candidate_activation")
    ]
    a, i, f, o = torch.split(gates + bias[:4 * width], width, 1)
    new = gate(f + memory * peephole[1]) * memory + gate(i + memory * peephole[0]) * candidate(a)
    return gate(o + new * peephole[2]) * cell(new), new


@operator("lstm")
def lstm(c):
    weight, state = c.at("Weight"), [None, None]
    width = weight.shape[0]
    activations = c["gate_activation"], c["cell_activation"], c["candidate_activation"]
    plain = not c["use_peepholes"] and activations == ("sigmoid", "tanh", "tanh")
    # PyTorch's cell has the gates as input, forget, candidate, output.
    order = torch.cat([torch.arange(k * width, (k + 1) * width) for k in (1, 2, 0, 3)])

    def step(x, first, number):
        if first:
            state[:] = [
                c.at(s)[number:number + 1] if c.all(s) else torch.zeros(1, width, dtype=REAL)
                for s in ("H0", "C0")
            ]
        if plain:
            zero = torch.zeros(4 * width, dtype=REAL)
            state[:] = torch.lstm_cell(x[:, order], tuple(state), torch.eye(4 * width, dtype=REAL),
                                       weight[:, order].t(), zero, c.at("Bias").reshape(-1)[order])
        else:
            state[:] = peephole_cell(c, x + state[0] @ weight, state[1], width)
        return tuple(state)

    hidden, cell = over_time(c, c.parts("Input"), step)
    return {"Hidden": hidden, "Cell": cell}


@operator("lstmp")
def lstmp(c):
    weight, projection = c.at("Weight"), c.at("ProjWeight")
    width = projection.shape[0]
    state = [None, None]

    def step(x, first, number):
        if first:
            state[:] = torch.zeros(1, projection.shape[1],
                                   dtype=REAL), torch.zeros(1, width, dtype=REAL)
        hidden, cell = peephole_cell(c, x + state[0] @ weight, state[1], width)
        state[:] = ACTIVATIONS[c["proj_activation"]](hidden @ projection), cell
        return tuple(state)

    projected, cell = over_time(c, c.parts("Input"), step)
    return {"Projection": projected, "Cell": cell}


def gru_step(x, h, weight, bias, gate, candidate, origin):
    width = h.shape[1]
    flat = weight.reshape(-1)  # two matrices, one behind the other
    both, last = flat[:2 * width * width].reshape(width, -1), flat[2 * width * width:].reshape(
        width, width)
    x = x + bias.reshape(1, -1)
    u, r = torch.split(gate(x[:, :2 * width] + h @ both), width, 1)
    new = candidate(x[:, 2 * width:] + (r * h) @ last)
    return (u * h + (1 - u) * new if origin else (1 - u) * h + u * new), r * h


@operator("gru")
def gru(c):
    weight, state = c.at("Weight"), [None]
    bias = c.at("Bias") if c.all("Bias") else torch.zeros(weight.shape[1], dtype=REAL)

    def step(x, first, number):
        if first:
            state[0] = c.at("H0")[number:number +
                                  1] if c.all("H0") else torch.zeros(1, weight.shape[0], dtype=REAL)
        state[0], _ = gru_step(x, state[0], weight, bias, ACTIVATIONS[c["gate_activation"]],
                               ACTIVATIONS[c["activation"]], c["origin_mode"])
        return (state[0],)

    return {"Hidden": over_time(c, c.parts("Input"), step)[0]}


@operator("gru_unit")
def gru_unit(c):
    kinds = ["identity", "sigmoid", "tanh", "relu"]
    hidden, reset = gru_step(c.at("Input"), c.at("HiddenPrev"), c.at("Weight"), c.at("Bias"),
                             ACTIVATIONS[kinds[c["gate_activation"]]],
                             ACTIVATIONS[kinds[c["activation"]]], c["origin_mode"])
    return {"Hidden": hidden, "ResetHiddenPrev": reset}


@operator("lstm_unit")
def lstm_unit(c):
    i, f, o, a = torch.chunk(c.x, 4, 1)
    memory = torch.sigmoid(f + c["forget_bias"]) * c.at("C_prev") + torch.sigmoid(i) * torch.tanh(a)
    return {"C": memory, "H": torch.sigmoid(o) * torch.tanh(memory)}


# Sequences as a whole.
@operator("linear_chain_crf")
def linear_chain_crf(c):
    start, stop, transition = c.at("Transition")[0], c.at("Transition")[1], c.at("Transition")[2:]
    costs = []
    for x, y in zip(c.parts("Emission"),
                    [c.at("Label").reshape(-1)[a:b] for a, b in c.bounds("Emission")]):
        score, alpha = start[y[0]] + stop[y[-1]] + x[torch.arange(len(y)), y].sum(), start + x[0]
        for k in range(1, len(y)):
            score = score + transition[y[k - 1], y[k]]
            alpha = torch.logsumexp(alpha[:, None] + transition, 0) + x[k]
        costs.append(torch.logsumexp(alpha + stop, 0) - score)
    return {"LogLikelihood": (torch.stack(costs)[:, None], [])}


@operator("crf_decoding")
def crf_decoding(c):
    start, stop, transition = c.at("Transition")[0], c.at("Transition")[1], c.at("Transition")[2:]
    paths = []
    for x in c.parts("Emission"):
        score, back = start + x[0], []
        for row in x[1:]:
            best, from_ = (score[:, None] + transition).max(0)
            score = best + row
            back.append(from_)
        path = [int(torch.argmax(score + stop))]
        for from_ in reversed(back):
            path.insert(0, int(from_[path[0]]))
        paths += path
    path = torch.tensor(paths)
    return {
        "ViterbiPath":
            (path == c.at("Label").reshape(-1)).to(torch.int64) if c.all("Label") else path
    }


@operator("warpctc")
def warpctc(c):
    logits, label = c.parts("Logits"), c.at("Label").reshape(-1)
    bounds = c.bounds("Label")
    padded = pad_sequence([F.log_softmax(p, 1) for p in logits])
    loss = F.ctc_loss(padded, label, [len(p) for p in logits], [b - a for a, b in bounds],
                      c["blank"], reduction="none")
    return {"Loss": (loss[:, None], [])}


@operator("ctc_align")
def ctc_align(c):
    found = []
    for part in c.parts("Input"):
        row = torch.unique_consecutive(
            part.reshape(-1)) if c["merge_repeated"] else part.reshape(-1)
        found.append(row[row != c["blank"]][:, None])
    return {"Output": joined(found)}


@operator("edit_distance")
def edit_distance(c):
    distances = []
    for a, b in zip(c.parts("Hyps"), c.parts("Refs")):
        a, b = a.reshape(-1).tolist(), b.reshape(-1).tolist()
        row = list(range(len(b) + 1))
        for i, left in enumerate(a, 1):
            row, above = [i], row
            for j, right in enumerate(b, 1):
                row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (left != right)))
        distances.append(row[-1] / len(b) if c["normalized"] else float(row[-1]))
    return {
        "Out": (torch.tensor(distances, dtype=REAL)[:, None], []),
        "SequenceNum": torch.tensor([len(distances)])
    }


# One step of an optimizer, whose accumulators are what they were given.
def stepped(c, make, state, **names):
    parameter = torch.nn.Parameter(c.at("Param").detach().clone())
    parameter.grad = c.at("Grad").detach().clone().reshape(parameter.shape)
    optimizer = make([parameter], float(c.at("LearningRate")))
    optimizer.state[parameter] = {
        name: c.at(slot).detach().clone() for name, slot in state.items()
    } | names
    optimizer.step()
    new = {"ParamOut": parameter.detach()}
    for name, slot in state.items():
        out = {"AvgSquaredGrad": "AvgSquaredGradOut"}.get(slot, slot + "Out")
        new[out] = optimizer.state[parameter][name].detach().reshape(c.at(slot).shape)
    return new


def steps_before(c, slot, beta):
    """How often beta was multiplied into its power, less the one that Fluid begins with."""
    power, n = float(c.at(slot)), 0
    while power < beta ** (n + 1.5):
        n += 1
    return torch.tensor(float(n))


TABLE["sgd"] = lambda c: stepped(c, lambda p, lr: torch.optim.SGD(p, lr), {})
TABLE["momentum"] = lambda c: stepped(
    c, lambda p, lr: torch.optim.SGD(p, lr, c["mu"], nesterov=c["use_nesterov"]),
    {"momentum_buffer": "Velocity"})
TABLE["adagrad"] = lambda c: stepped(c, lambda p, lr: torch.optim.Adagrad(p, lr, eps=c["epsilon"]),
                                     {"sum": "Moment"}, step=torch.tensor(0.0))
TABLE["adadelta"] = lambda c: stepped(
    c, lambda p, lr: torch.optim.Adadelta(p, 1.0, c["rho"], c["epsilon"]),
    {"square_avg": "AvgSquaredGrad", "acc_delta": "AvgSquaredUpdate"}, step=0)


@operator("adam")
def adam(c):
    betas = (c["beta1"], c["beta2"])
    new = stepped(c, lambda p, lr: torch.optim.Adam(p, lr, betas, c["epsilon"]), {
        "exp_avg": "Moment1",
        "exp_avg_sq": "Moment2"
    }, step=steps_before(c, "Beta1Pow", betas[0]))
    return new | {
        "Beta1PowOut": c.at("Beta1Pow") * betas[0],
        "Beta2PowOut": c.at("Beta2Pow") * betas[1]
    }


@operator("adamax")
def adamax(c):
    return stepped(c, lambda p, lr: torch.optim.Adamax(p, lr,
                                                       (c["beta1"], c["beta2"]), c["epsilon"]), {
                                                           "exp_avg": "Moment",
                                                           "exp_inf": "InfNorm"
                                                       },
                   step=steps_before(c, "Beta1Pow", c["beta1"]))


@operator("rmsprop")
def rmsprop(c):
    """PyTorch adds epsilon to the root, Fluid below it: an equation."""
    g, rho = c.at("Grad").reshape(c.at("Param").shape), c["decay"]
    square = rho * c.at("MeanSquare") + (1 - rho) * g * g
    mean = rho * c.at("MeanGrad") + (1 - rho) * g if c["centered"] else c.at("MeanGrad")
    centre = mean * mean if c["centered"] else 0
    moment = c["momentum"] * c.at("Moment") + c.at("LearningRate") * g / torch.sqrt(
        square - centre + c["epsilon"])
    return {
        "ParamOut": c.at("Param") - moment,
        "MomentOut": moment,
        "MeanSquareOut": square,
        "MeanGradOut": mean
    }
