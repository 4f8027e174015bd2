// SPDX-License-Identifier: Apache-2.0
// lamina/train/cost_rows.hpp - how a mini-batch is cut into parts, and how much each counts.
#pragma once

#include <cstdint>

#include <lamina/model/batch_view.hpp>
#include <lamina/plan/plan.hpp>
#include <lamina/plan/quotient.hpp>
#include <lamina/plan/rows_behind.hpp>

namespace lamina {

/// The first sample of part `part` of a mini-batch; parts may be empty. They have equally many
/// samples and elements of sequences together, but for one sample: where sequences become longer,
/// later parts have fewer of them.
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

/// How much parts count for the cost of P. Training is the program that runs.
///
/// With N samples, n of them in a part, the gradient is sum(n / N g) over the gradients g of the
/// parts, if the cost is a mean over samples. One of means over other rows counts those instead;
/// one that adds several such means divides each by the rows of the whole mini-batch (`divide`);
/// one that is a sum over rows adds the gradients as they are. Of a quotient of two sums over rows
/// each part counts by its denominator, if nothing is learnt in that.
template <program_type P, class Training>
struct cost_rows {
  static constexpr parts_rule rule = parts_rule_of(P::desc, P::desc.cost);
  static constexpr int domain = rule.domain;
  /// Whether only a run tells how many these are.
  static constexpr bool is_made = !plan<Training>::fed.of[domain];
  /// Whether costs and gradients of parts are added up, and not averaged.
  static constexpr bool is_sum = rule.is_sum;
  /// Whether parts count by the denominators of a quotient.
  static constexpr lamina::quotient quotient = quotient_of(P::desc, P::desc.cost);
  static constexpr bool is_quotient = quotient && quotient.denominator >= 0 && quotient.is_fixed;
  /// Whether the gradients of parts add up to those of the whole, as far as one knows.
  static constexpr bool fits =
      (rule.fits || is_quotient) && !detail::has_rows_met(P::desc, P::desc.cost);

  /// As many as are known before a run. A part without any runs for its metrics and statistics.
  static int fed(const batch_view<P>& part) {
    return part.rows.count[is_made ? batch::domain : domain];
  }

  /// Where the cost is a mean over rows of several domains: makes the gradients of means of a
  /// machine that is bound to a part so large that they count by samples, as the part does.
  template <class Machine>
  static void divide(Machine& machine, const batch_view<P>& part, const batch_view<P>& whole) {
    if constexpr (rule.mixes && !is_sum && !is_quotient) {
      const double share = static_cast<double>(part.size()) / whole.size();
      for (int d = batch::domain + 1; d < P::desc.count.domains; ++d)
        if (plan<Training>::fed.of[d] && part.rows.count[d] > 0)
          machine.constants()[inverse_rows(d)] =
              static_cast<real_of<P>>(1.0 / (share * whole.rows.count[d]));
    }
  }
};

}  // namespace lamina
