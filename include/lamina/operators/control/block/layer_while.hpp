// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/block/layer_while.hpp - while_loop: a loop that runs as long as a
// condition is true.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/control/block/layer.hpp>
#include <lamina/operators/control/block/layer_hoist_inputs.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of while_loop.
struct while_attr {
  std::string_view name{};
};

/// Runs the operators that `body` records repeatedly, as long as `going`, a single bool, is true.
/// If `going` is false at first, no iteration runs:
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
/// The body may assign to handles of outer blocks. At the start of an iteration, such a handle has
/// the value that the previous iteration gave it; after the loop, it has the value that the last
/// iteration gave it. A variable created in the body exists within one iteration only. The body is
/// called more than once while the program is recorded, so the body must change nothing but
/// handles. Loops may be nested to any depth. Fluid: While.
template <class T, class R, int... D, class F>
constexpr auto while_loop(variable<T, R, D...>& going, F&& body,
                          const options<while_attr, F>& attr = {}, int line = __builtin_LINE()) {
  constexpr bool one = detail::is_condition<variable<T, R, D...>>;
  static_assert(check<one, gets_type<variable<T, R, D...>>>,
                "lamina: while_loop: the condition is one bool for the whole batch");
  constexpr bool takes_block = !detail::takes_nothing<F>;
  static_assert(takes_block,
                "lamina: while_loop: the body takes its block, [&](lamina::block& body) { ... }");
  if constexpr (one && takes_block) {
    program_builder& b = *going.builder;
    lamina::detail::require_visible(b, going.id, line);
    layer_helper layer(b, "while", attr.name);
    detail::recorded_body made;
    detail::record_body(layer, body, made, line);
    if (!made.writes(going)) b.report(fault_kind::loop_condition, line, {}, nullptr, 0, nullptr, 0);
    detail::hoist_inputs(b, made.block, made.first);
    const int scopes = detail::scopes_output(layer);
    const int at = b.attribute_list(made.block, b.is_test);
    b.operators.push(lamina::detail::block_operator(b, schema_of<operators::while_block>(),
                                                    made.block, made.first, going.id, scopes, at));
  }
}

}}}  // namespace lamina::layer
