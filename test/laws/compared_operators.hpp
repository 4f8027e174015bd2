// SPDX-License-Identifier: Apache-2.0
// laws/compared_operators.hpp - records which operators a test really compared, for the table of
// docs/operators.md. If the environment variable LAMINA_COMPARED names a file, a line is added to
// it for each operator: the column, the type of the operator, and "gradients" or "values".
// test/interop/operator_table.py reads them.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include <lamina/program/program_desc.hpp>

namespace laws {

namespace detail {

/// Adds a line to the file, if LAMINA_COMPARED names one.
inline void write_compared(const char* mode, std::string_view line) {
  const char* const path = std::getenv("LAMINA_COMPARED");
  std::FILE* const file = path != nullptr ? std::fopen(path, mode) : nullptr;
  if (file == nullptr) return;
  std::fwrite(line.data(), 1, line.size(), file);
  std::fclose(file);
}
/// Each process begins a new file, so that the file exists even if nothing was compared.
inline const bool compared_begun = (write_compared("w", ""), true);

/// Writes the line of an operator in a column, once in each process.
inline void note_compared(std::string_view column, std::string_view type, bool gradients) {
  static std::set<std::string> known;
  const std::string line = std::string(column) + "\t" + std::string(type) + "\t" +
                           (gradients ? "gradients" : "values") + "\n";
  if (known.insert(line).second) write_compared("a", line);
}

inline bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Whether the program computes a gradient of a variable.
inline bool has_gradient(const lamina::program_view& p, int variable) {
  for (int v = 0; v < p.count.variables; ++v) {
    const lamina::variable_desc& d = p.variables[v];
    if (d.of != variable) continue;
    if (d.suffix != nullptr && std::string_view(d.suffix).substr(0, 5) == "@GRAD") return true;
  }
  return false;
}

/// Calls f(v) for each variable in the first `slots` slots of an operator. Their arguments begin at
/// `at`.
template <class Slots, class F>
void each_argument(const lamina::program_view& p, const Slots* slots, int count, int at,
                   const F& f) {
  for (int s = 0; s < count; ++s)
    for (int n = slots[s].duplicable ? p.arguments[at++] : 1; n > 0; --n, ++at)
      if (p.arguments[at] >= 0) f(p.arguments[at]);
}

/// Whether any of these variables has a gradient.
template <class Slots>
bool any_gradient(const lamina::program_view& p, const Slots* slots, int count, int at) {
  bool any = false;
  each_argument(p, slots, count, at, [&](int v) { any = any || has_gradient(p, v); });
  return any;
}

}  // namespace detail

/// Records the operators of a program whose results were compared. `all` says whether all results
/// were compared, or only the gradients of the first result. In the second case an operator of the
/// forward pass counts only if a gradient flows through it or if it is a source of the program's
/// data.
inline void note_compared(std::string_view column, const lamina::program_view& p, bool all) {
  if (std::getenv("LAMINA_COMPARED") == nullptr) return;
  for (int i = 0; i < p.count.operators; ++i) {
    const lamina::operator_desc& op = p.operators[i];
    const lamina::operator_schema& s = *op.schema;
    if (detail::ends_with(s.type, "_grad")) continue;
    const bool forward = op.role == lamina::op_role::forward || op.role == lamina::op_role::loss;
    const bool flows = forward && detail::any_gradient(p, s.inputs, s.input_count, op.inputs) &&
                       detail::any_gradient(p, s.outputs, s.output_count, op.outputs);
    if (all || flows || !forward || s.kind == lamina::operator_kind::source)
      detail::note_compared(column, s.type, flows);
  }
}
/// Records the operators on which one variable of a program depends, after the values of that
/// variable were compared.
inline void note_compared_result(std::string_view column, const lamina::program_view& p,
                                 int variable) {
  std::set<int> wanted = {variable};
  for (std::size_t before = 0; before != wanted.size();) {
    before = wanted.size();
    for (int i = 0; i < p.count.operators; ++i) {
      const lamina::operator_desc& op = p.operators[i];
      const lamina::operator_schema& s = *op.schema;
      if (detail::ends_with(s.type, "_grad")) continue;
      bool counts = false;
      detail::each_argument(p, s.outputs, s.output_count, op.outputs,
                            [&](int v) { counts = counts || wanted.count(v) > 0; });
      if (!counts) continue;
      detail::each_argument(p, s.inputs, s.input_count, op.inputs,
                            [&](int v) { wanted.insert(v); });
      detail::note_compared(column, s.type, false);
    }
  }
}
/// Records one operator that was compared with numbers that a test computed in another way.
inline void note_compared_operator(std::string_view column, std::string_view type) {
  constexpr std::string_view gradient = "_grad";
  const bool is_gradient = detail::ends_with(type, gradient);
  if (is_gradient) type.remove_suffix(gradient.size());
  detail::note_compared(column, type, is_gradient);
}

}  // namespace laws
