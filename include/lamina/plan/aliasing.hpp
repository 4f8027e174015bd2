// SPDX-License-Identifier: Apache-2.0
// lamina/plan/aliasing.hpp - finds values that have the same elements as another value, so that
// both can share memory and no copy is needed.
//
// The results of reshape2, squeeze2, unsqueeze2, flatten2 and of their gradients have the elements
// of their operand in the same order. A transpose2 that exchanges dimensions 1 and 2 of four, as
// attention does with positions and heads, changes the order. But products of batches of matrices
// read and write matrices with any strides. So if, apart from the transpose2, only such products
// use its result, the result gets the operand's layout in memory; if only products use the operand,
// the operand gets the result's layout. Either way the two share memory.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/operators/matrix/matmul/definition.hpp>
#include <lamina/plan/grouping.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The variables that share memory. All arrays are indexed by variable. The variable whose memory v
/// shares is of[v], or -1. The last group that reads v, or any variable that shares v's memory, is
/// last[v]. Dimensions 1 and 2 of v are exchanged in memory if swapped[v] is true. In a program of
/// several blocks no variables share memory.
template <int Variables>
struct aliasing {
  int of[bound(Variables)];
  int last[bound(Variables)];  // the number of groups means: until the end of the run
  bool swapped[bound(Variables)];
  bool found;  // some variables share memory

  constexpr bool shares(int v) const { return Variables > 0 && of[v] >= 0; }
  constexpr bool is_swapped(int v) const { return Variables > 0 && swapped[v]; }
};

/// Returns the last group that reads variable v itself; the number of groups if v must keep its
/// value until the end of the run.
template <auto const& B>
constexpr int last_need(int v) {
  return B.last[v] < B.producer[v] ? B.count : B.last[v];
}

namespace detail {

/// Finds the variables that can share memory in a program of one block, in which each variable has
/// exactly one value per run.
template <class P, auto const& L, auto const& B>
struct same_element_finder {
  static constexpr int variables = L.count.variables;
  aliasing<variables> r;
  int exchanges[bound(variables)];  // number of operators that exchange dimensions 1 and 2 and read
                                    // or write it
  bool others[bound(variables)];    // whether other operators than these and products use it

  static constexpr instruction called(int g) { return L.instructions[B.order[B.groups[g].first]]; }
  static constexpr int rank(int v) {
    return v < 0 || v >= P::desc.count.variables ? 0 : P::desc.variables[v].rank;
  }
  static constexpr bool exchanges_heads(const instruction& i) {
    const operator_desc op = P::desc.operators[i.op];
    if (op.attributes < 0 || P::desc.attributes[op.attributes].count != 4) return false;
    const int at = P::desc.attributes[op.attributes].offset;
    for (int d = 0, axis[] = {0, 2, 1, 3}; d < 4; ++d)
      if (P::desc.integers[at + d] != axis[d]) return false;
    return true;
  }
  /// Whether an instruction multiplies two batches of matrices of the same batch dimensions, or is
  /// the gradient of such a product.
  static constexpr bool is_product(const instruction& i) {
    return (same_address(i.schema, &schema_of<operators::matmul>()) ||
            same_address(i.schema, &schema_of<gradient_of<operators::matmul>>())) &&
           rank(L.operands[i.inputs].id) == 4 && rank(L.operands[i.inputs + 1].id) == 4;
  }

  constexpr void find_touched() {
    for (int v = 0; v < variables; ++v)
      exchanges[v] = 0, others[v] = B.last[v] < B.producer[v] || B.last[v] == B.count;
    for (int k = 0; k < L.count.instructions; ++k) {
      const instruction i = L.instructions[k];
      const bool calls = i.head == fusion_anchor::call, multiplies = calls && is_product(i);
      const bool turns = calls && i.schema->facts.alias_permutes && exchanges_heads(i);
      const auto touch = [&](int v) {
        if (v < 0) return;
        const int root = L.variables[v].root;
        if (turns)
          ++exchanges[root];
        else if (!multiplies || root != v)
          others[root] = true;
      };
      for (int a = i.inputs; a < i.inputs + i.input_count; ++a) touch(L.operands[a].id);
      for (int o = i.outputs; o < i.outputs + i.output_count; ++o) touch(L.results[o]);
    }
  }
  constexpr bool may_be_swapped(int v) const { return exchanges[v] == 1 && !others[v]; }

  constexpr void find() {
    bool knows_touched = false;
    for (int g = 0; g < B.count; ++g) {
      if (B.groups[g].head != fusion_anchor::call) continue;
      const instruction i = called(g);
      const operator_facts facts = i.schema->facts;
      if (facts.alias < 0) continue;
      const int x = L.operands[i.inputs + facts.alias].id, to = L.results[i.outputs];
      if (x < 0 || to < 0) continue;
      const int from = L.variables[x].root;
      const plan_variable a = L.variables[from], b = L.variables[to];
      if (B.producer[from] < 0 || b.root != to || a.rows >= 0 || a.rows != b.rows ||
          a.columns != b.columns || a.type != b.type)
        continue;
      if (facts.alias_permutes) {
        if (!is_real(a.type) || !exchanges_heads(i)) continue;
        if (!knows_touched) find_touched(), knows_touched = true;
        if (may_be_swapped(to))
          r.swapped[to] = true;
        else if (may_be_swapped(from))
          r.swapped[from] = true;
        else
          continue;
      }
      const int first = r.of[from] < 0 ? from : r.of[from];
      r.of[to] = first;
      r.found = true;
      if (r.last[first] < r.last[to]) r.last[first] = r.last[to];
    }
  }
};

}  // namespace detail

/// Finds the variables of program P that can share memory because they have the same elements.
template <class P, auto const& L, auto const& B>
constexpr auto find_aliasing() {
  if constexpr (P::desc.count.blocks > 1) {
    return aliasing<0>{};
  } else {
    detail::same_element_finder<P, L, B> f;
    f.r.found = false;
    for (int v = 0; v < at_least_one(L.count.variables); ++v)
      f.r.of[v] = -1, f.r.last[v] = last_need<B>(v), f.r.swapped[v] = false;
    f.find();
    return f.r;
  }
}

}}  // namespace lamina
