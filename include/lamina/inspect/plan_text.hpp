// SPDX-License-Identifier: Apache-2.0
// lamina/inspect/plan_text.hpp - returns a plan as text: its groups, their kernels, and the size of
// the memory.
#pragma once

#include <lamina/core/config.hpp>

#include <string>

#include <lamina/model/names/program_names.hpp>
#include <lamina/plan/plan_view.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

constexpr const char* head_name(fusion_anchor head) {
  switch (head) {
    case fusion_anchor::pointwise:
      return "pointwise";
    case fusion_anchor::gemm:
      return "gemm";
    case fusion_anchor::gemm_dx:
      return "gemm_dx";
    case fusion_anchor::gemm_dw:
      return "gemm_dw";
    case fusion_anchor::reduce_rows:
      return "reduce_rows";
    case fusion_anchor::conv:
      return "conv";
    case fusion_anchor::conv_dx:
      return "conv_dx";
    default:
      return "call";
  }
}

/// Returns the number of rows as text: a number such as "12"; "batch" or "batch*64" for the samples
/// of a mini-batch, or 64 per sample; or the name of another row domain.
inline std::string rows_text(const program_view& p, int rows) {
  if (rows >= 0) return std::to_string(rows);
  const domain_desc& d = p.domains[domain_of_rows(rows)];
  std::string text = domain_of_rows(rows) == batch::domain
                         ? "batch"
                         : std::string(p.characters + d.offset, static_cast<std::size_t>(d.length));
  if (parts_of_rows(rows) > 1) text += "*" + std::to_string(parts_of_rows(rows));
  return text;
}

/// Describes a group of a plan: its number, the number of its kernel, its head with the shape, the
/// functions that are fused with it, and the variables that it stores.
LAMINA_COLD inline std::string group_text(const plan_view& plan, int g) {
  const program_view& p = plan.program;
  const group_desc& d = plan.group[g];
  std::string text = std::to_string(g) + " kernel " + std::to_string(plan.kernel_of[g]) + " " +
                     head_name(d.head) + " " + rows_text(p, d.rows) + "x" +
                     std::to_string(d.columns);
  for (int e = d.first; e < d.first + d.count; ++e) {
    const instruction& i = plan.instructions[e];
    text += std::string(e == d.first ? ": " : " + ") + i.schema->type;
    for (int r = i.outputs; r < i.outputs + i.output_count; ++r) {
      const int v = plan.results[r];
      if (v < 0) continue;
      const int root = plan.variables[v].root;
      if (!plan.stored[root] || v >= p.count.variables) continue;
      text += " -> " + variable_name(p, v);
    }
  }
  return text;
}

LAMINA_COLD inline std::string plan_text_of(const plan_view& plan) {
  std::string text;
  for (int g = 0; g < plan.groups; ++g) text += group_text(plan, g) + "\n";
  text += std::to_string(plan.groups) + " groups, " + std::to_string(plan.kernels) + " kernels, " +
          std::to_string(plan.planned_bytes) + " bytes a row planned, " +
          std::to_string(plan.unshared_bytes) + " without reuse\n";
  return text;
}

}  // namespace detail

/// Returns the schedule of a program as text. A line per group shows its number, the number of its
/// kernel, its head with the shape, the functions that are fused with it, and the variables that it
/// stores. The last line shows how many bytes per sample the plan needs, and how many bytes would
/// be needed if every variable had separate memory.
///   std::cout << lamina::plan_text(digits);
template <program_type P>
std::string plan_text(P) {
  return detail::plan_text_of(view_of_plan<P>());
}

}}  // namespace lamina
