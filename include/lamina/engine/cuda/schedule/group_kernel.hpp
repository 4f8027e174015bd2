// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/schedule/group_kernel.hpp - sets the arguments of the bodies of fused groups.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/pointwise.cuh>
#include <lamina/engine/cuda/schedule/call_context.hpp>
#include <lamina/expression/expression.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// The statements of a fused group, as a type.
template <class Group>
struct statements_of;
template <fusion_anchor Head, class S>
struct statements_of<expression::group_expression<Head, S>> {
  using type = S;
};

/// The operator of a group that consists of one unfused operator.
template <class Group>
struct called_by;
template <class Op>
struct called_by<expression::call_expression<Op>> {
  using type = Op;
};

template <class Body>
typename Body::arguments arguments_of(const call_context& c) {
  typename Body::arguments g{};
  constexpr int count = static_cast<int>(sizeof(g.of) / sizeof(g.of[0]));
  for (int i = 0; i < count; ++i) g.of[i] = c.arguments[i];
  g.rows = c.run.rows_of(c.group.rows);
  g.columns = c.group.columns;
  g.width = padded(c.group.columns);
  g.depth = c.run.rows_of(c.group.depth);
  g.channels = 1;
  if constexpr (requires { Body::runner::channels; })
    if constexpr (Body::runner::channels >= 0) {
      g.channels = at_least_one(c.info(Body::runner::channels).columns);
      g.channel_size = divider(g.columns / g.channels);
    }
  return g;
}

}  // namespace detail

template <class Group>
struct group_kernel {
  static constexpr bool exists = false;
};

}}}  // namespace lamina::engine::cuda
