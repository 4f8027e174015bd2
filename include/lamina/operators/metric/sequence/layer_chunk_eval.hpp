// SPDX-License-Identifier: Apache-2.0
// lamina/operators/metric/sequence/layer_chunk_eval.hpp - precision and recall of tagged chunks.
#pragma once

#include <lamina/core/config.hpp>

#include <initializer_list>
#include <tuple>

#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/metric/sequence/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// The schemes of tags that mark the position of a word in a chunk. iob has the tags begin and
/// inside, ioe inside and end, iobes begin, inside, end and single; plain has one tag for all
/// words.
enum class chunk_scheme : std::uint8_t { iob, ioe, iobes, plain };

/// Options of chunk_eval.
struct chunk_eval_attr {
  chunk_scheme scheme = chunk_scheme::iob;
  std::string_view name{};
};

namespace detail {
constexpr std::string_view fluid_name_of(chunk_scheme scheme) {
  return scheme == chunk_scheme::iob     ? "IOB"
         : scheme == chunk_scheme::ioe   ? "IOE"
         : scheme == chunk_scheme::iobes ? "IOBES"
                                         : "plain";
}
}  // namespace detail

/// Compares the chunks of a predicted tag sequence with those of the expected one, for chunks of
/// `Types` types: `auto [precision, recall, f1, inferred, labelled, correct] = chunk_eval<3>(path,
/// label)`. Both inputs are tags [-1, 1] of the same sequences. With n tags in the scheme, the
/// number of a tag is type * n + the tag's position in the scheme; the tag Types * n marks words
/// outside of chunks. Precision, recall and F1 score are float [1]; the numbers of inferred,
/// labelled and correct chunks are int64 [1]. Chunks of `excluded` types are not counted. Fluid:
/// layers.chunk_eval.
template <int Types, class Index, class R, int... D, class L, class S, int... E>
constexpr auto chunk_eval(variable<Index, R, D...> input, variable<L, S, E...> label,
                          const options<chunk_eval_attr, Index>& attr = {},
                          std::initializer_list<int> excluded = {}, int line = __builtin_LINE()) {
  using in = variable<Index, R, D...>;
  using given = variable<L, S, E...>;
  constexpr bool fits =
      Types > 0 && is_tokens<R> && one_id_a_row<in> && one_id_a_row<given> && __is_same(R, S);
  static_assert(check<fits, gets<Types>, gets_type<in, given>>,
                "lamina: chunk_eval: a positive number of types, and two tags for each row of the "
                "same sequences");
  require_one_program(input, label, line);
  program_builder& b = *input.builder;
  layer_helper layer(b, "chunk_eval", attr.name);
  const auto precision = layer.template output<variable<float, once, 1>>();
  const auto recall = layer.template output<variable<float, once, 1>>();
  const auto f1 = layer.template output<variable<float, once, 1>>();
  const auto inferred = layer.template output<variable<std::int64_t, once, 1>>();
  const auto labelled = layer.template output<variable<std::int64_t, once, 1>>();
  const auto correct = layer.template output<variable<std::int64_t, once, 1>>();
  for (int v : {precision.id, recall.id, f1.id, inferred.id, labelled.id, correct.id})
    detail::without_gradient(layer, v);
  const attribute_value scheme = b.text(detail::fluid_name_of(attr.scheme));
  const attribute_value types = b.integer_list(excluded.begin(), static_cast<int>(excluded.size()));
  b.add_operator(schema_of<operators::chunk_eval>(), {input.id, label.id},
                 {precision.id, recall.id, f1.id, inferred.id, labelled.id, correct.id},
                 b.attribute_list(Types, scheme, types));
  return std::tuple{layer.returns(precision), recall, f1, inferred, labelled, correct};
}

}}}  // namespace lamina::layer
