// SPDX-License-Identifier: Apache-2.0
// lamina/train/required_parts.hpp - checks, before the first step, that the cost and metrics of a
// program can be computed in parts.
#pragma once

#include <lamina/core/config.hpp>

#include <utility>

#include <lamina/model/metric_sums.hpp>
#include <lamina/train/cost_rows.hpp>
#include <lamina/train/parts_errors.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// The reason why the cost of P cannot be computed in parts.
template <program_type P, class Training>
inline constexpr parts_fault fault_of_cost = parts_fault_of<P>(cost_rows<P, Training>::form);

/// The operator of metric number Metric that combines different rows, or -1; evaluated separately
/// for each metric.
template <program_type P, int Metric>
inline constexpr int rows_of_metric_met_at = rows_met_at(P::desc,
                                                         program_metrics<P>::all.variable[Metric]);
/// Returns the reason why metric number Metric cannot be computed in parts. `auc` is allowed,
/// because trainers sum its counts.
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
/// Throws lamina::error unless the gradients of `accumulate` mini-batches can be accumulated.
template <program_type P, class Training>
void require_accumulation(int accumulate) {
  if constexpr (!cost_rows<P, Training>::fits)
    if (accumulate > 1)
      fail_accumulated_cost(run_time_program<P>::view, fault_of_cost<P, Training>, accumulate);
}

}}}  // namespace lamina::detail
