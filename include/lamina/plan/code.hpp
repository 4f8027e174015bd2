// SPDX-License-Identifier: Apache-2.0
// lamina/plan/code.hpp - the statements of each group, with arguments numbered per group. Two
// groups with equal code use one kernel. Addresses, dimensions and attribute values, in which such
// groups may differ, are passed to the kernel in tables.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/operators/control/block/definition.hpp>
#include <lamina/plan/grouping.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The source from which a statement reads an operand; expression/expression.hpp explains each
/// kind.
enum class source : std::uint8_t { head, load, row, column, channel, scalar, numbers, value };

/// One operand of a statement. `index` is the number of a group argument or, for source `value`,
/// the number of an earlier statement.
struct operand_code {
  source from;
  std::int8_t index;
  constexpr bool operator==(const operand_code&) const = default;
};

/// A statement: value = function(operands). The value is written to the group's argument number
/// `store`, unless that is -1. An update instead writes its first operands in place.
struct statement_code {
  const operator_schema* schema;
  std::int8_t output;
  std::int8_t store;
  std::int8_t operand_count;
  bool update;
  int operands;
};

/// How a kernel uses an argument. For a machine that leaves updates to its caller, arguments with
/// use `updated` (the parameter of an update) and `numbers` (its scalar arguments) get other
/// addresses.
enum class argument_use : std::uint8_t { plain, updated, numbers };

/// The code of a group.
struct group_code {
  int statements, statement_count;
  int arguments, argument_count;
};

/// The number of used elements of each array of a code table.
struct code_counts {
  int statements, operands, arguments, groups;
};

/// The code of all groups. Like program_desc, it has capacity for the largest program and exists
/// during compilation only.
struct code_table {
  code_counts count;
  statement_code statements[2 * lowered_limits.instructions];
  operand_code operands[lowered_limits.operands + lowered_limits.instructions];
  int arguments[lowered_limits.operands + lowered_limits.results];      // see plan_view.hpp
  argument_use uses[lowered_limits.operands + lowered_limits.results];  // by argument
  group_code groups[lowered_limits.instructions];
};

/// Writes the code of all groups. The function writes directly to arrays at local integer positions
/// instead of calling push functions: it is the longest evaluation of a plan, and each call would
/// add to the compile time.
template <auto const& L, auto const& B>
constexpr code_table emit_code() {
  constexpr int variables = L.count.variables;
  constexpr int groups = B.count;
  code_table made{};
  int statement = 0, operand_at = 0, argument_at = 0, argument0 = 0, g = 0;
  int known_in[bound(variables)];  // by variable: the group for which `value` is set
  int value[bound(variables)];     // by variable: its statement; -1: the group's head
  int used_in[bound(variables)];   // by variable: the latest group with it as an argument ...
  int number[bound(variables)];    // ... and the number of that argument
  for (int v = 0; v < variables; ++v) known_in[v] = used_in[v] = -1;
  const auto argument = [&](int v) {
    return used_in[v] == g ? number[v]
                           : (made.arguments[argument_at] = v, used_in[v] = g,
                              number[v] = argument_at++ - argument0);
  };
  for (; g < groups; ++g) {
    const int first = B.groups[g].first, end = first + B.groups[g].count;
    const int statement0 = statement;
    argument0 = argument_at;
    for (int e = first; e < end; ++e) {
      const instruction i = L.instructions[B.order[e]];
      const int inputs = i.inputs, inputs_end = i.inputs + i.input_count;
      if (i.runs >= 0) {
        // The engine itself runs the blocks of loops and branches. The condition is the only
        // operand that it reads.
        if (i.schema->facts.block != block_rule::loop_gradient)
          made.arguments[argument_at++] = L.variables[L.operands[inputs].id].root;
        continue;
      }
      if (i.head == fusion_anchor::call) {
        // A called kernel finds its operands by their position, so empty and repeated operands are
        // kept.
        for (int a = inputs; a < inputs_end; ++a)
          made.arguments[argument_at++] =
              L.operands[a].id < 0 ? L.operands[a].id : L.variables[L.operands[a].id].root;
        if (i.schema->kind == operator_kind::update)
          made.uses[argument_at - i.input_count] = argument_use::updated,
                                  made.uses[argument_at - 1] = argument_use::numbers;
        for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
          made.arguments[argument_at++] = L.results[o] < 0 ? -1 : L.variables[L.results[o]].root;
        continue;
      }
      if (i.head != fusion_anchor::pointwise) {
        for (int a = inputs; a < inputs_end; ++a) argument(L.variables[L.operands[a].id].root);
        const int v = L.variables[L.results[i.outputs]].root;
        known_in[v] = g;
        value[v] = -1;
        if (B.stored[v]) {
          made.operands[operand_at] = {source::head, 0};
          made.statements[statement++] = {&schema_of<operators::keep>(),
                                          0,
                                          static_cast<std::int8_t>(argument(v)),
                                          1,
                                          false,
                                          operand_at++};
        }
        continue;
      }
      const int operands0 = operand_at;
      const bool update = i.schema->kind == operator_kind::update;
      int a = inputs;
      if (update) {
        // The update has an argument for the parameter that it writes. Statements that only read
        // the parameter use a second argument.
        made.uses[argument_at] = argument_use::updated;
        made.operands[operand_at++] = {source::load,
                                       static_cast<std::int8_t>(argument_at - argument0)};
        made.arguments[argument_at++] = L.variables[L.operands[a++].id].root;
      }
      for (; a < inputs_end; ++a) {
        const int id = L.operands[a].id;
        const access how = L.operands[a].how;
        if (how == access::numbers) made.uses[argument_at] = argument_use::numbers;
        if (id < 0) {
          made.operands[operand_at++] = {how == access::numbers ? source::numbers : source::scalar,
                                         static_cast<std::int8_t>(argument_at - argument0)};
          made.arguments[argument_at++] = id;
          continue;
        }
        const int v = L.variables[id].root;
        if (how == access::load && known_in[v] == g) {
          made.operands[operand_at++] = {value[v] < 0 ? source::head : source::value,
                                         static_cast<std::int8_t>(value[v] < 0 ? 0 : value[v])};
          continue;
        }
        if (used_in[v] != g)
          used_in[v] = g, number[v] = argument_at - argument0, made.arguments[argument_at++] = v;
        made.operands[operand_at++] = {how == access::load      ? source::load
                                       : how == access::row     ? source::row
                                       : how == access::column  ? source::column
                                       : how == access::channel ? source::channel
                                       : how == access::numbers ? source::numbers
                                                                : source::scalar,
                                       static_cast<std::int8_t>(number[v])};
      }
      int store = -1;
      if (!update) {
        const int v = L.variables[L.results[i.outputs]].root;
        known_in[v] = g;
        value[v] = statement - statement0;
        if (B.stored[v]) store = argument(v);
      }
      made.statements[statement++] = {i.schema,
                                      static_cast<std::int8_t>(i.output),
                                      static_cast<std::int8_t>(store),
                                      static_cast<std::int8_t>(i.input_count),
                                      update,
                                      operands0};
    }
    made.groups[g] = {statement0, statement - statement0, argument0, argument_at - argument0};
  }
  made.count = {statement, operand_at, argument_at, groups};
  return made;
}

/// The kernels of a plan: groups with equal code share one kernel.
template <int Groups>
struct distinct_groups {
  int kernel[bound(Groups)];  // by group: the number of its kernel
  int first[bound(Groups)];   // by kernel: its first group
  int count;
};

/// Finds the groups with equal code, by hash and then by comparison.
template <auto const& L, auto const& B, auto const& C>
constexpr auto find_distinct() {
  constexpr int groups = B.count;
  distinct_groups<groups> r;
  for (int g = 0; g < at_least_one(groups); ++g) r.first[g] = -1, r.kernel[g] = -1;
  r.count = 0;
  constexpr unsigned size = groups < 8 ? 16u : groups < 64 ? 128u : groups < 512 ? 1024u : 16384u;
  int table[size];
  for (unsigned i = 0; i < size; ++i) table[i] = -1;
  const auto head_schema = [](int g) { return L.instructions[B.order[B.groups[g].first]].schema; };
  for (int g = 0; g < groups; ++g) {
    const group_code c = C.groups[g];
    const fusion_anchor head = B.groups[g].head;
    const bool call = head == fusion_anchor::call;
    unsigned h = static_cast<unsigned>(head) * 31u + (B.groups[g].rows < 0 ? 7u : 0u);
    if (call) {
      const char* t = head_schema(g)->type;
      h = h * 131u + static_cast<unsigned>(t[0]) * 7u + static_cast<unsigned>(t[1]);
    }
    for (int s = c.statements; s < c.statements + c.statement_count; ++s) {
      const statement_code d = C.statements[s];
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
      const group_code o = C.groups[f];
      bool same = head == B.groups[f].head && c.statement_count == o.statement_count &&
                  (call ? same_address(head_schema(g), head_schema(f))
                        : c.argument_count == o.argument_count);
      for (int s = 0; same && s < c.statement_count; ++s) {
        const statement_code x = C.statements[c.statements + s];
        const statement_code y = C.statements[o.statements + s];
        same = same_address(x.schema, y.schema) && x.output == y.output && x.store == y.store &&
               x.operand_count == y.operand_count;
        for (int a = 0; same && a < x.operand_count; ++a)
          same = C.operands[x.operands + a].from == C.operands[y.operands + a].from &&
                 C.operands[x.operands + a].index == C.operands[y.operands + a].index;
      }
      if (same) {
        r.kernel[g] = q;
        break;
      }
    }
  }
  return r;
}

}}  // namespace lamina
