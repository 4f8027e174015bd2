// SPDX-License-Identifier: Apache-2.0
// test/operators/control/control_rows.hpp - one row per operator that arrays, branches and
// recurrences consist of, outside of blocks. Gradient blocks keep lamina's form, so that whole
// branches and recurrences with gradients are no cases for PaddlePaddle.
#pragma once

#include <laws/operator_row.hpp>

#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>
#include <lamina/operators/control/split_merge/layer.hpp>

namespace rows {

namespace detail {

/// A new variable like handle V, outside of any layer.
template <class V>
constexpr V made(lamina::program_builder& b) {
  return layer::layer_helper(b, "made").template output<V>();
}

struct positive_rows {};
struct other_rows {};

/// x split by the sign of its first column, both halves scaled, and merged again.
template <class T, class R, int... D>
constexpr auto split_and_merged(const lamina::variable<T, R, D...>& x) {
  using positive = lamina::chosen<R, positive_rows>;
  using other = lamina::chosen<R, other_rows>;
  lamina::program_builder& b = *x.builder;
  const auto first = layer::slice<layer::along<1, 0, 1>>(x);
  const auto mask = layer::greater_than(first, layer::scale(first, 0.5f));
  const int rows = lamina::rows_of<R>(b), level = b.attribute_list(0);
  const int yes =
      b.open_domain(&lamina::domain_mark<positive>, "true", rows, lamina::domain_kind::subset, -1);
  const int no =
      b.open_domain(&lamina::domain_mark<other>, "false", rows, lamina::domain_kind::subset, -1);
  const auto is = made<lamina::variable<bool, positive, 1>>(b);
  const auto is_not = made<lamina::variable<bool, other, 1>>(b);
  for (const int v : {is.id, is_not.id}) b.variables[v].stop_gradient = true;
  b.domains[yes].chosen_by = is.id;
  b.domains[no].chosen_by = is_not.id;
  const auto split = [&](int from, int in_true, int in_false) {
    b.add_operator(lamina::schema_of<lamina::operators::split_lod_tensor>(), {from, mask.id},
                   {in_true, in_false}, level);
  };
  split(mask.id, is.id, is_not.id);
  const auto larger = made<lamina::variable<T, positive, D...>>(b);
  const auto smaller = made<lamina::variable<T, other, D...>>(b);
  split(x.id, larger.id, smaller.id);
  const auto y = made<lamina::variable<T, R, D...>>(b);
  b.add_operator(lamina::schema_of<lamina::operators::merge_lod_tensor>(),
                 {mask.id, mask.id, layer::square(larger).id, layer::scale(smaller, 3).id}, {y.id},
                 level);
  b.open_domains.count -= 2;
  return y;
}

struct step_rows {};
struct ranked_rows {};

/// The steps of sequences and the sequences again, and what a step of a recurrence keeps of values
/// of its first step.
template <class T, class S, int... D, class R, int... E>
constexpr auto ranked_and_back(const lamina::variable<T, S, D...>& x,
                               const lamina::variable<T, R, E...>& first) {
  using step = lamina::at_step<S, step_rows>;
  using ranked = lamina::at_step<S, ranked_rows>;
  lamina::program_builder& b = *x.builder;
  block here{&b, b.current_block};
  const int parents = lamina::rows_of<typename S::parent>(b);
  b.open_domain(&lamina::domain_mark<step>, "step", parents, lamina::domain_kind::step, -1);
  b.open_domain(&lamina::domain_mark<ranked>, "ranked", parents, lamina::domain_kind::step, -1);
  const auto table = made<lamina::variable<integer, typename S::parent, 2>>(b);
  b.variables[table.id].stop_gradient = true;
  b.add_operator(lamina::schema_of<lamina::operators::lod_rank_table>(), {x.id}, {table.id},
                 b.attribute_list(0));
  const auto steps = layer::create_array<lamina::variable<T, step, D...>>(here);
  b.add_operator(lamina::schema_of<lamina::operators::lod_tensor_to_array>(), {x.id, table.id},
                 {steps.id});
  const auto again = made<lamina::variable<T, S, D...>>(b);
  b.add_operator(lamina::schema_of<lamina::operators::array_to_lod_tensor>(), {steps.id, table.id},
                 {again.id});
  const auto ordered = made<lamina::variable<T, ranked, E...>>(b);
  b.add_operator(lamina::schema_of<lamina::operators::reorder_lod_tensor_by_rank>(),
                 {first.id, table.id}, {ordered.id});
  const auto second = layer::fill_constant<integer>(here, 1);
  const auto kept = made<lamina::variable<T, step, E...>>(b);
  b.add_operator(lamina::schema_of<lamina::operators::shrink_rnn_memory>(),
                 {ordered.id, second.id, table.id}, {kept.id});
  b.open_domains.count -= 2;
  return std::tuple{layer::sequence_pool(again), ordered, kept};
}

/// A constant, or, where x is large enough, x tripled.
template <class T, class R, int... D>
constexpr auto selected(const lamina::variable<T, R, D...>& x) {
  lamina::program_builder& b = *x.builder;
  block here{&b, b.current_block};
  const auto constant = layer::scale(x, 0);
  b.variables[constant.id].stop_gradient = true;
  const auto mask = layer::cast<std::int32_t>(
      layer::greater_than(layer::mean(x), layer::fill_constant<T>(here, -2)));
  const int sides[] = {constant.id, layer::scale(x, 3).id};
  const auto y = made<lamina::variable<T, R, D...>>(b);
  lamina::operator_desc op = b.begin(lamina::schema_of<lamina::operators::select_input>());
  b.list(sides, 2);
  b.argument(mask.id);
  op.outputs = b.arguments.count;
  b.argument(y.id);
  op.end = b.arguments.count;
  b.operators.push(op);
  return y;
}

/// x and its square, one behind the other in a new dimension.
template <class T, class R, int... D>
constexpr auto stacked_array(const lamina::variable<T, R, D...>& x) {
  lamina::program_builder& b = *x.builder;
  block here{&b, b.current_block};
  const auto array = layer::array_write(x, layer::fill_constant<integer>(here, 0));
  layer::array_write(layer::square(x), layer::fill_constant<integer>(here, 1), array);
  const auto y = made<lamina::variable<T, R, 2, D...>>(b);
  b.add_operator(lamina::schema_of<lamina::operators::tensor_array_to_tensor>(), {array.id}, {y.id},
                 b.attribute_list(1, true));
  return y;
}

}  // namespace detail

template <class To>
void control(To& to) {
  using namespace detail;
  unary(to, "print", [](auto x) { return layer::print(x, {.first_n = 1, .summarize = 1}); });
  to.write(
      "array_length",
      []<class T>(block& main) {
        auto x = layer::data<"x", T, 3>(main);
        auto first = layer::fill_constant<integer>(main, 0);
        auto second = layer::fill_constant<integer>(main, 1);
        auto array = layer::array_write(x, first);
        layer::array_write(layer::square(x), second, array);
        auto length = layer::cast<T>(layer::array_length(array));
        return squared(layer::array_read(array, first) * length + layer::array_read(array, second));
      },
      {.edges = edge_kind::none});
  to.write(
      "array_stack",
      []<class T>(block& main) { return squared(stacked_array(layer::data<"x", T, 3>(main))); },
      {.edges = edge_kind::none});
  to.write(
      "split_and_merge",
      []<class T>(block& main) { return squared(split_and_merged(layer::data<"x", T, 3>(main))); },
      {.edges = edge_kind::none});
  to.write("rank_table",
           []<class T>(block& main) {
             auto x = layer::sequence<"x", T, 3>(main);
             return squared(ranked_and_back(x, layer::data<"first", T, 2>(main)));
           },
           {.edges = edge_kind::none});
  to.write("select_input",
           []<class T>(block& main) { return squared(selected(layer::data<"x", T, 3>(main))); },
           {.edges = edge_kind::none});
  // With nothing but operators of Fluid: it reads no step of its input.
  to.write("static_rnn_of_a_state",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 5, 3>(main);
             auto shift = layer::fc<4>(x);
             return squared(layer::static_rnn(x, [&](auto& step) {
               auto h = step.template memory<T>(lamina::dims<4>, {.value = 0.5f});
               auto next = layer::sigmoid(layer::fc<4>(h) + shift);
               step.update(h, next);
               return next;
             }));
           },
           {.gradients = false, .edges = edge_kind::none});
}

/// Rows with nested sequences, which are no cases of other libraries.
template <class To>
void nested_control(To& to) {
  using namespace detail;
  to.write("nested_steps",
           []<class T>(block& main) {
             auto x = layer::nested_sequence<"x", T, 3>(main);
             return squared(layer::dynamic_rnn<0>(x, [&](auto& step) {
               auto h = step.template memory<T>(lamina::dims<3>, {.value = 0.5f});
               auto next = layer::tanh(layer::sequence_pool(step.input(x)) + h);
               step.update(h, next);
               return next;
             }));
           },
           {.edges = edge_kind::none});
}

}  // namespace rows
