// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/read_minibatch/layer.hpp - a layer by which a program reads mini-batches
// while it runs.
#pragma once

#include <lamina/core/config.hpp>

#include <tuple>
#include <utility>

#include <lamina/layers/sequence.hpp>
#include <lamina/operators/control/read_minibatch/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// One field of a reader's samples: an array with inner dimensions Dims per sample. Without Dims,
/// the field is a single number per sample.
template <element T, int... Dims>
struct field {};

/// A field with one sequence of any length per sample; the variable has the rows tokens<Rows>.
/// Fields with the same Rows must have sequences of the same lengths. Each element of a sequence is
/// an array with dimensions Dims or, without Dims, a single number.
template <fixed_string Rows, element T, int... Dims>
struct sequence_field {};

/// A field with one sequence of sequences per sample; the variable has the rows
/// nested_tokens<Rows>.
template <fixed_string Rows, element T, int... Dims>
struct nested_sequence_field {};

namespace layer {

namespace detail {
/// Returns the name of a field's variable, such as "train_0": the name of the reader and the index
/// of the field.
template <std::size_t N>
constexpr fixed_string<N + 2> field_name(const fixed_string<N>& reader, int field) {
  const char number[3] = {'_', static_cast<char>('0' + field), 0};
  return lamina::concatenated(reader, fixed_string<3>(number));
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

/// Reads the next mini-batch from the reader that the caller passes to the run, and returns one
/// variable per field. Sets `more` to whether another mini-batch follows:
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
/// `lamina::sequence_field<"words", std::int64_t>`. Each mini-batch may have another number of rows
/// and other lengths of sequences. So the variables of a mini-batch, and variables computed from
/// them row by row, cannot be used after the iteration or after another call of this layer. The
/// values that the gradient of the loop reads are kept for each iteration, so `minimize` may follow
/// the loop. The caller passes the reader to `lamina::run`. Fluid: layers.read_file.
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
  // The variables belong to the loop's block, so that each iteration keeps their values for the
  // gradient.
  std::apply([&](const auto&... v) { ((b.variables[v.id].block = b.current_block), ...); }, fields);
  layer_helper layer(b, "read_minibatch");
  const auto follows = layer.template output<variable<bool, once, 1>>();
  b.variables[follows.id].stop_gradient = true;
  operator_desc op = b.begin(schema_of<operators::read_minibatch>());
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
}}  // namespace lamina
