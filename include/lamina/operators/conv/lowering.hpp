// SPDX-License-Identifier: Apache-2.0
// lamina/operators/conv/lowering.hpp - convolutions and batch_norm become heads of groups and their
// statements.
//
// A convolution is the head of a group; its bias, its residual and any other pointwise function
// after it are statements of that group. batch_norm is a call that computes one factor per channel,
// and a statement that applies it. In a program that normalises by given statistics the call needs
// no image, so it precedes the convolution, and the statement joins the group of the convolution.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/elementwise/binary/definition.hpp>
#include <lamina/operators/sequence/conv/lowering.hpp>
#include <lamina/plan/image_operators.hpp>

namespace lamina::inline LAMINA_ABI {

/// The part of lowering that handles images.
struct image_lowering : sequence_lowering {
  using sequence_lowering::sequence_lowering;

 protected:
  /// Lowers operator k, if it is one of these operators and a head accepts its arguments.
  constexpr bool lower_image(const operator_desc& op, int k) {
    if (is<conv2d>(op) || is<depthwise_conv2d>(op) || is<conv3d>(op)) return lower_conv(op, k);
    if (is<gradient_of<conv2d>>(op) || is<gradient_of<depthwise_conv2d>>(op) ||
        is<gradient_of<conv3d>>(op))
      return lower_conv_grad(op, k);
    if (is<batch_norm>(op)) return lower_batch_norm(op, k);
    return is<gradient_of<batch_norm>>(op) && lower_batch_norm_grad(op, k);
  }

  /// Whether v has one number per channel of the images of `space` if an elementwise operator has
  /// the axis `axis`.
  constexpr bool is_of_channels(int v, const plan_variable& space, int axis) const {
    return axis == 1 && space.rows < 0 && space.variable >= 0 && variables.items[v].rows == 1 &&
           p.variables[v].rank == 1 && p.variables[space.variable].rank > 2 &&
           p.dims[p.variables[space.variable].dims + 1] == variables.items[v].columns;
  }

  /// How a row of `columns` elements reads `channels` numbers, one per channel.
  static constexpr access of_channels(int channels, int columns) {
    return channels == columns ? access::row : access::channel;
  }
  /// Whether this is the gradient of a sum with one number per channel, such as the bias of a
  /// convolution.
  constexpr bool is_channel_sum(const operator_desc& op) const {
    const int slope = argument(op.inputs), dy = argument(op.outputs + 1);
    return is<gradient_of<elementwise_add>>(op) && dy >= 0 &&
           is_of_channels(dy, variables.items[slope], 1) && variables.items[slope].type == real;
  }
  /// Y@GRAD of such a sum.
  constexpr void emit_channel_sums(int slope, int dy, int k) {
    emit_call(schema_of<channel_sums>(), {padded_rows(slope, k)}, {dy}, k);
  }

  /// Statements over images of one shape, that of variable `like`.
  constexpr instruction begin_images(group_head head, const operator_schema& schema, int like,
                                     int k) {
    instruction i = begin(head, schema, 0, k);
    i.rows = variables.items[like].rows;
    i.columns = variables.items[like].columns;
    i.depth = p.variables[like].dims;
    return i;
  }
  constexpr int image_like(int v) {
    return temporary(variables.items[v].rows, variables.items[v].columns, false, -1);
  }
  /// x + y, which is `out` or a part of it.
  constexpr int add(int x, int y, access how, int out, bool is_last, int k) {
    const int made = is_last ? out : image_like(out);
    instruction i = begin_images(group_head::pointwise, schema_of<elementwise_add>(), out, k);
    use(x, access::load);
    use(y, how);
    result(made);
    end(i);
    return made;
  }

 private:
  constexpr bool is_images(int v) const {
    return v >= 0 && variables.items[v].rows < 0 && variables.items[v].type == real &&
           p.variables[v].rank > 1;
  }

  constexpr bool lower_conv(const operator_desc& op, int k) {
    const int x = argument(op.inputs), filter = argument(op.inputs + 1);
    const int bias = argument(op.inputs + 2), residual = argument(op.inputs + 3);
    const int out = argument(op.outputs);
    if (!is_images(x) || !is_images(out) || variables.items[filter].type != dtype::float32)
      return false;
    make_factor_ahead(out, k);
    const int made = bias < 0 && residual < 0 ? out : image_like(out);
    const int a = in_rows(x, k), w = in_rows(filter, k);
    instruction i = begin_images(group_head::conv, *op.schema, out, k);
    use(a, access::load);
    use(w, access::load);
    result(made);
    end(i);
    int so_far = made;
    if (bias >= 0)
      so_far = add(so_far, in_rows(bias, k),
                   of_channels(variables.items[bias].columns, variables.items[out].columns), out,
                   residual < 0, k);
    if (residual >= 0) add(so_far, padded_rows(residual, k), access::load, out, true, k);
    return true;
  }
  constexpr bool lower_conv_grad(const operator_desc& op, int k) {
    const int x = argument(op.inputs), filter = argument(op.inputs + 1);
    const int slope = argument(op.inputs + 4);
    const int dx = argument(op.outputs), dfilter = argument(op.outputs + 1);
    if (argument(op.outputs + 2) >= 0 || argument(op.outputs + 3) >= 0 || !is_images(x) ||
        !is_images(slope) || variables.items[filter].type != dtype::float32)
      return false;
    const int d = in_rows(slope, k);
    if (dx >= 0) {
      const int w = in_rows(filter, k);
      instruction i = begin_images(group_head::conv_dx, *op.schema, dx, k);
      use(d, access::load);
      use(w, access::load);
      result(dx);
      end(i);
    }
    if (dfilter >= 0) {
      variables.items[dfilter].panel = false;
      emit_call(schema_of<conv_filter_gradient_sum>(), {in_rows(x, k), d}, {dfilter}, k);
    }
    return true;
  }

  /// Whether a batch_norm normalises by given statistics.
  constexpr bool has_statistics(const operator_desc& op) const {
    return attribute(op, 0) != 0 || attribute(op, 4) != 0;
  }
  /// The factors of a batch_norm with given statistics that follows a convolution, with or without
  /// a bias between them, are made before the convolution.
  constexpr void make_factor_ahead(int out, int k) {
    for (int next = k + 1; next < p.count.operators && next <= k + 2; ++next) {
      const operator_desc& op = p.operators[next];
      if (op.block != block || argument(op.inputs) != out) return;
      if (is<batch_norm>(op)) {
        if (has_statistics(op) && is_images(out)) ahead = {next, make_factor(op, -1, next)};
        return;
      }
      if (!is<elementwise_add>(op)) return;
      out = argument(op.outputs);
    }
  }
  /// SavedMean, SavedVariance, and the factors, which are returned; x: -1 if statistics are given.
  constexpr int make_factor(const operator_desc& op, int x, int k) {
    const int scale = argument(op.inputs + 1);
    const int made = temporary(1, variables.items[scale].columns, false, -1);
    const bool given = x < 0;
    emit_call(schema_of<batch_norm_factor>(),
              {x, in_rows(scale, k), argument(op.inputs + 2), in_rows(argument(op.inputs + 3), k),
               in_rows(argument(op.inputs + 4), k)},
              {given ? -1 : argument(op.outputs + 1), given ? -1 : argument(op.outputs + 2),
               argument(op.outputs + 3), argument(op.outputs + 4), made},
              k);
    return made;
  }

  constexpr bool lower_batch_norm(const operator_desc& op, int k) {
    const int x = argument(op.inputs), y = argument(op.outputs);
    const bool given = has_statistics(op);
    const int mean = argument(given ? op.inputs + 3 : op.outputs + 3);
    if (!is_images(x) || !is_images(y) || mean < 0) return false;
    const int a = padded_rows(x, k);
    const int factor = given && ahead.op == k ? ahead.factor : make_factor(op, given ? -1 : a, k);
    instruction i = begin_images(group_head::pointwise, schema_of<channel_normalize>(), y, k);
    use(a, access::load);
    const access how = of_channels(variables.items[factor].columns, variables.items[x].columns);
    use(mean, how);
    use(factor, how);
    use(argument(op.inputs + 2), how);
    result(y);
    end(i);
    return true;
  }

  constexpr bool lower_batch_norm_grad(const operator_desc& op, int k) {
    const int x = argument(op.inputs), scale = argument(op.inputs + 1);
    const int mean = argument(op.inputs + 2), variance = argument(op.inputs + 3);
    const int slope = argument(op.inputs + 4);
    const int dx = argument(op.outputs), dscale = argument(op.outputs + 1);
    const int dbias = argument(op.outputs + 2);
    if (!is_images(x) || !is_images(slope)) return false;
    const int a = padded_rows(x, k), d = padded_rows(slope, k);
    const int channels = variables.items[scale].columns;
    // With given statistics the gradient is the slope times the factor.
    const bool given = has_statistics(op);
    int made[3];
    for (int j = 0; j < 3; ++j)
      made[j] = dx < 0 || (given && j < 2) ? -1 : temporary(1, channels, false, -1);
    emit_call(schema_of<batch_norm_slopes>(), {a, in_rows(scale, k), mean, variance, d},
              {dscale, dbias, made[0], made[1], made[2]}, k);
    if (dx < 0) return true;
    const access how = of_channels(channels, variables.items[x].columns);
    const operator_schema& schema = given                ? schema_of<elementwise_mul>()
                                    : how == access::row ? schema_of<column_normalize_slope>()
                                                         : schema_of<channel_normalize_slope>();
    instruction i = begin_images(group_head::pointwise, schema, dx, k);
    use(d, access::load);
    if (!given) {
      use(a, access::load);
      use(mean, how);
    }
    for (const int v : made)
      if (v >= 0) use(v, how);
    result(dx);
    end(i);
    return true;
  }

  /// The factors that were made before their batch_norm was met.
  struct factor_ahead {
    int op, factor;
  };
  factor_ahead ahead{-1, -1};
};

}  // namespace lamina::inline LAMINA_ABI
