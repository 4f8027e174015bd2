// SPDX-License-Identifier: Apache-2.0
// lamina/transform/gradient_rules.hpp - rules for the gradients of gradient operators, that is, for
// second derivatives.
//
// The definition of a gradient operator has no gradient rule. If a cost depends on its results, one
// of the rules below expresses its gradient by operators that have gradients, so derivatives of any
// order are available. In the comments, X and Y are the operands and Out the result of the forward
// operator; d is the gradient of Out. The gradient operator computes dX and dY, the gradients of X
// and Y. A rule is given gX and gY, the gradients of dX and dY; g is the gradient of dX if there is
// only one operand.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/activation/simple/definition.hpp>
#include <lamina/operators/activation/softmax/definition.hpp>
#include <lamina/operators/activation/tunable/definition.hpp>
#include <lamina/operators/conv/definition.hpp>
#include <lamina/operators/elementwise/clip/definition.hpp>
#include <lamina/operators/elementwise/unary/definition.hpp>
#include <lamina/operators/matrix/matmul/definition.hpp>
#include <lamina/operators/matrix/mul/definition.hpp>
#include <lamina/operators/norm/layer_norm/definition.hpp>
#include <lamina/operators/pool/pool2d/definition.hpp>
#include <lamina/operators/pool/pool3d/definition.hpp>
#include <lamina/operators/random/dropout/definition.hpp>
#include <lamina/operators/reduce/dimensions/definition.hpp>
#include <lamina/operators/shape/concat/definition.hpp>
#include <lamina/operators/shape/reshape/definition.hpp>
#include <lamina/transform/gradient_writer.hpp>
#include <lamina/transform/loss_gradient_rules.hpp>
#include <lamina/transform/norm_gradient_rules.hpp>
#include <lamina/transform/pool_gradient_rules.hpp>
#include <lamina/transform/second_derivatives.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Operators whose Out is linear in each of two operands.
using twice_differentiable_products =
    operator_list<operators::mul, operators::matmul, operators::elementwise_mul>;
using twice_differentiable_convolutions =
    operator_list<operators::conv2d, operators::depthwise_conv2d, operators::conv3d,
                  operators::conv2d_transpose>;
/// Operators whose Out is linear in X.
using twice_differentiable_linear =
    operator_list<operators::scale, operators::mean, operators::reduce_sum, operators::reduce_mean,
                  operators::reshape2, operators::transpose2, operators::squeeze2,
                  operators::unsqueeze2, operators::flatten2, operators::slice, operators::pad,
                  operators::expand>;
using twice_differentiable_sums =
    operator_list<operators::elementwise_add, operators::elementwise_sub>;
/// Functions that are linear wherever they have a derivative.
using twice_differentiable_pieces =
    operator_list<operators::relu, operators::leaky_relu, operators::relu6, operators::brelu,
                  operators::hard_sigmoid, operators::hard_shrink, operators::softshrink,
                  operators::thresholded_relu, operators::clip, operators::abs, operators::dropout,
                  operators::elementwise_keep>;
/// Functions whose derivative is 0 wherever it exists.
using twice_differentiable_steps =
    operator_list<operators::ceil, operators::floor, operators::round, operators::sign>;
using twice_differentiable_others =
    operator_list<operators::elementwise_div, operators::elementwise_max,
                  operators::elementwise_min, operators::concat, operators::softmax,
                  operators::layer_norm, operators::batch_norm, operators::pool2d,
                  operators::pool3d>;

namespace detail {

/// If `op` is the gradient operator of an operator Op in the list, calls f<Op>(). Returns whether
/// it has called f.
template <class... Op, class F>
constexpr bool for_gradient_of(const operator_desc& op, operator_list<Op...>, F&& f) {
  return ((is<gradient_of<Op>>(op) && (f.template operator()<Op>(), true)) || ...);
}

/// For an Op that is linear in X and in Y. The gradient operator of Op computes dX from Y and d,
/// and dY from X and d. The gradient of d is Op(gX, Y) + Op(X, gY); the gradients of X and Y come
/// from the same gradient operator with gY in place of Y and gX in place of X.
template <class Op>
constexpr void differentiate_product(gradient_writer& w) {
  const int x = w.input(0), y = w.input(1), d = w.of_out(), at = w.attributes();
  const int gx = w.grad(0), gy = w.grad(1);
  if (gx >= 0) {
    w.template give_of_two<Op>(d, gx, y, at);
    w.template give_side<Op>(y, 1, gx, y, d, at);
  }
  if (gy >= 0) {
    w.template give_of_two<Op>(d, x, gy, at);
    w.template give_side<Op>(x, 0, x, gy, d, at);
  }
}

/// Does the same for a convolution. Returns false if it has a bias.
template <class Op>
constexpr bool differentiate_convolution(gradient_writer& w) {
  constexpr int inputs = static_cast<int>(Op::inputs.size());
  for (int i = 2; i < inputs; ++i)
    if (w.input(i) >= 0) return false;
  program_builder& b = w.builder();
  const int at = w.attributes();
  const auto record = [&](const operator_schema& schema, int x, int y, int d, int out, int side) {
    operator_desc made = b.begin(schema);
    b.argument(x);
    b.argument(y);
    for (int i = 2; i < inputs; ++i) b.argument(-1);
    if (d >= 0) b.argument(d);
    made.outputs = b.arguments.count;
    for (int i = 0; i < (d >= 0 ? inputs : 1); ++i) b.argument(i == side ? out : -1);
    made.end = b.arguments.count;
    made.attributes = at;
    b.operators.push(made);
  };
  const int x = w.input(0), y = w.input(1), d = w.of_out();
  for (int side = 0; side < 2; ++side) {
    const int g = w.grad(side);
    if (g < 0) continue;
    const int left = side == 0 ? g : x, right = side == 0 ? y : g, other = side == 0 ? y : x;
    if (const int part = partial_gradient(b, d); part >= 0)
      record(schema_of<Op>(), left, right, -1, part, 0);
    if (const int part = partial_gradient(b, other); part >= 0)
      record(schema_of<gradient_of<Op>>(), left, right, d, part, 1 - side);
  }
  return true;
}

/// For an Op whose dX is linear in d and depends on nothing else. The gradient of d is Op(g).
template <class Op>
constexpr void differentiate_linear(gradient_writer& w) {
  program_builder& b = w.builder();
  const int g = w.grad(0), part = g < 0 ? -1 : partial_gradient(b, w.of_out());
  if (part < 0) return;
  int at = w.attributes();
  // A constant that is added to X, such as the bias of `scale`, does not affect the gradient.
  if constexpr (__is_same(Op, operators::pad)) at = b.attribute_list(b.attributes.items[at], 0.0);
  if constexpr (__is_same(Op, operators::scale)) at = b.attribute_list(w.attribute(0), 0.0, true);
  int shape = -1;
  if constexpr (Op::outputs.size() > 1) {
    variable_desc like = b.variables.items[w.input(0)];
    like.of = w.input(0), like.base = -1, like.suffix = "@GRAD@OF@";
    like.number = b.variables.count, like.block = b.current_block;
    shape = b.variables.push(like);
  }
  operator_desc made = b.begin(schema_of<Op>());
  b.argument(g);
  for (std::size_t i = 1; i < Op::inputs.size(); ++i) b.argument(Op::inputs[i].duplicable ? 0 : -1);
  made.outputs = b.arguments.count;
  b.argument(part);
  if constexpr (Op::outputs.size() > 1) b.argument(shape);
  made.end = b.arguments.count;
  made.attributes = at;
  b.operators.push(made);
}

/// Differentiates the gradient operator of a pooling. Average pooling is linear. Returns false for
/// maximum pooling of volumes, and for maximum pooling that differentiate_max_pool does not
/// support.
template <class Op>
constexpr bool differentiate_pool(gradient_writer& w) {
  const program_builder& b = w.builder();
  if (w.attributes() < 0) return false;
  const attribute_value type = b.attributes.items[w.attributes()];
  if (type.count != 3) return false;
  if (b.characters.items[type.offset] == 'm')
    return __is_same(Op, operators::pool2d) && differentiate_max_pool(w);
  differentiate_linear<Op>(w);
  return true;
}

/// For X + Y and X - Y: dX = d, and dY is the sum of d or -d over the elements to which each
/// element of Y is broadcast.
template <class Op>
constexpr void differentiate_sum(gradient_writer& w) {
  const int gx = w.grad(0), gy = w.grad(1), d = w.of_out();
  if (!w.wants(d)) return;
  if (gy >= 0)
    w.template give_of_two<Op>(d, gx >= 0 ? gx : w.zeros(d), gy, w.attributes());
  else if (gx >= 0)
    w.give(d, gx);
}

/// For X / Y: dX = d / Y and dY = -d X / Y^2. With q = X / Y and n = gX - gY q, the gradient of d
/// is n / Y, the gradient of X is -gY d / Y^2, and the gradient of Y is the sum of -d (gX - 2 gY q)
/// / Y^2.
constexpr void differentiate_quotient(gradient_writer& w) {
  const int x = w.input(0), y = w.input(1), d = w.of_out(), at = w.attributes();
  const int gx = w.grad(0), gy = w.grad(1);
  if (gx < 0 && gy < 0) return;
  int turned = -1;  // gY q
  if (gy >= 0) {
    const int q = w.of_two<operators::elementwise_div>(x, y, at);
    turned = w.product(q, gy, at);
  }
  const auto less = [&](double factor) {
    if (gy < 0) return gx;
    const int part = w.scaled(turned, -factor);
    return gx < 0 ? part : w.of_two<operators::elementwise_add>(gx, part);
  };
  if (w.wants(d)) w.give_of_two<operators::elementwise_div>(d, less(1), y, at);
  // The gradient operator of elementwise_mul computes the sum over the elements to which Y is
  // broadcast. (That of elementwise_div could not be used, because it also reads the quotient.)
  if (w.wants(y))
    w.give_side<operators::elementwise_mul>(
        y, 1, w.of_two<operators::elementwise_div>(w.scaled(less(2), -1), y, at), y,
        w.of_two<operators::elementwise_div>(d, y, at), at);
  if (gy >= 0 && w.wants(x)) {
    const int whole = w.product(d, gy, at);
    w.give(x,
           w.of_two<operators::elementwise_div>(w.of_two<operators::elementwise_div>(whole, y, at),
                                                y, at),
           -1);
  }
}

/// For an Op that chooses X or Y per element: dX = d where X is chosen, and dY = d elsewhere. The
/// gradient of d is gX where X is chosen, and gY elsewhere: gY plus, where X is chosen, gX - gY.
template <class Op>
constexpr void differentiate_choice(gradient_writer& w) {
  const int x = w.input(0), y = w.input(1), d = w.of_out(), at = w.attributes();
  const int gx = w.grad(0), gy = w.grad(1);
  if ((gx < 0 && gy < 0) || !w.wants(d)) return;
  if (gy < 0) return w.template give_side<Op>(d, 0, x, y, gx, at);
  program_builder& b = w.builder();
  const int wide = w.of_two<operators::elementwise_add>(w.zeros(d), gy, at);
  const int rest = gx < 0 ? w.scaled(wide, -1) : w.of_two<operators::elementwise_sub>(gx, wide);
  const int chosen = w.made(x);
  b.add_operator(schema_of<gradient_of<Op>>(), {x, y, rest}, {chosen, -1}, at);
  w.template give_of_two<operators::elementwise_add>(d, wide, chosen, -1);
}

/// For a concatenation, each dX is a slice of d. The gradient of d is the concatenation of the
/// gradients g of these slices.
constexpr void differentiate_concat(gradient_writer& w) {
  program_builder& b = w.builder();
  const operator_desc& op = w.op();
  const int n = b.arguments.items[op.inputs];
  int* parts = new int[static_cast<unsigned>(n) + 1];
  bool any = false;
  for (int i = 0; i < n; ++i) {
    parts[i] = w.grad(1 + i);
    any = any || parts[i] >= 0;
  }
  for (int i = 0; any && i < n; ++i)
    if (parts[i] < 0) parts[i] = w.zeros(b.arguments.items[op.inputs + 1 + i]);
  if (const int part = any ? partial_gradient(b, w.of_out()) : -1; part >= 0) {
    operator_desc made = b.begin(schema_of<operators::concat>());
    b.list(parts, n);
    made.outputs = b.arguments.count;
    b.argument(part);
    made.end = b.arguments.count;
    made.attributes = op.attributes;
    b.operators.push(made);
  }
  delete[] parts;
}

/// For Y = softmax(X): dX = Y (d - sum d Y) in each row of the last dimension. The gradient of d is
/// the same gradient operator applied to g instead of d; the gradient of Y is g (d - sum d Y) - d
/// sum g Y.
constexpr bool differentiate_softmax(gradient_writer& w) {
  const int y = w.input(0), d = w.of_out(), g = w.grad(0);
  const int last = w.builder().variables.items[y].rank - 1;
  if (w.attribute(0) != -1 && w.attribute(0) != last) return false;
  differentiate_grad(w, *w.op().schema);
  if (g < 0 || !w.wants(y)) return true;
  const int all = w.row_product(g, w.reduced<operators::reduce_sum>(w.product(d, y), last));
  const int other = w.row_product(d, w.reduced<operators::reduce_sum>(w.product(g, y), last));
  w.give(y, w.of_two<operators::elementwise_sub>(w.product(d, g),
                                                 w.of_two<operators::elementwise_add>(all, other)));
  return true;
}

/// Let h = d Scale, let x be the normalised rows, and r the reciprocal standard deviation of each
/// row. Then dX = P h with P h = r (h - mean h - x mean(h x)). P is symmetric, so the gradient of h
/// is P g. The gradient of X is -r (P h mean(g x) + P g mean(h x) + x mean(g P h)). Returns false
/// if a cost depends on dScale or dBias, which is not supported.
constexpr bool differentiate_layer_norm(gradient_writer& w) {
  program_builder& b = w.builder();
  const int x = w.input(0), scale_of = w.input(1), d = w.of_out(), g = w.grad(0);
  if (w.grad(1) >= 0 || w.grad(2) >= 0 || b.variables.items[x].rank != 2 || w.attribute(1) != 1)
    return false;
  if (g < 0) return true;
  const auto projected = [&](int of) {
    const int out = w.made(x);
    b.add_operator(*w.op().schema, {x, -1, w.input(2), w.input(3), of}, {out, -1, -1},
                   w.attributes());
    return out;
  };
  const int pg = projected(g);
  if (scale_of >= 0) {
    w.give_of_two<operators::elementwise_mul>(d, pg, scale_of, -1);
    w.give_side<operators::elementwise_mul>(scale_of, 1, d, scale_of, pg, -1);
  } else {
    w.give(d, pg);
  }
  if (!w.wants(x)) return true;
  const int h = scale_of >= 0 ? w.product(d, scale_of) : d;
  const int ph = projected(h);
  const auto mean_of_rows = [&](int of) { return w.reduced<operators::reduce_mean>(of, 1); };
  const auto of_rows = b.attribute_list(0);
  const int centred = w.of_two<operators::elementwise_sub>(x, mean_of_rows(x), of_rows);
  const int variance = mean_of_rows(w.of_one<operators::square>(centred));
  const int r = w.of_one<operators::rsqrt>(w.scaled(variance, 1, w.attribute(0)));
  const int normal = w.row_product(centred, r);
  const auto times = [&](int p, int of) {
    return w.row_product(p, mean_of_rows(w.product(of, normal)));
  };
  const int bent = w.row_product(normal, mean_of_rows(w.product(g, ph)));
  const int sum = w.of_two<operators::elementwise_add>(times(ph, g), times(pg, h));
  w.give(x, w.row_product(w.of_two<operators::elementwise_add>(sum, bent), r), -1);
  return true;
}

/// Records the gradient of gradient operator `op`. Returns false if there is no rule for `op`. The
/// function is a template so that only programs with gradients of gradients compile it.
template <class = void>
constexpr bool differentiate_gradient(program_builder& b, const operator_desc& op) {
  gradient_writer w(b, op);
  bool known = true;
  const bool found =
      for_gradient_of(op, twice_differentiable_products{},
                      [&]<class Op>() { differentiate_product<Op>(w); }) ||
      for_gradient_of(op, twice_differentiable_functions{},
                      [&]<class Op>() {
                        differentiate_grad(w, *op.schema);
                        differentiate_bend<Op>(w);
                      }) ||
      for_gradient_of(op, twice_differentiable_pieces{},
                      [&]<class Op>() { differentiate_grad(w, *op.schema); }) ||
      for_gradient_of(op, twice_differentiable_sums{},
                      [&]<class Op>() { differentiate_sum<Op>(w); }) ||
      for_gradient_of(op, twice_differentiable_linear{},
                      [&]<class Op>() { differentiate_linear<Op>(w); }) ||
      for_gradient_of(op, twice_differentiable_steps{}, []<class>() {}) ||
      for_gradient_of(
          op, twice_differentiable_others{},
          [&]<class Op>() {
            if constexpr (__is_same(Op, operators::elementwise_div))
              differentiate_quotient(w);
            else if constexpr (__is_same(Op, operators::concat))
              differentiate_concat(w);
            else if constexpr (__is_same(Op, operators::softmax))
              known = differentiate_softmax(w);
            else if constexpr (__is_same(Op, operators::pool2d) || __is_same(Op, operators::pool3d))
              known = differentiate_pool<Op>(w);
            else if constexpr (__is_same(Op, operators::layer_norm))
              known = differentiate_layer_norm(w);
            else if constexpr (__is_same(Op, operators::batch_norm))
              known = differentiate_batch_norm(w);
            else
              differentiate_choice<Op>(w);
          }) ||
      for_gradient_of(op, twice_differentiable_positions{},
                      [&]<class Op>() {
                        if constexpr (__is_same(Op, operators::unpool))
                          differentiate_unpool(w);
                        else
                          known = differentiate_indexed_pool(w);
                      }) ||
      for_gradient_of(op, twice_differentiable_losses{},
                      [&]<class Op>() {
                        if constexpr (__is_same(Op, operators::cross_entropy))
                          differentiate_cross_entropy(w);
                        else if constexpr (__is_same(Op, operators::softmax_with_cross_entropy))
                          differentiate_softmax_cross_entropy(w);
                        else
                          differentiate_sigmoid_cross_entropy(w);
                      }) ||
      for_gradient_of(op, twice_differentiable_convolutions{},
                      [&]<class Op>() { known = differentiate_convolution<Op>(w); });
  return found && known;
}

}  // namespace detail
}}  // namespace lamina
