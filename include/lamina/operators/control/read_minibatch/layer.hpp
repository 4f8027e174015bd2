// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/read_minibatch/layer.hpp - data that a program reads by itself.
#pragma once

#include <lamina/core/config.hpp>

#include <tuple>
#include <utility>

#include <lamina/layers/sequence.hpp>
#include <lamina/operators/control/read_minibatch/definition.hpp>

namespace lamina::inline LAMINA_ABI {

/// One field of the samples of a reader: an array of inner dimensions Dims per sample; without
/// dimensions, one number.
template <element T, int... Dims>
struct field {};

/// One sequence per sample, of any length, with rows tokens<Rows>: fields of the same Rows have the
/// same lengths. An element is an array of dimensions Dims; without dimensions, one number.
template <fixed_string Rows, element T, int... Dims>
struct sequence_field {};

/// One sequence of sequences per sample, with rows nested_tokens<Rows>.
template <fixed_string Rows, element T, int... Dims>
struct nested_sequence_field {};

namespace layer {

namespace detail {
/// "train_0": the name of a reader with the number of a field.
template <std::size_t N>
constexpr fixed_string<N + 2> field_name(const fixed_string<N>& reader, int field) {
  const char number[3] = {'_', static_cast<char>('0' + field), 0};
  return lamina::joined(reader, fixed_string<3>(number));
}
template <fixed_string Name, class Field>
struct read_field;
template <fixed_string Name, class T, int... D>
struct read_field<Name, field<T, D...>> {
  static constexpr auto record(block& b, int line) { return data<Name, T, D...>(b, line); }
};
template <fixed_string Name, fixed_string Rows, class T, int... D>
struct read_field<Name, sequence_field<Rows, T, D...>> {
  static constexpr auto record(block& b, int line) {
    return feed_sequence<Name, T, tokens<Rows>, D...>(b, line);
  }
};
template <fixed_string Name, fixed_string Rows, class T, int... D>
struct read_field<Name, nested_sequence_field<Rows, T, D...>> {
  static constexpr auto record(block& b, int line) {
    return feed_sequence<Name, T, nested_tokens<Rows>, D...>(b, line);
  }
};
}  // namespace detail

/// Reads the next mini-batch of the reader that the program runs with, one variable per field;
/// `more` then says whether another mini-batch follows:
///
///   auto more = layer::fill_constant<bool>(main, true);
///   layer::while_loop(more, [&](lamina::block& loop) {
///     auto [image, label] =
///         layer::read_minibatch<"train", lamina::field<float, 64>, lamina::field<std::int64_t>>(
///             loop, more);
///     // the cost of image and label, and its updates
///   });
///
/// The variables are data layers named "train_0", "train_1", ... A field may be a sequence:
/// `lamina::sequence_field<"words", std::int64_t>`. Rows of the batch and lengths of sequences
/// change with each call, so nothing that has them outlives an iteration, or is used after another
/// call; what the gradient of the loop reads of an iteration is kept, so `minimize` may also follow
/// the loop. The caller passes the reader to `lamina::run`.
/// Fluid: layers.read_file.
template <fixed_string Name, class... Field>
constexpr auto read_minibatch(block& loop, variable<bool, once, 1>& more,
                              int line = __builtin_LINE()) {
  static_assert(sizeof...(Field) > 0 && sizeof...(Field) <= 10,
                "lamina: read_minibatch: a sample has one to ten fields");
  program_builder& b = *loop.builder;
  const auto fields = [&]<int... Index>(std::integer_sequence<int, Index...>) {
    return std::tuple{
        detail::read_field<detail::field_name(Name, Index), Field>::record(loop, line)...};
  }
  (std::make_integer_sequence<int, static_cast<int>(sizeof...(Field))>{});
  // The values of one iteration, kept unchanged for its gradient.
  std::apply([&](const auto&... v) { ((b.variables[v.id].block = b.current_block), ...); }, fields);
  layer_helper layer(b, "read_minibatch");
  const auto follows = layer.template output<variable<bool, once, 1>>();
  b.variables[follows.id].stop_gradient = true;
  operator_desc op = b.begin(schema_of<lamina::read_minibatch>());
  op.outputs = b.arguments.count;
  b.argument(static_cast<int>(sizeof...(Field)));
  std::apply([&](const auto&... v) { (b.argument(v.id), ...); }, fields);
  b.argument(follows.id);
  op.end = b.arguments.count;
  b.operators.push(op);
  more = follows;
  return fields;
}

}  // namespace layer
}  // namespace lamina::inline LAMINA_ABI
