// SPDX-License-Identifier: Apache-2.0
// Examples of layers for the reference of the documentation site. reference_examples.py compiles
// and runs them, and compares what they print with the comments after `=`.
#include "show.hpp"

int main() {
  // Example: layer::logsigmoid
  show([](block& main) { return layer::logsigmoid(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-2.127, -0.9741, -0.4741, -0.1269]]
  // Example: layer::softsign
  show([](block& main) { return layer::softsign(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-0.6667, -0.3333, 0.3333, 0.6667]]
  // Example: layer::tanh_shrink
  show([](block& main) { return layer::tanh_shrink(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-1.036, -0.03788, 0.03788, 1.036]]
  // Example: layer::gelu
  show([](block& main) { return layer::gelu(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-0.0455, -0.1543, 0.3457, 1.954]]
  // Example: layer::selu
  show([](block& main) { return layer::selu(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-1.52, -0.6918, 0.5254, 2.101]]
  // Example: layer::mish
  show([](block& main) { return layer::mish(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-0.2525, -0.2207, 0.3752, 1.944]]
  // Example: layer::abs
  show([](block& main) { return layer::abs(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[2, 0.5, 0.5, 2]]
  // Example: layer::ceil
  show([](block& main) { return layer::ceil(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-2, -0, 1, 2]]
  // Example: layer::floor
  show([](block& main) { return layer::floor(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-2, -1, 0, 2]]
  // Example: layer::round
  show([](block& main) { return layer::round(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-2, -1, 1, 2]]
  // Example: layer::sin
  show([](block& main) { return layer::sin(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-0.9093, -0.4794, 0.4794, 0.9093]]
  // Example: layer::cos
  show([](block& main) { return layer::cos(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-0.4161, 0.8776, 0.8776, -0.4161]]
  // Example: layer::atan
  show([](block& main) { return layer::atan(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-1.107, -0.4636, 0.4636, 1.107]]
  // Example: layer::erf
  show([](block& main) { return layer::erf(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-0.9953, -0.5205, 0.5205, 0.9953]]
  // Example: layer::sign
  show([](block& main) { return layer::sign(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-1, -1, 1, 1]]
  // Example: layer::elu
  show([](block& main) { return layer::elu(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-0.8647, -0.3935, 0.5, 2]]
  // Example: layer::relu6
  show([](block& main) { return layer::relu6(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[0, 0, 0.5, 2]]
  // Example: layer::brelu
  show([](block& main) { return layer::brelu(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[0, 0, 0.5, 2]]
  // Example: layer::soft_relu
  show([](block& main) { return layer::soft_relu(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[0.1269, 0.4741, 0.9741, 2.127]]
  // Example: layer::stanh
  show([](block& main) { return layer::stanh(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-1.496, -0.5542, 0.5542, 1.496]]
  // Example: layer::hard_sigmoid
  show([](block& main) { return layer::hard_sigmoid(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[0.1, 0.4, 0.6, 0.9]]
  // Example: layer::swish
  show([](block& main) { return layer::swish(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-0.2384, -0.1888, 0.3112, 1.762]]
  // Example: layer::hard_swish
  show([](block& main) { return layer::hard_swish(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-0.3333, -0.2083, 0.2917, 1.667]]
  // Example: layer::hard_shrink
  show([](block& main) { return layer::hard_shrink(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-2, 0, 0, 2]]
  // Example: layer::softshrink
  show([](block& main) { return layer::softshrink(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-1.5, 0, 0, 1.5]]
  // Example: layer::thresholded_relu
  show([](block& main) { return layer::thresholded_relu(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[0, 0, 0, 2]]
  // Example: layer::asin
  show([](block& main) { return layer::asin(layer::data<"x", float, 3>(main)); },
       {{"x", rows({{-1, 0, 0.5f}})}});
  // = [[-1.571, 0, 0.5236]]
  // Example: layer::acos
  show([](block& main) { return layer::acos(layer::data<"x", float, 3>(main)); },
       {{"x", rows({{-1, 0, 0.5f}})}});
  // = [[3.142, 1.571, 1.047]]
  // Example: layer::rsqrt
  show([](block& main) { return layer::rsqrt(layer::data<"x", float, 3>(main)); },
       {{"x", rows({{0.25f, 1, 4}})}});
  // = [[2, 1, 0.5]]
  // Example: layer::reciprocal
  show([](block& main) { return layer::reciprocal(layer::data<"x", float, 3>(main)); },
       {{"x", rows({{0.25f, 1, 4}})}});
  // = [[4, 1, 0.25]]
  // Example: layer::pow
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::pow(x, {.factor = 2});
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[1, 4, 9, 16]]
  // Example: layer::prelu
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        return layer::prelu(x, {.param = {.initializer = lamina::init::constant(0.1f)}});
      },
      {{"x", rows({{-2, 2}})}});
  // = [[-0.2, 2]]
  // Example: layer::glu
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::glu(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[0.9526, 1.964]]
  // Example: layer::logsumexp
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::logsumexp(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[4.44]]
  // Example: layer::log_softmax
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::log_softmax(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[-3.44, -2.44, -1.44, -0.4402]]
  // Example: layer::maxout
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::maxout<2>(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[2, 4]]
  // Example: layer::elementwise_sub
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::elementwise_sub(x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[3, -5, 0]]
  // Example: layer::elementwise_div
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::elementwise_div(x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[2.5, -0.6667, 1]]
  // Example: layer::elementwise_max
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::elementwise_max(x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[5, 3, 7]]
  // Example: layer::elementwise_min
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::elementwise_min(x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[2, -2, 7]]
  // Example: layer::elementwise_mod
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::elementwise_mod(x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[1, 1, 0]]
  // Example: layer::elementwise_floordiv
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::elementwise_floordiv(x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[2, -1, 1]]
  // Example: layer::minus
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::minus(x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[3, -5, 0]]
  // Example: layer::less_equal
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::less_equal(x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[0, 1, 1]]
  // Example: layer::greater_than
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::greater_than(x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[1, 0, 0]]
  // Example: layer::equal
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::equal(x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[0, 0, 1]]
  // Example: layer::not_equal
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::not_equal(x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[1, 1, 0]]
  // Example: layer::elementwise_pow
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::elementwise_pow(x, y);
      },
      {{"x", rows({{2, 3, 4}})}, {"y", rows({{3, 2, 0.5f}})}});
  // = [[8, 9, 2]]
  // Example: layer::elementwise_keep
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::elementwise_keep(x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{1, 0, 1}})}});
  // = [[5, 0, 7]]
  // Example: layer::sum
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::sum({x, y, x});
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[12, -1, 21]]
  // Example: layer::reduce_mean
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::reduce_mean<1>(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [2.5]
  // Example: layer::reduce_min
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::reduce_min<1>(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [1]
  // Example: layer::reduce_prod
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::reduce_prod<1>(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [24]
  // Example: layer::logical_or
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        auto less = layer::less_than(x, y), same = layer::equal(x, y);
        return layer::logical_or(less, same);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[0, 1, 1]]
  // Example: layer::logical_xor
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        auto less = layer::less_than(x, y), same = layer::equal(x, y);
        return layer::logical_xor(less, same);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[0, 1, 1]]
  // Example: layer::logical_not
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::logical_not(layer::less_than(x, y));
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[1, 0, 1]]
  // Example: layer::reduce_all
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::reduce_all<1>(layer::less_than(x, y));
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [0]
  // Example: layer::reduce_any
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::reduce_any<1>(layer::less_than(x, y));
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [1]
  // Example: layer::cumsum
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::cumsum(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[1, 3, 6, 10]]
  // Example: layer::log_loss
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 1>(main);
        auto y = layer::data<"y", float, 1>(main);
        return layer::log_loss(x, y);
      },
      {{"x", rows({{0.8f}})}, {"y", rows({{1}})}});
  // = [[0.223]]
  // Example: layer::hinge_loss
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 1>(main);
        auto y = layer::data<"y", float, 1>(main);
        return layer::hinge_loss(x, y);
      },
      {{"x", rows({{0.3f}, {-0.4f}})}, {"y", rows({{1}, {0}})}});
  // = [[0.7], [0.6]]
  // Example: layer::modified_huber_loss
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 1>(main);
        auto y = layer::data<"y", float, 1>(main);
        return layer::modified_huber_loss(x, y);
      },
      {{"x", rows({{0.3f}, {-0.4f}})}, {"y", rows({{1}, {0}})}});
  // = [[0.49], [0.36]]
  // Example: layer::huber_loss
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 1>(main);
        auto y = layer::data<"y", float, 1>(main);
        return layer::huber_loss(x, y, 1.f);
      },
      {{"x", rows({{0.5f}, {3}})}, {"y", rows({{0}, {0}})}});
  // = [[0.125], [2.5]]
  // Example: layer::rank_loss
  show(
      [](block& main) {
        auto label = layer::data<"label", float, 1>(main);
        auto left = layer::data<"left", float, 1>(main);
        auto right = layer::data<"right", float, 1>(main);
        return layer::rank_loss(label, left, right);
      },
      {{"label", rows({{1}})}, {"left", rows({{2}})}, {"right", rows({{2.05f}})}});
  // = [[0.7185]]
  // Example: layer::margin_rank_loss
  show(
      [](block& main) {
        auto label = layer::data<"label", float, 1>(main);
        auto left = layer::data<"left", float, 1>(main);
        auto right = layer::data<"right", float, 1>(main);
        return layer::margin_rank_loss(label, left, right);
      },
      {{"label", rows({{1}})}, {"left", rows({{2}})}, {"right", rows({{2.05f}})}});
  // = [[0.15]]
  // Example: layer::smooth_l1
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::smooth_l1(x, y);
      },
      {{"x", rows({{0.5f, 3, 0}})}, {"y", rows({{0, 0, 0}})}});
  // = [[2.625]]
  // Example: layer::kldiv_loss
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::kldiv_loss(layer::log(x), y);
      },
      {{"x", rows({{0.5f, 0.25f, 0.25f}})}, {"y", rows({{0.25f, 0.5f, 0.25f}})}});
  // = [0.05776]
  // Example: layer::mse_loss
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::mse_loss(x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [11.33]
  // Example: layer::label_smooth
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::label_smooth(x);
      },
      {{"x", rows({{0, 1, 0, 0}})}});
  // = [[0.025, 0.925, 0.025, 0.025]]
  // Example: layer::bpr_loss
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto label = layer::data<"label", std::int64_t>(main);
        return layer::bpr_loss(x, label);
      },
      {{"x", rows({{0.1f, 2, -1}})}, {"label", ids({1})}});
  // = [[0.09399]]
  // Example: layer::focal_loss
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto label = layer::data<"label", std::int64_t>(main);
        return layer::focal_loss(x, label);
      },
      {{"x", rows({{0.1f, 2, -1}})}, {"label", ids({1})}});
  // = [[0.005022]]
  // Example: layer::hsigmoid
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto label = layer::data<"label", std::int64_t>(main);
        return layer::hsigmoid<4>(x, label,
                                  {.param = {.initializer = lamina::init::constant(0.5f)}});
      },
      {{"x", rows({{0.1f, 2, -1}})}, {"label", ids({1})}});
  // = [[1.461]]
  // Example: layer::nce
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto label = layer::data<"label", std::int64_t>(main);
        return layer::nce<4, 2>(x, label, {.param = {.initializer = lamina::init::constant(0.5f)}});
      },
      {{"x", rows({{0.1f, 2, -1}})}, {"label", ids({1})}});
  // = [[2.219]]
  // Example: layer::in_batch_cross_entropy
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        auto y = layer::data<"y", float, 2>(main);
        return layer::in_batch_cross_entropy(x, y);
      },
      {{"x", rows({{1, 0}, {0, 1}})}, {"y", rows({{2, 0}, {1, 3}})}});
  // = [[0.3133], [0.04859]]
  // Example: layer::npair_loss
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        auto y = layer::data<"y", float, 2>(main);
        auto label = layer::data<"label", std::int64_t>(main);
        return layer::npair_loss(x, y, label);
      },
      {{"x", rows({{1, 0}, {0, 1}})}, {"y", rows({{2, 0}, {1, 3}})}, {"label", ids({0, 1})}});
  // = [0.1849]
  // Example: layer::triplet_margin_loss
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        auto near = layer::data<"near", float, 2>(main);
        auto far = layer::data<"far", float, 2>(main);
        return layer::triplet_margin_loss(x, near, far);
      },
      {{"x", rows({{0, 0}})}, {"near", rows({{1, 0}})}, {"far", rows({{0, 1.5f}})}});
  // = [[0.5]]
  // Example: layer::cosine_embedding_loss
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        auto y = layer::data<"y", float, 2>(main);
        auto label = layer::data<"label", float, 1>(main);
        return layer::cosine_embedding_loss(x, y, label);
      },
      {{"x", rows({{1, 0}})}, {"y", rows({{1, 1}})}, {"label", rows({{1}})}});
  // = [[0.2929]]
  // Example: layer::transpose
  show(
      [](block& main) {
        auto x = layer::reshape<2, 3>(layer::data<"x", float, 6>(main));
        return layer::transpose<0, 2, 1>(x);
      },
      {{"x", rows({{1, 2, 3, 4, 5, 6}})}});
  // = [[[1, 4], [2, 5], [3, 6]]]
  // Example: layer::squeeze
  show(
      [](block& main) {
        auto x = layer::reshape<1, 4>(layer::data<"x", float, 4>(main));
        return layer::squeeze<1>(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[1, 2, 3, 4]]
  // Example: layer::unsqueeze
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::unsqueeze<1>(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[[1, 2, 3, 4]]]
  // Example: layer::flatten
  show(
      [](block& main) {
        auto x = layer::reshape<2, 3>(layer::data<"x", float, 6>(main));
        return layer::flatten(x);
      },
      {{"x", rows({{1, 2, 3, 4, 5, 6}})}});
  // = [[1, 2, 3, 4, 5, 6]]
  // Example: layer::stack
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::stack({x, y});
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[[5, -2, 7], [2, 3, 7]]]
  // Example: layer::unstack
  show(
      [](block& main) {
        auto x = layer::reshape<2, 3>(layer::data<"x", float, 6>(main));
        return layer::unstack<1>(x);
      },
      {{"x", rows({{1, 2, 3, 4, 5, 6}})}});
  // = [[1, 2, 3]]
  // = [[4, 5, 6]]
  // Example: layer::pad
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::pad<0, 0, 1, 2>(x, 9);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[9, 1, 2, 3, 4, 9, 9]]
  // Example: layer::expand
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::expand<1, 2>(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[1, 2, 3, 4, 1, 2, 3, 4]]
  // Example: layer::cast
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        return layer::cast<std::int64_t>(x);
      },
      {{"x", rows({{-1.5f, 0.5f, 2}})}});
  // = [[-1, 0, 2]]
  // Example: layer::clip_by_norm
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        return layer::clip_by_norm(x, 1.f);
      },
      {{"x", rows({{3, 4}})}});
  // = [[0.6, 0.8]]
  // Example: layer::where
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::where(layer::less_than(x, y), x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[2, -2, 7]]
  // Example: layer::tril
  show(
      [](block& main) {
        auto x = layer::reshape<3, 3>(layer::data<"x", float, 9>(main));
        return layer::tril(x);
      },
      {{"x", rows({{1, 2, 3, 4, 5, 6, 7, 8, 9}})}});
  // = [[[1, 0, 0], [4, 5, 0], [7, 8, 9]]]
  // Example: layer::triu
  show(
      [](block& main) {
        auto x = layer::reshape<3, 3>(layer::data<"x", float, 9>(main));
        return layer::triu<1>(x);
      },
      {{"x", rows({{1, 2, 3, 4, 5, 6, 7, 8, 9}})}});
  // = [[[0, 2, 3], [0, 0, 6], [0, 0, 0]]]
  // Example: layer::take_along
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto index = layer::data<"index", std::int64_t>(main);
        return layer::take_along(x, index);
      },
      {{"x", rows({{5, 6, 7}})}, {"index", ids({2})}});
  // = [[7]]
  // Example: layer::topk
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::topk<2>(x);
      },
      {{"x", rows({{3, 9, 1, 7}})}});
  // = [[9, 7]]
  // = [[1, 3]]
  // Example: layer::one_hot
  show(
      [](block& main) {
        auto x = layer::data<"x", std::int64_t>(main);
        return layer::one_hot<4>(x);
      },
      {{"x", ids({2, 0})}});
  // = [[0, 0, 1, 0], [1, 0, 0, 0]]
  // Example: layer::argsort
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::argsort(x);
      },
      {{"x", rows({{3, 9, 1, 7}})}});
  // = [[1, 3, 7, 9]]
  // = [[2, 0, 3, 1]]
  // Example: layer::argmin
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::argmin<1>(x);
      },
      {{"x", rows({{3, 9, 1, 7}})}});
  // = [2]
  // Example: layer::shape
  show(
      [](block& main) {
        auto x = layer::reshape<2, 3>(layer::data<"x", float, 6>(main));
        return layer::shape(x);
      },
      {{"x", rows({{1, 2, 3, 4, 5, 6}})}});
  // = [1, 2, 3]
  // Example: layer::is_empty
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::is_empty(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [0]
  // Example: layer::range
  show([](block& main) { return layer::range<float, 2, 8, 2>(main); });
  // = [2, 4, 6]
  // Example: layer::l1_norm
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::l1_norm(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [10]
  // Example: layer::squared_l2_norm
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::squared_l2_norm(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [30]
  // Example: layer::squared_l2_distance
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::squared_l2_distance(x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[34]]
  // Example: layer::scatter
  show(
      [](block& main) {
        auto x = layer::fill_constant<float, 3, 2>(main, 0);
        auto at = layer::data<"at", std::int64_t>(main);
        auto updates = layer::data<"updates", float, 2>(main);
        return layer::scatter(x, at, updates);
      },
      {{"at", ids({2, 0})}, {"updates", rows({{1, 2}, {3, 4}})}});
  // = [[3, 4], [0, 0], [1, 2]]
  // Example: layer::multiplex
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        auto y = layer::data<"y", float, 2>(main);
        auto which = layer::data<"which", std::int64_t>(main);
        return layer::multiplex({x, y}, which);
      },
      {{"x", rows({{1, 2}, {3, 4}})}, {"y", rows({{5, 6}, {7, 8}})}, {"which", ids({1, 0})}});
  // = [[5, 6], [3, 4]]
  // Example: layer::crop
  show(
      [](block& main) {
        auto x = layer::reshape<2, 3>(layer::data<"x", float, 6>(main));
        return layer::crop<layer::offsets<0, 0, 1>, 2, 2>(x);
      },
      {{"x", rows({{1, 2, 3, 4, 5, 6}})}});
  // = [[[2, 3], [5, 6]]]
  // Example: layer::auc
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        auto label = layer::data<"label", std::int64_t>(main);
        return layer::auc(x, label);
      },
      {{"x", rows({{0.9f, 0.1f}, {0.2f, 0.8f}, {0.4f, 0.6f}})}, {"label", ids({0, 1, 0})}});
  // = [1]
  // Example: layer::group_norm
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2, 2, 2>(main);
        return layer::group_norm<1>(x);
      },
      {{"x", image(2, 2, 2)}});
  // = [[[[-1.528, -1.091], [-0.6547, -0.2182]], [[0.2182, 0.6547], [1.091, 1.528]]]]
  // Example: layer::instance_norm
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2, 2, 2>(main);
        return layer::instance_norm(x);
      },
      {{"x", image(2, 2, 2)}});
  // = [[[[-1.342, -0.4472], [0.4472, 1.342]], [[-1.342, -0.4472], [0.4472, 1.342]]]]
  // Example: layer::lrn
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3, 1, 1>(main);
        return layer::lrn(x, {.n = 3, .alpha = 0.1f});
      },
      {{"x", image(3, 1, 1)}});
  // = [[[[0]], [[0.7378]], [[1.476]]]]
  // Example: layer::rms_norm
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::rms_norm(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[0.3651, 0.7303, 1.095, 1.461]]
  // Example: layer::conv1d
  show(
      [](block& main) {
        auto x = layer::reshape<1, 4>(layer::data<"x", float, 4>(main));
        return layer::conv1d<1, 2>(x, {.param = {.initializer = lamina::init::constant(1)}});
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[[3, 5, 7]]]
  // Example: layer::conv2d_transpose
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 1, 2, 2>(main);
        return layer::conv2d_transpose<1, 2, lamina::window{.stride = 2}>(
            x, {.param = {.initializer = lamina::init::constant(1)}});
      },
      {{"x", image(1, 2, 2)}});
  // = [[[[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]]]]
  // Example: layer::conv3d
  show(
      [](block& main) {
        auto x = layer::reshape<1, 2, 2, 2>(layer::data<"x", float, 8>(main));
        return layer::conv3d<1, 2>(x, {.param = {.initializer = lamina::init::constant(1)}});
      },
      {{"x", rows({{1, 2, 3, 4, 5, 6, 7, 8}})}});
  // = [[[[[36]]]]]
  // Example: layer::adaptive_pool2d
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 1, 4, 4>(main);
        return layer::adaptive_pool2d<2>(x);
      },
      {{"x", image(1, 4, 4)}});
  // = [[[[5, 7], [13, 15]]]]
  // Example: layer::pool3d
  show(
      [](block& main) {
        auto x = layer::reshape<1, 2, 2, 2>(layer::data<"x", float, 8>(main));
        return layer::pool3d<2>(x);
      },
      {{"x", rows({{1, 2, 3, 4, 5, 6, 7, 8}})}});
  // = [[[[[8]]]]]
  // Example: layer::global_pool3d
  show(
      [](block& main) {
        auto x = layer::reshape<1, 2, 2, 2>(layer::data<"x", float, 8>(main));
        return layer::global_pool3d(x);
      },
      {{"x", rows({{1, 2, 3, 4, 5, 6, 7, 8}})}});
  // = [[[[[8]]]]]
  // Example: layer::adaptive_pool3d
  show(
      [](block& main) {
        auto x = layer::reshape<1, 2, 2, 2>(layer::data<"x", float, 8>(main));
        return layer::adaptive_pool3d<1>(x);
      },
      {{"x", rows({{1, 2, 3, 4, 5, 6, 7, 8}})}});
  // = [[[[[8]]]]]
  // Example: layer::max_pool2d_with_index
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 1, 4, 4>(main);
        return layer::max_pool2d_with_index<2, lamina::window{.stride = 2}>(x);
      },
      {{"x", image(1, 4, 4)}});
  // = [[[[5, 7], [13, 15]]]]
  // = [[[[5, 7], [13, 15]]]]
  // Example: layer::unpool
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 1, 4, 4>(main);
        auto [largest, positions] = layer::max_pool2d_with_index<2, lamina::window{.stride = 2}>(x);
        return layer::unpool<2, lamina::window{.stride = 2}>(largest, positions);
      },
      {{"x", image(1, 4, 4)}});
  // = [[[[0, 0, 0, 0], [0, 5, 0, 7], [0, 0, 0, 0], [0, 13, 0, 15]]]]
  // Example: layer::resize_bilinear
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 1, 2, 2>(main);
        return layer::resize_bilinear<3>(x);
      },
      {{"x", image(1, 2, 2)}});
  // = [[[[0, 0.5, 1], [1, 1.5, 2], [2, 2.5, 3]]]]
  // Example: layer::resize_nearest
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 1, 2, 2>(main);
        return layer::resize_nearest<4>(x);
      },
      {{"x", image(1, 2, 2)}});
  // = [[[[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]]]]
  // Example: layer::pad2d
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 1, 2, 2>(main);
        return layer::pad2d<1, 0, 0, 1>(x);
      },
      {{"x", image(1, 2, 2)}});
  // = [[[[0, 0, 0], [0, 1, 0], [2, 3, 0]]]]
  // Example: layer::pixel_shuffle
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4, 1, 2>(main);
        return layer::pixel_shuffle<2>(x);
      },
      {{"x", image(4, 1, 2)}});
  // = [[[[0, 2, 1, 3], [4, 6, 5, 7]]]]
  // Example: layer::spp
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 1, 4, 4>(main);
        return layer::spp<2>(x);
      },
      {{"x", image(1, 4, 4)}});
  // = [[15, 5, 7, 13, 15]]
  // Example: layer::im2sequence
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 1, 2, 4>(main);
        return layer::im2sequence<"patches", 2, lamina::window{.stride = 2}>(x);
      },
      {{"x", image(1, 2, 4)}});
  // = [[0, 1, 4, 5], [2, 3, 6, 7]], sequences of 2
  // Example: layer::roi_pool
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 1, 4, 4>(main);
        auto regions = layer::sequence<"regions", float, 4>(main);
        return layer::roi_pool<2>(x, regions);
      },
      {{"x", image(1, 4, 4)}, {"regions", lamina::create_lod_tensor(rows({{0, 0, 3, 3}}), {{1}})}});
  // = [[[[5, 7], [13, 15]]]], sequences of 1
  // Example: layer::roi_align
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 1, 4, 4>(main);
        auto regions = layer::sequence<"regions", float, 4>(main);
        return layer::roi_align<2>(x, regions);
      },
      {{"x", image(1, 4, 4)}, {"regions", lamina::create_lod_tensor(rows({{0, 0, 3, 3}}), {{1}})}});
  // = [[[[3.75, 5.25], [9.75, 11.25]]]], sequences of 1
  // Example: layer::psroi_pool
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4, 4, 4>(main);
        auto regions = layer::sequence<"regions", float, 4>(main);
        return layer::psroi_pool<2>(x, regions);
      },
      {{"x", image(4, 4, 4)}, {"regions", lamina::create_lod_tensor(rows({{0, 0, 3, 3}}), {{1}})}});
  // = [[[[2.5, 20.5], [42.5, 60.5]]]], sequences of 1
  // Example: layer::mul
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::mul(x, layer::fill_constant<float, 3, 2>(main, 1));
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[10, 10]]
  // Example: layer::sequence_last_step
  show(
      [](block& main) {
        auto x = layer::sequence<"x", float>(main);
        return layer::sequence_last_step(x);
      },
      {{"x", lamina::sequences<float>({{1, 2}, {3, 4, 5}})}});
  // = [[2], [5]]
  // Example: layer::sequence_softmax
  show(
      [](block& main) {
        auto x = layer::sequence<"x", float>(main);
        return layer::sequence_softmax(x);
      },
      {{"x", lamina::sequences<float>({{1, 2}, {3, 4, 5}})}});
  // = [[0.2689], [0.7311], [0.09003], [0.2447], [0.6652]], sequences of 2 3
  // Example: layer::sequence_reverse
  show(
      [](block& main) {
        auto x = layer::sequence<"x", float>(main);
        return layer::sequence_reverse(x);
      },
      {{"x", lamina::sequences<float>({{1, 2}, {3, 4, 5}})}});
  // = [[2], [1], [5], [4], [3]], sequences of 2 3
  // Example: layer::row_conv
  show(
      [](block& main) {
        auto x = layer::sequence<"x", float>(main);
        return layer::row_conv<1>(x, {.param = {.initializer = lamina::init::constant(1)}});
      },
      {{"x", lamina::sequences<float>({{1, 2}, {3, 4, 5}})}});
  // = [[3], [2], [7], [9], [5]], sequences of 2 3
  // Example: layer::sequence_expand_as
  show(
      [](block& main) {
        auto y = layer::sequence<"y", float>(main);
        auto x = layer::data<"x", float, 1>(main);
        return layer::sequence_expand_as(x, y);
      },
      {{"x", rows({{7}, {8}})}, {"y", lamina::sequences<float>({{1, 2}, {3, 4, 5}})}});
  // = [[7], [7], [8], [8], [8]], sequences of 2 3
  // Example: layer::sequence_concat
  show(
      [](block& main) {
        auto x = layer::sequence<"x", float>(main);
        auto y = layer::sequence<"y", float>(main);
        return layer::sequence_concat<"both">(std::tuple{x, y});
      },
      {{"x", lamina::sequences<float>({{1, 2}, {3, 4, 5}})},
       {"y", lamina::sequences<float>({{6}, {}})}});
  // = [[1], [2], [6], [3], [4], [5]], sequences of 3 3
  // Example: layer::sequence_reshape
  show(
      [](block& main) {
        auto x = layer::sequence<"x", float>(main);
        return layer::sequence_reshape<"halves", 1>(layer::concat({x, x}));
      },
      {{"x", lamina::sequences<float>({{1, 2}, {3, 4, 5}})}});
  // = [[1], [1], [2], [2], [3], [3], [4], [4], [5], [5]], sequences of 4 6
  // Example: layer::sequence_pad
  show(
      [](block& main) {
        auto x = layer::sequence<"x", float>(main);
        return layer::sequence_pad<3>(x, 0.);
      },
      {{"x", lamina::sequences<float>({{1, 2}, {3, 4, 5}})}});
  // = [[[1], [2], [0]], [[3], [4], [5]]]
  // = [2, 3]
  // Example: layer::sequence_unpad
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto length = layer::data<"length", std::int64_t>(main);
        return layer::sequence_unpad<"words">(layer::reshape<3, 1>(x), length);
      },
      {{"x", rows({{1, 2, 0}, {3, 4, 5}})}, {"length", ids({2, 3})}});
  // = [[1], [2], [3], [4], [5]], sequences of 2 3
  // Example: layer::sequence_enumerate
  show(
      [](block& main) {
        auto x = layer::sequence<"x", std::int64_t>(main);
        return layer::sequence_enumerate<2>(x);
      },
      {{"x", lamina::sequences<std::int64_t>({{1, 2, 3}, {3, 4}})}});
  // = [[1, 2], [2, 3], [3, 0], [3, 4], [4, 0]], sequences of 3 2
  // Example: layer::sequence_erase
  show(
      [](block& main) {
        auto x = layer::sequence<"x", std::int64_t>(main);
        return layer::sequence_erase<"kept">(x, {3});
      },
      {{"x", lamina::sequences<std::int64_t>({{1, 2, 3}, {3, 4}})}});
  // = [[1], [2], [4]], sequences of 2 1
  // Example: layer::ctc_align
  show(
      [](block& main) {
        auto x = layer::sequence<"x", std::int64_t>(main);
        return layer::ctc_align<"text">(x);
      },
      {{"x", lamina::sequences<std::int64_t>({{0, 1, 1, 0, 2}, {3, 3}})}});
  // = [[1], [2], [3]], sequences of 2 1
  // Example: layer::lod_reset
  show(
      [](block& main) {
        auto x = layer::sequence<"x", float>(main);
        return layer::lod_reset<"other", 0, 1, 5>(x);
      },
      {{"x", lamina::sequences<float>({{1, 2}, {3, 4, 5}})}});
  // = [[1], [2], [3], [4], [5]], sequences of 1 4
  // Example: layer::sequence_slice
  show(
      [](block& main) {
        auto x = layer::sequence<"x", float>(main);
        auto offset = layer::data<"offset", std::int64_t>(main);
        auto length = layer::data<"length", std::int64_t>(main);
        return layer::sequence_slice<"part">(x, offset, length);
      },
      {{"x", lamina::sequences<float>({{1, 2}, {3, 4, 5}})},
       {"offset", ids({0, 1})},
       {"length", ids({1, 2})}});
  // = [[1], [4], [5]], sequences of 1 2
  // Example: layer::simple_lstm
  show(
      [](block& main) {
        auto x = layer::sequence<"x", float, 2>(main);
        return layer::simple_lstm<2>(x);
      },
      {{"x", lamina::create_lod_tensor(rows({{1, 0}, {0, 1}, {1, 1}}), {{2, 1}})}});
  // = [[0.1375, 0.1717], [-0.03759, 0.05364], [0.04572, 0.1608]], sequences of 2 1
  // Example: layer::simple_gru
  show(
      [](block& main) {
        auto x = layer::sequence<"x", float, 2>(main);
        return layer::simple_gru<2>(x);
      },
      {{"x", lamina::create_lod_tensor(rows({{1, 0}, {0, 1}, {1, 1}}), {{2, 1}})}});
  // = [[0.1918, 0.379], [0.255, 0.4985], [0.3809, 0.6357]], sequences of 2 1
  // Example: layer::bidirectional_lstm
  show(
      [](block& main) {
        auto x = layer::sequence<"x", float, 2>(main);
        return layer::bidirectional_lstm<2>(x);
      },
      {{"x", lamina::create_lod_tensor(rows({{1, 0}, {0, 1}, {1, 1}}), {{2, 1}})}});
  // = [[-0.03759, 0.05364, 0.06596, 0.04165], [0.04572, 0.1608, 0.1023, 0.0418]]
  // Example: layer::multi_head_attention
  show(
      [](block& main) {
        auto x = layer::reshape<2, 4>(layer::data<"x", float, 8>(main));
        return layer::multi_head_attention<2>(x);
      },
      {{"x", rows({{1, 2, 3, 4, 5, 6, 7, 8}})}});
  // = [[[8.302, -2.121, -5.037, 2.034], [4.546, 2.068, -6.316, 1.489]]]
  // Example: layer::data_once
  show(
      [](block& main) {
        auto x = layer::data_once<"x", float, 3>(main);
        return layer::reduce_sum(x);
      },
      {{"x", lamina::tensor({3}, std::vector<float>{1, 2, 3})}});
  // = [6]
  // Example: layer::stop_gradient
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::stop_gradient(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[1, 2, 3, 4]]
  // Example: layer::cond
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::cond(
            layer::greater_than(layer::mean(x), layer::fill_constant<float>(main, 2)),
            [&](block&) { return layer::scale(x, 10); }, [&](block&) { return x; });
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[10, 20, 30, 40]]
  // Example: layer::relu
  show([](block& main) { return layer::relu(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[0, 0, 0.5, 2]]
  // Example: layer::tanh
  show([](block& main) { return layer::tanh(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-0.964, -0.4621, 0.4621, 0.964]]
  // Example: layer::sigmoid
  show([](block& main) { return layer::sigmoid(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[0.1192, 0.3775, 0.6225, 0.8808]]
  // Example: layer::softplus
  show([](block& main) { return layer::softplus(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[0.1269, 0.4741, 0.9741, 2.127]]
  // Example: layer::exp
  show([](block& main) { return layer::exp(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[0.1353, 0.6065, 1.649, 7.389]]
  // Example: layer::square
  show([](block& main) { return layer::square(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[4, 0.25, 0.25, 4]]
  // Example: layer::leaky_relu
  show([](block& main) { return layer::leaky_relu(layer::data<"x", float, 4>(main)); },
       {{"x", rows({{-2, -0.5f, 0.5f, 2}})}});
  // = [[-0.04, -0.01, 0.5, 2]]
  // Example: layer::log
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::log(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[0, 0.6931, 1.099, 1.386]]
  // Example: layer::sqrt
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::sqrt(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[1, 1.414, 1.732, 2]]
  // Example: layer::softmax
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::softmax(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[0.03206, 0.08714, 0.2369, 0.6439]]
  // Example: layer::mean
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::mean(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [2.5]
  // Example: layer::scale
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::scale(x, 2, {.bias = 1});
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[3, 5, 7, 9]]
  // Example: layer::clip
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::clip(x, 2, 3);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[2, 2, 3, 3]]
  // Example: layer::slice
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::slice<layer::along<1, 1, 3>>(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[2, 3]]
  // Example: layer::argmax
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::argmax<1>(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [3]
  // Example: layer::reduce_sum
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::reduce_sum<1>(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [10]
  // Example: layer::reduce_max
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::reduce_max<1>(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [4]
  // Example: layer::reshape
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::reshape<2, 2>(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[[1, 2], [3, 4]]]
  // Example: layer::layer_norm
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::layer_norm(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[-1.342, -0.4472, 0.4472, 1.342]]
  // Example: layer::l2_normalize
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::l2_normalize(x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[0.1826, 0.3651, 0.5477, 0.7303]]
  // Example: layer::fc
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 4>(main);
        return layer::fc<2>(x, {.param = {.initializer = lamina::init::constant(0.5f)}});
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[5, 5]]
  // Example: layer::elementwise_add
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::elementwise_add(x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[7, 1, 14]]
  // Example: layer::elementwise_mul
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::elementwise_mul(x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[10, -6, 49]]
  // Example: layer::less_than
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::less_than(x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[0, 1, 0]]
  // Example: layer::square_error_cost
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::square_error_cost(x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[9, 25, 0]]
  // Example: layer::cos_sim
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::cos_sim(x, y);
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[0.7621]]
  // Example: layer::concat
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::concat({x, y});
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[5, -2, 7, 2, 3, 7]]
  // Example: layer::logical_and
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto y = layer::data<"y", float, 3>(main);
        return layer::logical_and(layer::less_than(x, y), layer::not_equal(x, y));
      },
      {{"x", rows({{5, -2, 7}})}, {"y", rows({{2, 3, 7}})}});
  // = [[0, 1, 0]]
  // Example: layer::cross_entropy
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto label = layer::data<"label", std::int64_t>(main);
        return layer::cross_entropy(x, label);
      },
      {{"x", rows({{0.2f, 0.7f, 0.1f}})}, {"label", ids({1})}});
  // = [[0.3567]]
  // Example: layer::softmax_with_cross_entropy
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto label = layer::data<"label", std::int64_t>(main);
        return layer::softmax_with_cross_entropy(x, label);
      },
      {{"x", rows({{0.2f, 0.7f, 0.1f}})}, {"label", ids({1})}});
  // = [[0.7679]]
  // Example: layer::accuracy
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto label = layer::data<"label", std::int64_t>(main);
        return layer::accuracy(x, label);
      },
      {{"x", rows({{0.2f, 0.7f, 0.1f}})}, {"label", ids({1})}});
  // = [1]
  // Example: layer::sigmoid_cross_entropy_with_logits
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 3>(main);
        auto label = layer::data<"label", float, 3>(main);
        return layer::sigmoid_cross_entropy_with_logits(x, label);
      },
      {{"x", rows({{2, -1, 0}})}, {"label", rows({{1, 0, 1}})}});
  // = [[0.1269, 0.3133, 0.6931]]
  // Example: layer::embedding
  show(
      [](block& main) {
        auto ids = layer::data<"ids", std::int64_t>(main);
        return layer::embedding<3, 2>(ids,
                                      {.param = {.initializer = lamina::init::constant(0.5f)}});
      },
      {{"ids", ids({2, 0})}});
  // = [[0.5, 0.5], [0.5, 0.5]]
  // Example: layer::conv2d
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 1, 3, 3>(main);
        return layer::conv2d<1, 2>(x, {.param = {.initializer = lamina::init::constant(1)}});
      },
      {{"x", image(1, 3, 3)}});
  // = [[[[8, 12], [20, 24]]]]
  // Example: layer::pool2d
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 1, 4, 4>(main);
        return layer::pool2d<2, lamina::window{.stride = 2}>(x);
      },
      {{"x", image(1, 4, 4)}});
  // = [[[[5, 7], [13, 15]]]]
  // Example: layer::sequence_pool
  show(
      [](block& main) {
        auto x = layer::sequence<"x", float>(main);
        return layer::sequence_pool(x);
      },
      {{"x", lamina::sequences<float>({{1, 2}, {3, 4, 5}})}});
  // = [[1.5], [4]]
  // Example: layer::sequence_first_step
  show(
      [](block& main) {
        auto x = layer::sequence<"x", float>(main);
        return layer::sequence_first_step(x);
      },
      {{"x", lamina::sequences<float>({{1, 2}, {3, 4, 5}})}});
  // = [[1], [3]]
  // Example: layer::matmul
  show(
      [](block& main) {
        auto x = layer::reshape<2, 2>(layer::data<"x", float, 4>(main));
        return layer::matmul(x, x);
      },
      {{"x", rows({{1, 2, 3, 4}})}});
  // = [[[7, 10], [15, 22]]]
  // Example: layer::gather
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        auto rows = layer::data<"rows", std::int64_t>(main);
        return layer::gather(x, rows);
      },
      {{"x", rows({{1, 2}, {3, 4}})}, {"rows", ids({1, 0})}});
  // = [[3, 4], [1, 2]]
  // Example: layer::bernoulli
  show(
      [](block& main) {
        auto p = layer::data<"p", float, 4>(main);
        return layer::bernoulli(p);
      },
      {{"p", rows({{0, 1, 0, 1}})}});
  // = [[0, 1, 0, 1]]
  // End
}
