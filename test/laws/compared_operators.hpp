// SPDX-License-Identifier: Apache-2.0
// laws/compared_operators.hpp - which operators a test has really compared, for the table of
// docs/operators.md. With LAMINA_COMPARED in the environment its file gets a line for each: column,
// type of the operator, "gradients" or "values". test/interop/operator_table.py reads them.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include <lamina/program/program_desc.hpp>

namespace laws {

namespace detail {

/// Adds to the file, if there is one.
inline void write_compared(const char* mode, std::string_view line) {
  const char* const path = std::getenv("LAMINA_COMPARED");
  std::FILE* const file = path != nullptr ? std::fopen(path, mode) : nullptr;
  if (file == nullptr) return;
  std::fwrite(line.data(), 1, line.size(), file);
  std::fclose(file);
}
/// The file begins anew with each process, so that it is there when nothing was compared.
inline const bool compared_begun = (write_compared("w", ""), true);

/// Names one operator of a column, once a process.
inline void note_compared(std::string_view column, std::string_view type, bool gradients) {
  static std::set<std::string> known;
  const std::string line = std::string(column) + "\t" + std::string(type) + "\t" +
                           (gradients ? "gradients" : "values") + "\n";
  if (known.insert(line).second) write_compared("a", line);
}

inline bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Whether a variable of a program has a gradient in it.
inline bool has_gradient(const lamina::program_view& p, int variable) {
  for (int v = 0; v < p.count.variables; ++v) {
    const lamina::variable_desc& d = p.variables[v];
    if (d.of != variable) continue;
    if (d.suffix != nullptr && std::string_view(d.suffix).substr(0, 5) == "@GRAD") return true;
  }
  return false;
}

/// f(v) for each variable in some slots of an operator, whose arguments begin at `at`.
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

/// The operators of a program whose results were compared; `all` says whether all results were, or
/// only gradients of the first one: then an operator of the forward part counts where a gradient
/// flows through it, or where it gives the program its data.
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
/// The operators that one variable of a program depends on, whose values were compared.
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
/// One operator, compared with numbers that a test computed in another way.
inline void note_compared_operator(std::string_view column, std::string_view type) {
  constexpr std::string_view gradient = "_grad";
  const bool is_gradient = detail::ends_with(type, gradient);
  if (is_gradient) type.remove_suffix(gradient.size());
  detail::note_compared(column, type, is_gradient);
}

}  // namespace laws
