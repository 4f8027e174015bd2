// SPDX-License-Identifier: Apache-2.0
// lamina/layers/npair_loss.hpp - the N-pair loss of embeddings.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/layer_helper.hpp>
#include <lamina/operators/elementwise/binary/layer_arithmetic.hpp>
#include <lamina/operators/elementwise/sum/layer_scale.hpp>
#include <lamina/operators/elementwise/unary/layer.hpp>
#include <lamina/operators/loss/in_batch/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/operators/reduce/mean/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of npair_loss.
struct npair_loss_attr {
  float l2_reg = 0.002f;
  std::string_view name{};
};

/// The cost of one mini-batch of pairs, a scalar: the mean over the rows of
/// in_batch_cross_entropy(anchor, positive, labels), plus 0.25 l2_reg times the mean of
/// |anchor_i|^2 + |positive_i|^2. The cost of a row depends on all rows of the mini-batch, so only
/// one thread can train a program with this cost. Source: Sohn 2016. Fluid: layers.npair_loss.
template <class X, class Y, class L>
constexpr auto npair_loss(X anchor, Y positive, L labels,
                          const options<npair_loss_attr, X>& attr = {},
                          int line = __builtin_LINE()) {
  anchor.builder->require_option(attr.l2_reg >= 0, line, "npair_loss: l2_reg >= 0");
  const auto each = in_batch_cross_entropy(anchor, positive, labels, {}, line);
  const auto size = reduce_sum<1>(square(anchor)) + reduce_sum<1>(square(positive));
  return elementwise_add(mean(each), scale(mean(size), 0.25f * attr.l2_reg), {.name = attr.name});
}

}}}  // namespace lamina::layer
