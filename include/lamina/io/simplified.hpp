// SPDX-License-Identifier: Apache-2.0
// lamina/io/simplified.hpp - simplifies programs for inference: fewer operators, equal results.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/io/simplify/channel_pass.hpp>
#include <lamina/io/simplify/function_passes.hpp>
#include <lamina/io/simplify/norm_passes.hpp>
#include <lamina/io/simplify/product_pass.hpp>
#include <lamina/io/simplify/program_graph.hpp>
#include <lamina/io/simplify/shape_passes.hpp>
#include <lamina/tensor/scope.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// What simplified() did: for each pass, in the order in which passes run, how often it applied.
struct simplify_report {
  struct pass {
    const char* name;
    int applied = 0;
  };
  std::vector<pass> passes{};
  int operators_before = 0, operators_after = 0;

  /// Returns how often a pass applied; 0 for a name that is not a pass.
  int applied(std::string_view name) const {
    for (const pass& p : passes)
      if (p.name == name) return p.applied;
    return 0;
  }
  /// Returns one line per pass, such as "layer_norm: 4 times", and a line with the numbers of
  /// operators.
  std::string text() const {
    std::string lines;
    for (const pass& p : passes)
      lines += std::string(p.name) + ": " + std::to_string(p.applied) +
               (p.applied == 1 ? " time\n" : " times\n");
    return lines + "operators: " + std::to_string(operators_before) + " before, " +
           std::to_string(operators_after) + " after\n";
  }
};

/// Options of simplified(): which passes run. docs/interop.md says what each pass looks for.
struct simplify_options {
  bool identities = true;   // operators that return their operand
  bool shapes = true;       // reshapes and transposes that follow one another
  bool arithmetic = true;   // arithmetic with constants as scale, square, clip
  bool activations = true;  // gelu, swish, hard_swish, hard_sigmoid, softplus, softsign, logsigmoid
  bool layer_norm = true;
  bool rms_norm = true;
  bool products = true;    // factors and transposes of matrix products
  bool batch_norm = true;  // into the weights before it; needs the values of parameters
  bool prune = true;       // operators and variables that no result needs
  /// Variables that the result must have under their names, besides those that are fetched and fed.
  std::vector<std::string> keep{};
  simplify_report* report = nullptr;  // is filled if it is not null

  /// Returns options without any pass.
  static simplify_options none() {
    simplify_options o;
    o.identities = o.shapes = o.arithmetic = o.activations = o.layer_norm = o.rms_norm = false;
    o.products = o.batch_norm = o.prune = false;
    return o;
  }
};

namespace detail {

inline program_message simplified_message(program_message program, scope* values,
                                          const simplify_options& options) {
  bool has_results = !options.keep.empty();
  for (const block_message& b : program.blocks)
    for (const operator_message& op : b.operators) has_results |= op.type == "fetch";
  if (!has_results)
    throw error(
        "lamina: simplified: expected fetch operators or names in 'keep', found neither, "
        "so that every operator would be unused");
  for (const std::string& name : options.keep) {
    bool found = false;
    for (const block_message& b : program.blocks) found = found || b.find(name) != nullptr;
    if (!found)
      throw error("lamina: simplified: expected names of variables in 'keep', found '" + name +
                  "'");
  }
  passes::program_graph g(std::move(program), options.keep, values);
  simplify_report report;
  report.operators_before = report.operators_after = g.count_operators();
  if (g.is_training()) {
    if (options.report != nullptr) *options.report = std::move(report);
    return g.finish(false);
  }
  const auto prune = [&] {
    int removed = 0;
    for (int n = g.node_count(); n-- > 0;) {
      const bool was = g.node(n).is_removed;
      g.remove_unused(n);
      removed += !was && g.node(n).is_removed ? 1 : 0;
    }
    return removed;
  };
  const struct {
    const char* name;
    bool runs;
    int (*run)(passes::program_graph&);
  } all[] = {
      {"identities", options.identities, passes::remove_identities},
      {"shapes", options.shapes, [](auto& to) { return passes::shape_pass(to).run(); }},
      {"arithmetic", options.arithmetic,
       [](auto& to) { return passes::arithmetic_pass(to).run(); }},
      {"activations", options.activations,
       [](auto& to) { return passes::activation_pass(to).run(); }},
      {"layer_norm", options.layer_norm,
       [](auto& to) { return passes::norm_pass(to).layer_norm(); }},
      {"rms_norm", options.rms_norm, [](auto& to) { return passes::norm_pass(to).rms_norm(); }},
      {"products", options.products, [](auto& to) { return passes::product_pass(to).run(); }},
      {"batch_norm", options.batch_norm, [](auto& to) { return passes::channel_pass(to).run(); }},
  };
  const int pruned = options.prune ? prune() : 0;
  for (const auto& pass : all) report.passes.push_back({pass.name, 0});
  report.passes.push_back({"prune", pruned});
  // A pass may make a pattern of another one; every pass that applies removes an operator or makes
  // it a simpler one, so this ends.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < report.passes.size() - 1; ++i) {
      const int applied = all[i].runs ? all[i].run(g) : 0;
      report.passes[i].applied += applied;
      changed = changed || applied > 0;
    }
  }
  report.operators_after = g.count_operators();
  if (values != nullptr)
    for (auto& [name, elements] : g.made_values())
      static_cast<tensor&>(values->var(name)) = elements;
  if (options.report != nullptr) *options.report = std::move(report);
  return g.finish(options.prune);
}

}  // namespace detail

/// Returns a program for inference with fewer operators that computes equal results, apart from
/// rounding: values differ by about 1e-6 of the largest one, and where operators of the program
/// would overflow or multiply infinity by 0, the result may be finite. `values` has the parameters;
/// the program treats those of one element as constants, and parameters that passes change are
/// added to `values` under new names. Variables that are fed, fetched or named in `options.keep`
/// keep their names; others may be absent from the result. A training program is returned as it is,
/// because its gradients use the values of all operators. Throws lamina::error if the program has
/// no fetch operator and `keep` is empty, and for a name in `keep` that is not a variable.
inline program_message simplified(program_message program, scope& values,
                                  const simplify_options& options = {}) {
  return detail::simplified_message(std::move(program), &values, options);
}
/// Does the same without the values of parameters: passes that need values do not apply. For a
/// recorded program: `simplified(to_program_message(net), {.keep = {"output.tmp_0"}})`.
inline program_message simplified(program_message program, const simplify_options& options = {}) {
  return detail::simplified_message(std::move(program), nullptr, options);
}

}}  // namespace lamina
