// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/place_plan.hpp - the plan of a program for a place: which of its groups are
// launched together, and where values lie then.
#pragma once

#include <lamina/engine/cuda/product_chain.hpp>
#include <lamina/engine/cuda/row_loop.hpp>
#include <lamina/engine/cuda/row_pass.hpp>
#include <lamina/plan/plan.hpp>

namespace lamina::engine::cuda {

/// A plan whose chains of products and passes of few rows are one group each.
template <class P, auto const& Chains, auto const& Passes>
struct joined_plan : plan<P> {
  using base = plan<P>;
  static constexpr auto chains = Chains;
  static constexpr auto passes = Passes;
  static constexpr auto chained = join_chains<P, base::lowered, base::grouped, Chains>();
  static constexpr auto grouped = join_passes<base::lowered, chained, Passes>();
  static constexpr code_table code = emit_code<base::lowered, grouped>();
  static constexpr auto distinct = find_distinct<base::lowered, grouped, code>();
  static constexpr auto same = find_same_elements<P, base::lowered, grouped>();
  static constexpr auto memory =
      place_variables<P, base::lowered, grouped, base::reach, base::views, same>();
  static constexpr int kernels = distinct.count;
};

namespace detail {

/// Loops and branches have neither chains nor passes.
template <class P>
inline constexpr bool joins_groups = false;

template <class P, operand_layout Layout>
constexpr auto find_chains() {
  if constexpr (joins_groups<P>)
    return chain_finder<plan<P>::lowered, plan<P>::grouped>(Layout).run();
  else
    return product_chains<0>{};
}
template <class P, operand_layout Layout>
inline constexpr auto chains_of = find_chains<P, Layout>();

template <class P, operand_layout Layout>
constexpr auto find_passes() {
  if constexpr (joins_groups<P>)
    return row_pass_finder<P, plan<P>::lowered, plan<P>::grouped, chains_of<P, Layout>>().run();
  else
    return row_passes<0>{};
}
template <class P, operand_layout Layout>
inline constexpr auto passes_of = find_passes<P, Layout>();

template <class P, operand_layout Layout>
consteval auto plan_at_place() {
  if constexpr (chains_of<P, Layout>.count > 0 || passes_of<P, Layout>.count > 0)
    return type_tag<joined_plan<P, chains_of<P, Layout>, passes_of<P, Layout>>>{};
  else if constexpr (has_row_loops<P>)
    return type_tag<row_loop_plan<P>>{};
  else
    return type_tag<plan<P>>{};
}

}  // namespace detail

/// The plan of a program for a backend.
template <class P, class Backend>
using place_plan =
    typename decltype(detail::plan_at_place<P, Backend::product_tile::operands>())::type;

}  // namespace lamina::engine::cuda
