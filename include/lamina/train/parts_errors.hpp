// SPDX-License-Identifier: Apache-2.0
// lamina/train/parts_errors.hpp - errors about costs and metrics that cannot be computed in parts.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/plan/parts_form.hpp>
#include <lamina/program/program.hpp>
#include <lamina/program/variable_name.hpp>

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
  throw error(explain(t << parts, p, what));
}

void fail_parts_of_metric(const program_view& p, parts_fault what, std::string_view name,
                          int parts) {
  text t(
      "lamina: train: expected 1 thread or process for a metric that cannot be computed in "
      "parts, found ");
  throw error(explain(t << parts << " for '" << name << "'", p, what, true));
}

void fail_accumulated_cost(const program_view& p, parts_fault what, int accumulate) {
  text t(
      "lamina: train: expected accumulate to be 1 for a cost that cannot be computed in parts, "
      "found ");
  throw error(explain(t << accumulate, p, what));
}

void fail_several_minibatches(const program_view& p, parts_fault what) {
  text t(
      "lamina: trainer: expected one mini-batch per update for a cost that cannot be computed in "
      "parts, found several");
  throw error(explain(t, p, what));
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::detail
