// SPDX-License-Identifier: Apache-2.0
// test/operators/decode/decode_rows.hpp - one row per operator of a beam search.
#pragma once

#include <laws/operator_row.hpp>

#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/decode/beam_search/layer.hpp>
#include <lamina/operators/decode/beam_search/layer_decode.hpp>

namespace rows {

template <class To>
void decode(To& to) {
  const auto nested_ids = [](lamina::tensor_shape shape, std::vector<integer> ids,
                             const std::vector<lamina::lod::level>& lengths) {
    return lod_tensor(tensor(std::move(shape), ids), lamina::lod::from_lengths(lengths));
  };
  const auto reals_of = [](lamina::tensor_shape shape, std::vector<float> values,
                           const std::vector<lamina::lod::level>& lengths) {
    return lod_tensor(tensor(std::move(shape), values), lamina::lod::from_lengths(lengths));
  };
  // Hypotheses 0 and 1, of which one has ended, continue the first sample, 2 and 3 the second.
  to.write(
      "beam_search",
      []<class T>(block& main) {
        auto before = layer::nested_sequence<"before", integer>(main);
        auto so_far = layer::sequence<"so_far", T>(before);
        auto ids = layer::sequence<"ids", integer, 3>(before);
        auto scores = layer::sequence<"scores", T, 3>(before);
        auto [kept, score, parent] = layer::beam_search<"beam">(before, so_far, ids, scores, 2, 0);
        return std::tuple{kept, score};
      },
      {.feed = {{"before", nested_ids({4, 1}, {0, 2, 3, 4}, {{2, 2}, {1, 1, 1, 1}})},
                {"so_far", reals_of({4, 1}, {.6f, .1f, .3f, .4f}, {{2, 2}, {1, 1, 1, 1}})},
                {"ids",
                 nested_ids({4, 3}, {4, 2, 5, 2, 1, 3, 3, 5, 2, 8, 2, 1}, {{2, 2}, {1, 1, 1, 1}})},
                {"scores",
                 reals_of({4, 3}, {.9f, .8f, .75f, .7f, .3f, .1f, .4f, .5f, .15f, .65f, .55f, .2f},
                          {{2, 2}, {1, 1, 1, 1}})}},
       .gradients = false,
       .rows = 2,
       .any_rows = false});
  to.write("beam_search_decode",
           []<class T>(block& main) {
             auto ids = layer::nested_sequence<"beam", integer>(main);
             auto scores = layer::sequence<"scores", T>(ids);
             auto i = layer::fill_constant<integer>(main, 0);
             auto id_steps = layer::array_write(ids, i);
             auto score_steps = layer::array_write(scores, i);
             for (int step = 0; step < 3; ++step) {
               auto next = layer::embedding<5, 5, T>(ids, {.param = {.name = "bigram"}});
               auto all = layer::elementwise_add<0>(next, scores);
               auto kept = layer::beam_search<"beam">(ids, scores, all, 2, 0);
               ids = std::get<0>(kept);
               scores = std::get<1>(kept);
               layer::increment(i);
               layer::array_write(ids, i, id_steps);
               layer::array_write(scores, i, score_steps);
             }
             return layer::beam_search_decode<"found">(id_steps, score_steps, 2, 0);
           },
           {.feed = {{"beam", nested_ids({3, 1}, {1, 2, 3}, {{1, 1, 1}, {1, 1, 1}})},
                     {"scores", reals_of({3, 1}, {0, 0, 0}, {{1, 1, 1}, {1, 1, 1}})}},
            .gradients = false,
            .any_rows = false});
}

}  // namespace rows
