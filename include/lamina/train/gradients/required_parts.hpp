// SPDX-License-Identifier: Apache-2.0
// lamina/train/gradients/required_parts.hpp - checks, before the first step, that the cost and
// metrics of a program can be computed in parts, and says why they cannot.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>
#include <utility>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/model/evaluation/metric_sums.hpp>
#include <lamina/plan/parts_form.hpp>
#include <lamina/program/program.hpp>
#include <lamina/program/variable_name.hpp>
#include <lamina/train/gradients/cost_rows.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// The fault of a form, the type of the operator that causes it, and the variable that this
/// operator computes.
struct parts_fault {
  number_fault fault;
  const char* type;
  int variable;
};
/// Finds the fault of a form of a scalar of program P.
template <program_type P>
constexpr parts_fault parts_fault_of(const parts_form& form) {
  if (form) return {};
  const operator_desc& op = P::desc.operators[form.op];
  const bool is_list = op.schema->outputs[0].duplicable;
  return {form.fault, op.schema->type, P::desc.arguments[op.outputs + (is_list ? 1 : 0)]};
}

/// Throws lamina::error: several threads or processes cannot compute this cost.
[[noreturn]] LAMINA_API_COLD void fail_parts_of_cost(const program_view& p, parts_fault what,
                                                     int parts);
/// Throws lamina::error: several threads or processes cannot compute this metric.
[[noreturn]] LAMINA_API_COLD void fail_parts_of_metric(const program_view& p, parts_fault what,
                                                       std::string_view name, int parts);
/// Throws lamina::error: the gradients of several mini-batches cannot be accumulated.
[[noreturn]] LAMINA_API_COLD void fail_accumulated_cost(const program_view& p, parts_fault what,
                                                        int accumulate);
/// Throws lamina::error: there are several mini-batches in one update.
[[noreturn]] LAMINA_API_COLD void fail_several_minibatches(const program_view& p, parts_fault what);

#if LAMINA_DEFINES

/// Explains the fault and suggests a remedy.
LAMINA_COLD inline text& explain(text& to, const program_view& p, parts_fault what,
                                 bool is_metric = false) {
  to << ". The operator '" << what.type << "', which makes '" << variable_name(p, what.variable)
     << "', ";
  switch (what.fault) {
    case number_fault::reduction:
      to << "reduces all rows neither to a sum nor to a mean: write a mean or a sum";
      break;
    case number_fault::bent:
      to << "is not linear in a sum or mean over rows: move the sum or mean behind it, to the end";
      break;
    case number_fault::beside_sum:
      to << "adds to a sum over rows what is none: write means instead of sums, and penalties of "
            "parameters as l2_decay";
      break;
    case number_fault::product:
      to << "combines two numbers of all rows: write one sum, one mean, or a sum divided by a sum, "
            "at the end";
      break;
    case number_fault::gradient:
      to << "is a gradient of all rows: take the mean or sum of its square per row instead";
      break;
    case number_fault::rows_meet:
      to << "lets rows depend on all rows of the mini-batch: use rows of one sample only";
      break;
    default:
      to << "divides by what depends on trained parameters: weigh by data, with stop_gradient";
      break;
  }
  if (is_metric) return to << "; or give the layer no name, and it is no metric";
  return to << "; or train with one thread and one process, without accumulate";
}

void fail_parts_of_cost(const program_view& p, parts_fault what, int parts) {
  text t(
      "lamina: train: expected 1 thread or process for a cost that cannot be computed in parts, "
      "found ");
  LAMINA_THROW error(explain(t << parts, p, what));
}

void fail_parts_of_metric(const program_view& p, parts_fault what, std::string_view name,
                          int parts) {
  text t(
      "lamina: train: expected 1 thread or process for a metric that cannot be computed in "
      "parts, found ");
  LAMINA_THROW error(explain(t << parts << " for '" << name << "'", p, what, true));
}

void fail_accumulated_cost(const program_view& p, parts_fault what, int accumulate) {
  text t(
      "lamina: train: expected accumulate to be 1 for a cost that cannot be computed in parts, "
      "found ");
  LAMINA_THROW error(explain(t << accumulate, p, what));
}

void fail_several_minibatches(const program_view& p, parts_fault what) {
  text t(
      "lamina: trainer: expected one mini-batch per update for a cost that cannot be computed in "
      "parts, found several");
  LAMINA_THROW error(explain(t, p, what));
}

#endif  // LAMINA_DEFINES

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
