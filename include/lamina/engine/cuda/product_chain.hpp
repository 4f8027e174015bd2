// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/product_chain.hpp - which products of a plan are one kernel at a place: chains
// in which each multiplies what the one before has made, narrow enough that all weights and some
// rows of activations lie in the shared memory of a team.
//
// The kernel runs where the first product of the chain stands. Values that nobody else reads never
// reach memory, and have no place in it.
#pragma once

#include <lamina/engine/cuda/tile_product.hpp>
#include <lamina/plan/plan.hpp>

namespace lamina::engine::cuda {

/// What a chain may need. Words are those of shared memory: 99 KiB is what every device of compute
/// capability 8.0 or later gives a team that asks for it.
struct chain_limits {
  static constexpr int links = 8;
  static constexpr int width = 128;  // columns of a product, terms of a sum
  static constexpr int rows = 64;    // of a tile
  static constexpr int words = 99 * 1024 / 4;
};

/// Words of shared memory that operands of a chain need.
struct chain_room {
  operand_layout layout;

  constexpr int words(int depth) const { return padded(depth) / layout.terms; }
  constexpr int weight_step(int columns) const { return padded(columns) + layout.gap; }
  constexpr int weights(int depth, int columns) const {
    return words(depth) * weight_step(columns);
  }
  /// Of as many rows, at most so many words long.
  static constexpr int activations(int rows, int most_words) {
    return (rows + 4) * (most_words + 4);
  }
};

/// Chains by group.
template <int Groups>
struct product_chains {
  int chain[at_least_one(Groups)];   // whose link it is, or -1
  int next[at_least_one(Groups)];    // the link behind it, or -1
  int passed[at_least_one(Groups)];  // the plan variable that it hands to that link, or -1
  int first[at_least_one(Groups)];   // by chain: its first group
  int links[at_least_one(Groups)];   // by chain
  int widest[at_least_one(Groups)];  // by chain: columns or terms
  int count;

  constexpr bool follows(int g) const { return chain[g] >= 0 && first[chain[g]] != g; }
};

/// Finds chains in the groups B of the lowered program L.
template <auto const& L, auto const& B>
class chain_finder {
 public:
  static constexpr int groups = B.count;
  constexpr explicit chain_finder(operand_layout layout) : room_{layout} {
    for (int g = 0; g < at_least_one(groups); ++g) {
      found_.chain[g] = found_.next[g] = found_.passed[g] = found_.first[g] = -1;
      found_.links[g] = found_.widest[g] = 0;
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

  /// Whether group h, which multiplies v, may run where the chain of c begins: what it reads lies
  /// there, and nobody between has to do with what it writes.
  constexpr bool may_run_at_first(int c, int v, int h) const {
    const int first = found_.first[c];
    for (int n = 0; n < B.groups[h].count; ++n) {
      const instruction i = at(h, n);
      for (int a = n == 0 ? i.inputs + 1 : i.inputs; a < i.inputs + i.input_count; ++a) {
        const int u = root(L.operands[a].id);
        // Rows of others are not read by those who wrote them.
        if (u == v) return false;
        if (u < 0 || makes(h, u)) continue;
        for (int q = first; q < h; ++q)
          if (makes(q, u)) return false;
      }
      for (int o = i.outputs; o < i.outputs + i.output_count; ++o) {
        const int u = root(L.results[o]);
        for (int q = first; u >= 0 && q < h; ++q)
          if (any_in(q, [u](const instruction& k) { return reads(k, u) || writes(k, u); }))
            return false;
      }
    }
    return true;
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
      if (!may_be_link(h) || !may_run_at_first(c, v, h)) continue;
      passed = v;
      return h;
    }
    return -1;
  }

  constexpr void follow(int g) {
    const int c = found_.count;
    found_.first[c] = g;
    int weights = 0, most_words = 0, widest = 0, links = 0;
    for (int passed = -1, last = -1; g >= 0; last = g, g = next_link(c, g, passed)) {
      const group_desc d = B.groups[g];
      const int words = room_.words(d.depth);
      const int more = room_.weights(d.depth, d.columns);
      const int most = words > most_words ? words : most_words;
      if (links == chain_limits::links ||
          weights + more + chain_room::activations(chain_limits::rows, most) > chain_limits::words)
        break;
      weights += more;
      most_words = most;
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
    ++found_.count;
  }

  chain_room room_;
  product_chains<groups> found_;
};

/// Groups whose chains run where their first link stands: what a link hands to the next one alone
/// is not stored, and all that a chain writes is made by its first group.
template <class P, auto const& L, auto const& B, auto const& Chains>
constexpr auto join_chains() {
  auto r = B;
  const auto is_read_by = [](int g, int v) {
    for (int n = B.groups[g].first; n < B.groups[g].first + B.groups[g].count; ++n) {
      const instruction i = L.instructions[B.order[n]];
      for (int a = i.inputs; a < i.inputs + i.input_count; ++a)
        if (L.operands[a].id >= 0 && L.variables[L.operands[a].id].root == v) return true;
    }
    return false;
  };
  for (int c = 0; c < Chains.count; ++c)
    for (int g = Chains.first[c]; g >= 0; g = Chains.next[g]) {
      for (int n = B.groups[g].first; n < B.groups[g].first + B.groups[g].count; ++n) {
        const instruction i = L.instructions[B.order[n]];
        for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
          if (L.results[o] >= 0) r.producer[L.variables[L.results[o]].root] = Chains.first[c];
      }
      const int v = Chains.passed[g], next = Chains.next[g];
      if (next < 0 || B.last[v] != next ||
          (v < P::desc.count.variables && P::desc.variables[v].persistable))
        continue;
      bool alone = true;
      for (int q = g + 1; q < next; ++q) alone = alone && !is_read_by(q, v);
      if (alone) r.stored[v] = false;
    }
  return r;
}

/// A plan whose chains of products are one group each.
template <class P, auto const& Chains>
struct chained_plan : plan<P> {
  using base = plan<P>;
  static constexpr auto chains = Chains;
  static constexpr auto grouped = join_chains<P, base::lowered, base::grouped, Chains>();
  static constexpr code_table code = emit_code<base::lowered, grouped>();
  static constexpr auto distinct = find_distinct<base::lowered, grouped, code>();
  static constexpr auto same = find_same_elements<P, base::lowered, grouped>();
  static constexpr auto memory =
      place_variables<P, base::lowered, grouped, base::reach, base::views, same>();
  static constexpr int kernels = distinct.count;
};

namespace detail {

template <class P, operand_layout Layout>
constexpr auto find_chains() {
  if constexpr (P::desc.count.blocks == 1 && plan<P>::fed.all() && plan<P>::memory.arrays == 0) {
    return chain_finder<plan<P>::lowered, plan<P>::grouped>(Layout).run();
  } else {
    return product_chains<0>{};
  }
}
template <class P, operand_layout Layout>
inline constexpr auto chains_of = find_chains<P, Layout>();

template <class P, operand_layout Layout>
consteval auto plan_at_place() {
  if constexpr (chains_of<P, Layout>.count > 0)
    return type_tag<chained_plan<P, chains_of<P, Layout>>>{};
  else
    return type_tag<plan<P>>{};
}

}  // namespace detail

/// The plan of a program for a backend: with chains where it has some. Loops and branches have
/// none.
template <class P, class Backend>
using place_plan =
    typename decltype(detail::plan_at_place<P, Backend::product_tile::operands>())::type;

}  // namespace lamina::engine::cuda
