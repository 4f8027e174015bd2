// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/selected_rows_programs.hpp - programs whose tables have gradients of some rows.
// For tests on the host and for a run on a device.
#pragma once

#include <cstdint>
#include <tuple>

#include "engine/cuda/loop_programs.hpp"

namespace test {

/// Two lookups of one table, another table of more rows than the team of an update has lines, and
/// one that a product reads too, so that its gradient is whole.
inline constexpr auto tables = lamina::program([](lamina::block& main) {
  const auto look_up = [](auto ids, int padding) {
    return layer::embedding<23, 19>(
        ids, {.param = {.name = "words"}, .padding_idx = padding, .is_sparse = true});
  };
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto user = layer::data<"user", std::int64_t>(main);
  auto bag = layer::data<"bag", float, 23>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto text = layer::sequence_pool(look_up(word, 1), {.type = lamina::pooling_type::sum});
  auto about = text + look_up(user, layer::no_padding);
  auto other = layer::embedding<1300, 4>(user, {.param = {.name = "users"}, .is_sparse = true});
  auto both = layer::fc<5>(bag, {.param = {.name = "both"}, .bias = false}) +
              layer::embedding<23, 5>(user, {.param = {.name = "both"}, .is_sparse = true});
  auto logits = layer::fc<5>(std::tuple{about, other, both});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

/// The numbers are of sequences that the program makes: how many there are no host knows before.
inline constexpr auto kept_words = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto kept = layer::sequence_erase<"kept">(word, {1, 3});
  const auto look_up = [](auto ids) {
    return layer::embedding<5, 6>(ids, {.param = {.name = "words"}, .is_sparse = true});
  };
  auto near = look_up(layer::reshape<2, 1>(layer::sequence_enumerate<2>(kept, {.pad_value = 4})));
  auto a = layer::sequence_pool(layer::fc<4>(layer::reshape<12>(near)),
                                {.type = lamina::pooling_type::sum});
  auto b = layer::sequence_pool(look_up(word), {.type = lamina::pooling_type::average});
  return detail::cost_of(a + layer::fc<4>(b));
});

}  // namespace test
