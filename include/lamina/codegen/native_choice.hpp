// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/native_choice.hpp - finds the names by which the C++ text of a call of minimize
// selects the parameters that the call updates.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <lamina/codegen/minimize_replay.hpp>
#include <lamina/codegen/native_records.hpp>
#include <lamina/program/names.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Finds the choice of parameters of a call of minimize. If the call updates all parameters on
/// which its cost depends, there is no choice. Otherwise the choice is a common prefix of their
/// names, the names of their layers, or their own names, whichever of these first selects exactly
/// these parameters.
class native_choice : protected native_records {
 protected:
  using native_records::native_records;

  /// Throws format_error about an operator for which no statement can be written.
  [[noreturn]] void fail_at(const operator_desc& op, const std::string& what) {
    const auto& of = program_.message().blocks[at(op.block)].operators;
    std::size_t k = 0, n = 0;
    for (const operator_desc* other = p_.operators; other != &op; ++other)
      k += other->block == op.block ? 1U : 0U;
    for (const operator_message& m : of)
      if (m.type != "feed" && m.type != "fetch" && n++ == k)
        throw format_error(program_.source(), m.offset,
                           what + " (operator " + std::to_string(k) + " of block " +
                               std::to_string(op.block) + ", '" + op.schema->type + "')");
    throw format_error(program_.source(), 0, what);
  }
  /// Finds the choice of a call and writes its text to `call.choice`.
  void choose(minimize_call& call) {
    const std::set<int> all = reached(call), chosen(call.updated.begin(), call.updated.end());
    if (all == chosen) return;
    std::vector<std::string> names, owners;
    std::string common = name_of(call.updated[0]);
    for (const int v : call.updated) {
      const std::string name = name_of(v);
      names.push_back(name);
      const std::string owner = name.substr(0, name.rfind('.'));
      if (std::find(owners.begin(), owners.end(), owner) == owners.end()) owners.push_back(owner);
      std::size_t n = 0;
      while (n < common.size() && n < name.size() && common[n] == name[n]) ++n;
      common.resize(n);
    }
    while (!common.empty() && common.back() != '_' && common.back() != '.' && common.back() != '/')
      common.pop_back();
    if (!common.empty() && names.size() > 1 && fits(call, all, chosen, "prefix", {common})) return;
    if (owners.size() < names.size() && fits(call, all, chosen, "only", owners)) return;
    if (fits(call, all, chosen, "only", names)) return;
    fail_at(*call.seed, "expected names that choose the updated parameters and no others, found '" +
                            names[0] + "' in the name of another");
  }

 private:
  /// Returns the trainable parameters on which the cost of a call depends.
  std::set<int> reached(const minimize_call& call) const {
    std::vector<bool> needed(at(p_.count.variables));
    needed[at(call.cost)] = true;
    for (bool found = true; found;) {
      found = false;
      for (const operator_desc* op = call.seed; op-- != p_.operators;) {
        if (groups_.contains(*op) || op->schema->gradient == nullptr) continue;
        bool flows = false;
        each(*op, false,
             [&](int v) { flows = flows || (needed[at(v)] && !p_.variables[v].stop_gradient); });
        if (!flows) continue;
        for (int s = 0; s < op->schema->input_count; ++s)
          if ((op->schema->differentiable >> s & 1U) != 0)
            for (const int v : in_slot(*op, op->schema->inputs[s].name, true)) {
              found = found || !needed[at(v)];
              needed[at(v)] = true;
            }
      }
    }
    std::set<int> parameters;
    for (int i = 0; i < p_.count.parameters; ++i)
      if (const int v = p_.parameters[i].variable; p_.parameters[i].trainable && needed[at(v)])
        parameters.insert(v);
    return parameters;
  }
  /// Whether these names select exactly the updated parameters. If so, makes them the choice.
  bool fits(minimize_call& call, const std::set<int>& all, const std::set<int>& chosen,
            const std::string& rule, const std::vector<std::string>& names) const {
    call.left_out.clear();
    for (int i = 0; i < p_.count.parameters; ++i) {
      const int v = p_.parameters[i].variable;
      const std::string name = name_of(v);
      bool named = false;
      for (const std::string& n : names)
        named = named || (rule == "prefix" ? name.starts_with(n) : belongs_to(name, n));
      if (!named) call.left_out.insert(v);
      if ((all.count(v) != 0 || chosen.count(v) != 0) && named != (chosen.count(v) != 0))
        return false;
    }
    call.choice = "lamina::" + rule + "<";
    for (const std::string& n : names) call.choice += (n == names[0] ? "" : ", ") + text_literal(n);
    call.choice += ">";
    return true;
  }
};

}}}  // namespace lamina::detail
