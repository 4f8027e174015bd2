// SPDX-License-Identifier: Apache-2.0
// lamina/train/cost_rows.hpp - how a mini-batch is cut into parts, and how much each counts.
#pragma once

#include <cstdint>
#include <string_view>

#include <lamina/model/batch_view.hpp>
#include <lamina/model/run_result.hpp>
#include <lamina/plan/plan.hpp>

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

namespace detail {

/// Finds of which domain the rows are that numbers of a program are computed from.
template <program_type P>
struct rows_behind {
  static constexpr int none = 0, several = -1;
  bool seen[at_least_one(P::desc.count.variables)] = {};
  bool sums = false;    // some rows are added up, not averaged
  bool others = false;  // some are averaged, or else; or there is a term of parameters alone

  /// Calls f(variable) for the arguments of some slots, from `at` on.
  template <class Slots, class F>
  static constexpr void for_each(const Slots* slots, int count, int at, F&& f) {
    for (int s = 0; s < count; ++s)
      for (int n = slots[s].duplicable ? P::desc.arguments[at++] : 1; n > 0; --n, ++at)
        if (P::desc.arguments[at] >= 0) f(P::desc.arguments[at]);
  }
  /// The domain behind a variable that operators before number `end` compute.
  constexpr int find(int variable, int end) {
    if (seen[variable]) return none;
    seen[variable] = true;
    for (int k = end; k-- > 0;) {
      const operator_desc op = P::desc.operators[k];
      bool makes = false;
      for_each(op.schema->outputs, op.schema->output_count, op.outputs,
               [&](int v) { makes = makes || v == variable; });
      if (!makes) continue;
      int found = none;
      bool reduces = false, reads_parameters = false;
      for_each(op.schema->inputs, op.schema->input_count, op.inputs, [&](int v) {
        const int of = P::desc.variables[v].rows;
        const int rows = of != once::domain ? of : find(v, k);
        if (rows != none) found = found == none || found == rows ? rows : several;
        reduces = reduces || of != once::domain;
        reads_parameters =
            reads_parameters || P::desc.variables[v].kind == variable_kind::parameter;
      });
      if (reduces)
        (adds_rows(op.schema->type) ? sums : others) = true;
      else if (reads_parameters)
        others = true;
      return found;
    }
    return none;
  }
  static constexpr bool adds_rows(std::string_view type) {
    return type == "reduce_sum" || type == "l1_norm" || type == "squared_l2_norm";
  }
};

}  // namespace detail

/// Whose rows a number of P is a mean of, or a sum of such means: a part of a mini-batch counts by
/// how many of them it has. Samples, where the rows behind it are those of several domains.
template <program_type P>
constexpr int mean_domain(int number) {
  using behind = detail::rows_behind<P>;
  const int found = behind{}.find(number, P::desc.count.operators);
  return found == behind::none || found == behind::several ? batch::domain : found;
}

/// How much parts count for the cost of P. Training is the program that runs.
///
/// With N samples, n of them in a part, the gradient is sum(n / N g) over the gradients g of the
/// parts, if the cost is a mean over samples. One of means over other rows counts those instead;
/// one that adds several such means divides each by the rows of the whole mini-batch (`divide`);
/// one that is a sum over rows adds the gradients as they are.
template <program_type P, class Training>
struct cost_rows {
  static constexpr int domain = mean_domain<P>(P::desc.cost);
  /// Whether only a run tells how many these are.
  static constexpr bool is_made = !plan<Training>::fed.of[domain];
  /// Whether costs and gradients of parts are added up, and not averaged.
  static constexpr bool is_sum = [] {
    detail::rows_behind<P> behind{};
    behind.find(P::desc.cost, P::desc.count.operators);
    return behind.sums && !behind.others;
  }();

  /// As many as are known before a run; with none of them, none is needed.
  static int fed(const batch_view<P>& part) {
    return part.rows.count[is_made ? batch::domain : domain];
  }

  /// Where the cost is a mean over rows of several domains: makes the gradients of means of a
  /// machine that is bound to a part so large that they count by samples, as the part does.
  template <class Machine>
  static void divide(Machine& machine, const batch_view<P>& part, const batch_view<P>& whole) {
    if constexpr (mixes && !is_sum) {
      const double share = static_cast<double>(part.size()) / whole.size();
      for (int d = batch::domain + 1; d < P::desc.count.domains; ++d)
        if (plan<Training>::fed.of[d] && part.rows.count[d] > 0)
          machine.constants()[inverse_rows(d)] =
              static_cast<float>(1.0 / (share * whole.rows.count[d]));
    }
  }

 private:
  static constexpr bool mixes =
      detail::rows_behind<P>{}.find(P::desc.cost, P::desc.count.operators) ==
      detail::rows_behind<P>::several;
};

/// A metric of P from those of parts, each a mean of its rows. `add` is told of each part that ran.
template <program_type P>
class parts_metric {
 public:
  explicit parts_metric(int metric) : domain_(domains.of[metric]) {}
  template <class Machine>
  void add(const Machine& machine, double value) {
    const double rows = machine.rows(domain_);
    sum_ += rows * value;
    rows_ += rows;
  }
  double value() const { return rows_ > 0 ? sum_ / rows_ : 0; }

 private:
  struct domain_list {
    int of[at_least_one(program_metrics<P>::count)];
  };
  static constexpr domain_list domains = [] {
    domain_list d{};
    for (int i = 0; i < program_metrics<P>::count; ++i)
      d.of[i] = mean_domain<P>(program_metrics<P>::all.variable[i]);
    return d;
  }();

  int domain_;
  double sum_ = 0, rows_ = 0;
};

}  // namespace lamina
