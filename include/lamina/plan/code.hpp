// SPDX-License-Identifier: Apache-2.0
// lamina/plan/code.hpp - the statements of each group, with local numbers for its arguments.
// Two groups with equal code are one kernel: everything that differs (addresses, dimensions,
// attribute values) lies in tables that the kernel is given.
#pragma once

#include <lamina/plan/grouping.hpp>

namespace lamina {

/// Where a statement takes an operand from.
enum class source : std::uint8_t { head, load, row, column, scalar, numbers, value };

/// One operand of a statement: the argument's number, or for `value` the statement's.
struct operand_code {
  source from;
  std::int8_t index;
  constexpr bool operator==(const operand_code&) const = default;
};

/// value = function(operands); stored to an argument unless store is -1. An update writes its
/// first operands back in place instead.
struct statement_code {
  const operator_schema* schema;
  std::int8_t output;
  std::int8_t store;
  std::int8_t operand_count;
  bool update;
  int operands;
};

/// The code of a group.
struct group_code {
  int statements, statement_count;
  int arguments, argument_count;
};

/// How many elements of each array of a code table are in use.
struct code_counts {
  int statements, operands, arguments, groups;
};

/// The code of all groups. As program_desc, it has room for the largest program and exists during
/// compilation only.
struct code_table {
  code_counts count;
  statement_code statements[2 * lowered_limits.instructions];
  operand_code operands[lowered_limits.operands + lowered_limits.instructions];
  int arguments[lowered_limits.operands + lowered_limits.results];  // plan variables, or constants
                                                                    // below -1, or -1
  group_code groups[lowered_limits.instructions];
};

struct code_sink {
  growing<statement_code> statements;
  growing<operand_code> operands;
  growing<int> arguments;
  growing<group_code> groups;
};

/// Writes the code of all groups.
template <auto const& L, auto const& B>
constexpr code_table emit_code() {
  constexpr int variables = L.count.variables;
  constexpr int groups = B.count;
  code_table made{};
  code_sink out;
  out.statements.borrow(made.statements, 0, 2 * lowered_limits.instructions);
  out.operands.borrow(made.operands, 0, lowered_limits.operands + lowered_limits.instructions);
  out.arguments.borrow(made.arguments, 0, lowered_limits.operands + lowered_limits.results);
  out.groups.borrow(made.groups, 0, lowered_limits.instructions);
  int* stamp = new int[static_cast<unsigned>(variables) + 1];  // group in which `value` is known
  int* value = new int[static_cast<unsigned>(variables) + 1];  // its statement; -1: the head
  int* local = new int[static_cast<unsigned>(variables) + 1];  // its argument number
  int* lstamp = new int[static_cast<unsigned>(variables) + 1];
  for (int v = 0; v < variables; ++v) stamp[v] = lstamp[v] = -1;
  for (int g = 0; g < groups; ++g) {
    const group_desc& d = B.groups[g];
    const int statement0 = out.statements.count;
    const int argument0 = out.arguments.count;
    const auto argument = [&](int v) {
      return v < 0            ? out.arguments.push(v) - argument0
             : lstamp[v] == g ? local[v]
                              : (lstamp[v] = g, local[v] = out.arguments.push(v) - argument0);
    };
    for (int e = d.first; e < d.first + d.count; ++e) {
      const instruction& i = L.instructions[B.order[e]];
      if (i.head == group_head::call) {
        // Position by position: absent operands and repetitions stay where they are.
        for (int a = i.inputs; a < i.inputs + i.input_count; ++a) {
          const int v = L.operands[a].id;
          out.arguments.push(v < 0 ? v : L.variables[v].root);
        }
        for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
          out.arguments.push(L.results[o] < 0 ? -1 : L.variables[L.results[o]].root);
        continue;
      }
      if (i.head != group_head::pointwise) {
        for (int a = i.inputs; a < i.inputs + i.input_count; ++a)
          argument(L.variables[L.operands[a].id].root);
        const int v = L.variables[L.results[i.outputs]].root;
        stamp[v] = g;
        value[v] = -1;
        if (B.stored[v]) {
          const int at = out.operands.push({source::head, 0});
          const std::int8_t store = static_cast<std::int8_t>(argument(v));
          out.statements.push({&schema_of<keep>(), 0, store, 1, false, at});
        }
        continue;
      }
      const bool update = i.schema->kind == operator_kind::update;
      const int at = out.operands.count;
      for (int a = i.inputs; a < i.inputs + i.input_count; ++a) {
        const operand& from = L.operands[a];
        if (from.id < 0) {
          out.operands.push({from.how == access::numbers ? source::numbers : source::scalar,
                             static_cast<std::int8_t>(argument(from.id))});
          continue;
        }
        const int v = L.variables[from.id].root;
        if (from.how == access::load && stamp[v] == g) {
          out.operands.push(value[v] < 0
                                ? operand_code{source::head, 0}
                                : operand_code{source::value, static_cast<std::int8_t>(value[v])});
          continue;
        }
        const source how = from.how == access::load     ? source::load
                           : from.how == access::row    ? source::row
                           : from.how == access::column ? source::column
                                                        : source::scalar;
        out.operands.push({how, static_cast<std::int8_t>(argument(v))});
      }
      const int number = out.statements.count - statement0;
      int store = -1;
      if (!update) {
        const int v = L.variables[L.results[i.outputs]].root;
        stamp[v] = g;
        value[v] = number;
        if (B.stored[v]) store = argument(v);
      }
      out.statements.push({i.schema, static_cast<std::int8_t>(i.output),
                           static_cast<std::int8_t>(store), static_cast<std::int8_t>(i.input_count),
                           update, at});
    }
    out.groups.push({statement0, out.statements.count - statement0, argument0,
                     out.arguments.count - argument0});
  }
  delete[] stamp;
  delete[] value;
  delete[] local;
  delete[] lstamp;
  made.count = {out.statements.count, out.operands.count, out.arguments.count, out.groups.count};
  return made;
}

/// Which groups have equal code: one representative each.
template <int Groups>
struct distinct_groups {
  int kernel[at_least_one(Groups)];  // by group
  int first[at_least_one(Groups)];   // by kernel: its first group
  int count;
};

/// Finds groups of equal structure by hash and comparison.
template <auto const& L, auto const& B, auto const& C>
constexpr auto find_distinct() {
  constexpr int groups = B.count;
  distinct_groups<groups> r;
  for (int g = 0; g < at_least_one(groups); ++g) r.first[g] = -1, r.kernel[g] = -1;
  r.count = 0;
  constexpr unsigned size = groups < 8 ? 16u : groups < 64 ? 128u : groups < 512 ? 1024u : 16384u;
  int* table = new int[size];
  for (unsigned i = 0; i < size; ++i) table[i] = -1;
  const auto head_schema = [](int g) { return L.instructions[B.order[B.groups[g].first]].schema; };
  for (int g = 0; g < groups; ++g) {
    const group_code& c = C.groups[g];
    const bool call = B.groups[g].head == group_head::call;
    unsigned h = static_cast<unsigned>(B.groups[g].head) * 31u + (B.groups[g].rows < 0 ? 7u : 0u);
    if (call) {
      const char* t = head_schema(g)->type;
      h = h * 131u + static_cast<unsigned>(t[0]) * 7u + static_cast<unsigned>(t[1]);
    }
    for (int s = c.statements; s < c.statements + c.statement_count; ++s) {
      const statement_code& d = C.statements[s];
      h = h * 16777619u ^ (static_cast<unsigned>(d.schema->type[0]) * 8u +
                           static_cast<unsigned>(d.operand_count) * 2048u +
                           static_cast<unsigned>(d.store + 1) * 65536u);
    }
    unsigned at = (h ^ (h >> 15)) & (size - 1);
    for (;; at = (at + 1) & (size - 1)) {
      const int q = table[at];
      if (q < 0) {
        table[at] = r.count;
        r.kernel[g] = r.count;
        r.first[r.count++] = g;
        break;
      }
      const int f = r.first[q];
      const group_code& o = C.groups[f];
      bool same = B.groups[g].head == B.groups[f].head && c.statement_count == o.statement_count &&
                  (call ? head_schema(g) == head_schema(f) : c.argument_count == o.argument_count);
      for (int s = 0; same && s < c.statement_count; ++s) {
        const statement_code& x = C.statements[c.statements + s];
        const statement_code& y = C.statements[o.statements + s];
        same = x.schema == y.schema && x.output == y.output && x.store == y.store &&
               x.operand_count == y.operand_count;
        for (int a = 0; same && a < x.operand_count; ++a)
          same = C.operands[x.operands + a] == C.operands[y.operands + a];
      }
      if (same) {
        r.kernel[g] = q;
        break;
      }
    }
  }
  delete[] table;
  return r;
}

}  // namespace lamina
