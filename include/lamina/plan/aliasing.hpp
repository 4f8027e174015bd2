// SPDX-License-Identifier: Apache-2.0
// lamina/plan/aliasing.hpp - finds values that have the same elements as another value, so that
// both can share memory and no copy is needed.
//
// The results of split and unstack are parts of their operand. If the operand has no rows that only
// a run knows, and the parts begin at whole vectors, they are read where the operand has them.
//
// The results of reshape2, squeeze2, unsqueeze2, flatten2 and of their gradients have the elements
// of their operand in the same order. A transpose2 that exchanges dimensions 1 and 2 of four, as
// attention does with positions and heads, changes the order. But products of batches of matrices
// read and write matrices with any strides. So if, apart from the transpose2, only such products
// use its result, the result gets the operand's layout in memory; if only products use the operand,
// the operand gets the result's layout. Either way the two share memory.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/arrays/padding.hpp>
#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/operators/matrix/matmul/definition.hpp>
#include <lamina/plan/grouping.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The variables that share memory. All arrays are indexed by variable. The variable whose memory v
/// shares is of[v], or -1; v begins at[v] floats after that variable. The last group that reads v,
/// or any variable that shares v's memory, is last[v]. Dimensions 1 and 2 of v are exchanged in
/// memory if swapped[v] is true. In a program of several blocks no variables share memory.
template <int Variables>
struct aliasing {
  int of[bound(Variables)];
  int at[bound(Variables)];
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

  /// Whether v is a value that the run computes in fixed memory, which no other value reuses.
  static constexpr bool is_fixed(int v) {
    return v >= 0 && v < P::desc.count.variables && L.variables[v].root == v &&
           L.variables[v].rows >= 0 && !L.variables[v].panel &&
           P::desc.variables[v].kind == variable_kind::temporary &&
           !P::desc.variables[v].persistable;
  }
  /// Returns how many elements after the begin of `a` its part `b` begins, whose elements follow
  /// `before` others of `a`; -1 if `b` could not be read there. Rows are padded to whole vectors.
  static constexpr int position_in(const plan_variable& a, const plan_variable& b, int before) {
    if (a.type != b.type || a.columns <= 0 || a.panel || b.panel) return -1;
    const int row = before / a.columns, column = before % a.columns;
    const int at = row * padded(a.columns) + column;
    if (column == 0 && a.columns == b.columns && (at == 0 || is_real(a.type))) return at;
    const bool has_gaps = (a.rows > 1 && padded(a.columns) != a.columns) ||
                          (b.rows > 1 && padded(b.columns) != b.columns);
    const bool in_row = b.rows == 1 && column + b.columns <= a.columns;
    return is_real(a.type) && padded(at) == at && (in_row || !has_gaps) ? at : -1;
  }
  /// Lets `to` share the memory of `from`, from element `at` on.
  constexpr void share(int from, int to, int at) {
    const int first = r.of[from] < 0 ? from : r.of[from];
    r.of[to] = first;
    r.at[to] = r.at[from] + at * (size_of(L.variables[to].type) / 4);
    r.found = true;
    if (r.last[first] < r.last[to]) r.last[first] = r.last[to];
  }
  /// Lets the results of group g share the memory of operand 0, of which they are parts.
  constexpr void share_parts(int g, const instruction& i) {
    const int x = L.operands[i.inputs].id;
    if (!is_fixed(x) || B.producer[x] < 0 || B.producer[x] >= g) return;
    const variable_desc d = P::desc.variables[x];
    const operator_desc op = P::desc.operators[i.op];
    int axis = static_cast<int>(
        op.attributes < 0 ? i.schema->attributes[i.schema->facts.divides].number
                          : P::desc.attributes[op.attributes + i.schema->facts.divides].number);
    // The parts are contiguous if each dimension before the axis has one element.
    for (axis += axis < 0 ? d.rank : 0; axis-- > 0;)
      if (P::desc.dims[d.dims + axis] != 1) return;
    for (int o = 0, before = 0; o < i.output_count; ++o) {
      const int to = L.results[i.outputs + o];
      if (!is_fixed(to)) return;
      const int at = position_in(L.variables[x], L.variables[to], before);
      if (at >= 0 && B.producer[to] == g) share(x, to, at);
      before += L.variables[to].rows * L.variables[to].columns;
    }
  }

  constexpr void find() {
    bool knows_touched = false;
    for (int g = 0; g < B.count; ++g) {
      if (B.groups[g].head != fusion_anchor::call) continue;
      const instruction i = called(g);
      const operator_facts facts = i.schema->facts;
      if (facts.divides >= 0) share_parts(g, i);
      if (facts.alias < 0) continue;
      const int x = L.operands[i.inputs + facts.alias].id, to = L.results[i.outputs];
      if (x < 0 || to < 0) continue;
      const int from = L.variables[x].root;
      const plan_variable a = L.variables[from], b = L.variables[to];
      if (B.producer[from] < 0 || b.root != to) continue;
      if (a.rows < 0 ? a.rows != b.rows || a.columns != b.columns || a.type != b.type
                     : !is_fixed(from) || !is_fixed(to) || B.producer[from] >= g ||
                           B.producer[to] != g || position_in(a, b, 0) < 0)
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
      share(from, to, 0);
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
      f.r.of[v] = -1, f.r.at[v] = 0, f.r.last[v] = last_need<B>(v), f.r.swapped[v] = false;
    f.find();
    return f.r;
  }
}

}}  // namespace lamina
