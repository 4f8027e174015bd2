// SPDX-License-Identifier: Apache-2.0
// lamina/layers/softmax_with_cross_entropy.hpp - the usual cost of a classifier.
#pragma once

#include <lamina/core/check.hpp>
#include <lamina/layers/layer_helper.hpp>
#include <lamina/operators/cross_entropy.hpp>

namespace lamina::layer {

/// Options of softmax_with_cross_entropy.
struct softmax_with_cross_entropy_attr {
  bool soft_label = false;
  int ignore_index = -100;  // rows with this label cost nothing
  std::string_view name{};
};

/// -log softmax(logits)[label] a row, shape [-1, 1]. Labels are int64, one a row, or with
/// soft_label a distribution in the shape of the logits. Fluid: softmax_with_cross_entropy.
template <class T, class R, int D, class L, class LR, int LD>
constexpr variable<T, R, 1> softmax_with_cross_entropy(
    variable<T, R, D> logits, variable<L, LR, LD> label,
    const softmax_with_cross_entropy_attr& attr = {}, int line = __builtin_LINE()) {
  static_assert(check<__is_same(R, LR), expects_type<R>, gets_type<LR>>,
                "lamina: softmax_with_cross_entropy: logits and labels have the same rows");
  static_assert(check < (__is_same(L, std::int64_t) && LD == 1) || (__is_same(L, T) && LD == D),
                expects_type<variable<std::int64_t, R, 1>>, gets_type < variable < L, LR, LD >>>,
                "lamina: softmax_with_cross_entropy: labels are one int64 a row, or soft labels in "
                "the shape of the logits");
  require_one_program(logits, label, line);
  layer_helper layer(*logits.builder, "softmax_with_cross_entropy", attr.name);
  const int softmax = layer.output_like(logits.id);
  const auto loss = layer.output<variable<T, R, 1>>();
  const bool usual = !attr.soft_label && attr.ignore_index == -100;
  logits.builder->add_operator(
      schema_of<lamina::softmax_with_cross_entropy>(), {logits.id, label.id}, {softmax, loss.id},
      usual ? -1 : logits.builder->attribute_list(attr.soft_label, attr.ignore_index, true, -1));
  return layer.returns(loss);
}

}  // namespace lamina::layer
