// SPDX-License-Identifier: Apache-2.0
// laws/edge_exemptions.hpp - the table of exemptions: which operators are not run with which edge
// values, and why. An exemption applies to every program that contains the operator, and only to
// the runs that it names.
#pragma once

#include <string_view>

#include <lamina/program/program_desc.hpp>

namespace lamina::law {

/// The runs of the law of edge values, as bits. Each has a different kind of edge value among the
/// floating feeds.
enum edge_run : unsigned {
  small_values = 1,     // 0, -0, denormal numbers, 1e-30, equal numbers
  large_values = 2,     // 1e20 and -1e20
  infinite_values = 4,  // both infinities
  nan_values = 8,
  offset_values = 16,  // equal rows of integers above 1e7
  no_rows = 32
};
inline constexpr unsigned edge_runs = 6;

struct edge_exemption {
  const char* type;  // the type of the operator
  unsigned runs;     // a set of edge_run bits
  const char* reason;
  // if set, the exemption applies only to programs that also have this operator
  const char* beside = nullptr;
};

// These sums overflow, or their digits cancel, in one order of summation but not in another.
inline constexpr const char* order_of_sums = "order of sums";
// A pool gives the gradient 0 to elements that it did not choose. The engine does not multiply
// these zeros by the slope of the activation before the pool. The executor does, and 0 times the
// slope at NaN is NaN.
inline constexpr const char* not_chosen = "differs: what a pool did not choose has the gradient 0";

inline constexpr edge_exemption edge_exemptions[] = {
    {"conv2d", large_values, order_of_sums},
    {"depthwise_conv2d", large_values, order_of_sums},
    {"depthwise_conv2d", infinite_values,
     "differs: the engine multiplies an infinite slope by the zeros of the padding"},
    {"selu", large_values | infinite_values,
     "differs: where the slope is 0, rounding may leave 1e-8 of the difference of two numbers"},
    {"sequence_conv", large_values, order_of_sums},
    {"conv2d_transpose", large_values, order_of_sums},
    {"conv3d", large_values, order_of_sums},
    {"gru", large_values, order_of_sums},
    {"reduce_sum", large_values, order_of_sums},
    {"reduce_mean", large_values, order_of_sums},
    {"conv2d", infinite_values | nan_values, not_chosen, "pool2d"},
    {"while", infinite_values, "a loop until a number is small never ends", "greater_than"},
    {"softmax_with_cross_entropy", large_values, "order of sums: soft labels of both signs",
     "bpr_loss"},
    {"cos_sim", small_values, "a slope of 0 is a difference of numbers around 1e30"},
    {"linear_chain_crf", large_values, order_of_sums},
    {"crf_decoding", large_values | offset_values, order_of_sums},
    {"in_batch_cross_entropy", large_values | offset_values, order_of_sums},
    {"linear_chain_crf", infinite_values | nan_values, "refuses scores without a finite sum"},
    {"batch_norm", offset_values, order_of_sums},
    {"layer_norm", offset_values, order_of_sums},
    {"group_norm", offset_values, order_of_sums},
    {"instance_norm", offset_values, order_of_sums},
    {"matmul", large_values, order_of_sums},
    {"matmul", offset_values, order_of_sums, "softmax"},
    // Products of large numbers cancel, and the next operators decide by the remaining rounding
    // error.
    {"mul", large_values | offset_values, order_of_sums},
};

/// Whether a program has an operator of this type.
inline bool has_operator(const program_view& p, std::string_view type) {
  for (int i = 0; i < p.count.operators; ++i)
    if (p.operators[i].schema->type == type) return true;
  return false;
}

/// The reason why a program is not run with these edge values; null if it is run.
inline const char* edge_exempt(const program_view& p, edge_run run) {
  for (const edge_exemption& e : edge_exemptions)
    if ((e.runs & run) != 0 && has_operator(p, e.type) &&
        (e.beside == nullptr || has_operator(p, e.beside)))
      return e.reason;
  return nullptr;
}

}  // namespace lamina::law
