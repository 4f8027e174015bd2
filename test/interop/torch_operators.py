# SPDX-License-Identifier: Apache-2.0
"""What lamina's operators compute, said with PyTorch: a table from the type of an operator to a
function.

A function takes a Call and returns its results by slot, or one result for the first output; a
result is a tensor, or (tensor, offsets) where the sequences are others than those of the inputs.
PyTorch's own layer stands there wherever it has one; elsewhere its tensor functions say the
equation, and autograd the gradient. Gradients have no entries.
"""
import itertools
import math

import torch
import torch.nn.functional as F

TYPES = {
    0: torch.bool,
    1: torch.int16,
    2: torch.int32,
    3: torch.int64,
    5: torch.float64,
    6: torch.float64,
    20: torch.uint8,
    21: torch.int8
}
REAL = torch.float64
TABLE = {}


class Call:
    """An operator with the tensors in its slots. Attributes: call["axis"]."""

    def __init__(self, kind, inputs, outputs, attributes, offsets):
        self.kind, self.inputs, self.outputs, self.attributes = kind, inputs, outputs, attributes
        # by input slot: where the sequences of its first variable begin, or []
        self.offsets = offsets

    def __getitem__(self, attribute):
        return self.attributes[attribute]

    def get(self, attribute, otherwise=None):
        return self.attributes.get(attribute, otherwise)

    def all(self, slot):
        return self.inputs.get(slot, [])

    def at(self, slot):
        """The only variable of a slot, or None."""
        found = self.inputs.get(slot, [])
        return found[0] if found else None

    @property
    def x(self):
        return self.at("X")

    def bounds(self, slot="X"):
        """Where every sequence of the lowest level begins and ends."""
        levels = self.offsets[slot]
        return list(zip(levels[-1], levels[-1][1:]))

    def parts(self, slot="X"):
        return [self.at(slot)[a:b] for a, b in self.bounds(slot)]


def operator(*kinds):
    def add(function):
        for kind in kinds:
            TABLE[kind] = function
        return function
    return add


def offsets_of(parts):
    return [[0, *itertools.accumulate(len(p) for p in parts)]]


# Element by element.
for kind_, function_ in {
        "relu": F.relu,
        "tanh": torch.tanh,
        "sigmoid": torch.sigmoid,
        "logsigmoid": F.logsigmoid,
        "softsign": F.softsign,
        "tanh_shrink": F.tanhshrink,
        "mish": F.mish,
        "exp": torch.exp,
        "log": torch.log,
        "sqrt": torch.sqrt,
        "rsqrt": torch.rsqrt,
        "abs": torch.abs,
        "ceil": torch.ceil,
        "floor": torch.floor,
        "sin": torch.sin,
        "cos": torch.cos,
        "asin": torch.asin,
        "acos": torch.acos,
        "atan": torch.atan,
        "erf": torch.erf,
        "reciprocal": torch.reciprocal,
        "square": torch.square,
        "sign": torch.sign,
        "assign": torch.clone,
        "logical_not": torch.logical_not,
        "fill_zeros_like": torch.zeros_like,
        "round": torch.round
}.items():
    TABLE[kind_] = lambda c, f=function_: f(c.x)
TABLE["print"] = lambda c: c.at("In").clone()
TABLE["gelu"] = lambda c: F.gelu(c.x, approximate="tanh" if c.get("approximate") else "none")
TABLE["selu"] = lambda c: F.selu(c.x)
TABLE["softplus"] = lambda c: F.softplus(c.x, c.get("beta", 1), c.get("threshold", 20))
TABLE["leaky_relu"] = lambda c: F.leaky_relu(c.x, c["alpha"])
TABLE["elu"] = lambda c: F.elu(c.x, c["alpha"])
TABLE["relu6"] = lambda c: F.hardtanh(c.x, 0, c["threshold"])
TABLE["brelu"] = lambda c: F.hardtanh(c.x, c["t_min"], c["t_max"])
TABLE["soft_relu"] = lambda c: F.softplus(torch.clamp(c.x, -c["threshold"], c["threshold"]))
TABLE["stanh"] = lambda c: c["scale_b"] * torch.tanh(c["scale_a"] * c.x)
TABLE["hard_sigmoid"] = lambda c: torch.clamp(c["slope"] * c.x + c["offset"], 0, 1)
TABLE["swish"] = lambda c: c.x * torch.sigmoid(c["beta"] * c.x)
TABLE["hard_swish"] = lambda c: c.x * torch.clamp(c.x + c["offset"], 0, c["threshold"]) / c["scale"]
TABLE["pow"] = lambda c: torch.pow(c.x, c["factor"])
TABLE["hard_shrink"] = lambda c: F.hardshrink(c.x, c["threshold"])
TABLE["softshrink"] = lambda c: F.softshrink(c.x, c["lambda"])
TABLE["thresholded_relu"] = lambda c: F.threshold(c.x, c["threshold"], 0)
TABLE["clip"] = lambda c: torch.clamp(c.x, c["min"], c["max"])
TABLE["increment"] = lambda c: c.x + torch.tensor(c["step"]).to(c.x.dtype)
TABLE["cast"] = lambda c: c.x.to(TYPES[c["out_dtype"]])
TABLE["sum"] = lambda c: sum(c.all("X")[1:], c.all("X")[0])
TABLE["mean"] = lambda c: c.x.mean()
TABLE["gradient_scale"] = lambda c: c.x.clone()


@operator("scale")
def scale(c):
    factor, bias = torch.tensor(c["scale"]).to(c.x.dtype), torch.tensor(c.get("bias",
                                                                              0.0)).to(c.x.dtype)
    return c.x * factor + bias if c.get("bias_after_scale", True) else (c.x + bias) * factor


@operator("clip_by_norm")
def clip_by_norm(c):
    norm = torch.linalg.vector_norm(c.x)
    return c.x * (c["max_norm"] / norm) if norm > c["max_norm"] else c.x.clone()


def broadcast(c):
    """Y with the dimensions of X that it lacks; its first one is X's at `axis`."""
    x, y = c.x, c.at("Y")
    axis = c.get("axis", -1)
    if axis < 0:
        axis = x.dim() - y.dim()
    shape = list(y.shape)
    while shape and axis + len(shape) > x.dim() and shape[-1] == 1:
        shape.pop()
    return y.reshape([1] * axis + shape + [1] * (x.dim() - axis - len(shape)))


def floor_divide(x, y):
    return torch.div(x, y, rounding_mode="floor")


for kind_, function_ in {
        "elementwise_add": torch.add,
        "elementwise_sub": torch.sub,
        "elementwise_div": torch.div,
        "elementwise_max": torch.maximum,
        "elementwise_min": torch.minimum,
        "elementwise_pow": torch.pow,
        "elementwise_mod": torch.remainder,
        "elementwise_floordiv": floor_divide,
        "less_than": torch.lt,
        "less_equal": torch.le,
        "greater_than": torch.gt,
        "greater_equal": torch.ge,
        "equal": torch.eq,
        "not_equal": torch.ne,
        "logical_and": torch.logical_and,
        "logical_or": torch.logical_or,
        "logical_xor": torch.logical_xor
}.items():
    TABLE[kind_] = lambda c, f=function_: f(c.x, broadcast(c))


@operator("elementwise_mul")
def elementwise_mul(c):
    y = broadcast(c)
    return torch.where(y != 0, c.x, 0.0) if c.get("keeps_where_not_0") else torch.mul(c.x, y)


@operator("prelu")
def prelu(c):
    alpha = c.at("Alpha")
    if c["mode"] == "element":
        return torch.where(c.x > 0, c.x, c.x * alpha.reshape(1, *c.x.shape[1:]))
    return F.prelu(c.x, alpha.reshape(-1))


# Constants.
@operator("fill_constant")
def fill_constant(c):
    return torch.full([int(d) for d in c["shape"] or []], c["value"], dtype=TYPES[c["dtype"]])


@operator("fill_constant_batch_size_like")
def fill_constant_like(c):
    shape = [int(d) for d in c["shape"]]
    like = c.at("Input")
    # of a rank table
    rows = like.shape[c.get("input_dim_idx", 0)] if isinstance(like, torch.Tensor) else len(like)
    shape[c.get("output_dim_idx", 0)] = rows
    return torch.full(shape, c["value"], dtype=TYPES[c["dtype"]])


@operator("assign_value")
def assign_value(c):
    values = c.get("fp32_values") or c.get("int32_values") or c.get("int64_values")
    return torch.tensor([float(v) for v in values
                         ]).to(TYPES[c["dtype"]]).reshape([int(d) for d in c["shape"]])


# Products.
@operator("mul")
def mul(c):
    x, y, nx, ny = c.x, c.at("Y"), c.get("x_num_col_dims", 1), c.get("y_num_col_dims", 1)
    product = torch.matmul(x.reshape(math.prod(x.shape[:nx]), -1),
                           y.reshape(math.prod(y.shape[:ny]), -1))
    return product.reshape(*x.shape[:nx], *y.shape[ny:])


@operator("matmul")
def matmul(c):
    x, y = c.x, c.at("Y")
    x = x.transpose(-1, -2) if c["transpose_X"] and x.dim() > 1 else x
    y = y.transpose(-1, -2) if c["transpose_Y"] and y.dim() > 1 else y
    return c["alpha"] * torch.matmul(x, y)


@operator("lookup_table")
def lookup_table(c):
    ids, table = c.at("Ids").reshape(-1), c.at("W")
    padding = int(c.get("padding_idx", -1))
    if padding == -1:
        return F.embedding(ids, table)
    return F.embedding(ids, table, padding_idx=padding) * (ids != padding).to(REAL)[:, None]


@operator("cos_sim")
def cos_sim(c):
    x, y = c.x, c.at("Y")
    return {
        "Out": F.cosine_similarity(x, y, dim=1)[:, None],
        "XNorm": torch.linalg.vector_norm(x, dim=1, keepdim=True),
        "YNorm": torch.linalg.vector_norm(y, dim=1, keepdim=True)
    }


# Reductions and normalisation over rows.
def product(x, dim, keepdim):
    for d in sorted((d % x.dim() for d in dim), reverse=True):
        x = torch.prod(x, d, keepdim=keepdim)
    return x


def every(x, dim, keepdim):
    return torch.amin(x.to(torch.uint8), dim, keepdim).bool()


def some(x, dim, keepdim):
    return torch.amax(x.to(torch.uint8), dim, keepdim).bool()


for kind_, function_ in {
        "reduce_sum": torch.sum,
        "reduce_mean": torch.mean,
        "reduce_max": torch.amax,
        "reduce_min": torch.amin,
        "reduce_prod": product,
        "reduce_all": every,
        "reduce_any": some
}.items():
    TABLE[kind_] = lambda c, f=function_: f(
        c.x,
        list(range(c.x.dim()))
        if c.get("reduce_all") else [int(d) for d in c["dim"]], keepdim=c["keep_dim"])


@operator("cumsum")
def cumsum(c):
    x, axis = c.x, c["axis"]
    if c.get("reverse"):
        x = x.flip(axis)
    y = torch.cumsum(x, axis)
    y = y - x if c.get("exclusive") else y
    return y.flip(axis) if c.get("reverse") else y


@operator("top_k")
def top_k(c):
    values, indices = torch.topk(c.x, c["k"])
    return {"Out": values, "Indices": indices}


TABLE["softmax"] = lambda c: F.softmax(c.x, c.get("axis", -1))
TABLE["one_hot"] = lambda c: F.one_hot(c.x.reshape(-1), c["depth"]).to(REAL)
TABLE["label_smooth"] = lambda c: (1 - c["epsilon"]) * c.x + c["epsilon"] * (
    c.at("PriorDist") if c.all("PriorDist") else 1 / c.x.shape[-1])


@operator("norm")
def norm(c):
    length = torch.sqrt(torch.sum(c.x * c.x, c["axis"], keepdim=True) + c["epsilon"])
    return {"Out": c.x / length, "Norm": length}


@operator("layer_norm")
def layer_norm(c):
    shape = c.x.shape[c["begin_norm_axis"]:]
    weights = [None if w is None else w.reshape(shape) for w in (c.at("Scale"), c.at("Bias"))]
    return {"Y": F.layer_norm(c.x, shape, *weights, c["epsilon"])}


# Shapes.
@operator("reshape2", "reshape")
def reshape(c):
    return c.x.reshape([c.x.shape[i] if int(d) == 0 else int(d) for i, d in enumerate(c["shape"])])


TABLE["transpose2"] = lambda c: c.x.permute(*c["axis"])
TABLE["flatten2"] = lambda c: c.x.reshape(math.prod(c.x.shape[:c["axis"]]), -1)
TABLE["concat"] = lambda c: torch.cat(c.all("X"), c["axis"])
TABLE["stack"] = lambda c: torch.stack(c.all("X"), c["axis"])
TABLE["expand"] = lambda c: c.x.repeat(*[int(n) for n in c["expand_times"]])
TABLE["gather"] = lambda c: torch.index_select(c.x, 0, c.at("Index").reshape(-1))


@operator("argsort")
def argsort(c):
    values, indices = torch.sort(c.x, dim=c["axis"], descending=bool(c["descending"]), stable=True)
    return {"Out": values, "Indices": indices}


TABLE["arg_max"] = lambda c: torch.argmax(c.x, c["axis"])
TABLE["arg_min"] = lambda c: torch.argmin(c.x, c["axis"])


@operator("scatter")
def scatter(c):
    ids, updates = c.at("Ids").reshape(-1), c.at("Updates")
    if c["overwrite"]:
        return c.x.index_put((ids,), updates)
    return c.x.index_fill(0, ids, 0).index_add(0, ids, updates)


@operator("multiplex")
def multiplex(c):
    return torch.stack(c.all("X"))[c.at("Ids").reshape(-1).long(), torch.arange(len(c.at("Ids")))]


TABLE["minus"] = lambda c: c.x - c.at("Y")
TABLE["shape"] = lambda c: torch.tensor(c.at("Input").shape, dtype=torch.int32)
TABLE["is_empty"] = lambda c: torch.tensor([c.x.numel() == 0])
TABLE["range"] = lambda c: torch.arange(*(c.at(slot).item() for slot in ("Start", "End", "Step")),
                                        dtype=c.at("Start").dtype)
TABLE["l1_norm"] = lambda c: torch.sum(torch.abs(c.x)).reshape(1)
TABLE["squared_l2_norm"] = lambda c: torch.sum(c.x * c.x).reshape(1)


@operator("where_index")
def where_index(c):
    places, rows = torch.nonzero(c.at("Condition")), len(c.at("Condition"))
    ends = torch.cumsum(torch.bincount(places[:, 0], minlength=rows), 0).tolist()
    return places, [[0, *ends]]


@operator("squared_l2_distance")
def squared_l2_distance(c):
    difference = c.x - c.at("Y")
    return {"sub_result": difference,
            "Out": torch.sum((difference * difference).reshape(len(c.x), -1), 1, keepdim=True)}


@operator("unstack")
def unstack(c):
    return {"Y": list(torch.unbind(c.x, c["axis"]))}


@operator("crop")
def crop(c):
    sizes = list(c.at("Y").shape) if c.all("Y") else [int(n) for n in c["shape"]]
    x = c.x
    for axis, (start, size) in enumerate(zip(c["offsets"], sizes)):
        x = torch.narrow(x, axis, int(start), x.shape[axis] - int(start) if size < 0 else size)
    return x


@operator("squeeze2")
def squeeze(c):
    drop = {a % c.x.dim() for a in c["axes"]}
    return c.x.reshape([n for i, n in enumerate(c.x.shape) if i not in drop])


@operator("unsqueeze2")
def unsqueeze(c):
    x = c.x
    for axis in c["axes"]:
        x = x.unsqueeze(axis)
    return x


@operator("split")
def split(c):
    sizes = [int(n) for n in c.get("sections") or []]
    return {"Out": torch.split(c.x, sizes or c.x.shape[c["axis"]] // c["num"], c["axis"])}


@operator("slice")
def slice_of(c):
    x = c.at("Input")
    for axis, start, end in zip(c["axes"], c["starts"], c["ends"]):
        index = [slice(None)] * x.dim()
        index[axis] = slice(start, end)
        x = x[tuple(index)]
    return x


@operator("pad")
def pad(c):
    pairs = list(zip(c["paddings"][::2], c["paddings"][1::2]))
    return F.pad(c.x, [n for pair in reversed(pairs) for n in pair], value=c["pad_value"])


# Costs.
def labels(c):
    return c.at("Label").reshape(-1)


@operator("cross_entropy")
def cross_entropy(c):
    if c["soft_label"]:
        return {"Y": -torch.sum(c.at("Label") * torch.log(c.x), -1, keepdim=True)}
    return {
        "Y": F.nll_loss(torch.log(c.x), labels(c), reduction="none",
                        ignore_index=int(c["ignore_index"]))[:, None]
    }


@operator("softmax_with_cross_entropy")
def softmax_with_cross_entropy(c):
    x = c.at("Logits")
    if c["soft_label"]:
        loss = F.cross_entropy(x, c.at("Label"), reduction="none")
    else:
        loss = F.cross_entropy(x, labels(c), reduction="none", ignore_index=int(c["ignore_index"]))
    return {"Loss": loss[:, None], "Softmax": F.softmax(x, -1)}


@operator("bpr_loss")
def bpr_loss(c):
    n, width = c.x.shape
    wanted = torch.gather(c.x, 1, labels(c)[:, None])
    others = torch.ones(n, width, dtype=REAL).scatter(1, labels(c)[:, None], 0)
    return {"Y": -torch.sum(F.logsigmoid(wanted - c.x) * others, 1, keepdim=True) / (width - 1)}


@operator("sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy(c):
    label = c.at("Label")
    counted = (label != c["ignore_index"]).to(REAL)
    loss = F.binary_cross_entropy_with_logits(c.x, label, weight=counted, reduction="none")
    return loss / torch.clamp(counted.sum(), min=1e-5) if c["normalize"] else loss


@operator("log_loss")
def log_loss(c):
    p, y, e = c.at("Predicted"), c.at("Labels"), c["epsilon"]
    return -y * torch.log(p + e) - (1 - y) * torch.log(1 - p + e)


TABLE["hinge_loss"] = lambda c: F.relu(1 - (2 * c.at("Labels") - 1) * c.at("Logits"))
TABLE["rank_loss"] = lambda c: F.binary_cross_entropy_with_logits(
    c.at("Left") - c.at("Right"), c.at("Label"), reduction="none")
TABLE["huber_loss"] = lambda c: {
    "Out": F.huber_loss(c.x, c.at("Y"), delta=c["delta"], reduction="none"),
    "Residual": c.at("Y") - c.x
}
TABLE["kldiv_loss"] = lambda c: F.kl_div(c.x, c.at("Target"), reduction=c["reduction"])
TABLE["margin_rank_loss"] = lambda c: {"Out": F.margin_ranking_loss(
    c.at("X1"), c.at("X2"), c.at("Label"), margin=c["margin"], reduction="none")}


@operator("modified_huber_loss")
def modified_huber_loss(c):
    z = c.x * (2 * c.at("Y") - 1)
    return {"Out": torch.where(z < -1, -4 * z, torch.square(F.relu(1 - z))), "IntermediateVal": z}


@operator("smooth_l1_loss")
def smooth_l1_loss(c):
    x, y = c.x, c.at("Y")
    if c.all("InsideWeight"):
        x, y = x * c.at("InsideWeight"), y * c.at("InsideWeight")
    loss = F.smooth_l1_loss(x, y, reduction="none", beta=1 / c["sigma"] ** 2)
    loss = loss * c.at("OutsideWeight") if c.all("OutsideWeight") else loss
    return {"Out": loss.flatten(1).sum(1, keepdim=True), "Diff": x - y}


@operator("accuracy")
def accuracy(c):
    right = (c.at("Indices") == labels(c)[:, None]).any(1)
    return {"Accuracy": right.to(REAL).mean(), "Correct": right.sum().to(torch.int32),
            "Total": torch.tensor(len(right), dtype=torch.int32)}


@operator("dropout")
def dropout(c):
    if not c["is_test"]:
        raise NotImplementedError("random numbers")
    keeps = c["dropout_implementation"] == "upscale_in_train"
    return {"Out": c.x.clone() if keeps else c.x * (1 - c["dropout_prob"])}


# Images.
@operator("conv2d", "depthwise_conv2d", "conv3d")
def conv(c):
    convolution = F.conv3d if c.kind == "conv3d" else F.conv2d
    return convolution(c.at("Input"), c.at("Filter"), None, c["strides"], c["paddings"],
                       c["dilations"], c["groups"])


@operator("conv2d_transpose")
def conv2d_transpose(c):
    x, w = c.at("Input"), c.at("Filter")
    more = [0, 0]
    if c.get("output_size"):
        least = [(x.shape[2 + i] - 1) * c["strides"][i] - 2 * c["paddings"][i] + c["dilations"][i] *
                 (w.shape[2 + i] - 1) + 1 for i in range(2)]
        more = [c["output_size"][i] - least[i] for i in range(2)]
    return F.conv_transpose2d(x, w, None, c["strides"], c["paddings"], more, c["groups"],
                              c["dilations"])


@operator("pool2d")
def pool2d(c):
    average = c["pooling_type"] == "avg"
    if c["global_pooling"]:
        return F.adaptive_avg_pool2d(c.x, 1) if average else F.adaptive_max_pool2d(c.x, 1)
    if c["adaptive"]:
        return F.adaptive_avg_pool2d(c.x, c["ksize"]) if average else F.adaptive_max_pool2d(
            c.x, c["ksize"])
    window = (c["ksize"], c["strides"], c["paddings"])
    if average:
        return F.avg_pool2d(c.x, *window, ceil_mode=c["ceil_mode"],
                            count_include_pad=not c["exclusive"])
    return F.max_pool2d(c.x, *window, ceil_mode=c["ceil_mode"])


@operator("pool3d")
def pool3d(c):
    average = c["pooling_type"] == "avg"
    if c["global_pooling"] or c["adaptive"]:
        size = 1 if c["global_pooling"] else c["ksize"]
        return F.adaptive_avg_pool3d(c.x, size) if average else F.adaptive_max_pool3d(c.x, size)
    window = (c["ksize"], c["strides"], c["paddings"])
    if average:
        return F.avg_pool3d(c.x, *window, ceil_mode=c["ceil_mode"],
                            count_include_pad=not c["exclusive"])
    return F.max_pool3d(c.x, *window, ceil_mode=c["ceil_mode"])


@operator("max_pool2d_with_index")
def max_pool_with_index(c):
    values, places = F.max_pool2d(c.x, c["ksize"], c["strides"], c["paddings"], return_indices=True)
    return {"Out": values, "Mask": places.to(torch.int32)}


TABLE["unpool"] = lambda c: F.max_unpool2d(c.x,
                                           c.at("Indices").long(), c["ksize"], c["strides"], c[
                                               "paddings"])


@operator("spp")
def spp(c):
    levels = []
    for level in range(c["pyramid_height"]):
        bins = 2 ** level
        size = [-(-n // bins) for n in c.x.shape[2:]]
        space = [(k * bins - n + 1) // 2 for k, n in zip(size, c.x.shape[2:])]
        pool = F.max_pool2d(c.x, size, size, space) if c["pooling_type"] == "max" else \
            F.avg_pool2d(c.x, size, size, space, count_include_pad=False)
        levels.append(pool.flatten(1))
    return torch.cat(levels, 1)


@operator("maxout")
def maxout(c):
    n, channels, *space = c.x.shape
    return c.x.reshape(n, channels // c["groups"], c["groups"], *space).amax(2)


@operator("batch_norm")
def batch_norm(c):
    x, mean, variance, momentum = c.x, c.at("Mean"), c.at("Variance"), c["momentum"]
    if c["is_test"] or c["use_global_stats"]:
        y = F.batch_norm(x, mean, variance, c.at("Scale"), c.at("Bias"), False, 0, c["epsilon"])
        return {"Y": y, "MeanOut": mean, "VarianceOut": variance}
    y = F.batch_norm(x, None, None, c.at("Scale"), c.at("Bias"), True, 0, c["epsilon"])
    over = [d for d in range(x.dim()) if d != 1]
    # PyTorch's moving variance is the unbiased one
    new = [x.mean(over).detach(), x.var(over, unbiased=False).detach()]
    return {"Y": y, "MeanOut": momentum * mean + (1 - momentum) * new[0],
            "VarianceOut": momentum * variance + (1 - momentum) * new[1]}


TABLE["group_norm"] = lambda c: {
    "Y": F.group_norm(c.x, c["groups"], c.at("Scale"), c.at("Bias"), c["epsilon"])
}
TABLE["instance_norm"] = lambda c: {
    "Y": F.instance_norm(c.x, weight=c.at("Scale"), bias=c.at("Bias"), eps=c["epsilon"])
}
# PyTorch divides alpha by the window.
TABLE["lrn"] = lambda c: {
    "Out": F.local_response_norm(c.x, c["n"], c["alpha"] * c["n"], c["beta"], c["k"])
}


def interpolation_matrix(size, wanted, corners, mode):
    """[wanted, size]: the weights of align_mode 1, which PyTorch has not."""
    matrix = torch.zeros(wanted, size, dtype=REAL)
    for i in range(wanted):
        at = i * (size - 1) / (wanted - 1) if corners else i * size / wanted if mode == 1 else \
            max((i + 0.5) * size / wanted - 0.5, 0)
        low = min(int(at), size - 1)
        high = min(low + 1, size - 1)
        matrix[i, low] += 1 - (at - low)
        matrix[i, high] += at - low
    return matrix


@operator("bilinear_interp")
def bilinear_interp(c):
    size = (c["out_h"], c["out_w"])
    if c["align_corners"] or c["align_mode"] == 0:
        return F.interpolate(c.x, size, mode="bilinear", align_corners=c["align_corners"])
    down, across = [interpolation_matrix(n, m, False, 1) for n, m in zip(c.x.shape[2:], size)]
    return torch.einsum("ih,nchw,jw->ncij", down, c.x, across)


@operator("nearest_interp")
def nearest_interp(c):
    size = (c["out_h"], c["out_w"])
    if not c["align_corners"]:
        return F.interpolate(c.x, size, mode="nearest")
    y, x = [torch.tensor([int(i * (n - 1) / (m - 1) + 0.5) if m > 1 else 0 for i in range(m)])
            for n, m in zip(c.x.shape[2:], size)]
    return c.x[:, :, y][:, :, :, x]


@operator("pad2d")
def pad2d(c):
    top, bottom, left, right = c["paddings"]
    mode = {"edge": "replicate"}.get(c["mode"], c["mode"])
    value = {"value": c["pad_value"]} if mode == "constant" else {}
    return F.pad(c.x, (left, right, top, bottom), mode=mode, **value)


@operator("im2sequence")
def im2sequence(c):
    top, left, bottom, right = c["paddings"]
    x = F.pad(c.x, (left, right, top, bottom))
    patches = F.unfold(x, c["kernels"], stride=c["strides"])
    rows = patches.transpose(1, 2)
    return rows.reshape(-1, rows.shape[-1]), [[i * rows.shape[1] for i in range(len(rows) + 1)]]


@operator("roi_align")
def roi_align(c):
    """What torchvision has, and PyTorch itself has not: averages of interpolated points."""
    height, width, factor, found = c["pooled_height"], c["pooled_width"], c["spatial_scale"], []
    image = [i for i, (a, b) in enumerate(c.bounds("ROIs")) for _ in range(a, b)]

    def points(first, last, bins):
        length = (last - first) * factor if c["aligned"] else max((last - first) * factor, 1)
        count = c["sampling_ratio"] if c["sampling_ratio"] > 0 else math.ceil(length / bins)
        begin = first * factor - (0.5 if c["aligned"] else 0)
        return [[begin + (i + (k + 0.5) / count) * length / bins for k in range(count)]
                for i in range(bins)]

    def value(plane, y, x):
        tall, wide = plane.shape[1:]
        if not (-1 <= y <= tall and -1 <= x <= wide):
            return torch.zeros(len(plane), dtype=REAL)
        y, x = min(max(y, 0), tall - 1), min(max(x, 0), wide - 1)
        top, left = int(y), int(x)
        bottom, right = min(top + 1, tall - 1), min(left + 1, wide - 1)
        upper = plane[:, top, left] * (1 - x + left) + plane[:, top, right] * (x - left)
        lower = plane[:, bottom, left] * (1 - x + left) + plane[:, bottom, right] * (x - left)
        return upper * (1 - y + top) + lower * (y - top)

    for roi, at in zip(c.at("ROIs"), image):
        x0, y0, x1, y1 = [float(v) for v in roi]
        for ys, xs in itertools.product(points(y0, y1, height), points(x0, x1, width)):
            found.append(torch.stack([value(c.x[at], y, x) for y in ys for x in xs]).mean(0))
    bins = torch.stack(found).reshape(-1, height, width, c.x.shape[1])
    return {"Out": (bins.permute(0, 3, 1, 2), c.offsets["ROIs"])}


@operator("psroi_pool")
def psroi_pool(c):
    """Part (i, j) of a region averages a channel of its own."""
    height, width, factor, found = c["pooled_height"], c["pooled_width"], c["spatial_scale"], []
    image = [i for i, (a, b) in enumerate(c.bounds("ROIs")) for _ in range(a, b)]

    def ranges(first, last, bins, size):
        begin = math.floor(first + 0.5) * factor
        part = max((math.floor(last + 0.5) + 1) * factor - begin, 0.1) / bins
        return [
            slice(*(min(max(v, 0), size)
                    for v in (math.floor(i * part + begin), math.ceil((i + 1) * part + begin))))
            for i in range(bins)
        ]

    for roi, at in zip(c.at("ROIs"), image):
        x0, y0, x1, y1 = [float(v) for v in roi]
        planes = c.x[at].reshape(-1, height, width, *c.x.shape[2:])
        for (i, rows), (j, columns) in itertools.product(
                enumerate(ranges(y0, y1, height, c.x.shape[2])),
                enumerate(ranges(x0, x1, width, c.x.shape[3]))):
            held = planes[:, i, j, rows, columns].flatten(1)
            found.append(held.mean(1) if held.numel() else torch.zeros(len(planes), dtype=REAL))
    bins = torch.stack(found).reshape(-1, height, width, c["output_channels"])
    return {"Out": (bins.permute(0, 3, 1, 2), c.offsets["ROIs"])}


@operator("roi_pool")
def roi_pool(c):
    """The largest of each bin: what torchvision has, and PyTorch itself has not."""
    height, width, factor, found = c["pooled_height"], c["pooled_width"], c["spatial_scale"], []
    image = [i for i, (a, b) in enumerate(c.bounds("ROIs")) for _ in range(a, b)]
    for roi, at in zip(c.at("ROIs"), image):
        x0, y0, x1, y1 = [math.floor(float(v) * factor + 0.5) for v in roi]
        tall, wide = max(y1 - y0 + 1, 1), max(x1 - x0 + 1, 1)
        for i, j in itertools.product(range(height), range(width)):
            rows = [min(max(v + y0, 0), c.x.shape[2]) for v in
                    (math.floor(i * tall / height), math.ceil((i + 1) * tall / height))]
            columns = [min(max(v + x0, 0), c.x.shape[3]) for v in
                       (math.floor(j * wide / width), math.ceil((j + 1) * wide / width))]
            bin_ = c.x[at, :, rows[0]:rows[1], columns[0]:columns[1]]
            found.append(
                bin_.amax((1, 2)) if bin_[0].numel() else torch.zeros(c.x.shape[1], dtype=REAL))
    bins = torch.stack(found).reshape(-1, height, width, c.x.shape[1])
    return {"Out": (bins.permute(0, 3, 1, 2), c.offsets["ROIs"])}
