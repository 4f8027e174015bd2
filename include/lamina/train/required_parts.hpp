// SPDX-License-Identifier: Apache-2.0
// lamina/train/required_parts.hpp - demands of a program that its cost and metrics can be computed
// in parts, before the first step of a training that does so.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/model/metric_sums.hpp>
#include <lamina/train/cost_rows.hpp>
#include <lamina/train/parts_errors.hpp>

namespace lamina::inline LAMINA_ABI::detail {

/// What keeps the cost of P from being computed in parts.
template <program_type P>
inline constexpr parts_fault fault_of_cost = parts_fault_of<P>(cost_form_of(P::desc, P::desc.cost));

/// Throws lamina::error unless `parts` threads or processes can compute the cost and the metrics of
/// P together.
template <program_type P, class Training>
void require_parts(int parts) {
  using weights = cost_rows<P, Training>;
  using metrics = metric_rules<P>;
  if (parts <= 1) return;
  if constexpr (!weights::fits)
    fail_parts_of_cost(run_time_program<P>::view, fault_of_cost<P>, parts);
  if constexpr (constexpr int i = metrics::unfitting(); i >= 0) {
    constexpr parts_fault fault = parts_fault_of<P>(metrics::all.of[i].form);
    fail_parts_of_metric(run_time_program<P>::view, fault, program_metrics<P>::all.name[i], parts);
  }
}
/// Throws lamina::error unless the gradients of `accumulate` mini-batches can be joined.
template <program_type P, class Training>
void require_accumulation(int accumulate) {
  using weights = cost_rows<P, Training>;
  if constexpr (!weights::fits)
    if (accumulate > 1)
      fail_accumulated_cost(run_time_program<P>::view, fault_of_cost<P>, accumulate);
}

}  // namespace lamina::inline LAMINA_ABI::detail
