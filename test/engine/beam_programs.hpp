// SPDX-License-Identifier: Apache-2.0
// test/engine/beam_programs.hpp - decoders: loops of beam_search, in each step of which the
// hypotheses are others, and other many.
#pragma once

#include <cstdint>
#include <tuple>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/program/program.hpp>

namespace test::beam {

namespace layer = lamina::layer;
using lamina::block;

inline constexpr int dictionary = 5;

template <int BeamSize, int Steps, int End, class Real = float>
inline constexpr auto decoder = lamina::program([](block& main) {
  auto x = layer::data<"x", Real, 2>(main);
  auto ids = layer::nested_sequence<"beam", std::int64_t>(main);
  auto scores = layer::sequence<"scores", Real>(ids);
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto n = layer::fill_constant<std::int64_t>(main, Steps);
  auto id_steps = layer::array_write(ids, i);
  auto score_steps = layer::array_write(scores, i);
  // The score of a word depends on the step, so that no two sentences tie.
  auto weight = layer::fill_constant<Real>(main, 1);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](block&) {
    auto next = layer::log(
        layer::softmax(layer::fc<dictionary>(layer::embedding<dictionary, 6, Real>(ids))));
    auto all = layer::elementwise_add<0>(next * weight, scores);
    weight = weight * Real(1.125);
    auto [selected, score, parent] = layer::beam_search<"beam">(ids, scores, all, BeamSize, End);
    ids = selected;
    scores = score;
    layer::increment(i);
    layer::array_write(ids, i, id_steps);
    layer::array_write(scores, i, score_steps);
    layer::less_than(i, n, going);
  });
  auto [found, of_found] = layer::beam_search_decode<"found">(id_steps, score_steps, BeamSize, End);
  return std::tuple{layer::mean(layer::fc<3>(x)), found, of_found};
});

// A translator: each hypothesis has a state of its own, that of the one it continues. Behind the
// loop is a value of the first hypotheses, the last ones are others.
inline constexpr int width = 4, known_words = 3, beam_size = 3, steps = 8, end_id = 0;
inline constexpr auto translator = lamina::program([](block& main) {
  auto ids = layer::nested_sequence<"beam", std::int64_t>(main);
  auto scores = layer::sequence<"scores", float>(ids);
  auto state = layer::sequence<"state", float, width>(ids);
  auto first = layer::scale(state, 2);
  auto first_ids = ids;
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto n = layer::fill_constant<std::int64_t>(main, steps);
  auto id_steps = layer::array_write(ids, i);
  auto score_steps = layer::array_write(scores, i);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](block&) {
    auto word = layer::embedding<known_words, width>(ids, {.param = {.name = "words"}});
    auto next =
        layer::tanh(layer::fc<width>(word, {.param = {.name = "from_word"}, .bias = false}) +
                    layer::fc<width>(state, {.param = {.name = "from_state"}, .bias = false}));
    auto chances = layer::softmax(
        layer::fc<known_words>(next, {.param = {.name = "to_words"}, .bias = false}));
    auto all = layer::elementwise_add<0>(layer::log(chances), scores);
    auto [selected, score, parent] =
        layer::beam_search<"beam">(ids, scores, all, beam_size, end_id);
    ids = selected;
    scores = score;
    state = layer::gather(next, parent);
    layer::increment(i);
    layer::array_write(ids, i, id_steps);
    layer::array_write(scores, i, score_steps);
    layer::less_than(i, n, going);
  });
  auto [found, of_found] =
      layer::beam_search_decode<"found">(id_steps, score_steps, beam_size, end_id);
  auto words = layer::embedding<known_words, width>(first_ids, {.param = {.name = "words"}});
  return std::tuple{layer::mean(first + words), found, of_found, first + words,
                    layer::scale(state, 1)};
});

// One step each: a dictionary with many equal scores, some of hypotheses that have ended; four
// candidates a hypothesis with probabilities; sources that are sentences.
inline constexpr auto equal_scores = lamina::program([](block& main) {
  auto ids = layer::nested_sequence<"beam", std::int64_t>(main);
  auto scores = layer::sequence<"scores", float>(ids);
  auto x = layer::sequence<"x", float, 37>(ids);
  auto [selected, score, parent] =
      layer::beam_search<"next">(ids, scores, layer::floor(layer::scale(x, 2)), 5, 1);
  return std::tuple{layer::mean(layer::fc<1>(x)), selected, score, parent};
});
inline constexpr auto few_candidates = lamina::program([](block& main) {
  auto ids = layer::nested_sequence<"beam", std::int64_t>(main);
  auto scores = layer::sequence<"scores", float>(ids);
  auto x = layer::sequence<"x", float, 19>(ids);
  auto [best, at] = layer::topk<4>(layer::softmax(x));
  auto [selected, score, parent] =
      layer::beam_search<"next">(ids, scores, at, best, 3, 0, {.is_accumulated = false});
  return std::tuple{layer::mean(layer::fc<1>(x)), selected, score, parent};
});

}  // namespace test::beam
