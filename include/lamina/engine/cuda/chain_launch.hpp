// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/chain_launch.hpp - a chain of products of a plan as a function that launches
// it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include <lamina/engine/cuda/chain_gradient_body.hpp>
#include <lamina/engine/cuda/launch_group.hpp>
#include <lamina/engine/cuda/product_chain.hpp>
#include <lamina/engine/cuda/row_pass_launch.hpp>
#include <lamina/engine/cuda/split_product.hpp>
#include <lamina/expression/expression.hpp>

namespace lamina::engine::cuda {

namespace detail {

template <class Plan, int G>
using link_of = chain_link<typename statements_of<expression::group_of<Plan, G>>::type,
                           passing_statement<Plan, G>(Plan::chains.passed[G])>;

/// Links of a chain as steps of packs of rows.
template <bool Turned, std::size_t Number, class L>
struct row_link;
template <bool Turned, std::size_t Number, class S, int Value>
struct row_link<Turned, Number, chain_link<S, Value>> {
  using type = row_product<S, Value, Turned, Number == 0, true>;
};

/// What the kernel of a chain is told of its links.
inline void tell_links(chain_links<>&, const joined_sites&, const run_state&, const int*) {}
template <class... Rest>
void tell_links(chain_links<Rest...>& links, const joined_sites& sites, const run_state& run,
                const int* group) {
  tell_link(links.link, sites(*group, run));
  tell_links(links.rest, sites, run, group + 1);
}

/// `Passes`: few rows are those of a pass.
template <bool Turned, int Widest, bool Passes, class... L>
struct chain_launch {
  template <class Backend>
  static void run(Backend& b, const call_site& c, const joined_sites& sites, const int* links,
                  const int*) {
    if constexpr (!Passes)
      if (c.run.rows_of(c.group.rows) <= chain_limits::few_rows)
        return run_rows(b, c, sites, links, std::index_sequence_for<L...>{});
    run_tiles(b, c, sites, links);
  }

 private:
  template <class Backend, std::size_t... N>
  static void run_rows(Backend& b, const call_site& c, const joined_sites& sites, const int* links,
                       std::index_sequence<N...>) {
    row_pass_launch<typename row_link<Turned, N, L>::type...>::run(b, c.run.rows_of(c.group.rows),
                                                                   c.run, sites, links);
  }
  template <class Backend>
  static void run_tiles(Backend& b, const call_site& c, const joined_sites& sites,
                        const int* links) {
    using shape = chain_shape<typename Backend::product_tile, Widest>;
    using body = chain_body<Turned, shape, L...>;
    typename body::arguments g{};
    const chain_room room{shape::operands};
    g.left_stride = c.info(0).stride;
    g.rows = c.run.rows_of(c.group.rows);
    tell_links(g.links, sites, c.run, links);
    int most_words = 0, weights = 0;
    for (int n = 0; n < static_cast<int>(sizeof...(L)); ++n) {
      const group_info& l = sites(links[n], c.run).group;
      most_words = std::max(most_words, room.words(l.depth));
      weights += room.weights(l.depth, l.columns);
    }
    g.step = room.step(most_words);
    g.weights = room.activations(shape::rows, most_words);
    g.shared_words = g.weights + weights;
    b.template teams<body>(g);
  }
};

/// The gradient of a weight or a bias: statements on the sum of the parts.
template <class S>
struct chain_member {
  template <class Backend>
  static void run(Backend& b, const call_site& c, const float* part, std::ptrdiff_t step,
                  int parts) {
    auto g = arguments_of<part_statements_body<S>>(c);
    g.part = part;
    g.step = step;
    g.parts = parts;
    g.packs = divider(g.width / pack_width);
    g.count = g.rows * (g.width / pack_width);
    b.template elements<part_statements_body<S>>(g);
  }
};

template <class... L>
struct chain_list {};

/// A chain of gradients of inputs whose links have members; `M`: these, by place, the weight's
/// before the bias'.
template <unsigned Weights, unsigned Biases, class Links, class... M>
struct chain_gradient_launch;
template <unsigned Weights, unsigned Biases, class... L, class... M>
struct chain_gradient_launch<Weights, Biases, chain_list<L...>, M...> {
  template <class Backend>
  using shape = chain_shape<typename Backend::product_tile, chain_limits::narrow, 2>;

  /// `members`: two groups a place, -1 where it has none.
  template <class Backend>
  static void run(Backend& b, const call_site& c, const joined_sites& sites, const int* links,
                  const int* members) {
    using body = chain_gradient_body<Weights, Biases, shape<Backend>, L...>;
    typename body::arguments g{};
    const chain_room room{shape<Backend>::operands};
    g.slope_stride = c.info(0).stride;
    g.rows = c.run.rows_of(c.group.rows);
    g.parts = chain_parts::count(g.rows, chain_limits::rows);
    g.part = c.run.scratch;
    tell_links(g.links, sites, c.run, links);
    int most_terms = 0, weights = 0;
    for (int n = 0; n < static_cast<int>(sizeof...(L)); ++n) {
      const group_info& l = sites(links[n], c.run).group;
      most_terms = std::max({most_terms, l.depth, l.columns});
      weights += room.weights(l.depth, l.columns);
      g.slopes[n].columns = l.depth;
      g.slopes[n + 1].columns = l.columns;
    }
    for (int p = 0; p < body::places; ++p) {
      chain_slope& s = g.slopes[p];
      if (members[2 * p] >= 0) {
        const call_site w = sites(members[2 * p], c.run);
        s.left = w.arguments[0];
        s.left_stride = w.info(0).stride;
        s.lines = w.group.rows;
        most_terms = std::max(most_terms, s.lines);
        s.weights = g.part_floats;
        g.part_floats += std::ptrdiff_t{s.lines} * padded(s.columns);
      }
      if (members[2 * p + 1] >= 0) {
        s.bias = g.part_floats;
        g.part_floats += padded(s.columns);
      }
    }
    const int words = room.words(most_terms);
    g.step = room.step(words);
    g.left = room.activations(shape<Backend>::rows, words);
    g.weights = 2 * g.left;
    g.shared_words = g.weights + weights;
    b.template teams<body>(g);
    const int floats = static_cast<int>(g.part_floats), sums = chain_parts::sums(g.parts);
    float* const sum = g.part + g.parts * g.part_floats;
    b.template elements<fold_parts_body>({g.part, sum, g.parts, divider(floats), sums * floats});
    // In the order of the plan.
    using member_run = void (*)(Backend&, const call_site&, const float*, std::ptrdiff_t, int);
    const member_run runs[] = {&M::template run<Backend>...};
    int left = static_cast<int>(sizeof...(M));
    for (int at = -1; left > 0; --left) {
      int next = -1, which = -1, p = 0;
      for (int m = 0, k = 0; m < 2 * body::places; ++m) {
        if (members[m] < 0) continue;
        if (members[m] > at && (next < 0 || members[m] < next)) next = members[m], which = k, p = m;
        ++k;
      }
      const chain_slope& s = g.slopes[p / 2];
      runs[which](b, sites(next, c.run), sum + (p % 2 == 0 ? s.weights : s.bias), g.part_floats,
                  sums);
      at = next;
    }
  }
};

}  // namespace detail

/// The launch of chain C of a plan.
template <class Plan, int C>
struct chain_of {
  static constexpr int first = Plan::chains.first[C], links = Plan::chains.links[C];
  static constexpr int members = Plan::chains.members[C];
  static constexpr bool turned = Plan::grouped.groups[first].head == group_head::gemm_dx;
  static constexpr int widest =
      Plan::chains.widest[C] <= chain_limits::narrow ? chain_limits::narrow : chain_limits::width;

  struct group_lists {
    int links[chain_limits::links];
    int members[2 * (chain_limits::links + 1)];  // by place, -1: none
    int present[2 * (chain_limits::links + 1)];  // those that are there
    unsigned weights, biases;                    // a bit a place
    int part_floats;
  };
  static constexpr group_lists make_lists() {
    group_lists r{};
    int n = 0, present = 0;
    for (int& m : r.members) m = -1;
    r.members[0] = Plan::chains.first_weight[C];
    for (int g = first; g >= 0; g = Plan::chains.next[g]) {
      r.links[n++] = g;
      r.members[2 * n] = Plan::chains.weight[g];
      r.members[2 * n + 1] = Plan::chains.bias[g];
    }
    for (int m = 0; m < 2 * (links + 1); ++m) {
      if (r.members[m] < 0) continue;
      r.present[present++] = r.members[m];
      (m % 2 == 0 ? r.weights : r.biases) |= 1u << m / 2;
      const group_desc d = Plan::grouped.groups[r.members[m]];
      r.part_floats += d.rows * padded(d.columns);
    }
    return r;
  }
  static constexpr group_lists lists = make_lists();

  template <int... N, int... M>
  static consteval auto make(std::integer_sequence<int, N...>, std::integer_sequence<int, M...>) {
    if constexpr (members > 0)
      return type_tag<detail::chain_gradient_launch<
          lists.weights, lists.biases, detail::chain_list<detail::link_of<Plan, lists.links[N]>...>,
          detail::chain_member<typename detail::statements_of<
              expression::group_of<Plan, lists.present[M]>>::type>...>>{};
    else
      return type_tag<detail::chain_launch<turned, widest, Plan::passes.is_step(first),
                                           detail::link_of<Plan, lists.links[N]>...>>{};
  }
  using type = typename decltype(make(std::make_integer_sequence<int, links>{},
                                      std::make_integer_sequence<int, members>{}))::type;

  /// Floats that parts of gradients need.
  static std::ptrdiff_t scratch(const call_site& c) {
    return chain_parts::scratch(c.run.rows_of(c.group.rows), chain_limits::rows, lists.part_floats);
  }
};

}  // namespace lamina::engine::cuda
