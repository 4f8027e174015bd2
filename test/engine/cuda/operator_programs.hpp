// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/operator_programs.hpp - programs of operators that few networks need. For tests
// on the host and for a run on a device.
#pragma once

#include <cstdint>
#include <tuple>

#include "engine/cuda/train_both.hpp"

namespace test {

/// Norms along dimensions, likenesses of rows, running sums, products whose factors may be 0, sums
/// of whole numbers.
inline constexpr auto likenesses = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto y = layer::prelu(layer::fc<6, 2>(x), {.mode = layer::prelu_mode::element});
  auto rows = layer::l2_normalize(y);
  auto columns = layer::l2_normalize<1>(layer::prelu(x * y));
  auto sums =
      layer::cumsum<1>(rows, {.exclusive = true}) + layer::cumsum(columns, {.reverse = true});
  auto half = layer::relu(layer::fc<5>(sums));
  auto few = layer::reduce_prod<-1>(layer::relu(y));
  auto all = layer::reduce_prod<1>(half, layer::keep_dim);
  // Rows of zeros have no direction.
  auto some = layer::scale(half, 1.0f, {.bias = 0.1f});
  auto near = layer::cos_sim(some, layer::fc<5>(rows));
  auto one = layer::reduce_mean<0>(some, layer::keep_dim);
  auto far = layer::cos_sim(layer::fc<5>(columns), one);
  auto twice = layer::sum({label, label, label});
  auto logits =
      layer::fc<5>(layer::concat<1>(std::tuple{few, all, near, far, layer::cast<float>(twice)}));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label)) + layer::mean(near);
});

/// Images across channels, of other sizes, and parts of them.
inline constexpr auto regions = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 6, 5, 4>(main);
  auto where = layer::sequence<"where", float, 4>(main);
  auto c =
      layer::lrn(layer::conv2d<6, 3, lamina::window{.padding = 1}>(image), {.n = 4, .alpha = 0.2f});
  auto few = layer::maxout<2>(layer::prelu(c, {.mode = layer::prelu_mode::channel}));
  auto large = layer::resize_bilinear<lamina::extent2{9, 7}>(few);
  auto other =
      layer::resize_bilinear<lamina::extent2{3, 9}>(few, {.align_corners = false, .align_mode = 0});
  auto near = layer::resize_nearest<lamina::extent2{8, 3}>(few, {.align_corners = false});
  auto parts = layer::roi_pool<lamina::extent2{2, 3}>(large, where, {.spatial_scale = 6});
  auto cost = layer::mean(layer::square(layer::fc<5>(parts)));
  return cost + layer::mean(layer::square(layer::fc<5>(layer::sin(other)))) +
         layer::mean(layer::square(layer::fc<5>(layer::tanh(near))));
});

/// Steps of recurrent units, and recurrences whose states are projections with limits.
inline constexpr auto units = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 4>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto whole = layer::sequence_pool(x, {.type = lamina::pooling_type::sum});
  auto h = layer::fc<5>(whole);
  auto once = std::get<0>(layer::gru_unit<15>(layer::fc<15>(whole), h));
  auto twice = std::get<0>(layer::gru_unit<15>(
      layer::fc<15>(once), once,
      {.origin_mode = true, .activation = lamina::recurrent_activation::relu, .bias = false}));
  auto [hidden, cell] = layer::lstm_unit(whole, twice, layer::tanh(h), {.forget_bias = 0.5f});
  auto [state, cells] = layer::dynamic_lstmp<24, 4>(layer::fc<24>(x));
  auto back = std::get<0>(layer::dynamic_lstmp<20, 3>(
      layer::fc<20>(state), layer::fc<3>(whole), cell,
      {.use_peepholes = false, .is_reverse = true, .cell_clip = 0.3f, .proj_clip = 0.2f}));
  auto a = layer::sequence_pool(back, {.type = lamina::pooling_type::first});
  auto b = layer::sequence_pool(cells, {.type = lamina::pooling_type::last});
  auto logits = layer::fc<5>(layer::concat<1>(std::tuple{a, b, hidden, once}));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

/// Tags of words: the cost of the right ones, and the best ones.
inline constexpr auto tags = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 4>(main);
  auto label = layer::sequence<"label", std::int64_t>(x);
  auto scores = layer::fc<5>(x);
  auto cost = layer::linear_chain_crf(scores, label, {.param = {.name = "crf"}});
  auto path = layer::crf_decoding(scores, {.param = {.name = "crf"}});
  auto right = layer::crf_decoding(layer::scale(scores, 2.0f), label, {.param = {.name = "crf"}});
  auto found = layer::mean(layer::cast<float>(path)) + layer::mean(layer::cast<float>(right));
  return layer::mean(layer::square(cost)) + found;
});

/// Labels without positions; for sequences of labels that are half as long
/// (sequence_lengths::halves).
inline constexpr auto spoken = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 4>(main);
  auto label = layer::sequence<"label", std::int64_t>(main);
  auto scores = layer::fc<6>(x);
  auto cost = layer::warpctc(scores, label, {.blank = 5});
  auto other = layer::warpctc(layer::tanh(scores), label, {.blank = 5, .norm_by_times = true});
  return layer::mean(layer::square(cost)) + layer::mean(other);
});

/// Random numbers of every kind, one of them with a seed of its own.
inline constexpr auto noises = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto a = layer::uniform_random<5>(main, {.min = 0});
  auto b = layer::gaussian_random<5>(main, {.mean = 0.5f, .seed = 7});
  auto c = layer::uniform_random_batch_size_like<5>(x);
  auto d = layer::gaussian_random_batch_size_like<5>(x, {.std = 2});
  return layer::mean(layer::square(layer::fc<5>(x) * c + d + a * b));
});

/// Statistics over all mini-batches.
inline constexpr auto areas = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto chances = layer::softmax(layer::fc<2>(x));
  auto area = layer::auc(chances, label, {.num_thresholds = 40, .name = "area"});
  return std::tuple{layer::mean(chances), area};
});

/// The same with counts that do not begin with zeros, and with something to train.
inline constexpr auto counted_areas = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto scores = layer::fc<2>(x);
  auto area = layer::auc(layer::softmax(scores), label, {.num_thresholds = 40});
  layer::cast<float>(area, {.name = "area"});
  lamina::program_builder& b = *x.builder;
  for (int i = 0; i < b.startup.count; ++i) {
    const auto& v = b.variables[b.arguments[b.startup[i].outputs]];
    if (v.kind != lamina::variable_kind::parameter)
      b.attributes[b.startup[i].attributes + 2].number = 3;
  }
  return layer::mean(layer::softmax_with_cross_entropy(scores, label));
});

/// A variable that is printed, and its gradient.
inline constexpr auto printed = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 4>(main);
  auto y = layer::print(layer::fc<3>(x), {.message = "seen", .summarize = 5});
  return layer::mean(layer::square(layer::sequence_pool(y, {.type = lamina::pooling_type::sum})));
});

/// Costs that look at whole rows or at all elements, and labels that are smoothed.
inline constexpr auto costs = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto near = layer::data<"near", float, 6>(main);
  auto weight = layer::data<"weight", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto prior = layer::uniform_random<1, 6>(main, {.min = 0});
  auto logits = layer::fc<6>(layer::clip_by_norm(layer::scale(x, 3.0f), 2.5f)) +
                layer::fc<6>(layer::clip_by_norm(x, 1e3f));
  auto chances = layer::label_smooth(layer::softmax(logits), {.epsilon = 0.2f});
  auto other = layer::label_smooth(layer::softmax(near), prior, {.epsilon = 0.3f});
  auto logs = layer::log(chances);
  auto apart = layer::smooth_l1(logits, near, {.sigma = 2}) +
               layer::smooth_l1(near, logits, weight, layer::square(weight));
  auto each = layer::kldiv_loss<layer::reduction::none>(logs, near);
  auto whole = layer::kldiv_loss(logs, other) +
               layer::kldiv_loss<layer::reduction::batchmean>(logs, near) +
               layer::scale(layer::kldiv_loss<layer::reduction::sum>(logs, other), 0.1f);
  return layer::mean(apart) + layer::mean(each) + whole +
         layer::mean(layer::bpr_loss(logits, label));
});

/// Images with borders of every kind, pyramids of windows, and windows as sequences.
inline constexpr auto patches = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 3, 5, 4>(main);
  auto c = layer::conv2d<3, 3, lamina::window{.padding = 1}>(image);
  auto framed = layer::pad2d<1, 2, 0, 3>(c, {.value = 0.5f});
  auto mirrored = layer::pad2d<2, 4, 3, 1, lamina::pad_mode::reflect>(layer::tanh(c));
  auto repeated = layer::pad2d<0, 2, 3, 2, lamina::pad_mode::edge>(c);
  auto most = layer::spp<2>(mirrored);
  auto mean = layer::spp<3>(framed, {.type = lamina::pooling_type::average});
  auto lines = layer::im2sequence<"lines", lamina::extent2{3, 2},
                                  lamina::window{.stride = {2, 1}, .padding = 1}>(repeated);
  auto read =
      layer::sequence_pool(layer::tanh(layer::fc<5>(lines)), {.type = lamina::pooling_type::sum});
  return layer::mean(
      layer::square(layer::scale(layer::fc<5>(most) + layer::fc<5>(mean) + read, 0.2f)));
});

}  // namespace test
