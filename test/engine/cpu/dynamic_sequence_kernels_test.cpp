// SPDX-License-Identifier: Apache-2.0
// Sequences whose lengths operators make, on the engine: padded and back, cut, joined, erased,
// repeated, regrouped, against the executor, gradients included.
#include "laws/engine_law.hpp"

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;

namespace {

template <class V>
constexpr auto cost_of(V x) {
  return layer::mean(layer::square(layer::sequence_pool(x, {.type = lamina::pooling_type::sum})));
}

constexpr auto padded = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto id = layer::sequence<"id", std::int64_t>(x);
  auto [wide, length] = layer::sequence_pad<5>(layer::fc<6>(x), 0.25);
  auto back = layer::sequence_unpad<"back">(layer::tanh(wide), length);
  auto [ids, as_many] = layer::sequence_pad<4>(id, 7);
  return std::tuple{cost_of(layer::fc<2>(back)),
                    wide,
                    length,
                    back,
                    ids,
                    layer::sequence_mask<3>(length),
                    layer::sequence_mask<6, float>(as_many),
                    layer::sequence_mask<2, bool>(ids)};
});

constexpr auto padded_by_rows = lamina::program([](block& main) {
  auto x = layer::nested_sequence<"x", float, 2, 3>(main);
  auto row = layer::fill_constant<float, 2, 3>(main, -2);
  auto wide = std::get<0>(layer::sequence_pad<4>(x, row));
  return std::tuple{cost_of(wide), wide};
});

constexpr auto joined = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 6>(main);
  auto z = layer::sequence<"z", float, 6>(main);
  auto h = layer::fc<6>(x);
  auto both = layer::sequence_concat<"both">(std::tuple{h, z, layer::tanh(h)});
  auto narrow = layer::sequence_reshape<"narrow", 3>(both);
  auto wide = layer::sequence_reshape<"wide", 18>(
      layer::sequence_concat<"thrice">(std::tuple{layer::square(h), h, h}));
  return std::tuple{cost_of(layer::fc<4>(narrow)) + cost_of(layer::tanh(wide)), both, narrow, wide};
});

constexpr auto sliced = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 5>(main);
  auto h = layer::tanh(layer::fc<5>(x));
  auto length = layer::reshape<1>(std::get<1>(layer::sequence_pad<4>(x, 0)));
  auto one = layer::elementwise_min(length, layer::reshape<1>(layer::sequence_mask<1>(length)));
  auto tail = layer::sequence_slice<"tail">(h, one, layer::elementwise_sub(length, one));
  auto head = layer::sequence_slice<"head">(h, layer::elementwise_sub(one, one), one);
  return std::tuple{cost_of(tail) + cost_of(layer::square(head)), tail, head};
});

constexpr auto of_ids = lamina::program([](block& main) {
  auto id = layer::sequence<"id", std::int64_t>(main);
  auto small = layer::sequence<"small", std::int32_t>(main);
  auto windows = layer::sequence_enumerate<3>(id, {.pad_value = -1});
  auto kept = layer::sequence_erase<"kept">(id, {1, 3});
  auto path = layer::ctc_align<"path">(small, {.blank = 2});
  auto all = layer::ctc_align<"all">(small, {.blank = 0, .merge_repeated = false});
  auto word = layer::embedding<5, 4>(kept);
  return std::tuple{cost_of(word), windows, layer::sequence_enumerate<2>(small), kept,
                    path,          all,     layer::sequence_reverse(kept)};
});

constexpr auto greedy = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 4>(main);
  auto score = layer::fc<3>(x);
  return std::tuple{cost_of(score), layer::ctc_greedy_decoder<"label">(score, {.blank = 1})};
});

constexpr auto scattered = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto id = layer::sequence<"id", std::int64_t>(main);
  auto update = layer::sequence<"update", float>(id);
  auto y = layer::sequence_scatter(layer::fc<6>(x), id, layer::fc<1>(update));
  return std::tuple{layer::mean(layer::square(y)), y};
});

constexpr auto repeated = lamina::program([](block& main) {
  auto word = layer::nested_sequence<"word", float, 3>(main);
  auto topic = layer::sequence<"topic", float, 5>(main);
  auto h = layer::fc<5>(topic);
  auto copies = layer::sequence_expand<"copies", 0>(h, word);
  return std::tuple{cost_of(layer::tanh(copies)), copies, layer::fc<2>(word)};
});

// All pairs of a sequence: X, and the rows right above Out, are of one domain. So are the sentences
// that are repeated as often as each has words. Source: PaddlePaddle/Paddle PR 15877.
constexpr auto pairs = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto h = layer::fc<4>(x);
  auto all = layer::sequence_expand<"pairs">(h, h);
  auto word = layer::nested_sequence<"word", float, 3>(main);
  auto sentence = layer::sequence_pool(layer::fc<2>(word), {.type = lamina::pooling_type::sum});
  auto repeated = layer::sequence_expand<"repeated", 0>(sentence, word);
  auto last = layer::sequence_expand<"last", -2>(sentence, word);
  return std::tuple{cost_of(layer::tanh(all)) + cost_of(repeated) + cost_of(last), all, repeated,
                    last};
});
// Other sequences under the name of those of before.
constexpr auto regrouped_twice = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto first = layer::lod_reset<"groups", 0, 2, 5>(layer::fc<3>(x));
  auto second = layer::lod_reset<"groups", 0, 4, 5>(first);
  auto of_first = layer::sequence_pool(layer::square(first), {.type = lamina::pooling_type::sum});
  auto of_second = layer::sequence_pool(second, {.type = lamina::pooling_type::sum});
  return std::tuple{layer::mean(of_first) + layer::mean(layer::square(of_second)), of_first,
                    of_second};
});

constexpr auto regrouped = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto groups = layer::lod_reset<"groups", 0, 2, 2, 5>(layer::fc<3>(x));
  auto sums = layer::sequence_pool(groups, {.type = lamina::pooling_type::sum});
  return std::tuple{layer::mean(layer::square(sums)), groups, sums};
});

constexpr auto appended = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto parts = layer::lod_append<"parts", 0, 2, 2, 3, 5, 5>(layer::fc<3>(x));
  auto sums = layer::sequence_pool(parts, {.type = lamina::pooling_type::sum});
  auto cost = layer::mean(layer::square(sums) * layer::fc<3>(x));
  return std::tuple{cost, parts, sums};
});

}  // namespace

TEST_CASE("sequence_pad, sequence_unpad, sequence_mask") {
  lamina::law::check_engine(padded, {.limit = 6});
  lamina::law::check_engine(padded_by_rows);
}
TEST_CASE("sequence_concat and sequence_reshape") { lamina::law::check_engine(joined); }
TEST_CASE("sequence_slice") { lamina::law::check_engine(sliced); }
TEST_CASE("sequence_enumerate, sequence_erase, ctc_align") {
  lamina::law::check_engine(of_ids, {.limit = 5});
  lamina::law::check_engine(greedy);
}
TEST_CASE("sequence_scatter") { lamina::law::check_engine(scattered, {.limit = 6}); }
TEST_CASE("sequence_expand of whole sequences") { lamina::law::check_engine(repeated); }
TEST_CASE("the form of sequence_expand is told by levels: X by itself, and by what lies below it") {
  lamina::law::check_engine(pairs, {.limit = 4});
}
TEST_CASE("lod_reset to offsets") {
  lamina::law::check_engine(regrouped_twice, {.rows_are_alone = false, .batches = {5}});
  lamina::law::check_engine(regrouped, {.rows_are_alone = false, .batches = {5}});
}
TEST_CASE("lod_append") {
  lamina::law::check_engine(appended, {.rows_are_alone = false, .batches = {5}});
}
