// SPDX-License-Identifier: Apache-2.0
// lamina/io/simplify/channel_pass.hpp - batch_norm of inference, computed by the weights before it.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/simplify/graph_patterns.hpp>
#include <lamina/io/simplify/shape_passes.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace passes {

/// Changes the weights and the bias of a convolution or of a product with a constant matrix, so
/// that they also compute a batch_norm of inference that follows, or a product or sum with a
/// constant per channel. The parameters keep their values under their old names; the changed ones
/// are new parameters. A weight that another operator reads is not changed.
class channel_pass {
 public:
  explicit channel_pass(program_graph& g) : g_(g) {}

  int run() {
    int applied = 0;
    for (int n = 0; n < g_.node_count(); ++n)
      while (!g_.node(n).is_removed && weights_of(n) && folds(n)) ++applied;
    return applied;
  }

 private:
  using numbers = std::vector<double>;
  /// y = factor * x + bias for each channel.
  struct channels {
    numbers factor, bias;
    int node;  // the operator
  };

  // The slot of the weights of a convolution or product; null for other operators.
  const char* weights_of(int n) const {
    const std::string& type = g_.node(n).type();
    if (is_conv(n)) return "Filter";
    return type == "mul" || type == "matmul" ? "Y" : nullptr;
  }
  bool is_conv(int n) const {
    const std::string& type = g_.node(n).type();
    return type == "conv2d" || type == "depthwise_conv2d" || type == "conv3d" ||
           type == "conv2d_transpose";
  }
  const char* result_of(int n) const { return is_conv(n) ? "Output" : "Out"; }

  static numbers numbers_of(const tensor& t) {
    const auto values = t.cast<double>();
    return numbers(values.begin(), values.end());
  }

  /// The row-major order of weights: [groups, outer, channels, inner], where a channel of the
  /// result is one of a group.
  struct weight_order {
    std::size_t groups = 1, outer = 1, channels = 0, inner = 1;
    std::size_t count() const { return groups * channels; }
  };
  std::optional<weight_order> order_of_weights(int n, const tensor& weights) const {
    const tensor_shape s = weights.shape();
    const graph_node& op = g_.node(n);
    if (weights.size() == 0) return std::nullopt;
    if (op.type() == "conv2d_transpose") {
      const auto groups =
          static_cast<std::size_t>(std::max<std::int64_t>(1, g_.integer(op, "groups")));
      if (s.size() != 4 || s[0] % groups != 0) return std::nullopt;
      return weight_order{groups, s[0] / groups, s[1], s[2] * s[3]};
    }
    if (is_conv(n)) {
      if (s.size() < 4) return std::nullopt;
      return weight_order{1, 1, s[0], weights.size() / s[0]};
    }
    if (s.size() != 2) return std::nullopt;
    if (op.type() == "matmul" && g_.flag(op, "transpose_Y")) return weight_order{1, 1, s[0], s[1]};
    if (op.type() == "mul" && g_.integer(op, "y_num_col_dims") != 1) return std::nullopt;
    return weight_order{1, s[0], s[1], 1};
  }

  // Whether an operand Y has one number per channel of X; `last`: channels are the last dimension.
  bool is_per_channel(const graph_node& op, bool last) const {
    const auto found = aligned(g_, op);
    if (!found) return false;
    extents wanted(found->size(), 1);
    const std::size_t at = last ? wanted.size() - 1 : 1;
    if (at >= wanted.size()) return false;
    wanted[at] = g_.dims(op.input("X"))[at];
    return wanted[at] > 0 && *found == wanted;
  }
  // Returns what operator n computes from v, if that is affine in each channel.
  std::optional<channels> channels_of(int n, int v, std::size_t count, bool last) const {
    const graph_node& op = g_.node(n);
    if (op.input("X") != v) return std::nullopt;
    if (op.type() == "batch_norm") return of_batch_norm(n, count, last);
    const bool adds = op.type() == "elementwise_add", subtracts = op.type() == "elementwise_sub",
               multiplies = is_product(op), divides = op.type() == "elementwise_div";
    if (!adds && !subtracts && !multiplies && !divides) return std::nullopt;
    const tensor* y = g_.constant(op.input("Y"));
    if (y == nullptr || y->size() != count || !is_per_channel(op, last) ||
        !g_.is_stable(op.output("Out")) || g_.type(op.output("Out")) != g_.type(v))
      return std::nullopt;
    channels made{numbers(count, 1), numbers(count, 0), n};
    const numbers given = numbers_of(*y);
    for (std::size_t c = 0; c < count; ++c) {
      if (multiplies) made.factor[c] = given[c];
      if (divides) made.factor[c] = 1 / given[c];
      if (adds || subtracts) made.bias[c] = adds ? given[c] : -given[c];
    }
    return made;
  }
  std::optional<channels> of_batch_norm(int n, std::size_t count, bool last) const {
    const graph_node& op = g_.node(n);
    const int y = op.output("Y"), x = op.input("X");
    if (!g_.flag(op, "is_test") && !g_.flag(op, "use_global_stats")) return std::nullopt;
    const std::string layout = g_.text(op, "data_layout");
    const std::size_t rank = g_.dims(x).size();
    if (rank < 2 || (last ? rank != 2 && layout != "NHWC" : layout == "NHWC") || !g_.is_stable(y))
      return std::nullopt;
    for (const graph_node::slot& s : op.outputs)
      for (const int v : s.values)
        if (v >= 0 && v != y && !g_.value(v).message.persistable &&
            (!g_.is_inner(v) || !g_.value(v).readers.empty()))
          return std::nullopt;
    numbers of[4];
    const char* parameters[] = {"Scale", "Bias", "Mean", "Variance"};
    for (int i = 0; i < 4; ++i) {
      const tensor* t = g_.constant(op.input(parameters[i]));
      if (t == nullptr || t->size() != count) return std::nullopt;
      of[i] = numbers_of(*t);
    }
    channels made{numbers(count), numbers(count), n};
    for (std::size_t c = 0; c < count; ++c) {
      made.factor[c] = of[0][c] / std::sqrt(of[3][c] + g_.real(op, "epsilon"));
      made.bias[c] = of[1][c] - of[2][c] * made.factor[c];
    }
    return made;
  }

  // Folds the next operator after n.
  bool folds(int n) {
    const bool last = !is_conv(n);
    const int out = g_.node(n).output(result_of(n)), w = g_.node(n).input(weights_of(n));
    if (out < 0 || !g_.is_real(out) || !g_.is_read_once(out)) return false;
    if (!last && (g_.node(n).input("ResidualData") >= 0 ||
                  !g_.text(g_.node(n), "data_format").starts_with("NC")))
      return false;
    const tensor* weights = g_.constant(w);
    if (weights == nullptr || g_.value(w).readers.size() != 1 || g_.value(w).is_kept) return false;
    const auto order = order_of_weights(n, *weights);
    if (!order) return false;
    int next = g_.value(out).readers[0], v = out, carrier = n;
    // A reshape after a convolution of signals keeps the channels.
    if (!last && is_reshape(g_, g_.node(next)) && g_.node(next).block == g_.node(n).block) {
      carrier = next;
      v = g_.node(next).output("Out");
      const extents &from = g_.dims(out), &to = g_.dims(v);
      if (to.size() < 2 || from[0] != to[0] || from[1] != to[1] || !g_.is_read_once(v))
        return false;
      next = g_.value(v).readers[0];
    }
    if (g_.node(next).block != g_.node(n).block) return false;
    const auto first = channels_of(next, v, order->count(), last);
    if (!first) return false;
    if (!last) return into_conv(n, w, *weights, *order, *first, carrier);
    // A product has no bias: a sum with one follows it, and may be followed by more.
    const bool is_sum =
        g_.node(next).type() != "batch_norm" && first->factor == numbers(order->count(), 1);
    if (!is_sum) return into_product(n, w, *weights, *order, *first, nullptr);
    const int sum = g_.node(next).output("Out");
    if (!g_.is_read_once(sum)) return false;
    const int after = g_.value(sum).readers[0];
    if (g_.node(after).block != g_.node(n).block) return false;
    const auto second = channels_of(after, sum, order->count(), last);
    return second && into_product(n, w, *weights, *order, *second, &*first);
  }

  // Returns new weights, or none if a number would not be finite.
  static std::optional<tensor> scaled(const tensor& weights, const weight_order& order,
                                      const numbers& factor) {
    return weights.visit([&]<class T>(xt::xarray<T> made) -> std::optional<tensor> {
      T* at = made.data();
      bool finite = true;
      for (std::size_t g = 0; g < order.groups; ++g)
        for (std::size_t o = 0; o < order.outer; ++o)
          for (std::size_t c = 0; c < order.channels; ++c) {
            const double by = factor[g * order.channels + c];
            for (std::size_t i = 0; i < order.inner; ++i, ++at) {
              *at = static_cast<T>(static_cast<double>(*at) * by);
              finite = finite && std::isfinite(static_cast<double>(*at));
            }
          }
      if (!finite) return std::nullopt;
      return tensor(std::move(made));
    });
  }
  static std::optional<tensor> as_tensor(const tensor_shape& shape, const numbers& values,
                                         dtype type) {
    for (const double v : values)
      if (!std::isfinite(v) || (type == dtype::float32 && !std::isfinite(static_cast<float>(v))))
        return std::nullopt;
    const tensor made(shape, values);
    return made.type() == type ? made : made.cast(type);
  }

  // `carrier` is the operator whose result the folded operator reads: the convolution or a reshape.
  bool into_conv(int n, int w, const tensor& weights, const weight_order& order,
                 const channels& next, int carrier) {
    const std::size_t count = next.factor.size();
    const int b = g_.node(n).input("Bias");
    numbers bias(count, 0);
    if (b >= 0) {
      const tensor* given = g_.constant(b);
      if (given == nullptr || given->size() != count) return false;
      bias = numbers_of(*given);
    }
    for (std::size_t c = 0; c < count; ++c) bias[c] = bias[c] * next.factor[c] + next.bias[c];
    auto new_weights = scaled(weights, order, next.factor);
    auto new_bias = as_tensor({count}, bias, weights.type());
    if (!new_weights || !new_bias) return false;
    const std::string name = g_.value(w).message.name;
    const int made_bias = g_.add_constant(name + ".bias", std::move(*new_bias));
    if (next.factor != numbers(count, 1))
      g_.set_input(n, "Filter", g_.add_constant(name, std::move(*new_weights)));
    g_.set_input(n, "Bias", made_bias);
    const graph_node& last = g_.node(next.node);
    const int result = last.output(last.type() == "batch_norm" ? "Y" : "Out");
    g_.set_result(carrier, g_.node(carrier).output(carrier == n ? "Output" : "Out"), result);
    return true;
  }

  // (x W + b) factor + bias, where b is the sum `before`, if there is one.
  bool into_product(int n, int w, const tensor& weights, const weight_order& order,
                    const channels& next, const channels* before) {
    const std::size_t count = next.factor.size();
    numbers bias = next.bias;
    for (std::size_t c = 0; before != nullptr && c < count; ++c)
      bias[c] += before->bias[c] * next.factor[c];
    auto new_weights = scaled(weights, order, next.factor);
    auto new_bias = as_tensor({count}, bias, weights.type());
    if (!new_weights || !new_bias) return false;
    const std::string name = g_.value(w).message.name;
    const graph_node& last = g_.node(next.node);
    const bool has_bias = before != nullptr || bias != numbers(count, 0);
    const int product = g_.node(n).output("Out"), rank = static_cast<int>(g_.dims(product).size());
    const int result = last.output(last.type() == "batch_norm" ? "Y" : "Out");
    if (next.factor != numbers(count, 1))
      g_.set_input(n, "Y", g_.add_constant(name, std::move(*new_weights)));
    if (!has_bias) {
      g_.set_result(n, product, result);
      return true;
    }
    const int made_bias = g_.add_constant(name + ".bias", std::move(*new_bias));
    const attribute_message axis = program_graph::integer_attribute("axis", rank - 1);
    g_.rewrite(next.node, "elementwise_add", {{"X", {product}}, {"Y", {made_bias}}}, {axis});
    return true;
  }

  program_graph& g_;
};

}}}  // namespace lamina::passes
