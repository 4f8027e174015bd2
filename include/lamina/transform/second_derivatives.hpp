// SPDX-License-Identifier: Apache-2.0
// lamina/transform/second_derivatives.hpp - second derivatives of functions of one variable, that
// is, the gradients of their gradient operators.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/activation/simple/definition.hpp>
#include <lamina/operators/activation/tunable/definition.hpp>
#include <lamina/operators/elementwise/unary/definition.hpp>
#include <lamina/transform/gradient_writer.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Functions with a second derivative that is not 0.
using twice_differentiable_functions =
    operator_list<operators::tanh, operators::sigmoid, operators::logsigmoid, operators::softplus,
                  operators::softsign, operators::tanh_shrink, operators::mish, operators::gelu,
                  operators::selu, operators::elu, operators::soft_relu, operators::stanh,
                  operators::swish, operators::pow, operators::exp, operators::log, operators::sqrt,
                  operators::rsqrt, operators::square, operators::reciprocal, operators::sin,
                  operators::cos, operators::asin, operators::acos, operators::atan>;

namespace detail {

/// The gradient operator of a function f computes dX = d f'(v), where d is the gradient of Out and
/// v is X or Out. With g, the gradient of dX, the gradient of d is g f'(v), which the same operator
/// computes with g in place of d.
constexpr void differentiate_grad(gradient_writer& w, const operator_schema& schema) {
  program_builder& b = w.builder();
  const int g = w.grad(0), v = w.input(0);
  if (g < 0) return;
  if (const int part = partial_gradient(b, w.of_out()); part >= 0)
    b.add_operator(schema, {v, g}, {part}, w.attributes());
}

/// Adds the gradient of v in dX = d f'(v), which is u f''(v) with u = g d. As in gradient
/// operators, the result is 0 where u is 0, even if f' is infinite.
template <class Op>
constexpr void differentiate_bend(gradient_writer& w) {
  const int g = w.grad(0), v = w.input(0), d = w.of_out(), at = w.attributes();
  if (g < 0 || !w.wants(v)) return;
  program_builder& b = w.builder();
  const auto u = [&] { return w.product(d, g); };
  if constexpr (__is_same(Op, operators::tanh)) {
    w.give(v, w.product(v, u()), -2);
  } else if constexpr (__is_same(Op, operators::sigmoid)) {
    w.give(v, w.product(w.scaled(v, -2, 1), u()));
  } else if constexpr (__is_same(Op, operators::exp)) {
    w.give(v, u());
  } else if constexpr (__is_same(Op, operators::sqrt)) {  // -u / (2 v^2)
    w.give(v,
           w.template gradient<operators::log>(
               v, w.product(w.template gradient<operators::sqrt>(v, d), g)),
           -1);
  } else if constexpr (__is_same(Op, operators::rsqrt)) {  // -3/2 v^2 u
    w.give(v, w.product(w.of_one<operators::square>(v), u()), -1.5);
  } else if constexpr (__is_same(Op, operators::reciprocal)) {
    w.give(v, w.product(v, u()), -2);
  } else if constexpr (__is_same(Op, operators::selu)) {  // u where the function is not linear
    const int all = u();
    w.give(v,
           w.of_two<operators::elementwise_sub>(all, w.template gradient<operators::relu>(v, all)));
  } else if constexpr (__is_same(Op, operators::square)) {
    w.give(v, u(), 2);
  } else if constexpr (__is_same(Op, operators::log)) {  // -u / v^2
    w.give(v,
           w.template gradient<operators::log>(
               v, w.product(w.template gradient<operators::log>(v, d), g)),
           -1);
  } else if constexpr (__is_same(Op, operators::sin)) {
    w.give(v, w.product(w.of_one<operators::sin>(v), u()), -1);
  } else if constexpr (__is_same(Op, operators::cos)) {
    w.give(v, w.product(w.of_one<operators::cos>(v), u()), -1);
  } else if constexpr (__is_same(Op, operators::asin) || __is_same(Op, operators::acos)) {
    int grad = u();
    for (int i = 0; i < 3; ++i) grad = w.template gradient<Op>(v, grad);
    w.give(v, w.product(v, grad));
  } else if constexpr (__is_same(Op, operators::atan)) {
    const int grad =
        w.template gradient<operators::atan>(v, w.template gradient<operators::atan>(v, u()));
    // Where |v| is above these limits, 1 / (1 + v^2)^2 is 0.
    const double most = b.variables.items[v].type == dtype::float64 ? 1e150 : 1e18;
    w.give(v, w.product(w.limited(v, most), grad), -2);
  } else if constexpr (__is_same(Op, operators::softplus) || __is_same(Op, operators::logsigmoid)) {
    w.give(v, w.template gradient<operators::sigmoid>(w.of_one<operators::sigmoid>(v), u()),
           __is_same(Op, operators::softplus) ? 1 : -1);
  } else if constexpr (__is_same(Op, operators::softsign)) {  // -2 sign(v) u / (1 + |v|)^3
    const int above =
        w.product(w.of_one<operators::sign>(v), w.template gradient<operators::softsign>(v, u()));
    w.give(v,
           w.of_two<operators::elementwise_div>(above, w.scaled(w.of_one<operators::abs>(v), 1, 1)),
           -2);
  } else if constexpr (__is_same(Op, operators::tanh_shrink)) {
    const int t = w.of_one<operators::tanh>(v);
    w.give(v, w.product(t, w.template gradient<operators::tanh>(t, u())), 2);
  } else if constexpr (__is_same(Op, operators::mish)) {
    // With s = sigmoid(v), t = tanh(softplus(v)): s (1 - t^2) (2 + v (1 - s - 2 t s)) u. Where |v|
    // is above 1e4, s or 1 - t^2 is 0, in double too. Above the threshold, s = 1 and t = tanh(v).
    const int x = w.limited(v, 1e4);
    int s = w.of_one<operators::sigmoid>(x), sum = w.of_one<operators::softplus>(x);
    if (const double threshold = w.attribute(0); threshold < 20) {
      const auto replaced = [&](int value, int by) {
        return w.of_two<operators::elementwise_add>(
            value,
            w.template gradient<operators::thresholded_relu>(x, by, b.attribute_list(threshold)));
      };
      s = replaced(s, w.scaled(s, -1, 1));
      sum = replaced(sum, w.of_two<operators::elementwise_sub>(x, sum));
    }
    const int t = w.of_one<operators::tanh>(sum);
    const int turn =
        w.of_two<operators::elementwise_sub>(w.scaled(s, -1, 1), w.scaled(w.product(t, s), 2));
    const int bend = w.product(s, w.scaled(w.product(x, turn), 1, 2));
    w.give(v, w.product(bend, w.template gradient<operators::tanh>(t, u())));
  } else if constexpr (__is_same(Op, operators::stanh)) {
    const int t = w.of_one<operators::tanh>(w.scaled(v, w.attribute(0)));
    w.give(v, w.product(t, w.template gradient<operators::stanh>(v, u(), at)), -2 * w.attribute(0));
  } else if constexpr (__is_same(Op, operators::elu)) {  // alpha e^v u below 0
    const int all = u();
    w.give(v, w.of_two<operators::elementwise_sub>(w.template gradient<operators::elu>(v, all, at),
                                                   w.template gradient<operators::relu>(v, all)));
  } else if constexpr (__is_same(Op, operators::soft_relu)) {
    w.give(v, w.product(w.template gradient<operators::soft_relu>(v, u(), at),
                        w.scaled(w.of_one<operators::sigmoid>(v), -1, 1)));
  } else if constexpr (__is_same(Op, operators::gelu)) {
    // Where |v| is above 40, the factors 1 - t^2 and e^(-v^2 / 2) are 0, in double too.
    const int x = w.limited(v, 40), squared = w.of_one<operators::square>(x);
    if (w.attribute(0) > 0) {
      // With q = 1 + 3 c v^2 and t = tanh(k (v + c v^3)): k (1 - t^2) (q - k v t q^2 + 3 c v^2) u.
      constexpr double k = 0.79788456080286535588, c = 0.044715;
      const int q = w.scaled(squared, 3 * c, 1);
      const int t = w.of_one<operators::tanh>(w.scaled(w.product(x, w.scaled(squared, c, 1)), k));
      const int turned = w.product(w.product(x, t), w.of_one<operators::square>(q));
      const int grown =
          w.scaled(w.of_two<operators::elementwise_add>(q, w.scaled(squared, 3 * c)), k);
      const int bend = w.of_two<operators::elementwise_sub>(grown, w.scaled(turned, k * k));
      w.give(v, w.product(bend, w.template gradient<operators::tanh>(t, u())));
    } else {  // e^(-v^2 / 2) / sqrt(2 pi) (2 - v^2) u
      const int density = w.of_one<operators::exp>(w.scaled(squared, -0.5));
      w.give(v, w.product(w.product(density, w.scaled(squared, -1, 2)), u()),
             0.39894228040143267794);
    }
  } else if constexpr (__is_same(Op,
                                 operators::swish)) {  // beta s (1 - s) (2 + beta v (1 - 2 s)) u
    // Where |beta v| is above 800, s (1 - s) is 0, in double too.
    const double beta = w.attribute(0);
    const int x = w.limited(w.scaled(v, beta), 800), s = w.of_one<operators::sigmoid>(x);
    const int bend = w.scaled(w.product(x, w.scaled(s, -2, 1)), 1, 2);
    w.give(v, w.product(bend, w.template gradient<operators::sigmoid>(s, u())), beta);
  } else {
    static_assert(__is_same(Op, operators::pow));  // p (p - 1) v^(p - 2) u
    // If p is 0, the result is 0, although v^(p - 2) may be infinite: the gradient operator of v^0
    // gives zeros.
    const double p = w.attribute(0);
    w.give(v, w.template gradient<operators::pow>(v, u(), b.attribute_list(p == 0 ? 0 : p - 1)), p);
  }
}

}  // namespace detail
}}  // namespace lamina
