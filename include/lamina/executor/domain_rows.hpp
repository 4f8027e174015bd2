// SPDX-License-Identifier: Apache-2.0
// lamina/executor/domain_rows.hpp - the number of rows of each row domain in one run, and their
// sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <vector>

#include <lamina/program/program_builder.hpp>
#include <lamina/program/program_desc.hpp>
#include <lamina/program/variable_name.hpp>
#include <lamina/tensor/lod_tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The number of rows and the sequences of each row domain of a program during one run. Feeds set
/// the rows of their own domains and of the parents of these domains. Operators set the rows of all
/// other domains when they compute values.
class domain_rows {
 public:
  explicit domain_rows(const program_view& program)
      : program_(program), known_(static_cast<std::size_t>(program.count.domains)) {}

  /// Whether the rows of a domain are known.
  bool has(int domain) const { return at(domain).variable >= 0; }
  std::size_t rows(int domain) const { return at(domain).rows; }
  const lod& sequences(int domain) const { return at(domain).sequences; }

  /// Records the rows of a feed. Throws lamina::error that names the variable if its sequences do
  /// not have as many levels as its domain. Throws lamina::error that names both variables if its
  /// rows contradict another feed.
  void feed(int variable, const lod_tensor& value) {
    const int domain = program_.variables[variable].rows;
    if (!has_rows_at_run_time(variable)) return;
    const int levels = lod_level_of(program_, domain);
    if (static_cast<int>(value.lod().levels()) != levels)
      throw error(text() << "lamina: executor: expected sequences of " << levels
                         << " levels to be fed to variable '" << variable_name(program_, variable)
                         << "', found " << value.lod().levels() << " levels");
    agree(domain, variable, value.shape()[0], value.lod());
    lod sequences = value.lod();
    for (int d = domain; program_.domains[d].kind == domain_kind::sequence;) {
      const std::size_t n = sequences.sequences();
      sequences = sequences.above();
      d = program_.domains[d].parent;
      agree(d, variable, n, sequences);
    }
  }

  /// Forgets the rows of all domains, before the next mini-batch.
  void forget() {
    for (entry& e : known_) e = {};
  }
  /// Records the rows of a value that an operator has computed.
  void note(int variable, const lod_tensor& value) {
    if (!has_rows_at_run_time(variable)) return;
    entry& e = known_[static_cast<std::size_t>(program_.variables[variable].rows)];
    e.rows = value.shape()[0];
    if (e.variable < 0 || e.sequences != value.lod()) e.sequences = value.lod();
    if (e.variable < 0) e.variable = variable;
  }

 private:
  struct entry {
    int variable = -1;  // the first variable with these rows
    std::size_t rows = 0;
    lod sequences{};
  };

  const entry& at(int domain) const { return known_[static_cast<std::size_t>(domain)]; }
  bool has_rows_at_run_time(int variable) const {
    const variable_desc& v = program_.variables[variable];
    return v.rows != once::domain && v.rank > 0 && program_.dims[v.dims] < 0;
  }

  void agree(int domain, int variable, std::size_t rows, const lod& sequences) {
    entry& e = known_[static_cast<std::size_t>(domain)];
    if (e.variable < 0) {
      e = {variable, rows, sequences};
      return;
    }
    if (e.rows == rows && e.sequences == sequences) return;
    const bool own = program_.variables[variable].rows == domain;
    const bool others_own = program_.variables[e.variable].rows == domain;
    text what;
    what << "lamina: executor: expected ";
    if (sequences.empty())
      what << e.rows << (own ? " rows" : " sequences");
    else
      what << "sequences of lengths " << to_string(e.sequences) << (own ? "" : " above its own");
    what << " to be fed to variable '" << variable_name(program_, variable) << "' as "
         << (others_own ? "to '" : "in '") << variable_name(program_, e.variable) << "', found ";
    if (sequences.empty())
      what << rows;
    else
      what << to_string(sequences);
    throw error(what);
  }

  const program_view& program_;
  std::vector<entry> known_;
};

}}  // namespace lamina
