// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/choice_programs.hpp - programs that order and choose elements, and measure what
// was found. For tests on the host and for a run on a device.
#pragma once

#include <cstdint>
#include <tuple>

#include "engine/cuda/train_both.hpp"

namespace test {

namespace detail {
template <class V>
constexpr auto mean_number(V x) {
  return layer::mean(layer::cast<float>(x));
}
}  // namespace detail

/// Elements in order along inner dimensions and rows, and where the ends stand.
inline constexpr auto orders = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto y = layer::fc<6, 2>(x);
  auto [up, places] = layer::argsort(y);
  // Many are equal: they keep their order.
  auto [down, others] = layer::argsort<1>(layer::relu(y), {.descending = true});
  auto [numbers, rows] = layer::argsort<0>(label);
  auto all = layer::fc<5>(up) + layer::fc<5>(down * layer::cast<float>(others));
  auto found = detail::mean_number(places) * detail::mean_number(layer::argmax<2>(y)) +
               detail::mean_number(layer::argmin<1>(y)) +
               detail::mean_number(layer::argmin(label)) + detail::mean_number(rows * numbers) +
               detail::mean_number(layer::argmax<0>(y));
  return layer::mean(layer::softmax_with_cross_entropy(all, label)) + found;
});

/// Entries and rows that numbers choose, whole constants, and what a run knows of a variable.
inline constexpr auto chosen_rows = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto which = layer::data<"which", std::int64_t>(main);
  auto h = layer::fc<6>(x);
  auto mixed = layer::multiplex({h, layer::fc<6>(h), x, layer::tanh(h), layer::square(h)}, which);
  auto base = layer::reshape<5, 3>(layer::reduce_mean<0>(layer::fc<15>(x)));
  auto last = layer::scatter(base, which, layer::fc<3>(mixed));
  auto sums = layer::scatter(base, which, layer::fc<3>(h), {.overwrite = false});
  auto counts = layer::scatter(layer::reshape<5, 1>(layer::range<5, 0, -1>(main)), which, which,
                               {.overwrite = false});
  auto few = layer::cast<float>(layer::range<0, 6>(main));
  auto sides = layer::cast<float>(layer::shape(x));
  auto none = layer::cast<float>(layer::is_empty(x));
  auto norms = layer::l1_norm(h) + layer::squared_l2_norm(mixed);
  auto near = layer::mean(layer::squared_l2_distance(h, mixed)) +
              layer::mean(layer::squared_l2_distance(h, layer::reduce_mean<0>(x, layer::keep_dim)));
  return layer::mean(layer::square(last)) + layer::mean(layer::square(sums)) + norms * 0.01f +
         near + layer::mean(h * few) + detail::mean_number(counts) + layer::mean(sides) +
         layer::mean(none) + layer::mean(layer::hsigmoid<5>(h, which));
});

/// Averages of regions, volumes, and elements that go back to where they were.
inline constexpr auto volumes = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 4, 6, 5>(main);
  auto where = layer::sequence<"where", float, 4>(main);
  auto c = layer::conv2d<4, 3, lamina::window{.padding = 1}>(image);
  auto [few, places] =
      layer::max_pool2d_with_index<lamina::extent2{2, 3},
                                   lamina::window{.stride = {2, 1}, .padding = {0, 1}}>(c);
  auto back =
      layer::unpool<lamina::extent2{2, 3}, lamina::window{.stride = {2, 1}, .padding = {0, 1}}>(
          few, places);
  auto a = layer::roi_align<lamina::extent2{2, 3}>(c, where, {.spatial_scale = 5});
  auto b = layer::roi_align<2>(c, where, {.spatial_scale = 3, .sampling_ratio = 2});
  auto scores = layer::psroi_pool<2>(c, where, {.spatial_scale = 5});
  auto volume = layer::reshape<2, 4, 5, 3>(layer::fc<120>(c));
  auto most = layer::pool3d<2, lamina::window3{.stride = 2, .padding = 1}>(volume);
  auto middle = layer::pool3d<lamina::extent3{2, 3, 2}, lamina::window3{.padding = {1, 1, 0}}>(
      volume, {.type = lamina::pooling_type::average, .exclusive = false});
  auto deep = layer::conv3d<4, 3, lamina::window3{.stride = {1, 2, 1}, .padding = 1, .groups = 2}>(
      volume, {.act = activation::tanh});
  return layer::mean(layer::square(a)) + layer::mean(layer::square(layer::fc<3>(b))) +
         layer::mean(layer::square(layer::fc<3>(deep))) + layer::mean(layer::square(scores)) +
         layer::mean(layer::square(layer::fc<3>(back))) +
         layer::mean(layer::square(layer::fc<3>(most))) + layer::mean(layer::square(middle));
});

/// Decoded labels and their distance from the right ones, chunks of tags, places of conditions.
inline constexpr auto measures = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 4>(main);
  auto tag = layer::sequence<"tag", std::int64_t>(x);
  auto wanted = layer::sequence<"wanted", std::int64_t>(main);
  auto scores = layer::fc<5>(x);
  auto decoded = layer::ctc_greedy_decoder<"decoded">(scores, {.blank = 2});
  auto [distance, count] = layer::edit_distance(decoded, wanted, {.normalized = false});
  auto path = std::get<1>(layer::topk<1>(scores));
  auto [precision, recall, f1, inferred, labelled, correct] =
      layer::chunk_eval<2>(path, tag, {.scheme = layer::chunk_scheme::iob});
  auto other = layer::chunk_eval<4>(path, tag, {.scheme = layer::chunk_scheme::plain}, {1});
  auto found = layer::where<"found">(layer::greater_than(scores, layer::scale(scores, 0.0f)));
  auto cost = layer::mean(layer::softmax_with_cross_entropy(scores, tag));
  auto places =
      layer::sequence_pool(layer::cast<float>(found), {.type = lamina::pooling_type::sum});
  return cost + layer::mean(distance) + detail::mean_number(count) + precision + recall + f1 +
         detail::mean_number(inferred + labelled * correct) + std::get<2>(other) +
         detail::mean_number(std::get<3>(other)) + layer::mean(places);
});

/// Distances divided by lengths, which must not be 0.
inline constexpr auto normalised_distance = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto said = layer::sequence<"said", std::int64_t>(main);
  auto wanted = layer::sequence<"wanted", std::int64_t>(main);
  auto distance = std::get<0>(layer::edit_distance(said, wanted));
  return layer::mean(layer::square(layer::fc<3>(x))) + layer::mean(distance);
});

}  // namespace test
