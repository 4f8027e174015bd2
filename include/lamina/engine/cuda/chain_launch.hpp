// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/chain_launch.hpp - a chain of products of a plan as a function that launches
// it.
#pragma once

#include <algorithm>

#include <lamina/engine/cuda/chain_body.hpp>
#include <lamina/engine/cuda/launch_group.hpp>
#include <lamina/engine/cuda/product_chain.hpp>
#include <lamina/expression/expression.hpp>

namespace lamina::engine::cuda {

/// Where the arguments of a link are, and what is known of it.
struct chain_site {
  float* const* arguments;
  const argument_info* info;
  const group_info* group;
};

namespace detail {

template <class Group>
struct statements_of;
template <group_head Head, class S>
struct statements_of<expression::group_expression<Head, S>> {
  using type = S;
};

/// Statement of group G of a plan that makes what is handed on; -1: the head does.
template <class Plan, int G>
constexpr int passing_statement() {
  constexpr int v = Plan::chains.passed[G];
  if (v < 0) return -1;
  const group_desc d = Plan::grouped.groups[G];
  int number = -1, statement = -1;
  for (int n = 0; n < d.count; ++n) {
    const instruction i = Plan::lowered.instructions[Plan::grouped.order[d.first + n]];
    const int made = Plan::lowered.variables[Plan::lowered.results[i.outputs]].root;
    // The head is a statement only where it is stored.
    if (n > 0 || Plan::grouped.stored[made]) ++statement;
    if (made == v) number = n > 0 ? statement : -1;
  }
  return number;
}

template <class Plan, int G>
using link_of = chain_link<typename statements_of<expression::group_of<Plan, G>>::type,
                           passing_statement<Plan, G>()>;

template <class Plan, int First, int N>
constexpr int link_number() {
  int g = First;
  for (int n = 0; n < N; ++n) g = Plan::chains.next[g];
  return g;
}

template <bool Turned, int Widest, class... L>
struct chain_launch {
  template <class Backend>
  static void run(Backend& b, const call_site& c, const chain_site* links) {
    using shape = chain_shape<typename Backend::product_tile, Widest>;
    using body = chain_body<Turned, shape, L...>;
    typename body::arguments g{};
    const chain_room room{shape::operands};
    g.left_stride = links->info[0].stride;
    g.rows = c.run.rows_of(c.group.rows);
    int most_words = 0, weights = 0;
    for (const chain_site* l = links; l < links + sizeof...(L); ++l) {
      most_words = std::max(most_words, room.words(l->group->depth));
      weights += room.weights(l->group->depth, l->group->columns);
    }
    g.step = most_words + 4;
    g.weights = chain_room::activations(shape::rows, most_words);
    g.shared_words = g.weights + weights;
    tell(g.links, links);
    if (g.rows > 0) b.template teams<body>(g);
  }

 private:
  static void tell(chain_links<>&, const chain_site*) {}
  template <class... Rest>
  static void tell(chain_links<Rest...>& links, const chain_site* from) {
    auto& g = links.link;
    constexpr int count = static_cast<int>(sizeof(g.of) / sizeof(g.of[0]));
    for (int i = 0; i < count; ++i) g.of[i] = from->arguments[i];
    g.weight_stride = from->info[1].stride;
    g.columns = from->group->columns;
    g.depth = from->group->depth;
    tell(links.rest, from + 1);
  }
};

}  // namespace detail

/// The launch of chain C of a plan.
template <class Plan, int C>
struct chain_of {
  static constexpr int first = Plan::chains.first[C];
  static constexpr bool turned = Plan::grouped.groups[first].head == group_head::gemm_dx;
  static constexpr int widest =
      Plan::chains.widest[C] <= chain_limits::rows ? chain_limits::rows : chain_limits::width;
  template <int... N>
  static consteval auto make(std::integer_sequence<int, N...>) {
    return type_tag<detail::chain_launch<
        turned, widest, detail::link_of<Plan, detail::link_number<Plan, first, N>()>...>>{};
  }
  using type =
      typename decltype(make(std::make_integer_sequence<int, Plan::chains.links[C]>{}))::type;
};

}  // namespace lamina::engine::cuda
