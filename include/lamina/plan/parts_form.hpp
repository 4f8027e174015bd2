// SPDX-License-Identifier: Apache-2.0
// lamina/plan/parts_form.hpp - lists the forms of a cost or metric that can be computed from parts
// of a mini-batch, as several threads, processes or mini-batches per update do.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/plan/quotient.hpp>
#include <lamina/plan/rows_behind.hpp>
#include <lamina/plan/rows_met.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// How a cost or metric of a whole mini-batch is computed from its values for the parts of the
/// mini-batch. These forms are allowed:
///
///   a sum over rows, or a sum, difference or constant multiple of such sums, plus a constant;
///   a mean over rows, or a combination of means in the same way, plus numbers that depend on no
///   rows;
///   a quotient of two sums, or of two means over the same rows, times a constant, plus a constant.
///
/// No row may depend on other rows of the mini-batch, because these rows may be in another part.
/// For any other form, `fault` is the reason and `op` the operator that causes it.
struct parts_form {
  parts_rule rule;
  lamina::quotient quotient;
  detail::number_fault fault;
  int op;

  /// Whether the number of the whole mini-batch follows from the numbers of its parts.
  constexpr explicit operator bool() const { return fault == detail::number_fault::none; }
};

/// Returns the form of a cost. Training adds up the gradients of the parts with weights. For a
/// quotient, the weight of a part is its denominator, which must not depend on a trained parameter:
/// the gradient of the denominator would be missing. `met` is the result of rows_met_at(). The
/// caller computes the three arguments as separate constants, because compilers limit the steps per
/// evaluation.
constexpr parts_form cost_form(const parts_rule& rule, const quotient& q, int met) {
  using detail::number_fault;
  const bool divides = q && q.denominator >= 0;
  if (divides && !q.is_fixed) return {rule, q, number_fault::learnt_weights, q.op};
  if (!divides && !rule.fits) return {rule, q, rule.fault, rule.op};
  if (met >= 0) return {rule, q, number_fault::rows_meet, met};
  return {rule, q, number_fault::none, -1};
}
/// Returns the form of a metric. A metric has no gradients, so its denominator may depend on
/// trained parameters.
constexpr parts_form metric_form(const parts_rule& rule, const quotient& q, int met) {
  using detail::number_fault;
  if (!q && !rule.fits) return {rule, q, rule.fault, rule.op};
  if (met >= 0) return {rule, q, number_fault::rows_meet, met};
  return {rule, q, number_fault::none, -1};
}
/// Returns the form of variable v as a cost. Use it for small programs only: it computes everything
/// in one evaluation.
constexpr parts_form cost_form_of(const program_desc& p, int v) {
  return cost_form(parts_rule_of(p, v), quotient_of(p, v), detail::rows_met_at(p, v));
}

}}  // namespace lamina
