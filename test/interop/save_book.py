#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Saves the nets of PaddlePaddle's book, for lamina to make C++ of: save_book.py FOLDER [NAME...].

Each net is a folder: net.pdmodel and net.pdiparams as save_inference_model wrote them, feed/NAME
and fetch/NUMBER as LoDTensor streams. With names, only these nets are saved. PaddlePaddle 2 has no
functions for sequences of Fluid any more, but still the operators: `operator` records them.
"""
import pathlib
import sys

import numpy

from save_paddle import write


def main():
    folder = pathlib.Path(sys.argv[1])
    wanted = sys.argv[2:]
    import paddle
    import paddle.nn.functional as F
    from paddle import static
    from paddle.base import core
    from paddle.base.layer_helper import LayerHelper
    paddle.enable_static()
    random = numpy.random.RandomState(7)
    reals = lambda *shape: random.uniform(-1, 1, shape).astype("float32")
    whole = lambda high, *shape: random.randint(0, high, shape).astype("int64")
    exe = static.Executor(paddle.CPUPlace())

    def net(name, build, feed):
        """build() returns the results; feed has arrays, or arrays with lengths of sequences."""
        if wanted and name not in wanted:
            return
        main_program, startup = static.Program(), static.Program()
        main_program.random_seed = startup.random_seed = 3
        with static.program_guard(main_program, startup), paddle.utils.unique_name.guard(), \
                static.scope_guard(static.Scope()):
            results = build()
            exe.run(startup)
            for v in main_program.list_vars():  # statistics that are not 0 and 1
                if v.persistable and ".w_1" in v.name or ".w_2" in v.name:
                    tensor = static.global_scope().find_var(v.name).get_tensor()
                    tensor.set(numpy.abs(reals(*tensor.shape())) + 0.1, paddle.CPUPlace())
            place = folder / name
            place.mkdir(parents=True, exist_ok=True)
            feeds = [main_program.global_block().var(n) for n in feed]
            static.save_inference_model(str(place / "net"), feeds, results, exe,
                                        program=main_program)
            program, names, fetches = static.load_inference_model(str(place / "net"), exe)
            fed = {}
            for n, value in feed.items():
                array, lengths = value if isinstance(value, tuple) else (value, None)
                fed[n] = core.LoDTensor()
                fed[n].set(array, paddle.CPUPlace())
                if lengths:
                    fed[n].set_recursive_sequence_lengths([lengths])
            found = exe.run(program, feed=fed, fetch_list=fetches, return_numpy=False)
            write(place / "feed", feed)
            write(place / "fetch", {
                f"{i}": (numpy.array(v), v.recursive_sequence_lengths()[0])
                        if v.lod() else numpy.array(v)
                for i, v in enumerate(found)
            })

    def operator(kind, inputs, outputs, attributes=None):
        """Records an operator of Fluid; outputs are slots, of which the first is returned."""
        helper = LayerHelper(kind)
        made = {slot: helper.create_variable_for_type_inference(dtype) for slot, dtype in outputs}
        helper.append_op(type=kind, inputs=inputs, outputs=made, attrs=attributes or {})
        return made[outputs[0][0]]

    def parameter(kind, shape, name=None, bias=False):
        attr = paddle.ParamAttr(name=name) if name else paddle.ParamAttr()
        return LayerHelper(kind, param_attr=attr).create_parameter(attr, shape, "float32", bias)

    def words_of(name, size, width, table=None):
        """An embedding of sequences of words."""
        words = static.data(name, [-1, 1], "int64", lod_level=1)
        weights = parameter("embedding", [size, width], table)
        return operator("lookup_table", {"W": weights, "Ids": words}, [("Out", "float32")],
                        {"padding_idx": -1})

    def fc(x, size, **options):
        return static.nn.fc(x, size, **options)

    def lstm(x, size, is_reverse=False):
        """dynamic_lstm of Fluid, of a product of 4 times as many columns."""
        weights = parameter("lstm", [size, 4 * size])
        bias = parameter("lstm", [1, 7 * size], bias=True)
        outputs = [("Hidden", "float32"), ("Cell", "float32"), ("BatchGate", "float32"),
                   ("BatchCellPreAct", "float32")]
        return operator("lstm", {"Input": x, "Weight": weights, "Bias": bias}, outputs,
                        {"use_peepholes": True, "is_reverse": is_reverse})

    def sequence_pool(x, kind):
        return operator("sequence_pool", {"X": x}, [("Out", "float32"), ("MaxIndex", "int32")],
                        {"pooltype": kind, "is_test": True})

    def sequence_conv_pool(x, filters, size, act, kind="MAX"):
        return sequence_pool(static.nn.sequence_conv(x, filters, size, act=act), kind)

    def conv_pool(x, filters, size, act="relu"):
        return F.max_pool2d(static.nn.conv2d(x, filters, size, act=act), 2, 2)

    def fit_a_line():
        return [fc(static.data("x", [-1, 13]), 1)]

    def digits_mlp():
        x = fc(static.data("img", [-1, 1, 28, 28]), 128, activation="relu")
        return [fc(fc(x, 64, activation="relu"), 10, activation="softmax")]

    def digits_conv():
        x = conv_pool(static.data("img", [-1, 1, 28, 28]), 20, 5)
        x = conv_pool(static.nn.batch_norm(x, is_test=True), 50, 5)
        return [fc(x, 10, activation="softmax")]

    def word2vec():
        attr = paddle.ParamAttr(name="shared_w")
        words = [static.nn.embedding(static.data(name, [-1, 1], "int64"), [50, 32], param_attr=attr)
                 for name in ("firstw", "secondw", "thirdw", "fourthw")]
        x = fc(paddle.concat([paddle.squeeze(w, [1]) for w in words], 1), 256,
               activation="sigmoid")
        return [fc(x, 50, activation="softmax")]

    def vgg():
        def group(x, filters, times, rates):
            for rate in rates[:times]:
                x = static.nn.batch_norm(static.nn.conv2d(x, filters, 3, padding=1), is_test=True,
                                         act="relu")
                if rate > 0:
                    x = F.dropout(x, rate, training=False)
            return F.max_pool2d(x, 2, 2)
        x = static.data("pixel", [-1, 3, 32, 32])
        for filters, times, rates in ((16, 2, (0.3, 0)), (32, 2, (0.4, 0)), (64, 3, (0.4, 0.4, 0)),
                                      (64, 3, (0.4, 0.4, 0)), (64, 3, (0.4, 0.4, 0))):
            x = group(x, filters, times, rates)
        x = fc(F.dropout(x, 0.5, training=False), 64)
        x = F.dropout(static.nn.batch_norm(x, is_test=True, act="relu"), 0.5, training=False)
        return [fc(fc(x, 64), 10, activation="softmax")]

    def resnet(depth=32):
        def conv_bn(x, filters, size, stride, padding, act="relu"):
            x = static.nn.conv2d(x, filters, size, stride, padding, bias_attr=False)
            return static.nn.batch_norm(x, act=act, is_test=True)

        def block(x, channels, filters, stride):
            y = conv_bn(conv_bn(x, filters, 3, stride, 1), filters, 3, 1, 1, None)
            same = x if channels == filters else conv_bn(x, filters, 1, stride, 0, None)
            return F.relu(paddle.add(y, same))
        x = conv_bn(static.data("pixel", [-1, 3, 32, 32]), 16, 3, 1, 1)
        channels = 16
        for filters, stride in ((16, 1), (32, 2), (64, 2)):
            for _ in range((depth - 2) // 6):
                x = block(x, channels, filters, stride)
                channels, stride = filters, 1
        return [fc(F.avg_pool2d(x, 8, 1), 10, activation="softmax")]

    def sentiment_conv():
        words = words_of("words", 100, 16)
        x = [sequence_conv_pool(words, 24, size, "tanh", "SQRT") for size in (3, 4)]
        return [fc(x, 2, activation="softmax")]

    def sentiment_lstm():
        x1 = fc(words_of("words", 100, 16), 32)
        x2 = lstm(x1, 8)
        inputs = [x1, x2]
        for i in (2, 3):
            x1 = fc(inputs, 32)
            inputs = [x1, lstm(x1, 8, is_reverse=i % 2 == 0)]
        return [fc([sequence_pool(x, "MAX") for x in inputs], 2, activation="softmax")]

    def recommender():
        def features(items, size):
            return fc([fc(paddle.squeeze(static.nn.embedding(static.data(name, [-1, 1], "int64"),
                                                             [high, 16]), [1]), 16)
                       for name, high in items], size, activation="tanh")
        user = features((("user_id", 30), ("gender_id", 2), ("age_id", 7), ("job_id", 21)), 40)
        movie = fc(paddle.squeeze(static.nn.embedding(static.data("movie_id", [-1, 1], "int64"),
                                                      [40, 16]), [1]), 16)
        kinds = sequence_pool(words_of("category_id", 18, 16), "SUM")
        title = sequence_conv_pool(words_of("movie_title", 60, 16), 16, 3, "tanh", "SUM")
        film = fc([movie, kinds, title], 40, activation="tanh")
        return [paddle.scale(F.cosine_similarity(user, film), 5.0)]

    def encoder():
        x = fc(words_of("src_word_id", 60, 16, "vemb"), 32, activation="tanh")
        return [sequence_pool(lstm(x, 8), "LAST")]

    def roles():
        names = ("word_data", "ctx_n2_data", "ctx_n1_data", "ctx_0_data", "ctx_p1_data",
                 "ctx_p2_data")
        inputs = [words_of(n, 60, 8, "emb") for n in names]
        inputs += [words_of("verb_data", 10, 8, "vemb"), words_of("mark_data", 2, 4)]
        hidden = paddle.add_n([fc(x, 32) for x in inputs])
        state = lstm(hidden, 8)
        for i in range(1, 4):
            mixed = paddle.add_n([fc(hidden, 32), fc(state, 32)])
            state = lstm(mixed, 8, is_reverse=i % 2 == 1)
            hidden = mixed
        scores = paddle.add_n([fc(hidden, 9), fc(state, 9)])
        transition = parameter("linear_chain_crf", [11, 9], "crfw")
        return [operator("crf_decoding", {"Emission": scores, "Transition": transition},
                         [("ViterbiPath", "int64")])]

    words = lambda high, *lengths: (whole(high, sum(lengths), 1), list(lengths))
    images = {"pixel": reals(2, 3, 32, 32)}
    net("fit_a_line", fit_a_line, {"x": reals(5, 13)})
    net("digits_mlp", digits_mlp, {"img": reals(4, 1, 28, 28)})
    net("digits_conv", digits_conv, {"img": reals(3, 1, 28, 28)})
    net("word2vec", word2vec, {n: whole(50, 6, 1)
                               for n in ("firstw", "secondw", "thirdw", "fourthw")})
    net("vgg", vgg, images)
    net("resnet", resnet, images)
    net("sentiment_conv", sentiment_conv, {"words": words(100, 5, 1, 9)})
    net("sentiment_lstm", sentiment_lstm, {"words": words(100, 5, 1, 9)})
    net("recommender", recommender, {
        "user_id": whole(30, 3, 1),
        "gender_id": whole(2, 3, 1),
        "age_id": whole(7, 3, 1),
        "job_id": whole(21, 3, 1),
        "movie_id": whole(40, 3, 1),
        "category_id": words(18, 2, 1, 3),
        "movie_title": words(60, 4, 3, 6)
    })
    net("encoder", encoder, {"src_word_id": words(60, 3, 7, 1)})
    lengths = (4, 1, 6)
    net("roles", roles, {
        **{n: words(60, *lengths) for n in ("word_data", "ctx_n2_data", "ctx_n1_data",
                                            "ctx_0_data", "ctx_p1_data", "ctx_p2_data")},
        "verb_data": words(10, *lengths),
        "mark_data": words(2, *lengths)
    })


if __name__ == "__main__":
    main()
