// SPDX-License-Identifier: Apache-2.0
// lamina/transform/loss_gradient_rules.hpp - the gradients of the gradient operators of
// cross-entropies.
//
// Labels have no gradient. In the comments, X is the input of the forward operator, d the gradient
// of its cost, dX the result of the gradient operator, and g the gradient of dX.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/activation/simple/definition.hpp>
#include <lamina/operators/activation/softmax/definition.hpp>
#include <lamina/operators/elementwise/unary/definition.hpp>
#include <lamina/operators/loss/cross_entropy/definition.hpp>
#include <lamina/operators/loss/pointwise/definition.hpp>
#include <lamina/operators/reduce/dimensions/definition.hpp>
#include <lamina/transform/gradient_writer.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The classification costs that have second derivatives.
using twice_differentiable_losses =
    operator_list<operators::sigmoid_cross_entropy_with_logits,
                  operators::softmax_with_cross_entropy, operators::cross_entropy>;

namespace detail {

/// Appends the gradient operator once more, with inputs `first`, `second` and `of_out` (the
/// gradient of the cost). Returns its result, which has the shape of `like`.
constexpr int same_gradient(gradient_writer& w, int like, int first, int second, int of_out) {
  const int out = w.made(like);
  w.builder().add_operator(*w.op().schema, {first, second, of_out}, {out}, w.attributes());
  return out;
}

/// dX = m d (s - label) / n with s = sigmoid(X), where m is 0 for ignored labels and 1 for all
/// others; n is the number of labels that are not ignored if the cost is normalised, otherwise 1.
/// The gradient of d is the gradient operator applied to g, and the gradient of X is m d g s (1 -
/// s) / n. Only the gradient operator can compute the factor m / n. So it is applied to u = d g s
/// (1 - s) in place of d, once with X = 1000, where s is 1, and once with X = -1000, where s is 0;
/// the results differ by m u / n.
constexpr void differentiate_sigmoid_cross_entropy(gradient_writer& w) {
  const int x = w.input(0), label = w.input(1), d = w.of_out(), g = w.grad(0);
  if (g < 0) return;
  program_builder& b = w.builder();
  if (const int part = partial_gradient(b, d); part >= 0)
    b.add_operator(*w.op().schema, {x, label, g}, {part}, w.attributes());
  if (!w.wants(x)) return;
  const int bent = w.gradient<operators::sigmoid>(w.of_one<operators::sigmoid>(x), w.product(d, g));
  const auto at = [&](double value) {
    return same_gradient(w, x, w.scaled(w.zeros(x), 1, value), label, bent);
  };
  w.give(x, w.of_two<operators::elementwise_sub>(at(1000), at(-1000)));
}

/// For dX = d * factor, where d has one element per row of X: the gradient of d gets the sum of g *
/// factor over the last dimension.
constexpr void give_row_sums(gradient_writer& w, int factor) {
  const int last = w.builder().variables.items[factor].rank - 1;
  w.give(w.of_out(), w.reduced<operators::reduce_sum>(w.product(w.grad(0), factor), last));
}

/// dX = -d label / X, where each row of the label is a distribution. The gradient of d is the sum
/// of -g label / X over each row. The gradient of X is d g label / X^2 = -dX g / X, which is 0
/// where dX is 0.
constexpr void differentiate_cross_entropy(gradient_writer& w) {
  const int x = w.input(0), label = w.input(1), d = w.of_out(), g = w.grad(0);
  if (g < 0) return;
  if (w.wants(d)) give_row_sums(w, same_gradient(w, x, x, label, w.scaled(w.zeros(d), 1, 1)));
  if (!w.wants(x)) return;
  const int dx = same_gradient(w, x, x, label, d);
  w.give(x, w.gradient<operators::log>(x, w.product(dx, g)), -1);
}

/// If variable `softmax` is the softmax of a softmax_with_cross_entropy, returns the logits of that
/// operator, otherwise -1.
constexpr int logits_of(const program_builder& b, int softmax) {
  for (int k = b.operators.count; k-- > 0;)
    if (const operator_desc& op = b.operators.items[k];
        is<operators::softmax_with_cross_entropy>(op) && b.arguments.items[op.outputs] == softmax)
      return b.arguments.items[op.inputs];
  return -1;
}

/// dX = d (S sum label - label) with S = softmax(X), and 0 in ignored rows. The gradient of d is
/// the sum of g (S sum label - label) over each row, and the gradient of S is d g sum label. For S
/// = 0 the gradient operator computes -d label, so d sum label is minus the sum of its results over
/// a row. Gradients must flow from S to X; the forward operator's softmax has no gradient, so a
/// softmax operator computes S again.
constexpr void differentiate_softmax_cross_entropy(gradient_writer& w) {
  const int label = w.input(0), s = w.input(1), d = w.of_out(), g = w.grad(0);
  if (g < 0) return;
  program_builder& b = w.builder();
  const int logits = logits_of(b, s);
  const int y = logits < 0 ? s : w.of_one<operators::softmax>(logits);
  if (w.wants(d)) give_row_sums(w, same_gradient(w, y, label, y, w.scaled(w.zeros(d), 1, 1)));
  if (!w.wants(logits < 0 ? s : logits)) return;
  const int last = b.variables.items[s].rank - 1;
  const int spread = same_gradient(w, y, label, w.zeros(y), d);
  const int of_y = w.row_product(g, w.scaled(w.reduced<operators::reduce_sum>(spread, last), -1));
  if (logits < 0) return w.give(s, of_y);
  if (const int part = partial_gradient(b, logits); part >= 0)
    b.add_operator(schema_of<gradient_of<operators::softmax>>(), {y, of_y}, {part});
}

}  // namespace detail
}}  // namespace lamina
