// SPDX-License-Identifier: Apache-2.0
// lamina/io/fluid/row_domains.hpp - finds the row domains of a program from a file, that is, which
// variables have the same rows.
//
// Fluid does not record which variables have the same rows; at run time, the result of an operator
// shares the LoD of an input. So an output gets the row domain of the first input with the same
// number of sequence levels. If the definition of the operator says that results have the rows of
// the second input (row_origin::second_operand), only this input counts. An output without such an
// input gets a new domain, and so does every fed variable.
#pragma once

#include <lamina/core/config.hpp>

#include <vector>

#include <lamina/program/program_desc.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Finds the row domains of the variables of a program.
class row_domains {
 public:
  explicit row_domains(const program_view& program) : p_(program) {}

  /// Sets `rows` of each variable to its domain, and appends the domains. Before the call, `rows`
  /// must be the number of LoD levels of the variable.
  void assign(std::vector<variable_desc>& variables, std::vector<domain_desc>& domains) {
    const int n = static_cast<int>(variables.size());
    for (int v = 0; v < n; ++v) like_.push_back(v);
    for (int k = 0; k < p_.count.operators; ++k) unite(p_.operators[k]);
    for (int v = 0; v < n; ++v)
      if (variables[at(v)].of >= 0 && has_rows(v) && has_rows(variables[at(v)].of))
        like_[at(root(v))] = root(variables[at(v)].of);

    std::vector<int> domain(at(n), -1);
    for (int v = 0; v < n; ++v) {
      const int r = root(v);
      if (has_rows(v) && domain[at(r)] < 0) domain[at(r)] = add(domains, levels(r));
    }
    std::vector<int> found;
    for (int v = 0; v < n; ++v) found.push_back(has_rows(v) ? domain[at(root(v))] : once::domain);
    for (int v = 0; v < n; ++v) variables[at(v)].rows = found[at(v)];
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  bool has_rows(int v) const {
    const variable_desc& d = p_.variables[v];
    return d.rank > 0 && p_.dims[d.dims] < 0 && d.kind != variable_kind::step_scopes;
  }
  int levels(int v) const { return p_.variables[v].rows; }
  int root(int v) {
    while (like_[at(v)] != v) v = like_[at(v)] = like_[at(like_[at(v)])];
    return v;
  }

  template <class F>
  void each(const operator_desc& op, bool input, F f) const {
    const slot_desc* slot_list = input ? op.schema->inputs : op.schema->outputs;
    const int n = input ? op.schema->input_count : op.schema->output_count;
    for (int s = 0, i = input ? op.inputs : op.outputs; s < n; ++s)
      for (int k = slot_list[s].duplicable ? p_.arguments[i++] : 1; k > 0; --k, ++i)
        if (p_.arguments[i] >= 0 && has_rows(p_.arguments[i])) f(p_.arguments[i]);
  }

  void unite(const operator_desc& op) {
    const bool second = op.schema->facts.origin == row_origin::second_operand;
    each(op, false, [&](int out) {
      int like = -1;
      each(op, true, [&](int in) {
        const bool asked = !second || in == p_.arguments[op.inputs + 1];
        if (asked && levels(in) == levels(out) && like < 0) like = in;
      });
      if (like >= 0 && root(out) != root(like)) like_[at(root(out))] = root(like);
    });
  }

  static int add(std::vector<domain_desc>& domains, int levels) {
    domains.push_back({domain_kind::batch, -1, 0, 0, -1});
    for (int l = 0; l < levels; ++l)
      domains.push_back({domain_kind::sequence, static_cast<int>(domains.size()) - 1, 0, 0, -1});
    return static_cast<int>(domains.size()) - 1;
  }

  program_view p_;
  std::vector<int> like_;  // for each variable, another variable with the same rows; the last of
                           // such a chain has its own number
};

}}  // namespace lamina
