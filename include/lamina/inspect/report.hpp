// SPDX-License-Identifier: Apache-2.0
// lamina/inspect/report.hpp - estimates, for each group of a program, how many operations it
// computes in a run, how many bytes it reads and writes, and where its arrays are.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <vector>

#include <lamina/core/messages/text.hpp>
#include <lamina/inspect/plan_text.hpp>
#include <lamina/inspect/work_counter.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The estimates for one fused group in a run.
struct group_report {
  std::string what;  // number, kernel, shape and functions, as in plan_text()
  // Addresses of its arrays; arena+0 is the first float of a row of an arena.
  std::string addresses;
  double flops = 0;     // multiplications and additions of matrix products and convolutions
  double elements = 0;  // values of pointwise functions and of kernels that are not fused
  double bytes = 0;     // size of the arrays that it reads or writes, each array counted once
};

/// The estimates for all groups of a plan.
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
  /// Returns a table with one line per group, and a last line with the sums.
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

constexpr const char* space_name(memory_space space) {
  constexpr const char* names[] = {"",      "arena", "fixed",   "parameter", "accumulator",
                                   "feed",  "given", "updated", "frame",     "view",
                                   "array", "rows",  "numbers"};
  static_assert(sizeof names / sizeof *names == static_cast<int>(memory_space::numbers) + 1);
  return names[static_cast<int>(space)];
}

LAMINA_COLD inline program_report report_of(const plan_view& plan, const report_options& run) {
  const work_counter count(plan.program, run);
  // A loop stores the rows of X and dOut for the gradient of a weight, and a product multiplies
  // them after several iterations. The flops of this product are counted at the group that
  // stores.
  const auto stored_rows = [&](const plan_variable& x, const plan_variable& d) {
    return 2 * count.rows(x.rows) * x.columns * d.columns;
  };
  program_report made;
  for (int g = 0; g < plan.groups; ++g) {
    const group_desc& d = plan.group[g];
    const double times = count.times(d.block);
    group_report r;
    r.what = group_text(plan, g);
    for (int e = d.first; e < d.first + d.count; ++e) {
      const instruction& i = plan.instructions[e];
      const bool product = i.head == fusion_anchor::gemm || i.head == fusion_anchor::gemm_dx ||
                           i.head == fusion_anchor::gemm_dw;
      const bool called = asks_operator(i.head) && i.op >= 0 && i.runs < 0;
      if (product)
        r.flops += 2 * times * count.rows(i.rows) * i.columns * count.rows(i.depth);
      else if (i.schema == &schema_of<operators::defer_product>())
        r.flops += times * stored_rows(plan.variables[plan.operands[i.inputs]],
                                       plan.variables[plan.operands[i.inputs + 1]]);
      else if (called)
        r.flops += times * count.flops(i);
      if (!product && i.runs < 0)
        for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
          if (const int v = plan.results[o]; v >= 0)
            r.elements += times * count.rows(plan.variables[v].rows) * plan.variables[v].columns;
    }
    const group_code& c = plan.code[g];
    for (int a = c.arguments; a < c.arguments + c.argument_count; ++a) {
      const int v = plan.arguments[a];
      if (v < 0) continue;
      const memory_slot& slot = plan.slot_of[v];
      if (slot.space == memory_space::none) continue;
      const plan_variable& x = plan.variables[v];
      r.bytes += times * count.rows(x.rows) * x.columns * size_of(x.type);
      r.addresses += std::string(r.addresses.empty() ? "" : " ") + space_name(slot.space) + '+' +
                     std::to_string(slot.offset);
    }
    made.groups.push_back(std::move(r));
  }
  return made;
}

}  // namespace detail

/// Estimates the work of every fused group of a program in a run: the flops of products, the number
/// of values of other functions, and the bytes and addresses of its arrays.
///   std::cout << lamina::report(digits, {.rows = 64}).text();
template <program_type P>
program_report report(P, const report_options& run = {}) {
  return detail::report_of(view_of_plan<P>(), run);
}

}}  // namespace lamina
