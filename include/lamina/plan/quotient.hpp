// SPDX-License-Identifier: Apache-2.0
// lamina/plan/quotient.hpp - finds numbers that are a quotient of two sums over rows, such as a
// masked mean or a precision. If a mini-batch is computed in parts, both sums are added up before
// the division.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/plan/rows_behind.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The value factor * numerator / denominator + offset, where numerator and denominator are
/// variables of the program. To avoid a division by 0, the denominator may be `sum` plus a
/// constant, the maximum of `sum` and a constant, or a clipped `sum`.
struct quotient {
  int numerator = -1, denominator = -1;
  int sum = -1, other_sum = -1;  // the addends of the denominator; -1: not used
  double factor = 1, offset = 0;
  double above_added = 0, sum_added = 0;  // constants that the numerator and `sum` contain
  double most = 1e308;                    // upper bound of the denominator, if `sum` is clipped
  bool is_max = false;                    // the denominator is the maximum of `sum` and a constant
  bool of_means = false;  // numerator and denominator are means over the rows of `domain`
  bool is_fixed = true;   // the denominator depends on no trained parameter
  int domain = batch::domain;
  int op = -1;  // the operator that divides

  constexpr explicit operator bool() const { return numerator >= 0; }
  /// Calls f(variable) for each variable of the quotient.
  template <class F>
  constexpr void each(F&& f) const {
    for (const int v : {numerator, denominator, sum, other_sum})
      if (v >= 0) f(v);
  }
};

namespace detail {

/// Finds the quotient of sums by which a program computes a variable, if there is one.
struct quotient_finder {
  const program_desc& p;

  /// The operator that computes a variable, or -1, and the index of the variable among its outputs.
  struct maker {
    int op, output;
  };
  constexpr maker made_by(int v) const {
    for (int k = p.count.operators; k-- > 0;) {
      const operator_desc& op = p.operators[k];
      if (op.schema->has_lists) continue;
      for (int at = op.outputs; at < op.end; ++at)
        if (p.arguments[at] == v) return {k, at - op.outputs};
    }
    return {-1, 0};
  }
  constexpr int input(int op, int i) const { return p.arguments[p.operators[op].inputs + i]; }
  constexpr double attribute(int op, int i) const {
    const int at = p.operators[op].attributes;
    return at >= 0 ? p.attributes[at + i].number : p.operators[op].schema->attributes[i].number;
  }
  constexpr bool is_one(int v) const { return v >= 0 && p.variables[v].rows == once::domain; }
  constexpr bool is_of(int op, std::string_view type) const {
    return p.operators[op].schema->type == type;
  }

  constexpr quotient find(int v) const {
    quotient q;
    for (maker m = made_by(v); m.op >= 0; m = made_by(v)) {
      if (is_of(m.op, "chunk_eval") && m.output < 3) return of_chunks(m, q);
      if (is_of(m.op, "elementwise_div") && !is_constant(input(m.op, 1))) {
        of_sums(m.op, q);
        return q;
      }
      v = peeled(m.op, q);
      if (v < 0) break;
    }
    return {};
  }

 private:
  /// If the operator copies a variable, multiplies it by a constant or adds a constant to it,
  /// updates the quotient's factor and offset accordingly and returns that variable. Returns -1 for
  /// any other operator.
  constexpr int peeled(int op, quotient& q) const {
    const int x = input(op, 0);
    if (is_of(op, "assign") || is_of(op, "reshape2") || is_of(op, "print")) return x;
    if (is_of(op, "scale")) {
      const double factor = attribute(op, 0), bias = attribute(op, 1);
      q.offset += q.factor * (attribute(op, 2) != 0 ? bias : factor * bias);
      q.factor *= factor;
      return x;
    }
    const bool adds = is_of(op, "elementwise_add"), subtracts = is_of(op, "elementwise_sub");
    const bool divides = is_of(op, "elementwise_div");
    if (!adds && !subtracts && !divides && !is_of(op, "elementwise_mul")) return -1;
    const int y = input(op, 1);
    rows_behind rows(p);
    const auto a = rows.find(x), b = rows.find(y);
    const bool first = is_known(a), second = is_known(b);
    if (first == second || (divides && (first || b.value == 0))) return -1;
    const double value = first ? a.value : b.value;
    if (adds) q.offset += q.factor * value;
    if (subtracts) q.offset += q.factor * (first ? value : -value);
    if (subtracts && first) q.factor = -q.factor;
    if (!adds && !subtracts) q.factor *= divides ? 1 / value : value;
    return first ? y : x;
  }
  static constexpr bool is_known(const rows_behind::number& n) {
    return n.kind == number_kind::constant && n.has_value;
  }
  constexpr bool is_constant(int v) const {
    return is_one(v) && rows_behind(p).find(v).kind == number_kind::constant;
  }
  /// Returns the quotient of numbers of chunks by which chunk_eval computes precision, recall or
  /// F1.
  constexpr quotient of_chunks(maker m, quotient q) const {
    const int at = p.operators[m.op].outputs;
    const int inferred = p.arguments[at + 3], labelled = p.arguments[at + 4];
    q.numerator = p.arguments[at + 5];
    q.sum = m.output == 1 ? labelled : inferred;
    if (m.output == 2) q.other_sum = labelled, q.factor *= 2;
    q.op = m.op;
    return q;
  }
  constexpr void of_sums(int op, quotient& q) const {
    const int above = input(op, 0), below = input(op, 1);
    if (!is_one(above) || !is_one(below)) return;
    rows_behind rows(p);
    int sum = below;
    if (const maker m = made_by(below); m.op >= 0 && rows.find(below).kind == number_kind::other) {
      const bool larger = is_of(m.op, "elementwise_max");
      if (is_of(m.op, "clip")) {
        sum = input(m.op, 0), q.is_max = true, q.most = attribute(m.op, 1);
      } else if (is_of(m.op, "elementwise_add") || larger) {
        const int a = input(m.op, 0), b = input(m.op, 1);
        if (!is_one(a) || !is_one(b)) return;
        const bool a_fixed = rows.find(a).kind == number_kind::constant,
                   b_fixed = rows.find(b).kind == number_kind::constant;
        if (a_fixed == b_fixed) return;
        sum = a_fixed ? b : a;
        q.is_max = larger;
      }
    }
    const auto n = rows.find(above), d = rows.find(sum);
    const bool sums = n.kind == number_kind::sum && d.kind == number_kind::sum;
    const bool means = n.kind == number_kind::mean && d.kind == number_kind::mean &&
                       n.domain == d.domain && d.domain != rows_behind::several;
    if (!sums && !means) return;
    q.numerator = above;
    q.denominator = below;
    q.sum = sum;
    q.of_means = means;
    q.is_fixed = !is_learnt(sum);
    q.op = op;
    if (sums) q.above_added = n.value, q.sum_added = d.value;
    // The domain of a quotient of sums stays the batch if the rows of its numerator belong to
    // several domains or to none.
    if (means || (n.domain != rows_behind::none && n.domain != rows_behind::several))
      q.domain = n.domain;
  }
  /// Whether a variable depends on a trained parameter.
  constexpr bool is_learnt(int v) const {
    const rows_behind behind(p);
    bool* const on = new bool[static_cast<unsigned>(p.count.variables) + 1];
    for (int i = 0; i < p.count.variables; ++i) on[i] = false;
    for (int i = 0; i < p.count.parameters; ++i)
      on[p.parameters[i].variable] = p.parameters[i].trainable;
    for (int k = 0; k < p.count.operators && !on[v]; ++k) {
      const operator_desc& op = p.operators[k];
      const bool value = op.role == op_role::gradient_value;
      if (op.role != op_role::forward && op.role != op_role::loss && !value) continue;
      bool any = false;
      if (is_of(k, "scale") && attribute(k, 0) == 0) continue;
      if (value || !is_null(op.schema->gradient) || sub_block_of(p, op) >= 0)
        behind.for_each(op.schema->inputs, op.schema->input_count, op.inputs,
                        [&](int from) { any = any || on[from]; });
      if (!any) continue;
      behind.for_each(op.schema->outputs, op.schema->output_count, op.outputs,
                      [&](int to) { on[to] = on[to] || !p.variables[to].stop_gradient; });
    }
    const bool found = on[v];
    delete[] on;
    return found;
  }
};

}  // namespace detail

/// Returns the quotient of sums over rows by which the program computes variable v; empty if there
/// is none.
constexpr quotient quotient_of(const program_desc& p, int v) {
  if (v < 0) return {};
  return detail::quotient_finder{p}.find(v);
}

/// The numerator and denominator of a quotient, summed over several mini-batches or over the parts
/// of one mini-batch. The constants in them are left out of these sums and added once at the end.
struct quotient_sums {
  double numerator = 0, sum = 0, rows = 0, least = 0, added = 0;

  /// Adds the sums of one run. `read(variable)` returns the value of a variable, and `n` is the
  /// number of rows of the quotient's domain.
  template <class Read>
  void add(const quotient& q, double n, const Read& read) {
    const double weight = q.of_means ? n : 1;
    if (weight == 0) return;  // a mean of no rows
    const double below = read(q.sum) - q.sum_added + (q.other_sum < 0 ? 0 : read(q.other_sum));
    numerator += weight * (read(q.numerator) - q.above_added);
    sum += weight * below;
    rows += n;
    if (q.denominator < 0) return;
    const double whole = read(q.denominator);
    if (!q.is_max)
      added = whole - below;
    else if (whole > below + q.sum_added && whole > least)
      least = whole;
  }
  void add(const quotient_sums& other) {
    numerator += other.numerator;
    sum += other.sum;
    rows += other.rows;
    if (other.added != 0) added = other.added;
    if (other.least > least) least = other.least;
  }
  /// Returns the denominator of the accumulated quotient. (add() weights means by their numbers of
  /// rows.)
  double denominator(const quotient& q) const {
    const double below = q.of_means ? (rows > 0 ? sum / rows : 0) : sum;
    if (!q.is_max) return below + added;
    const double all = below + q.sum_added, larger = all > least ? all : least;
    return larger < q.most ? larger : q.most;
  }
  /// Returns the accumulated quotient; 0 / 0 is NaN and 1 / 0 infinite.
  double ratio(const quotient& q) const {
    const double above = q.of_means && rows > 0 ? numerator / rows : numerator;
    return q.factor * (above + q.above_added) / denominator(q) + q.offset;
  }
  /// Returns the accumulated quotient, but with 0 in place of the division if the denominator is 0.
  double value(const quotient& q) const { return denominator(q) == 0 ? q.offset : ratio(q); }
};

}}  // namespace lamina
