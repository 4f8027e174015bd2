// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/cross_entropy/layer_softmax.hpp - the cost of a classifier that outputs
// logits.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/loss/cross_entropy/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of softmax_with_cross_entropy.
struct softmax_with_cross_entropy_attr {
  int ignore_index = -100;  // rows with this label cost 0
  std::string_view name{};
};

/// Returns -log softmax(logits)[label] per row, shape [-1, 1]. Labels are int64, one class number
/// per row. If labels have the shape and type of the logits, they are soft labels, a distribution
/// per row, and the result is -sum label * log softmax(logits). Fluid: softmax_with_cross_entropy.
template <class T, class R, int... D, class L, class S, int... E>
constexpr auto softmax_with_cross_entropy(
    variable<T, R, D...> logits, variable<L, S, E...> label,
    const options<softmax_with_cross_entropy_attr, T>& attr = {}, int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  using given = variable<L, S, E...>;
  constexpr bool soft = detail::soft_labels<in, given>;
  constexpr bool fits = soft || detail::hard_labels<in, given>;
  static_assert(
      check<fits, gets_type<in>, expects_type<detail::label_of<in>>, gets_type<given>>,
      "lamina: softmax_with_cross_entropy: labels are one int64 per row, or soft labels in "
      "the shape and type of the logits");
  require_one_program(logits, label, line);
  program_builder& b = *logits.builder;
  layer_helper layer(b, "softmax_with_cross_entropy", attr.name);
  const int softmax = layer.output_like(logits.id);
  const auto loss = layer.template output<detail::one_a_row<in>>();
  const bool usual = !soft && attr.ignore_index == -100;
  b.add_operator(schema_of<operators::softmax_with_cross_entropy>(), {logits.id, label.id},
                 {softmax, loss.id},
                 usual ? -1 : b.attribute_list(soft, attr.ignore_index, true, -1));
  return layer.returns(loss);
}
#ifdef LAMINA_NAMES_OPTIONS
// clang-format off
constexpr no_match<softmax_with_cross_entropy_attr>
softmax_with_cross_entropy(...) = delete;  // call softmax_with_cross_entropy(logits, label)
// clang-format on
#endif

}}}  // namespace lamina::layer
