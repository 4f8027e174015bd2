// SPDX-License-Identifier: Apache-2.0
// lamina/io/report.hpp - the cost of a run of a program: operations, memory traffic and memory
// slots, by group.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/text.hpp>
#include <lamina/io/fluid/fluid_attributes.hpp>
#include <lamina/io/plan_text.hpp>
#include <lamina/plan/image_operators.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina::inline LAMINA_ABI {

/// The sizes of the run that a report describes.
struct report_options {
  std::int64_t rows = 1;        // of the batch
  std::int64_t tokens = 1;      // total rows of every other row domain
  std::int64_t iterations = 1;  // of every loop
};

/// A fused group in a run.
struct group_report {
  std::string what;       // number, kernel, shape and functions, as in plan_text()
  std::string addresses;  // of its arrays: arena+0 is the first float of a row of an arena
  double flops = 0;       // multiplications and additions of matrix products and convolutions
  double elements = 0;    // values of pointwise functions and of kernels that are not fused
  double bytes = 0;       // of the arrays that it reads or writes, each counted once
};

/// All groups of a plan.
struct program_report {
  std::vector<group_report> groups;
  double flops() const {
    double sum = 0;
    for (const group_report& g : groups) sum += g.flops;
    return sum;
  }
  double bytes() const {
    double sum = 0;
    for (const group_report& g : groups) sum += g.bytes;
    return sum;
  }
  /// A table: one line per group, and the sums.
  std::string text() const {
    std::string lines = "     Mflop   Melement      Mbyte  group\n";
    const auto add = [&](double flops, double elements, double bytes, const std::string& what) {
      lamina::text line;
      line.print("%10.3f", flops / 1e6).print(" %10.3f", elements / 1e6);
      lines += line.print(" %10.3f  ", bytes / 1e6) << what << "\n";
    };
    double elements = 0;
    for (const group_report& g : groups) {
      add(g.flops, g.elements, g.bytes, g.what + (g.addresses.empty() ? "" : " at " + g.addresses));
      elements += g.elements;
    }
    add(flops(), elements, bytes(), "in all");
    return lines;
  }
};

namespace detail {

/// Counts the work of operators that are not fused.
class work_counter {
 public:
  work_counter(const program_view& program, const report_options& run) : p_(program), run_(run) {}

  /// The number of rows that an entry of a plan stands for.
  double rows(int known) const {
    if (known >= 0) return known;
    return static_cast<double>((domain_of_rows(known) == batch::domain ? run_.rows : run_.tokens) *
                               parts_of_rows(known));
  }
  /// The number of runs of a block.
  double times(int block) const {
    double n = 1;
    for (; block > 0; block = p_.blocks[block].parent)
      for (int k = 0; k < p_.count.operators; ++k)
        if (sub_block_of(p_, p_.operators[k]) == block &&
            p_.operators[k].schema->facts.block >= block_rule::loop)
          n *= static_cast<double>(run_.iterations);
    return n;
  }

  /// Flops of an instruction that is a call or a convolution with fused statements.
  double flops(const instruction& i) const {
    const operator_desc& op = p_.operators[i.op];
    const bool part =
        i.head != group_head::call || i.schema == &schema_of<conv_filter_gradient_sum>();
    return part ? flops(op, 1) : i.schema == op.schema ? flops(op, wanted(op)) : 0;
  }

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
    // Every row is multiplied once by the recurrent weights, and once each for their gradient and
    // that of the state.
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
  // The columns of Y of a mul as a matrix.
  double columns(const operator_desc& op, int y) const {
    double n = 1;
    const int first =
        op.attributes < 0 ? 1 : static_cast<int>(p_.attributes[op.attributes + 1].number);
    for (int d = 0; d < first; ++d) n *= extent(y, d);
    return n;
  }
  // In a gradient operator, the gradients of inputs 0 and 1 are products.
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

constexpr const char* space_name(memory_space space) {
  constexpr const char* names[] = {"",      "arena",   "fixed", "parameter", "accumulator", "feed",
                                   "given", "updated", "frame", "array",     "numbers"};
  return names[static_cast<int>(space)];
}

}  // namespace detail

/// The cost of every fused group of a program in a run: flops of products, values of other
/// functions, bytes of its arrays, and their addresses.
///   std::cout << lamina::report(digits, {.rows = 64}).text();
template <program_type P>
program_report report(P, const report_options& run = {}) {
  using plan_type = plan<P>;
  const program_view p = P::view();
  const detail::work_counter count(p, run);
  const auto operand_of = [](const instruction& i, int n) {
    return plan_type::lowered.operands[i.inputs + n].id;
  };
  // The rows of X and dOut that an iteration collects are multiplied later, so they count here.
  const auto collected = [&](const plan_variable& x, const plan_variable& d) {
    return 2 * count.rows(x.rows) * x.columns * d.columns;
  };
  program_report made;
  for (int g = 0; g < plan_type::groups; ++g) {
    const group_desc& d = plan_type::grouped.groups[g];
    const double times = count.times(d.block);
    group_report r;
    r.what = detail::group_text<P>(g);
    for (int e = d.first; e < d.first + d.count; ++e) {
      const instruction& i = plan_type::lowered.instructions[plan_type::grouped.order[e]];
      const bool product = i.head == group_head::gemm || i.head == group_head::gemm_dx ||
                           i.head == group_head::gemm_dw;
      const bool called = asks_operator(i.head) && i.op >= 0 && i.runs < 0;
      if (product)
        r.flops += 2 * times * count.rows(i.rows) * i.columns * count.rows(i.depth);
      else if (i.schema == &schema_of<collect_product>())
        r.flops += times * collected(plan_type::lowered.variables[operand_of(i, 0)],
                                     plan_type::lowered.variables[operand_of(i, 1)]);
      else if (called)
        r.flops += times * count.flops(i);
      if (!product && i.runs < 0)
        for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
          if (const int v = plan_type::lowered.results[o]; v >= 0)
            r.elements += times * count.rows(plan_type::lowered.variables[v].rows) *
                          plan_type::lowered.variables[v].columns;
    }
    const group_code& c = plan_type::code.groups[g];
    for (int a = c.arguments; a < c.arguments + c.argument_count; ++a) {
      const int v = plan_type::code.arguments[a];
      if (v < 0) continue;
      const memory_slot& slot = plan_type::memory.slot_of[v];
      if (slot.space == memory_space::none) continue;
      const plan_variable& x = plan_type::lowered.variables[v];
      r.bytes += times * count.rows(x.rows) * x.columns * size_of(x.type);
      r.addresses += std::string(r.addresses.empty() ? "" : " ") + detail::space_name(slot.space) +
                     '+' + std::to_string(slot.offset);
    }
    made.groups.push_back(std::move(r));
  }
  return made;
}

}  // namespace lamina::inline LAMINA_ABI
