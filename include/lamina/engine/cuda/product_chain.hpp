// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/product_chain.hpp - which products of a plan are one kernel at a place: chains
// in which each multiplies what the one before has made, narrow enough that all weights and some
// rows of activations lie in the shared memory of a team.
//
// The kernel runs where the first product of the chain stands. Values that nobody else reads never
// reach memory, and have no place in it.
#pragma once

#include <lamina/engine/cuda/chain_room.hpp>
#include <lamina/engine/cuda/row_loop.hpp>
#include <lamina/plan/plan.hpp>

namespace lamina::engine::cuda {

/// Chains by group. Links follow each other; members are gradients of weights and biases that
/// belong to the slopes which the links of a chain of gradients hand on.
template <int Groups>
struct product_chains {
  int chain[at_least_one(Groups)];   // whose link or member it is, or -1
  int next[at_least_one(Groups)];    // the link behind it, or -1
  int passed[at_least_one(Groups)];  // of a link: the plan variable that it hands on, or -1
  int weight[at_least_one(Groups)];  // of a link: the group that multiplies by what it hands on
  int bias[at_least_one(Groups)];    // of a link: the group that adds up the rows of that
  int first[at_least_one(Groups)];   // by chain: its first group
  int first_weight[at_least_one(Groups)];  // by chain: of what its first link is handed
  int links[at_least_one(Groups)];         // by chain
  int members[at_least_one(Groups)];       // by chain
  int widest[at_least_one(Groups)];        // by chain: columns of its products
  int count;
};

/// Finds chains in the groups B of the lowered program L.
template <auto const& L, auto const& B>
class chain_finder {
 public:
  static constexpr int groups = B.count;
  constexpr explicit chain_finder(operand_layout layout) : room_{layout} {
    for (int g = 0; g < at_least_one(groups); ++g) {
      found_.chain[g] = found_.next[g] = found_.passed[g] = found_.weight[g] = found_.bias[g] = -1;
      found_.first[g] = found_.first_weight[g] = -1;
      found_.links[g] = found_.members[g] = found_.widest[g] = 0;
    }
    found_.count = 0;
  }

  constexpr product_chains<groups> run() {
    for (int g = 0; g < groups; ++g)
      if (found_.chain[g] < 0 && may_be_link(g)) follow(g);
    return found_;
  }

 private:
  /// How far behind a link the next one is looked for.
  static constexpr int reach = 16;

  static constexpr instruction at(int g, int i) {
    return L.instructions[B.order[B.groups[g].first + i]];
  }
  static constexpr int root(int v) { return v < 0 ? v : L.variables[v].root; }
  static constexpr int operand_of(const instruction& i, int n) {
    return root(L.operands[i.inputs + n].id);
  }

  static constexpr bool may_be_link(int g) {
    const group_desc d = B.groups[g];
    if ((d.head != group_head::gemm && d.head != group_head::gemm_dx) || d.rows >= 0 ||
        parts_of_rows(d.rows) != 1 || d.columns > chain_limits::width ||
        d.depth > chain_limits::width || d.depth < 1)
      return false;
    for (int n = 1; n < d.count; ++n) {
      const instruction i = at(g, n);
      if (i.schema->kind == operator_kind::update) return false;
      for (int a = i.inputs; a < i.inputs + i.input_count; ++a)
        if (const access how = L.operands[a].how;
            how != access::load && how != access::row && how != access::scalar)
          return false;
    }
    return true;
  }
  static constexpr bool writes(const instruction& i, int v) {
    for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
      if (L.results[o] >= 0 && root(L.results[o]) == v) return true;
    return i.schema->kind == operator_kind::update && reads(i, v);
  }
  static constexpr bool reads(const instruction& i, int v) {
    for (int a = i.inputs; a < i.inputs + i.input_count; ++a)
      if (root(L.operands[a].id) == v) return true;
    return false;
  }
  template <class F>
  static constexpr bool any_in(int g, const F& holds) {
    for (int n = 0; n < B.groups[g].count; ++n)
      if (holds(at(g, n))) return true;
    return false;
  }
  static constexpr bool makes(int g, int v) {
    return any_in(g, [v](const instruction& i) { return writes(i, v); });
  }

  /// Whether group h, which takes v as operand `slot` of its head, may run where the chain of c
  /// begins: what it reads lies there, and nobody between has to do with what it writes. Those of
  /// the chain run in their order, gradients of weights behind all links.
  constexpr bool may_run_at_first(int c, int v, int slot, int h) const {
    const int first = found_.first[c];
    const auto is_touched = [&](int u) {
      for (int q = first; u >= 0 && q < h; ++q)
        if (makes(q, u) ||
            (found_.chain[q] != c && any_in(q, [u](const instruction& k) { return reads(k, u); })))
          return true;
      return false;
    };
    for (int n = 0; n < B.groups[h].count; ++n) {
      const instruction i = at(h, n);
      const bool updates = i.schema->kind == operator_kind::update;
      for (int a = 0; a < i.input_count; ++a) {
        if (n == 0 && a == slot) continue;
        const int u = operand_of(i, a);
        // Rows of others are not read by those who wrote them.
        if (u == v) return false;
        if (u < 0 || (makes(h, u) && !updates)) continue;
        for (int q = first; q < h; ++q)
          if (makes(q, u)) return false;
        if (updates && !makes_before(h, n, u) && is_touched(u)) return false;
      }
      for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
        if (is_touched(root(L.results[o]))) return false;
    }
    return true;
  }
  /// Whether an instruction of group h before its n-th has u as result.
  static constexpr bool makes_before(int h, int n, int u) {
    for (int m = 0; m < n; ++m)
      for (int o = at(h, m).outputs; o < at(h, m).outputs + at(h, m).output_count; ++o)
        if (root(L.results[o]) == u) return true;
    return false;
  }
  constexpr int next_link(int c, int g, int& passed) const {
    const group_desc d = B.groups[g];
    for (int h = g + 1; h < groups && h <= g + reach; ++h) {
      const group_desc e = B.groups[h];
      if (e.head != d.head || found_.chain[h] >= 0 || e.rows != d.rows || e.depth != d.columns ||
          e.feeds != d.feeds || e.block != d.block)
        continue;
      const int v = operand_of(at(h, 0), 0);
      if (v < 0 || L.variables[v].type != dtype::float32 || B.producer[v] != g) continue;
      if (!may_be_link(h) || !may_run_at_first(c, v, 0, h)) continue;
      passed = v;
      return h;
    }
    return -1;
  }

  constexpr void follow(int g) {
    const int c = found_.count;
    const bool has_members = B.groups[g].head == group_head::gemm_dx;
    found_.first[c] = g;
    int weights = 0, most_terms = 0, widest = 0, links = 0, last = -1;
    for (int passed = -1; g >= 0; last = g, g = next_link(c, g, passed)) {
      const group_desc d = B.groups[g];
      int terms = most_terms < d.depth ? d.depth : most_terms;
      if (has_members && terms < d.columns) terms = d.columns;
      const int more = room_.weights(d.depth, d.columns);
      const int activations = room_.activations(chain_limits::rows, room_.words(terms));
      // Slopes need room beside what their gradients of weights read, if there may be any.
      const int arrays = has_members && terms <= chain_limits::narrow ? 2 : 1;
      if (links == (has_members ? chain_limits::gradients : chain_limits::links) ||
          weights + more + activations * arrays > chain_limits::words)
        break;
      weights += more;
      most_terms = terms;
      if (d.columns > widest) widest = d.columns;
      ++links;
      found_.chain[g] = c;
      if (last >= 0) found_.next[last] = g, found_.passed[last] = passed;
    }
    if (links < 2) {
      if (links == 1) found_.chain[found_.first[c]] = -1;
      return;
    }
    found_.links[c] = links;
    found_.widest[c] = widest;
    weights_ = weights;
    most_terms_ = most_terms;
    if (has_members && most_terms <= chain_limits::narrow) find_members(c, last);
    ++found_.count;
  }

  /// The gradients of weights and biases by the slopes that a chain is handed and hands on.
  constexpr void find_members(int c, int last) {
    const int first = found_.first[c];
    if (const int w = find_member(c, first, operand_of(at(first, 0), 0), group_head::gemm_dw);
        w >= 0)
      found_.first_weight[c] = w;
    for (int g = first; g >= 0; g = found_.next[g]) {
      int v = found_.passed[g];
      if (g == last) v = slope_of(g);
      if (v < 0) continue;
      if (const int w = find_member(c, g, v, group_head::gemm_dw); w >= 0) {
        found_.weight[g] = w;
        found_.passed[g] = v;
      }
      if (const int b = find_member(c, g, v, group_head::reduce_rows); b >= 0) {
        found_.bias[g] = b;
        found_.passed[g] = v;
      }
    }
  }
  /// What group g makes that a gradient of a weight multiplies by; -1: nothing.
  static constexpr int slope_of(int g) {
    for (int h = g + 1; h < groups && h <= g + reach; ++h) {
      if (B.groups[h].head != group_head::gemm_dw) continue;
      const int v = operand_of(at(h, 0), 1);
      if (v >= 0 && B.producer[v] == g) return v;
    }
    return -1;
  }
  constexpr int find_member(int c, int g, int v, group_head head) {
    const group_desc d = B.groups[found_.first[c]];
    const int slot = head == group_head::gemm_dw ? 1 : 0;
    for (int h = g + 1; h < groups && h <= g + reach; ++h) {
      const group_desc e = B.groups[h];
      if (e.head != head || found_.chain[h] >= 0 || e.depth != d.rows || e.feeds != d.feeds ||
          e.columns != L.variables[v].columns || e.rows > chain_limits::narrow ||
          !has_room(e.rows) || operand_of(at(h, 0), slot) != v || !may_run_at_first(c, v, slot, h))
        continue;
      found_.chain[h] = c;
      ++found_.members[c];
      return h;
    }
    return -1;
  }

  /// Whether rows of as many terms find room beside the slopes and all weights.
  constexpr bool has_room(int terms) const {
    const int most = terms < most_terms_ ? most_terms_ : terms;
    return weights_ + 2 * room_.activations(chain_limits::rows, room_.words(most)) <=
           chain_limits::words;
  }

  chain_room room_;
  int weights_ = 0, most_terms_ = 0;  // of the chain whose members are looked for
  product_chains<groups> found_;
};

/// Groups whose chains run where their first link stands: what a link hands to the next one alone
/// is not stored, and all that a chain writes is made by its first group.
template <class P, auto const& L, auto const& B, auto const& Chains>
constexpr auto join_chains() {
  auto r = B;
  constexpr int variables = L.count.variables;
  int passed_in[at_least_one(variables)];    // by variable: the chain that hands it on, or -1
  bool read_apart[at_least_one(variables)];  // by variable: whether somebody else reads it
  for (int v = 0; v < variables; ++v) passed_in[v] = -1, read_apart[v] = false;
  for (int g = 0; g < B.count; ++g)
    if (const int v = Chains.passed[g]; Chains.chain[g] >= 0 && v >= 0)
      passed_in[v] = Chains.chain[g];
  for (int g = 0; g < B.count; ++g)
    for (int n = B.groups[g].first; n < B.groups[g].first + B.groups[g].count; ++n) {
      const instruction i = L.instructions[B.order[n]];
      for (int a = i.inputs; a < i.inputs + i.input_count; ++a)
        if (L.operands[a].id >= 0)
          if (const int v = L.variables[L.operands[a].id].root; passed_in[v] != Chains.chain[g])
            read_apart[v] = true;
    }
  for (int g = 0; g < B.count; ++g) {
    const int c = Chains.chain[g];
    if (c < 0) continue;
    for (int n = B.groups[g].first; n < B.groups[g].first + B.groups[g].count; ++n) {
      const instruction i = L.instructions[B.order[n]];
      for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
        if (L.results[o] >= 0) r.producer[L.variables[L.results[o]].root] = Chains.first[c];
    }
    const int v = Chains.passed[g];
    if (v >= 0 && B.last[v] != B.count && !read_apart[v] &&
        !(v < P::desc.count.variables && P::desc.variables[v].persistable))
      r.stored[v] = false;
  }
  return r;
}

}  // namespace lamina::engine::cuda
