// SPDX-License-Identifier: Apache-2.0
// lamina/plan/rows_behind.hpp - finds the rows from which a number of a program is computed, and
// how the number follows from those of parts of a mini-batch.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/same_address.hpp>
#include <lamina/operators/operator_definition.hpp>
#include <lamina/program/program_builder.hpp>

namespace lamina::inline LAMINA_ABI {

namespace detail {

/// How a number of a program is computed. Training on several threads treats sums over rows
/// differently from all other numbers.
enum class number_kind {
  constant,       // depends on no fed data and no trained parameter
  of_parameters,  // depends on parameters only
  sum,            // a sum over rows, or linear in such sums
  mean,           // a mean over rows, or linear in such means
  mixed,          // a sum with something else added, a quotient of sums, or a root of a mean:
                  // it does not follow from the numbers of the parts of a mini-batch
  other           // unknown
};

/// Finds the row domain from which a number of a program is computed, and the kind of computation.
class rows_behind {
 public:
  static constexpr int none = 0, several = -1;
  struct number {
    int domain = none;
    number_kind kind = number_kind::constant;
    bool known = false;
  };

  /// The class is not a template, because there are many programs. The program must outlive this
  /// object.
  explicit constexpr rows_behind(const program_desc& program)
      : p(program), made_by(new number[static_cast<unsigned>(p.count.operators) + 1]) {}
  rows_behind(const rows_behind&) = delete;
  rows_behind& operator=(const rows_behind&) = delete;
  constexpr ~rows_behind() { delete[] made_by; }

  /// Calls f(variable) for the arguments of `count` slots. The arguments start at index `at`.
  template <class Slots, class F>
  constexpr void for_each(const Slots* slot_list, int count, int at, F&& f) const {
    for (int s = 0; s < count; ++s)
      for (int n = slot_list[s].duplicable ? p.arguments[at++] : 1; n > 0; --n, ++at)
        if (p.arguments[at] >= 0) f(p.arguments[at]);
  }
  /// How the operators with numbers below `end` compute a variable.
  constexpr number find(int variable) { return find(variable, p.count.operators); }

 private:
  constexpr number find(int variable, int end) {
    for (int k = end; k-- > 0;) {
      const operator_desc op = p.operators[k];
      bool makes = false;
      for_each(op.schema->outputs, op.schema->output_count, op.outputs,
               [&](int v) { makes = makes || v == variable; });
      if (!makes) continue;
      if (!made_by[k].known) made_by[k] = made(op, k);
      return made_by[k];
    }
    const bool learnt = p.variables[variable].kind == variable_kind::parameter;
    return {none, learnt ? number_kind::of_parameters : number_kind::constant, true};
  }
  constexpr number made(const operator_desc& op, int k) {
    const operator_facts facts = op.schema->facts;
    number result{none, number_kind::constant, true};
    bool is_linear = facts.linear > linearity::nonlinear;
    int count = 0;
    for_each(op.schema->inputs, op.schema->input_count, op.inputs, [&](int v) {
      number x{p.variables[v].rows,
               facts.reduces == row_reduction::sum    ? number_kind::sum
               : facts.reduces == row_reduction::mean ? number_kind::mean
                                                      : number_kind::other,
               true};
      if (x.domain == once::domain)
        x = find(v, k);
      else
        is_linear = true;
      if (x.domain != none)
        result.domain = result.domain == none || result.domain == x.domain ? x.domain : several;
      result.kind = count++ == 0 ? x.kind : joined(facts.linear, result.kind, x.kind);
    });
    if (!is_linear && (result.kind == number_kind::sum || result.kind == number_kind::mean))
      result.kind = facts.linear == linearity::nonlinear ? number_kind::mixed : number_kind::other;
    // A gradient that a cost reads as a value: those of parts of a mini-batch do not add up.
    if (op.role == op_role::gradient_value && result.domain != none)
      result.kind = number_kind::mixed;
    return result;
  }
  /// The kind of number that an operator makes from operands of kinds a and b. A sum plus a
  /// constant is a sum, because a constant adds no gradient.
  static constexpr number_kind joined(linearity linear, number_kind a, number_kind b) {
    using enum number_kind;
    const auto of_rows = [](number_kind k) { return k == sum || k == mean; };
    if (linear == linearity::quotient && b > of_parameters) return mixed;
    if (!of_rows(a) && !of_rows(b)) return a > b ? a : b;
    if (a == other || b == other) return other;
    const bool is_factor = linear == linearity::product || linear == linearity::quotient;
    if (a == mixed || b == mixed || (of_rows(a) && of_rows(b)))
      return a == b && !is_factor ? a : mixed;
    const number_kind kind = of_rows(a) ? a : b, beside = of_rows(a) ? b : a;
    return kind == mean || beside == constant || is_factor ? kind : mixed;
  }
  const program_desc& p;
  number* made_by;  // by operator: the number that it makes
};

/// Whether an operator is the gradient of a mean over rows that layer::gradients recorded. Its
/// results depend on the number of rows.
constexpr bool is_share_of_mean(const program_desc& p, const operator_desc& op) {
  return op.role == op_role::gradient_value && is_null(op.schema->gradient) &&
         op.schema->facts.reduces == row_reduction::mean &&
         p.variables[p.arguments[op.outputs - 1]].rows == once::domain;
}

/// Whether the variable depends on rows that are combined with a number computed from all rows,
/// such as weights divided by their sum. A part of a mini-batch then computes other values for its
/// rows than the whole mini-batch does.
constexpr bool has_rows_met(const program_desc& p, int variable) {
  const rows_behind behind(p);
  const unsigned capacity = static_cast<unsigned>(p.count.variables) + 1;
  bool* const of_rows = new bool[capacity];  // by variable: it is a number that is computed from
                                             // rows
  bool* const needed = new bool[capacity];
  for (unsigned v = 0; v < capacity; ++v) of_rows[v] = needed[v] = false;
  const auto is_one = [&p](int v) { return p.variables[v].rows == once::domain; };
  for (int k = 0; k < p.count.operators; ++k) {
    const operator_desc& op = p.operators[k];
    bool any = false;
    behind.for_each(op.schema->inputs, op.schema->input_count, op.inputs,
                    [&](int v) { any = any || of_rows[v] || !is_one(v); });
    if (any)
      behind.for_each(op.schema->outputs, op.schema->output_count, op.outputs, [&](int v) {
        of_rows[v] = is_one(v) && (p.variables[v].kind == variable_kind::temporary ||
                                   op.role == op_role::gradient_value);
      });
  }
  bool found = false;
  needed[variable] = true;
  for (int k = p.count.operators; k-- > 0 && !found;) {
    const operator_desc& op = p.operators[k];
    bool makes = false, makes_rows = false;
    behind.for_each(op.schema->outputs, op.schema->output_count, op.outputs, [&](int v) {
      makes = makes || needed[v], makes_rows = makes_rows || (needed[v] && !is_one(v));
    });
    if (!makes) continue;
    const bool meets =
        makes_rows && (op.schema->facts.broadcasts || op.role == op_role::gradient_value);
    found = found || op.schema->facts.meets_rows || (makes_rows && is_share_of_mean(p, op));
    behind.for_each(op.schema->inputs, op.schema->input_count, op.inputs, [&](int v) {
      needed[v] = true;
      found = found || (meets && of_rows[v]);
    });
  }
  delete[] of_rows;
  delete[] needed;
  return found;
}

}  // namespace detail

/// How a number of program P follows from the numbers of the parts of a mini-batch.
struct parts_rule {
  /// The domain whose rows a mean, or a sum of means, averages over. The weight of a part is its
  /// number of these rows. It is the batch if the number depends on rows of several domains or of
  /// none.
  int domain;
  bool mixes;   // the number depends on the rows of several domains
  bool is_sum;  // it is a sum over rows: the numbers of parts are added up
  bool fits;    // false: the number is known not to follow from the numbers of parts
};
constexpr parts_rule parts_rule_of(const program_desc& p, int variable) {
  using behind = detail::rows_behind;
  const auto found = behind(p).find(variable);
  const bool mixes = found.domain == behind::several;
  return {mixes || found.domain == behind::none ? batch::domain : found.domain, mixes,
          found.kind == detail::number_kind::sum, found.kind != detail::number_kind::mixed};
}

}  // namespace lamina::inline LAMINA_ABI
