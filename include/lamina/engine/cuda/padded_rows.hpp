// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/padded_rows.hpp - rows that a mask chooses, of which a recorded graph computes
// as many as there may be.
//
// How many rows a mask chooses only the place knows, and a graph has the same rows each time. So a
// branch of if_else gets as many rows as the mask has: behind those that are chosen come copies of
// one of them, and zeros where gradients are split. What computes each row from this row alone does
// for a copy what it does for the row, with the same numbers; in a sum over rows that a gradient
// is, a copy counts as nothing, for its gradient is zero; and a merge leaves the copies out.
#pragma once

#include <lamina/operators/cross_entropy.hpp>
#include <lamina/operators/dropout.hpp>
#include <lamina/operators/fill.hpp>
#include <lamina/operators/lookup_table.hpp>
#include <lamina/operators/norm.hpp>
#include <lamina/operators/reduce.hpp>
#include <lamina/operators/softmax.hpp>
#include <lamina/operators/split_merge.hpp>
#include <lamina/plan/plan.hpp>

namespace lamina::engine::cuda {

/// By row domain of a program.
template <int Domains>
struct padded_rows {
  bool of[Domains];
  bool truth[Domains];  // what the mask says of the rows that are chosen
};

namespace detail {

template <class... Op>
constexpr bool is_any_of(const operator_schema* schema) {
  return (... || (schema == &schema_of<Op>() || schema == &schema_of<gradient_of<Op>>()));
}
/// Calls that compute each row from this row alone where their results have rows, and whose
/// gradients are sums over rows of what is zero where the gradient that they are given is.
constexpr bool computes_rows(const operator_schema* schema) {
  return schema->kind == operator_kind::pointwise || schema == &schema_of<fill_zeros_like>() ||
         schema == &schema_of<lookup_table>() ||
         is_any_of<softmax, softmax_with_cross_entropy, cross_entropy, layer_norm, dropout,
                   reduce_sum, reduce_mean, reduce_max, reduce_min, reduce_prod>(schema);
}

/// Finds the rows of a program that may be padded.
template <class P>
class padded_rows_finder {
  using plan_type = plan<P>;
  static constexpr const auto& l = plan_type::lowered;
  static constexpr int domains = P::desc.count.domains;

 public:
  constexpr padded_rows<domains> find() {
    for (int d = 0; d < domains; ++d)
      found_.of[d] = P::desc.domains[d].kind == domain_kind::subset &&
                     P::desc.domains[d].chosen_by >= 0 && !plan_type::fed.of[d] && costs() <= 1;
    for (int n = 0; n < plan_type::pinned.count; ++n) exclude(plan_type::pinned.ids[n]);
    for (int k = 0; k < l.count.instructions; ++k) look_at(l.instructions[k]);
    for (int d = 0; d < domains; ++d) {
      // Sequences below them are others, each time.
      const int parent = P::desc.domains[d].parent;
      if (parent >= 0 && !found_.of[d] && !plan_type::fed.of[d]) found_.of[parent] = false;
    }
    for (int d = 0; d < domains; ++d) {
      const int parent = P::desc.domains[d].parent;
      found_.of[d] = found_.of[d] && (plan_type::fed.of[parent] || found_.of[parent]);
    }
    return found_;
  }

 private:
  // The gradient of a gradient is not zero where that is.
  static constexpr int costs() {
    int n = 0;
    for (int k = 0; k < P::desc.count.operators; ++k)
      n += P::desc.operators[k].role == op_role::loss_gradient ? 1 : 0;
    return n;
  }
  static constexpr int domain_of(int v) { return v < 0 ? 0 : domain_of_rows(l.variables[v].rows); }
  static constexpr int root(int v) { return l.variables[v].root; }
  constexpr void exclude(int v) { found_.of[domain_of(v)] = false; }

  constexpr void look_at(const instruction& i) {
    if (i.runs >= 0) return;
    if (i.schema == &schema_of<split_lod_tensor>() || i.schema == &schema_of<merge_lod_tensor>())
      return look_at_split(i);
    const bool fits = fits_rows(i);
    int domain = 0;
    for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
      if (const int d = domain_of(l.results[o]); d > 0) domain = d;
    for (int a = i.inputs; a < i.inputs + i.input_count; ++a) {
      const int v = l.operands[a].id;
      if (is_constant(v)) {
        for (int d = 0; d < domains; ++d)
          if (constant_index(v) == inverse_rows(d)) found_.of[d] = false;
        continue;
      }
      if (const int d = domain_of(v); !fits || (domain > 0 && d != domain)) found_.of[d] = false;
    }
    for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
      if (const int d = domain_of(l.results[o]); !fits || d != domain) found_.of[d] = false;
  }
  /// Whether each row of an instruction is computed from this row alone, or a gradient is summed.
  static constexpr bool fits_rows(const instruction& i) {
    const bool is_gradient = i.op >= 0 && P::desc.operators[i.op].role == op_role::backward;
    bool has_rows = false;
    for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
      has_rows = has_rows || domain_of(l.results[o]) > 0;
    switch (i.head) {
      case group_head::pointwise:
      case group_head::gemm:
      case group_head::gemm_dx:
        return has_rows;
      case group_head::gemm_dw:
      case group_head::reduce_rows:
        return is_gradient;
      case group_head::call:
        return i.schema == &schema_of<collect_product>() ||
               (computes_rows(i.schema) && (is_gradient || has_rows));
      default:
        return false;
    }
  }
  /// Whole rows of what the mask belongs to are split or merged, no sequences of them.
  constexpr void look_at_split(const instruction& i) {
    const int mask = domain_of(l.operands[i.inputs + 1].id);
    const bool splits = i.schema == &schema_of<split_lod_tensor>();
    const int whole = domain_of(splits ? l.operands[i.inputs].id : l.results[i.outputs]);
    for (int side = 0; side < 2; ++side) {
      const int v = splits ? l.results[i.outputs + side] : l.operands[i.inputs + 2 + side].id;
      if (v < 0) continue;
      const int d = domain_of(v);
      if (whole != mask || P::desc.domains[d].parent != mask) found_.of[d] = false;
      if (splits && found_.of[d] && root(v) == root(P::desc.domains[d].chosen_by))
        found_.truth[d] = side == 0;
    }
    if (whole != mask) found_.of[whole] = found_.of[mask] = false;
  }

  padded_rows<domains> found_{};
};

}  // namespace detail

template <class P>
constexpr auto find_padded_rows() {
  return detail::padded_rows_finder<P>().find();
}

}  // namespace lamina::engine::cuda
