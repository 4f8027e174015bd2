// SPDX-License-Identifier: Apache-2.0
// A decoder as a loop of beam_search on the engine: in each step the hypotheses are others, and
// other many. Against the executor.
#include "laws/engine_law.hpp"

#include <lamina/layers/layers.hpp>
#include <lamina/layers/tensor_array.hpp>
#include <lamina/layers/while_loop.hpp>

namespace layer = lamina::layer;
using lamina::block;

namespace {

constexpr int dictionary = 5;

template <int BeamSize, int Steps, int End>
constexpr auto decoder = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto ids = layer::nested_sequence<"beam", std::int64_t>(main);
  auto scores = layer::sequence<"scores", float>(ids);
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto n = layer::fill_constant<std::int64_t>(main, Steps);
  auto id_steps = layer::array_write(ids, i);
  auto score_steps = layer::array_write(scores, i);
  // The score of a word depends on the step, so that no two sentences tie.
  auto weight = layer::fill_constant<float>(main, 1);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](block&) {
    auto next =
        layer::log(layer::softmax(layer::fc<dictionary>(layer::embedding<dictionary, 6>(ids))));
    auto all = layer::elementwise_add<0>(next * weight, scores);
    weight = weight * 1.125f;
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

}  // namespace

TEST_CASE("A decoder that goes on with what it selected") {
  const lamina::law::engine_law_options o{.limit = dictionary, .rows_are_alone = false};
  lamina::law::check_engine(decoder<4, 4, -1>, o);
  lamina::law::check_engine(decoder<12, 3, 0>, o);
}

TEST_CASE("One machine decodes mini-batches of any size") {
  using run_type = lamina::law::engine_run<std::remove_const_t<decltype(decoder<4, 4, -1>)>>;
  const lamina::law::engine_law_options o{.limit = dictionary};
  run_type run(o);
  const std::vector<int> wanted(run_type::desc.outputs + 1,
                                run_type::desc.outputs + run_type::desc.count.outputs);
  for (const int rows : {2, 17, 1, 40, 5}) {
    INFO(rows << " rows");
    run.draw(rows);
    const std::vector<lamina::lod_tensor> expected = run.run_executor<float>(wanted);
    run.run_engine(0, rows);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      lamina::law::require_close(run.on_engine(wanted[i]), expected[i], o.tolerance);
  }
}
