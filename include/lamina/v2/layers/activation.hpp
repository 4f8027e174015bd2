// SPDX-License-Identifier: Apache-2.0
// lamina/v2/layers/activation.hpp - activations and types of pooling, under their names in
// PaddlePaddle v2.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/pooling_type.hpp>
#include <lamina/layers/activation.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2 {

/// Activations for `layer::fc<10>(x, {.act = activation::Softmax()})`. v2: paddle.activation.
namespace activation {
constexpr auto Identity() { return lamina::activation::identity; }
constexpr auto Linear() { return lamina::activation::identity; }
constexpr auto Tanh() { return lamina::activation::tanh; }
constexpr auto Sigmoid() { return lamina::activation::sigmoid; }
constexpr auto Softmax() { return lamina::activation::softmax; }
constexpr auto Exp() { return lamina::activation::exp; }
constexpr auto Relu() { return lamina::activation::relu; }
/// y = min(max(x, 0), 24).
constexpr auto BRelu() { return lamina::activation::brelu; }
/// y = log(1 + e^x), with x limited to [-40, 40].
constexpr auto SoftRelu() { return lamina::activation::soft_relu; }
constexpr auto STanh() { return lamina::activation::stanh; }
constexpr auto Abs() { return lamina::activation::abs; }
constexpr auto Square() { return lamina::activation::square; }
constexpr auto Log() { return lamina::activation::log; }
constexpr auto Sqrt() { return lamina::activation::sqrt; }
constexpr auto Reciprocal() { return lamina::activation::reciprocal; }
constexpr auto SoftSign() { return lamina::activation::softsign; }
}  // namespace activation

/// Types of pooling for `layer::sequence_pool(x, {.type = pooling::Max()})`. v2: paddle.pooling.
namespace pooling {
constexpr auto Max() { return pooling_type::max; }
constexpr auto Avg() { return pooling_type::average; }
constexpr auto Sum() { return pooling_type::sum; }
/// The sum divided by the square root of the number of values.
constexpr auto SquareRootN() { return pooling_type::sqrt; }
}  // namespace pooling

}}}  // namespace lamina::v2
