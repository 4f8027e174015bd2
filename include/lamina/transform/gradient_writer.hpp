// SPDX-License-Identifier: Apache-2.0
// lamina/transform/gradient_writer.hpp - records the gradient of a gradient operator, for second
// derivatives.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/elementwise/binary/definition.hpp>
#include <lamina/operators/elementwise/clip/definition.hpp>
#include <lamina/operators/elementwise/sum/definition.hpp>
#include <lamina/operators/fill/definition.hpp>
#include <lamina/operators/gradient.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Writes the gradient of one gradient operator as ordinary operators, which have gradients in
/// turn. Variables are given and returned as their numbers in the program.
class gradient_writer {
 public:
  constexpr gradient_writer(program_builder& b, const operator_desc& op) : b_(b), op_(op) {}

  /// Returns the i-th argument of the gradient operator, none of whose arguments may be a list.
  constexpr int input(int i) const { return b_.arguments.items[op_.inputs + i]; }
  /// Returns the gradient of the forward operator's Out, which is the last argument.
  constexpr int of_out() const { return b_.arguments.items[op_.outputs - 1]; }
  /// Returns the gradient of the i-th result of the gradient operator, or -1 if the cost does not
  /// depend on this result.
  constexpr int grad(int i) { return gradient_variable(b_, b_.arguments.items[op_.outputs + i]); }
  constexpr bool wants(int variable) const { return wants_gradient(b_, variable); }
  constexpr int attributes() const { return op_.attributes; }
  constexpr double attribute(int i) const {
    return op_.attributes >= 0 ? b_.attributes.items[op_.attributes + i].number
                               : op_.schema->attributes[i].number;
  }
  constexpr bool same_shape(int a, int c) const {
    const variable_desc &x = b_.variables.items[a], &y = b_.variables.items[c];
    bool same = x.rank == y.rank && x.rows == y.rows;
    for (int i = 0; same && i < x.rank; ++i)
      same = b_.dims.items[x.dims + i] == b_.dims.items[y.dims + i];
    return same;
  }

  /// Adds a variable with the shape of `like` and returns it.
  constexpr int made(int like) {
    const variable_desc v = b_.variables.items[like];
    return b_.variables.push({-1, like, "@GRAD@OF@", b_.variables.count, v.dims, v.rank, v.rows, -1,
                              b_.current_block, v.type, variable_kind::gradient, false, false});
  }
  /// Appends operator Op with inputs X and Y. Returns its Out, which has the shape of X.
  template <class Op>
  constexpr int of_two(int x, int y, int attributes = -1) {
    const int out = made(x);
    b_.add_operator(schema_of<Op>(), {x, y}, {out}, attributes);
    return out;
  }
  constexpr int product(int x, int y, int attributes = -1) {
    return of_two<operators::elementwise_mul>(x, y, attributes);
  }
  template <class Op>
  constexpr int of_one(int x, int attributes = -1) {
    const int out = made(x);
    b_.add_operator(schema_of<Op>(), {x}, {out}, attributes);
    return out;
  }
  constexpr int scaled(int x, double factor, double bias = 0) {
    return of_one<operators::scale>(x, b_.attribute_list(factor, bias, true));
  }
  /// Clips x to [-most, most], so that a polynomial of x stays finite: where it is multiplied by 0,
  /// an infinite value would give NaN.
  constexpr int limited(int x, double most) {
    return of_one<operators::clip>(x, b_.attribute_list(-most, most));
  }
  /// Returns x times y, where y has one number per row, with shape [rows, 1, ...].
  constexpr int row_product(int x, int y) { return product(x, y, b_.attribute_list(0)); }
  /// Returns x reduced by operator Op over the dimensions from `first` on, which then have size 1.
  template <class Op>
  constexpr int reduced(int x, int first) {
    const variable_desc v = b_.variables.items[x];
    const int shape = b_.dims.take(v.rank);
    int dims[16];
    for (int i = 0; i < v.rank; ++i) {
      b_.dims.items[shape + i] = i < first ? b_.dims.items[v.dims + i] : 1;
      if (i >= first) dims[i - first] = i;
    }
    const int out = made(x);
    b_.variables.items[out].dims = shape;
    b_.variables.items[out].kind = variable_kind::temporary;
    const attribute_value list = b_.integer_list(dims, v.rank - first);
    b_.add_operator(schema_of<Op>(), {x}, {out}, b_.attribute_list(list, true, false));
    return out;
  }
  constexpr int zeros(int like) { return of_one<operators::fill_zeros_like>(like); }
  /// Appends the gradient operator of Op and returns its result. `value` is the input or output of
  /// Op that this operator reads, `of_out` the gradient of Op's result.
  template <class Op>
  constexpr int gradient(int value, int of_out, int attributes = -1) {
    return of_two<gradient_of<Op>>(value, of_out, attributes);
  }

  /// Adds factor * x to the gradient of a variable.
  constexpr void give(int variable, int x, double factor = 1) {
    if (const int part = partial_gradient(b_, variable); part >= 0)
      b_.add_operator(schema_of<operators::scale>(), {x}, {part},
                      b_.attribute_list(factor, 0.0, true));
  }
  /// Adds the result of operator Op(X, Y) to the gradient of a variable.
  template <class Op>
  constexpr void give_of_two(int variable, int x, int y, int attributes) {
    if (const int part = partial_gradient(b_, variable); part >= 0)
      b_.add_operator(schema_of<Op>(), {x, y}, {part}, attributes);
  }
  /// Adds result `side` of the gradient operator of Op to the gradient of a variable. The operands
  /// of Op are x and y; `of_out` is the gradient of its result.
  template <class Op>
  constexpr void give_side(int variable, int side, int x, int y, int of_out, int attributes) {
    if (const int part = partial_gradient(b_, variable); part >= 0)
      b_.add_operator(schema_of<gradient_of<Op>>(), {x, y, of_out},
                      {side == 0 ? part : -1, side == 1 ? part : -1}, attributes);
  }

  constexpr program_builder& builder() { return b_; }
  constexpr const operator_desc& op() const { return op_; }

 private:
  program_builder& b_;
  operator_desc op_;
};

}}}  // namespace lamina::detail
