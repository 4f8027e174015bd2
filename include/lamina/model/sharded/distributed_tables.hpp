// SPDX-License-Identifier: Apache-2.0
// lamina/model/sharded/distributed_tables.hpp - finds the embedding tables whose rows can be
// divided over processes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/program/program.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Whether an operator is a look-up with is_distributed.
template <class Desc>
constexpr bool is_distributed_lookup(const Desc& p, const operator_desc& op) {
  const int flag = op.schema->facts.divided_by;
  return flag >= 0 && op.attributes >= 0 && p.attributes[op.attributes + flag].number != 0;
}
template <class Desc>
constexpr bool finds_distributed_lookup(const Desc& p) {
  for (int k = 0; k < p.count.operators; ++k)
    if (is_distributed_lookup(p, p.operators[k])) return true;
  return false;
}

}  // namespace detail

/// Whether a program has a look-up with is_distributed.
template <program_type P>
inline constexpr bool has_distributed_tables = detail::finds_distributed_lookup(P::desc);

/// The reason why a table cannot be divided over processes.
enum class undividable : std::uint8_t {
  none,
  made_ids,      // the program computes the ids of a look-up
  other_reader,  // another operator than a look-up with is_distributed reads the table
  in_block,      // a look-up is in the body of a loop or branch
};

/// The embedding tables of a program from which look-ups with is_distributed read.
template <program_type P>
struct distributed_tables {
  /// A look-up: the number of the table that it reads, and of the data layer that feeds its ids.
  struct lookup {
    int table, layer;
    std::int64_t padding;  // this id reads no row; -1: none
  };
  struct list {
    int tables, lookups;
    int parameter[bound(counts_of<P>.parameters)];       // by table: its parameter
    undividable reason[bound(counts_of<P>.parameters)];  // by table: why it cannot be divided
    int table_of[bound(counts_of<P>.parameters)];        // by parameter: its table, or -1
    lookup of[bound(counts_of<P>.operators)];
  };
  static constexpr list find() {
    list t{};
    for (int& i : t.table_of) i = -1;
    for (int k = 0; k < counts_of<P>.operators; ++k) {
      const operator_desc op = P::desc.operators[k];
      if (!detail::is_distributed_lookup(P::desc, op)) continue;
      const int i = P::desc.variables[P::desc.arguments[op.inputs]].index;
      if (t.table_of[i] < 0) t.parameter[t.table_of[i] = t.tables++] = i;
      const int table = t.table_of[i], ids = P::desc.arguments[op.inputs + 1];
      const int padding = op.attributes + op.schema->facts.divided_by + 1;
      lookup found{table, -1, static_cast<std::int64_t>(P::desc.attributes[padding].number)};
      for (int d = 0; d < counts_of<P>.data; ++d)
        if (P::desc.data[d] == ids) found.layer = d;
      if (op.block != 0)
        t.reason[table] = undividable::in_block;
      else if (found.layer < 0)
        t.reason[table] = undividable::made_ids;
      else
        t.of[t.lookups++] = found;
    }
    for (int k = 0; k < counts_of<P>.operators; ++k) {
      const operator_desc op = P::desc.operators[k];
      const bool reads = op.role == op_role::forward || op.role == op_role::loss;
      if (!reads || detail::is_distributed_lookup(P::desc, op)) continue;
      const auto& schema = *op.schema;
      for (int s = 0, a = op.inputs; s < schema.input_count + schema.output_count; ++s) {
        const slot_desc& slot =
            s < schema.input_count ? schema.inputs[s] : schema.outputs[s - schema.input_count];
        // The arguments of a duplicable slot begin with the number of its variables.
        for (int n = slot.duplicable ? P::desc.arguments[a++] : 1; n > 0; --n, ++a) {
          const int v = P::desc.arguments[a];
          if (v < 0 || P::desc.variables[v].kind != variable_kind::parameter) continue;
          const int table = t.table_of[P::desc.variables[v].index];
          if (table >= 0) t.reason[table] = undividable::other_reader;
        }
      }
    }
    return t;
  }
  static constexpr list all = find();
};

/// Returns an array that has, by parameter, the number of its table or -1. Returns null for a
/// program without look-ups with is_distributed.
template <program_type P>
constexpr const int* numbers_of_tables() {
  if constexpr (has_distributed_tables<P>)
    return distributed_tables<P>::all.table_of;
  else
    return nullptr;
}

}}  // namespace lamina
