// SPDX-License-Identifier: Apache-2.0
// lamina/inspect/work_counter.hpp - counts the multiplications and additions of operators.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string_view>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/io/fluid/fluid_attributes.hpp>
#include <lamina/plan/image_operators.hpp>
#include <lamina/plan/instruction.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The sizes of the run that a report or a summary describes.
struct report_options {
  std::int64_t rows = 1;        // rows of the batch
  std::int64_t tokens = 1;      // rows of every other row domain, over all sequences
  std::int64_t iterations = 1;  // iterations of every loop
};

namespace detail {

/// Counts the flops of the operators and instructions of a program in a run of the sizes `run`.
class work_counter {
 public:
  work_counter(const program_view& program, const report_options& run) : p_(program), run_(run) {}

  /// Returns a number of rows in this run; `known` is the number as a plan stores it
  /// (operator_call::rows_of).
  double rows(int known) const {
    if (known >= 0) return known;
    return static_cast<double>((domain_of_rows(known) == batch::domain ? run_.rows : run_.tokens) *
                               parts_of_rows(known));
  }
  /// Returns how often a block runs: `iterations` times for each loop around its operators.
  double times(int block) const {
    double n = 1;
    for (; block > 0; block = p_.blocks[block].parent)
      for (int k = 0; k < p_.count.operators; ++k)
        if (sub_block_of(p_, p_.operators[k]) == block &&
            p_.operators[k].schema->facts.block >= block_rule::loop)
          n *= static_cast<double>(run_.iterations);
    return n;
  }

  /// Returns the flops of an instruction that calls a kernel, or of a convolution with fused
  /// statements.
  double flops(const instruction& i) const {
    const operator_desc& op = p_.operators[i.op];
    const bool part = i.head != fusion_anchor::call ||
                      same_address(i.schema, &schema_of<operators::conv_filter_gradient_sum>());
    return part ? flops(op, 1) : same_address(i.schema, op.schema) ? flops(op, wanted(op)) : 0;
  }

  /// Returns the flops of an operator of the program: 2 for each pair of numbers that a product
  /// multiplies and adds. Other operators count as 0.
  double flops(const operator_desc& op) const { return flops(op, wanted(op)); }

  double size(int v) const {
    double n = 1;
    if (v < 0) return n;
    for (int d = 0; d < p_.variables[v].rank; ++d) n *= extent(v, d);
    return n;
  }

 private:
  double flops(const operator_desc& op, double products) const {
    const product_rule rule = op.schema->facts.products;
    const bool gradient = is_gradient(op);
    const int x = argument(op, 0), y = argument(op, 1);
    if (rule == product_rule::convolution) {
      const int out = gradient ? slot(op, "Output@GRAD") : slot(op, "Output");
      return 2 * products * size(out) * size(y) / extent(y, 0);
    }
    if (rule == product_rule::transposed_convolution)
      return 2 * products * size(x) * size(y) / extent(y, 0);
    if (rule == product_rule::mul) return 2 * products * size(x) * size(y) / columns(op, y);
    if (rule == product_rule::matmul) {
      const int out = gradient ? slot(op, "Out@GRAD") : slot(op, "Out");
      const bool turned = op.attributes >= 0 && p_.attributes[op.attributes].number != 0;
      const int rank = p_.variables[x].rank;
      return 2 * products * size(out) * extent(x, turned && rank > 1 ? rank - 2 : rank - 1);
    }
    if (rule == product_rule::sequence_filter)
      return 2 * products * rows(-p_.variables[x].rows) * size(slot(op, "Filter"));
    // Every row is multiplied once by the recurrent weights. The gradient has two products per row:
    // one for the gradient of the weights, and one for the gradient of the state.
    if (rule != product_rule::recurrent) return 0;
    double weights = size(slot(op, "Weight"));
    if (const int projection = slot(op, "ProjWeight"); projection >= 0) weights += size(projection);
    return 2 * (gradient ? 2 : 1) * rows(-p_.variables[x].rows) * weights;
  }
  double extent(int v, int d) const {
    const int n = p_.dims[p_.variables[v].dims + d];
    return n < 0 ? rows(-p_.variables[v].rows) : n;
  }
  int argument(const operator_desc& op, int i) const {
    return op.inputs + i < op.outputs ? p_.arguments[op.inputs + i] : -1;
  }
  int slot(const operator_desc& op, std::string_view name) const {
    for (int i = 0; i < op.schema->input_count; ++i)
      if (op.schema->inputs[i].name == name) return p_.arguments[op.inputs + i];
    for (int i = 0; i < op.schema->output_count; ++i)
      if (op.schema->outputs[i].name == name) return p_.arguments[op.outputs + i];
    return -1;
  }
  // Returns the number of rows of mul's operand Y as a matrix, that is, the number of columns of X.
  double columns(const operator_desc& op, int y) const {
    double n = 1;
    const int first =
        op.attributes < 0 ? 1 : static_cast<int>(p_.attributes[op.attributes + 1].number);
    for (int d = 0; d < first; ++d) n *= extent(y, d);
    return n;
  }
  // In a gradient operator, the gradients of inputs 0 and 1 are products; wanted() returns how many
  // of them the program uses.
  static bool is_gradient(const operator_desc& op) {
    return forward_type(op.schema->type) != op.schema->type;
  }
  double wanted(const operator_desc& op) const {
    if (!is_gradient(op)) return 1;
    double n = 0;
    for (int at = op.outputs; at < op.outputs + 2 && at < op.end; ++at)
      n += p_.arguments[at] >= 0 ? 1 : 0;
    return n;
  }

  const program_view& p_;
  const report_options& run_;
};

}  // namespace detail
}}  // namespace lamina
