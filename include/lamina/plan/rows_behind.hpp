// SPDX-License-Identifier: Apache-2.0
// lamina/plan/rows_behind.hpp - finds the rows from which a program computes a number (a variable
// without rows, such as a cost), and how the number for a mini-batch follows from the numbers for
// its parts.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string_view>

#include <lamina/core/dtype.hpp>
#include <lamina/operators/operator_definition.hpp>
#include <lamina/program/program_builder.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// How a number of a program (a variable without rows) is computed. The kind decides how training
/// on several threads combines the numbers that the threads compute.
enum class number_kind : std::uint8_t {
  constant,       // depends on no fed data and no trained parameter
  of_parameters,  // depends on parameters only
  sum,            // a linear function of sums over rows, plus a known constant
  mean,           // a linear function of means over rows, plus a number that depends on no rows
  other           // not known to follow from the numbers for the parts of a mini-batch
};

/// Why the kind of a number is `other`.
enum class number_fault : std::uint8_t {
  none,
  reduction,      // the operator reduces rows neither to a sum nor to a mean
  bent,           // to a sum or mean it applies a function that is not known to be linear
  beside_sum,     // it adds a number without rows to a sum: each part would add it again
  product,        // it multiplies or divides by a sum or mean over rows
  gradient,       // it is a gradient of layer::gradients, which a cost reads
  rows_meet,      // one of its rows depends on all rows of the mini-batch
  learnt_weights  // the denominator of a weighted mean depends on trained parameters
};

/// Finds the row domain from which a number of a program is computed, and the kind of computation.
/// The kind is `other` unless the computation is known to be of another kind.
class rows_behind {
 public:
  static constexpr int none = 0, several = -1;
  struct number {
    int domain = none;
    number_kind kind = number_kind::constant;
    bool known = false;
    number_fault fault = number_fault::none;
    int op = -1;             // the operator with the fault
    bool has_value = false;  // `value` is known
    double value = 0;        // the value of a constant, or the constant in a sum
  };

  /// The program must outlive this object, which refers to it.
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
  /// Returns how the program computes a variable.
  constexpr number find(int variable) { return find(variable, p.count.operators); }

 private:
  constexpr number find(int variable, int end) {
    for (int k = end; k-- > 0;) {
      const operator_desc op = p.operators[k];
      const int output = output_of(op, variable);
      if (output < 0) continue;
      if (!made_by[k].known) made_by[k] = made(op, k);
      const bool is_reduced = (op.schema->facts.reduced_outputs >> output & 1u) != 0;
      const bool of_rows = made_by[k].domain != none;
      return is_reduced || !of_rows ? made_by[k] : faulty(made_by[k], k, number_fault::reduction);
    }
    const bool learnt = p.variables[variable].kind == variable_kind::parameter;
    return {none, learnt ? number_kind::of_parameters : number_kind::constant, true};
  }
  /// Returns the output slot of an operator that contains the variable, or -1.
  constexpr int output_of(const operator_desc& op, int variable) const {
    for (int s = 0, at = op.outputs; s < op.schema->output_count; ++s)
      for (int n = op.schema->outputs[s].duplicable ? p.arguments[at++] : 1; n > 0; --n, ++at)
        if (p.arguments[at] == variable) return s;
    return -1;
  }
  static constexpr number faulty(number of, int k, number_fault fault) {
    if (of.kind == number_kind::other && of.fault != number_fault::none) return of;
    of.kind = number_kind::other;
    of.fault = fault;
    of.op = k;
    return of;
  }
  static constexpr bool is_of_rows(number_kind k) {
    return k == number_kind::sum || k == number_kind::mean;
  }

  /// Returns the description of a number that operator k computes from all rows of a variable.
  constexpr number reduced(const operator_desc& op, int k, int variable) const {
    number x{p.variables[variable].rows, number_kind::other, true};
    x.has_value = true;
    switch (op.schema->facts.reduces) {
      case row_reduction::sum:
        x.kind = number_kind::sum;
        break;
      case row_reduction::mean:
        x.kind = number_kind::mean;
        break;
      case row_reduction::named:
        x.kind = names_sum(op) ? number_kind::sum : number_kind::mean;
        break;
      default:
        return faulty(x, k, number_fault::reduction);
    }
    // The weight of a mean is its number of rows. If a program makes rows in a loop or branch,
    // their number may differ from iteration to iteration, so the mean has no single weight.
    if (x.kind == number_kind::mean && op.block != 0 && !is_fed(x.domain))
      return faulty(x, k, number_fault::reduction);
    return x;
  }
  constexpr bool names_sum(const operator_desc& op) const {
    if (op.attributes < 0) return false;
    const attribute_value name = p.attributes[op.attributes];
    return name.count == 3 && p.characters[name.offset] == 's';
  }
  constexpr bool is_fed(int domain) const {
    bool found = domain == batch::domain;
    for (int i = 0; i < p.count.data; ++i) found = found || p.variables[p.data[i]].rows == domain;
    return found;
  }
  /// Whether a loop carries the variable from operator k to the next iteration, that is, whether a
  /// later operator of k's block writes the variable.
  constexpr bool is_carried(int variable, int k) const {
    const int block = p.operators[k].block;
    bool found = false;
    for (int j = k; block != 0 && j < p.count.operators && !found; ++j)
      found = p.operators[j].block == block && output_of(p.operators[j], variable) >= 0;
    return found;
  }

  constexpr number made(const operator_desc& op, int k) {
    const operator_facts facts = op.schema->facts;
    number result{none, number_kind::constant, true};
    const bool is_linear = facts.linear > linearity::nonlinear;
    bool is_carrying = false, is_real = false;
    int count = 0;
    bool has_rows = false, has_number_of_rows = false;
    number_fault fault = number_fault::none;
    operand_values values;
    for_each(op.schema->inputs, op.schema->input_count, op.inputs, [&](int v) {
      const bool is_number = p.variables[v].rows == once::domain;
      const number x = is_number ? find(v, k) : reduced(op, k, v);
      has_rows = has_rows || !is_number;
      has_number_of_rows = has_number_of_rows || (is_number && x.domain != none);
      if (is_number && is_floating(p.variables[v].type) &&
          p.variables[v].kind != variable_kind::parameter)
        is_carrying = is_carrying || is_carried(v, k);
      is_real = is_real || is_floating(p.variables[v].type);
      if (x.domain != none)
        result.domain = result.domain == none || result.domain == x.domain ? x.domain : several;
      values.add(x.has_value, x.value, is_number);
      if (x.kind == number_kind::other) {
        if (result.kind != number_kind::other) result.op = x.op, result.fault = x.fault;
        result.kind = number_kind::other;
      } else if (result.kind != number_kind::other) {
        // Operands with rows are combined row by row before the reduction. The result is linear in
        // the sums over rows for any function of a row.
        const linearity how = is_number ? facts.linear : linearity::linear;
        result.kind = count == 0 ? x.kind : combined(how, result.kind, x.kind, fault);
        if (fault != number_fault::none) result = faulty(result, k, fault);
      }
      ++count;
    });
    if (is_of_rows(result.kind) && has_rows && has_number_of_rows)
      result = faulty(result, k, number_fault::product);
    if (is_of_rows(result.kind) && ((!is_linear && !has_rows) || is_rounded(op, is_real)))
      result = faulty(result, k, number_fault::bent);
    if (!is_linear && is_carrying && !has_rows) result = faulty(result, k, number_fault::bent);
    set_value(op, values, result);
    if (is_carrying && result.value != 0) result.has_value = false;
    if (result.kind == number_kind::sum && !result.has_value)
      result = faulty(result, k, number_fault::beside_sum);
    // If a cost reads a gradient as a value, the gradients for the parts do not add up to the
    // gradient for the mini-batch.
    if (op.role == op_role::gradient_value && result.domain != none)
      result = faulty(result, k, number_fault::gradient);
    return result;
  }
  /// Whether the operator converts real numbers to integers.
  constexpr bool is_rounded(const operator_desc& op, bool is_real) const {
    bool found = false;
    for_each(op.schema->outputs, op.schema->output_count, op.outputs, [&](int v) {
      found = found || (is_real && !is_floating(p.variables[v].type) &&
                        op.schema->facts.reduces == row_reduction::none);
    });
    return found;
  }
  /// Returns the kind of the result of an operator whose operands have kinds a and b, neither of
  /// which may be `other`. Sets `fault` if the kind is `other`.
  static constexpr number_kind combined(linearity linear, number_kind a, number_kind b,
                                        number_fault& fault) {
    const bool divides = linear == linearity::quotient;
    const bool is_factor = linear == linearity::product || divides;
    if ((divides && is_of_rows(b)) || (is_factor && is_of_rows(a) && is_of_rows(b)))
      fault = number_fault::product;
    else if (is_of_rows(a) && is_of_rows(b) && a != b)
      fault = number_fault::beside_sum;
    return is_of_rows(a) ? a : is_of_rows(b) ? b : a > b ? a : b;
  }

  /// Collects the known constants among the operands of an operator.
  struct operand_values {
    int count = 0, numbers = 0;
    bool known = true, all_zero = true, any_zero = false;
    bool first_known = false, second_known = false;
    double first = 0, second = 0, sum = 0;

    constexpr void add(bool has, double value, bool is_number) {
      if (count == 0) first = value, first_known = has;
      if (count == 1) second = value, second_known = has;
      ++count;
      numbers += is_number;
      known = known && has;
      all_zero = all_zero && has && value == 0;
      any_zero = any_zero || (has && value == 0);
      sum += value;
    }
  };
  /// Sets the value of a constant, or the constant in a sum, if it is known. The value is the same
  /// for all elements.
  constexpr void set_value(const operator_desc& op, const operand_values& of, number& to) const {
    const std::string_view type = op.schema->type;
    const linearity linear = op.schema->facts.linear;
    const auto becomes = [&to](bool known, double value) {
      to.has_value = known;
      to.value = known ? value : 0;
    };
    if (of.count == 0) return becomes(type == "fill_constant", attribute(op, 2));
    if (of.numbers < of.count) return becomes(true, 0);  // an operand has rows
    if (type == "scale" && of.known) {
      const double factor = attribute(op, 0), bias = attribute(op, 1);
      return becomes(true,
                     attribute(op, 2) != 0 ? factor * of.first + bias : factor * (of.first + bias));
    }
    if (type == "elementwise_add" || type == "sum") return becomes(of.known, of.sum);
    if (type == "elementwise_sub" || type == "minus")
      return becomes(of.known, of.first - of.second);
    if (linear == linearity::product && type == "elementwise_mul" && of.known)
      return becomes(true, of.first * of.second);
    if (linear == linearity::product) return becomes(of.any_zero, 0);
    if (linear == linearity::quotient && of.known && of.second != 0)
      return becomes(true, of.first / of.second);
    if (linear == linearity::quotient) return becomes(of.first_known && of.first == 0, 0);
    if (linear != linearity::linear) return;
    if (op.schema->facts.reduces == row_reduction::sum)
      return becomes(of.known, of.first * elements_per_result(op));
    const bool copies = op.schema->facts.alias >= 0 || type == "assign" || type == "print" ||
                        type == "cast" || op.schema->facts.reduces == row_reduction::mean;
    becomes(copies ? of.known : of.all_zero, of.first);
  }
  constexpr double attribute(const operator_desc& op, int i) const {
    if (i >= op.schema->attribute_count) return 0;
    return op.attributes >= 0 ? p.attributes[op.attributes + i].number
                              : op.schema->attributes[i].number;
  }
  /// Returns the number of elements of operand 0, which has no rows, that are added up per element
  /// of the result.
  constexpr double elements_per_result(const operator_desc& op) const {
    return elements(p.arguments[op.inputs]) / elements(p.arguments[op.outputs]);
  }
  constexpr double elements(int variable) const {
    double n = 1;
    for (int i = 0; i < p.variables[variable].rank; ++i)
      n *= p.dims[p.variables[variable].dims + i];
    return n;
  }

  const program_desc& p;
  number* made_by;  // by operator: the number that it computes
};

}  // namespace detail

/// How a number for a whole mini-batch follows from the numbers for its parts.
struct parts_rule {
  /// The row domain whose rows weight the parts of a mean: the weight of a part is its number of
  /// rows in this domain. The domain is the batch if the number depends on rows of several domains
  /// or of none.
  int domain;
  bool mixes;    // the number depends on the rows of several domains
  bool is_sum;   // the number is a sum over rows, so the numbers for the parts are added up
  bool fits;     // the number is known to follow from the numbers for the parts
  double added;  // the constant in a sum, which counts once
  detail::number_fault fault;
  int op;  // the operator with the fault
};
constexpr parts_rule parts_rule_of(const program_desc& p, int variable) {
  using behind = detail::rows_behind;
  using detail::number_kind;
  const auto found = behind(p).find(variable);
  const bool mixes = found.domain == behind::several;
  const bool is_sum = found.kind == number_kind::sum;
  return {mixes || found.domain == behind::none ? batch::domain : found.domain,
          mixes,
          is_sum,
          found.kind != number_kind::other,
          is_sum ? found.value : 0,
          found.fault,
          found.op};
}

}}  // namespace lamina
