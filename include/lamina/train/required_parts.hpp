// SPDX-License-Identifier: Apache-2.0
// lamina/train/required_parts.hpp - demands of a program that its cost and metrics can be computed
// in parts, before the first step of a training that does so.
#pragma once

#include <lamina/core/config.hpp>

#include <utility>

#include <lamina/model/metric_sums.hpp>
#include <lamina/train/cost_rows.hpp>
#include <lamina/train/parts_errors.hpp>

namespace lamina::inline LAMINA_ABI::detail {

/// What keeps the cost of P from being computed in parts.
template <program_type P, class Training>
inline constexpr parts_fault fault_of_cost = parts_fault_of<P>(cost_rows<P, Training>::form);

/// The operator that lets rows of metric number Metric meet, or -1; each in an evaluation of its
/// own.
template <program_type P, int Metric>
inline constexpr int rows_of_metric_met_at = rows_met_at(P::desc,
                                                         program_metrics<P>::all.variable[Metric]);
/// What keeps metric number Metric from being computed in parts. Trainers add up the counts of
/// `auc`.
template <program_type P, int Metric>
constexpr parts_fault fault_of_metric() {
  constexpr auto rule = metric_rules<P>::all.of[Metric];
  if constexpr (rule.counts.positive >= 0)
    return {};
  else
    return parts_fault_of<P>(
        metric_form(rule.parts, rule.quotient, rows_of_metric_met_at<P, Metric>));
}
template <program_type P, int Metric>
LAMINA_COLD void require_metric_parts(int parts) {
  constexpr parts_fault fault = fault_of_metric<P, Metric>();
  if constexpr (fault.fault != number_fault::none)
    fail_parts_of_metric(run_time_program<P>::view, fault, program_metrics<P>::all.name[Metric],
                         parts);
}

/// Throws lamina::error unless `parts` threads or processes can compute the cost and the metrics of
/// P together.
template <program_type P, class Training>
void require_parts(int parts) {
  if (parts <= 1) return;
  if constexpr (!cost_rows<P, Training>::fits)
    fail_parts_of_cost(run_time_program<P>::view, fault_of_cost<P, Training>, parts);
  [parts]<int... Metric>(std::integer_sequence<int, Metric...>) {
    static_cast<void>(parts);
    (require_metric_parts<P, Metric>(parts), ...);
  }
  (std::make_integer_sequence<int, metric_rules<P>::count>{});
}
/// Throws lamina::error unless the gradients of `accumulate` mini-batches can be joined.
template <program_type P, class Training>
void require_accumulation(int accumulate) {
  if constexpr (!cost_rows<P, Training>::fits)
    if (accumulate > 1)
      fail_accumulated_cost(run_time_program<P>::view, fault_of_cost<P, Training>, accumulate);
}

}  // namespace lamina::inline LAMINA_ABI::detail
