// SPDX-License-Identifier: Apache-2.0
// lamina/train/gradients/cost_rows.hpp - divides a mini-batch into parts, and weights the parts.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/model/feeding/batch_view.hpp>
#include <lamina/plan/parts_form.hpp>
#include <lamina/plan/plan.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Returns the first sample of part number `part` of a mini-batch; parts may be empty. Parts are
/// balanced by the number of samples plus sequence elements, so parts with longer sequences have
/// fewer samples.
template <program_type P>
int first_of_part(const batch_view<P>& batch, int part, int parts) {
  const std::int64_t wanted = batch.count_before(batch.size()) * part / parts;
  int first = 0;
  for (int end = batch.size(); first < end;) {
    const int middle = first + (end - first) / 2;
    if (batch.count_before(middle) < wanted)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

/// The weights of the parts of a mini-batch in the cost of P. `Training` is the program that runs.
///
/// With N samples, n of them in a part, the gradient is sum(n / N g) over the gradients g of the
/// parts, if the cost is a mean over samples. If it is a mean over other rows, n and N count those
/// rows. If it adds several such means, each mean is divided by the rows of the whole mini-batch
/// (`divide`). If it is a sum over rows, the gradients are added as they are. If it is a quotient
/// of two sums over rows, the weight of a part is its denominator, provided that the denominator
/// depends on no parameter.
template <program_type P, class Training>
struct cost_rows {
  static constexpr parts_rule rule = parts_rule_of(P::desc, P::desc.cost);
  static constexpr int domain = rule.domain;
  /// Whether the number of rows that determines the weights is known only after the part has run.
  static constexpr bool is_made = !plan<Training>::fed.of[domain];
  /// Whether costs and gradients of parts are added up instead of averaged.
  static constexpr bool is_sum = rule.is_sum;
  /// Whether the weights of parts are the denominators of a quotient.
  static constexpr lamina::quotient quotient = quotient_of(P::desc, P::desc.cost);
  static constexpr bool is_quotient = quotient && quotient.denominator >= 0 && quotient.is_fixed;
  /// The operator of the cost that combines different rows, or -1.
  static constexpr int met = detail::rows_met_at(P::desc, P::desc.cost);
  static constexpr parts_form form = cost_form(rule, quotient, met);
  /// Whether the weighted gradients of parts are known to sum to the gradient of the whole
  /// mini-batch.
  static constexpr bool fits = static_cast<bool>(form);

  /// Returns the number of rows of a part if it is known before a run. A part without rows still
  /// runs, for its metrics and statistics.
  static int fed(const batch_view<P>& part) {
    return part.rows.count[is_made ? batch::domain : domain];
  }

  /// For a cost that adds means over rows of several domains: scales the gradient of each mean in a
  /// machine that is bound to a part. Afterwards all of them are weighted by samples, like the part
  /// itself.
  template <class Machine>
  static void divide(Machine& machine, const batch_view<P>& part, const batch_view<P>& whole) {
    if constexpr (rule.mixes && !is_sum && !is_quotient) {
      const double fraction = static_cast<double>(part.size()) / whole.size();
      for (int d = batch::domain + 1; d < counts_of<P>.domains; ++d)
        if (plan<Training>::fed.of[d] && part.rows.count[d] > 0)
          machine.constants()[inverse_rows(d)] =
              static_cast<real_of<P>>(1.0 / (fraction * whole.rows.count[d]));
    }
  }
};

}}  // namespace lamina
