// SPDX-License-Identifier: Apache-2.0
// lamina/layers/nce.hpp - noise-contrastive estimation: a cost over many classes that computes only
// the class of the label and some sampled classes.
#pragma once

#include <lamina/core/config.hpp>

#include <tuple>

#include <lamina/layers/class_vectors.hpp>
#include <lamina/operators/activation/simple/layer.hpp>
#include <lamina/operators/elementwise/assign/layer.hpp>
#include <lamina/operators/elementwise/binary/layer_arithmetic.hpp>
#include <lamina/operators/elementwise/clip/layer.hpp>
#include <lamina/operators/elementwise/sum/layer.hpp>
#include <lamina/operators/elementwise/unary/layer.hpp>
#include <lamina/operators/fill/layer.hpp>
#include <lamina/operators/random/distribution/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/operators/shape/concat/layer_concat.hpp>
#include <lamina/operators/shape/concat/layer_split.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Noise-contrastive estimation, one cost per row. It distinguishes the class of the label from
/// `Samples` classes that are drawn for each row, all classes with equal probability. For a class
/// with the vector w and the bias b, let o = sigmoid(x . w + b), and let e = Samples / Classes. The
/// cost is
///   -log(o / (o + e)) of the label - the sum of log(e / (o + e)) of the samples
/// `x` must have one dimension. Parameters: the vectors of the classes [Classes, width],
/// initialised by Xavier, and their biases [Classes, 1], initialised with 0. Source: Gutmann and
/// Hyvarinen 2010, Mnih and Teh 2012. Fluid: layers.nce with the sampler "uniform".
template <int Classes, int Samples = 10, class T, class R, int... D, class U, class S, int... E>
constexpr auto nce(variable<T, R, D...> x, variable<U, S, E...> label,
                   const options<class_cost_attr, T>& attr = {}, int line = __builtin_LINE()) {
  using given = variable<U, S, E...>;
  constexpr bool fits = __is_same(T, float) && has_rows<R> && sizeof...(D) == 1 &&
                        __is_same(given, variable<std::int64_t, R, 1>);
  static_assert(check<fits, expects_type<variable<std::int64_t, R, 1>>,
                      gets_type<variable<T, R, D...>, given>>,
                "lamina: nce: float rows of one dimension, and a label int64 [1] for each");
  constexpr bool enough = Classes >= 2 && Classes <= 1 << 24 && Samples >= 1;
  static_assert(check<enough, gets<Classes, Samples>>,
                "lamina: nce: there are 2 to 2^24 classes and at least one sample");
  if constexpr (fits && enough) {
    require_one_program(x, label, line);
    layer_helper layer(*x.builder, "nce", attr.name);
    // The cast rounds down. A random number just below 1, times Classes, may be rounded to Classes,
    // so the number is limited before.
    const auto drawn = uniform_random_batch_size_like<Samples>(
        x, {.min = 0, .max = static_cast<float>(Classes), .seed = attr.seed});
    const auto sampled = cast<std::int64_t>(clip(drawn, 0, static_cast<float>(Classes) - 1));
    const auto ids = reshape<1 + Samples, 1>(concat(std::tuple{label, sampled}, {}, line));
    const auto score = detail::class_scores<Classes, 1 + Samples>(layer, x, ids, attr, line);
    constexpr double expected = static_cast<double>(Samples) / Classes;
    block here{x.builder, x.builder->current_block};
    // With d = log o - log e, the cost of the label is log(1 + exp(-d)), and the cost of a sample
    // is log(1 + exp(d)).
    const auto constant = log(fill_constant<float>(here, expected));
    const auto d = split<sections<1, Samples>>(elementwise_sub(logsigmoid(score), constant));
    const auto of_label = softplus(scale(std::get<0>(d), -1));
    const auto of_samples = reduce_sum<1>(softplus(std::get<1>(d)), keep_dim);
    return layer.returns(elementwise_add(of_label, of_samples, {}, line));
  } else {
    return x;
  }
}

}}}  // namespace lamina::layer
