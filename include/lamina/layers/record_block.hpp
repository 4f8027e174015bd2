// SPDX-License-Identifier: Apache-2.0
// lamina/layers/record_block.hpp - records a loop or a branch of a program from a file, and
// declares the rows that a mask selects there. The body of such a block changes variables, while
// the bodies of while_loop and conditional_block return handles.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/core/compile_time/fixed_string.hpp>
#include <lamina/core/rows.hpp>
#include <lamina/layers/layer_helper.hpp>
#include <lamina/operators/control/block/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A name for rows that a mask selects: `chosen<batch, row_key<"positive">>`.
template <fixed_string Name>
struct row_key {
  static constexpr auto name = Name;
};

namespace layer {

/// Declares the rows R = chosen<Of, row_key<"name">>, so that results of later operators may have
/// these rows; record<split_lod_tensor> makes them. Programs that are written by hand do not need
/// it, because layer::if_else declares its rows.
template <row_domain R>
constexpr void open_rows(const block& main) {
  program_builder& b = *main.builder;
  b.open_domain(&domain_mark<R>, R::key::name.view(), rows_of<typename R::parent>(b), R::kind, -1);
}

}  // namespace layer
}}  // namespace lamina

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
