// SPDX-License-Identifier: Apache-2.0
// lamina/plan/parts_form.hpp - the forms of a cost or metric that can be computed in parts: by
// several threads, processes or mini-batches per update. This is the one list of them.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/plan/quotient.hpp>
#include <lamina/plan/rows_behind.hpp>
#include <lamina/plan/rows_met.hpp>

namespace lamina::inline LAMINA_ABI {

/// How a number of a program is computed from those of the parts of a mini-batch. Allowed are
///
///   sums over rows, and sums, differences and multiples by constants of them, plus a constant;
///   means over rows, the same of them, plus numbers without rows;
///   a quotient of two sums, or of two means over the same rows, by a constant and plus one,
///
/// if no row depends on all rows of the mini-batch. For any other form, `fault` says what hinders
/// and `op` where.
struct parts_form {
  parts_rule rule;
  lamina::quotient quotient;
  detail::number_fault fault;
  int op;

  /// Whether the numbers of parts make up that of the whole.
  constexpr explicit operator bool() const { return fault == detail::number_fault::none; }
};

/// The form of a cost, whose gradients are added up with weights. The weights of a quotient are its
/// denominators, which may depend on no trained parameter. `met` is what rows_met_at() finds: for a
/// large program each of the three is a constant of its own, as compilers limit one evaluation.
constexpr parts_form cost_form(const parts_rule& rule, const quotient& q, int met) {
  using detail::number_fault;
  const bool divides = q && q.denominator >= 0;
  if (divides && !q.is_fixed) return {rule, q, number_fault::learnt_weights, q.op};
  if (!divides && !rule.fits) return {rule, q, rule.fault, rule.op};
  if (met >= 0) return {rule, q, number_fault::rows_meet, met};
  return {rule, q, number_fault::none, -1};
}
/// The form of a metric, which needs its value alone.
constexpr parts_form metric_form(const parts_rule& rule, const quotient& q, int met) {
  using detail::number_fault;
  if (!q && !rule.fits) return {rule, q, rule.fault, rule.op};
  if (met >= 0) return {rule, q, number_fault::rows_meet, met};
  return {rule, q, number_fault::none, -1};
}
/// The form of variable v of a small program as a cost.
constexpr parts_form cost_form_of(const program_desc& p, int v) {
  return cost_form(parts_rule_of(p, v), quotient_of(p, v), detail::rows_met_at(p, v));
}

}  // namespace lamina::inline LAMINA_ABI
