// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/block/layer_while.hpp - a loop that runs as long as a condition holds.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/control/block/layer.hpp>
#include <lamina/operators/control/block/layer_hoist_inputs.hpp>

namespace lamina::inline LAMINA_ABI::layer {

/// Options of while_loop.
struct while_attr {
  std::string_view name{};
};

/// Runs what `body` records while `going`, one bool, is true; zero iterations too:
///
///   auto i = layer::fill_constant<std::int64_t>(main, 0);
///   auto n = layer::fill_constant<std::int64_t>(main, 10);
///   auto going = layer::less_than(i, n);
///   layer::while_loop(going, [&](lamina::block& body) {
///     state = layer::tanh(layer::fc<8>(state));
///     layer::increment(i);
///     layer::less_than(i, n, going);
///   });
///
/// A handle of an outer block that the body assigns to has the value of the previous iteration at
/// the start of the body, and that of the last iteration after the loop. A handle made in the body
/// exists within one iteration. The body is called more than once while it is recorded, so it
/// changes nothing but handles. Loops nest to any depth. Fluid: While.
template <class F>
constexpr void while_loop(variable<bool, once, 1>& going, F&& body,
                          const options<while_attr, F>& attr = {}, int line = __builtin_LINE()) {
  program_builder& b = *going.builder;
  lamina::detail::require_visible(b, going.id, line);
  layer_helper layer(b, "while", attr.name);
  detail::recorded_body made;
  detail::record_body(layer, body, made, line);
  if (!made.writes(going)) b.report(fault_kind::loop_condition, line, {}, nullptr, 0, nullptr, 0);
  detail::hoist_inputs(b, made.block, made.first);
  const int scopes = detail::scopes_output(layer);
  const int at = b.attribute_list(made.block, b.is_test);
  b.operators.push(lamina::detail::block_operator(b, schema_of<lamina::while_block>(), made.block,
                                                  made.first, going.id, scopes, at));
}

}  // namespace lamina::inline LAMINA_ABI::layer
