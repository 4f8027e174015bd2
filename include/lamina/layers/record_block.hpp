// SPDX-License-Identifier: Apache-2.0
// lamina/layers/record_block.hpp - records a loop or a branch of a program from a file. Its body
// changes variables, while the bodies of while_loop and conditional_block return handles.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/layers/layer_helper.hpp>
#include <lamina/operators/control/block/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Records an operator that runs a block, `while_block` or `conditional_block`, as in programs from
/// files. The body is recorded once; it changes variables outside of the body with
/// `record<...>(body, ..., into("Out", x))`. `flag` is the second attribute of the operator:
/// is_test of a loop, is_scalar_condition of a branch. After an iteration, a handle still means the
/// same variable. In programs that are written by hand, layer::while_loop and
/// layer::conditional_block are easier, because they pass values from iteration to iteration.
/// Fluid: While, ConditionalBlock.
template <class Op, class Condition, class Body>
constexpr void record_block(const block& main, std::string_view name, const Condition& condition,
                            bool flag, Body&& body) {
  program_builder& b = *main.builder;
  layer_helper layer(b, Op::type, name);
  detail::open_block opened(b);
  const int made = b.current_block, first = b.operators.count;
  block inner = opened.inner();
  body(inner);
  opened.close();
  const int scopes = detail::scopes_output(layer);
  const int at = b.attribute_list(made, flag);
  b.operators.push(
      lamina::detail::block_operator(b, schema_of<Op>(), made, first, condition.id, scopes, at));
}

}}}  // namespace lamina::layer
