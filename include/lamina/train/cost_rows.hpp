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

/// What a number of a program is made of. Several threads tell sums over rows from all else.
enum class number_kind {
  constant,       // of nothing that is fed or learnt
  of_parameters,  // of parameters alone
  sum,            // rows added up, and what is linear in such sums
  other           // rows averaged, a sum with something else added, a quotient of sums, ...
};

/// Finds of which domain the rows are that numbers of a program are computed from, and how.
template <program_type P>
struct rows_behind {
  static constexpr int none = 0, several = -1;
  struct number {
    int domain = none;
    number_kind kind = number_kind::constant;
    bool known = false;
  };
  number made_by[at_least_one(P::desc.count.operators)] = {};

  /// Calls f(variable) for the arguments of some slots, from `at` on.
  template <class Slots, class F>
  static constexpr void for_each(const Slots* slots, int count, int at, F&& f) {
    for (int s = 0; s < count; ++s)
      for (int n = slots[s].duplicable ? P::desc.arguments[at++] : 1; n > 0; --n, ++at)
        if (P::desc.arguments[at] >= 0) f(P::desc.arguments[at]);
  }
  /// A variable as operators before number `end` leave it.
  constexpr number find(int variable, int end = P::desc.count.operators) {
    for (int k = end; k-- > 0;) {
      const operator_desc op = P::desc.operators[k];
      bool makes = false;
      for_each(op.schema->outputs, op.schema->output_count, op.outputs,
               [&](int v) { makes = makes || v == variable; });
      if (!makes) continue;
      if (!made_by[k].known) made_by[k] = made(op, k);
      return made_by[k];
    }
    const bool learnt = P::desc.variables[variable].kind == variable_kind::parameter;
    return {none, learnt ? number_kind::of_parameters : number_kind::constant, true};
  }

 private:
  constexpr number made(const operator_desc& op, int k) {
    const std::string_view type = op.schema->type;
    number result{none, number_kind::constant, true};
    bool is_linear = has_linear_result(type);
    int count = 0;
    for_each(op.schema->inputs, op.schema->input_count, op.inputs, [&](int v) {
      number x{P::desc.variables[v].rows, adds_rows(type) ? number_kind::sum : number_kind::other,
               true};
      if (x.domain == once::domain)
        x = find(v, k);
      else
        is_linear = true;
      if (x.domain != none)
        result.domain = result.domain == none || result.domain == x.domain ? x.domain : several;
      result.kind = count++ == 0 ? x.kind : joined(type, result.kind, x.kind);
    });
    if (result.kind == number_kind::sum && !is_linear) result.kind = number_kind::other;
    return result;
  }
  /// Of two operands. A constant that is added to a sum has no gradient.
  static constexpr number_kind joined(std::string_view type, number_kind a, number_kind b) {
    using enum number_kind;
    if (a != sum && b != sum) return a > b ? a : b;
    const bool is_factor = type == "elementwise_mul" || type == "elementwise_div";
    if (a == sum && b == sum) return is_factor ? other : sum;
    const number_kind beside = a == sum ? b : a;
    if (type == "elementwise_div" && b == sum) return other;
    return beside == constant || (is_factor && beside == of_parameters) ? sum : other;
  }
  static constexpr bool adds_rows(std::string_view type) {
    return type == "reduce_sum" || type == "l1_norm" || type == "squared_l2_norm";
  }
  /// Whether an operator on numbers is linear in each.
  static constexpr bool has_linear_result(std::string_view type) {
    for (const char* linear :
         {"elementwise_add", "elementwise_sub", "elementwise_mul", "elementwise_div", "sum",
          "minus", "scale", "assign", "mean", "reduce_sum", "reduce_mean", "reshape2", "squeeze2",
          "unsqueeze2", "flatten2"})
      if (type == linear) return true;
    return false;
  }
};

}  // namespace detail

/// How a number of P comes from those of parts of a mini-batch.
struct parts_rule {
  /// Whose rows it is a mean of, or a sum of such means: a part counts by how many of them it has.
  /// Samples, where the rows behind it are those of several domains.
  int domain;
  bool mixes;   // they are
  bool is_sum;  // it is a sum over rows: parts are added up
};
template <program_type P>
constexpr parts_rule parts_rule_of(int variable) {
  using behind = detail::rows_behind<P>;
  const auto found = behind{}.find(variable);
  const bool mixes = found.domain == behind::several;
  return {mixes || found.domain == behind::none ? batch::domain : found.domain, mixes,
          found.kind == detail::number_kind::sum};
}

/// How much parts count for the cost of P. Training is the program that runs.
///
/// With N samples, n of them in a part, the gradient is sum(n / N g) over the gradients g of the
/// parts, if the cost is a mean over samples. One of means over other rows counts those instead;
/// one that adds several such means divides each by the rows of the whole mini-batch (`divide`);
/// one that is a sum over rows adds the gradients as they are.
template <program_type P, class Training>
struct cost_rows {
  static constexpr parts_rule rule = parts_rule_of<P>(P::desc.cost);
  static constexpr int domain = rule.domain;
  /// Whether only a run tells how many these are.
  static constexpr bool is_made = !plan<Training>::fed.of[domain];
  /// Whether costs and gradients of parts are added up, and not averaged.
  static constexpr bool is_sum = rule.is_sum;

  /// As many as are known before a run. A part without any runs for its metrics and statistics.
  static int fed(const batch_view<P>& part) {
    return part.rows.count[is_made ? batch::domain : domain];
  }

  /// Where the cost is a mean over rows of several domains: makes the gradients of means of a
  /// machine that is bound to a part so large that they count by samples, as the part does.
  template <class Machine>
  static void divide(Machine& machine, const batch_view<P>& part, const batch_view<P>& whole) {
    if constexpr (rule.mixes && !is_sum) {
      const double share = static_cast<double>(part.size()) / whole.size();
      for (int d = batch::domain + 1; d < P::desc.count.domains; ++d)
        if (plan<Training>::fed.of[d] && part.rows.count[d] > 0)
          machine.constants()[inverse_rows(d)] =
              static_cast<real_of<P>>(1.0 / (share * whole.rows.count[d]));
    }
  }
};

/// A metric of P from those of parts. `add` is told of each part that ran.
template <program_type P>
class parts_metric {
 public:
  explicit parts_metric(int metric) : rule_(rules.of[metric]) {}
  template <class Machine>
  void add(const Machine& machine, double value) {
    const int rows = machine.rows(rule_.domain);
    if (rows > 0) sum_ += rule_.is_sum ? value : rows * value;
    rows_ += rows;
  }
  double value() const { return rule_.is_sum ? sum_ : rows_ > 0 ? sum_ / rows_ : 0; }

 private:
  struct rule_list {
    parts_rule of[at_least_one(program_metrics<P>::count)];
  };
  static constexpr rule_list rules = [] {
    rule_list l{};
    for (int i = 0; i < program_metrics<P>::count; ++i)
      l.of[i] = parts_rule_of<P>(program_metrics<P>::all.variable[i]);
    return l;
  }();

  parts_rule rule_;
  double sum_ = 0, rows_ = 0;
};

}  // namespace lamina
