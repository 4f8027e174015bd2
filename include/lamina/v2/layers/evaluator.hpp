// SPDX-License-Identifier: Apache-2.0
// lamina/v2/layers/evaluator.hpp - the evaluators of PaddlePaddle v2. These are layers whose
// results are metrics of events and tests.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/layers/layers.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2::evaluator {

/// Options of the evaluators: the name of the metric; the defaults are those of v2.
struct classification_error_attr {
  std::string_view name = "classification_error_evaluator";
};
struct auc_attr {
  std::string_view name = "auc_evaluator";
};
struct sum_attr {
  std::string_view name = "sum_evaluator";
};

/// The fraction of rows whose label is not among the TopK largest numbers of the row. v2:
/// evaluator.classification_error(input, label, top_k).
template <int TopK = 1, class X, class L>
constexpr auto classification_error(
    const X& input, const L& label,
    const lamina::layer::options<classification_error_attr, X>& attr = {},
    int line = __builtin_LINE()) {
  return lamina::layer::assign(1 - lamina::layer::accuracy<TopK>(input, label, {}, line),
                               {.name = attr.name});
}
/// The area under the ROC curve over all mini-batches of a pass. Each row of `input` has two
/// probabilities; the second is that of the positive class. v2: evaluator.auc.
template <class X, class L>
constexpr auto auc(const X& input, const L& label,
                   const lamina::layer::options<auc_attr, X>& attr = {},
                   int line = __builtin_LINE()) {
  return lamina::layer::auc(input, label, {.name = attr.name}, line);
}
/// The sum of all numbers of a mini-batch. v2: evaluator.sum.
template <class X>
constexpr auto sum(const X& input, const lamina::layer::options<sum_attr, X>& attr = {}) {
  return lamina::layer::reduce_sum(input, {.name = attr.name});
}

}}}  // namespace lamina::v2::evaluator
