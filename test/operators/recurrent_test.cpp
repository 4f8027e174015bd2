// SPDX-License-Identifier: Apache-2.0
// Recurrent layers in double on the compiled engine, beside the reference executor in double.
#include <tuple>

#include "laws/engine_law.hpp"
#include "laws/recorded_pieces.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::recurrent_activation;
using lamina::law::check_engine;

namespace {

constexpr auto lstms = program([](block& main) {
  auto x = layer::sequence<"x", double, 5>(main);
  auto [hidden, cell] = layer::dynamic_lstm<4 * 9>(layer::fc<4 * 9>(x));
  auto [back, unused] = layer::dynamic_lstm<4 * 9>(
      layer::fc<4 * 9>(hidden), {.use_peepholes = false,
                                 .is_reverse = true,
                                 .gate_activation = recurrent_activation::tanh,
                                 .cell_activation = recurrent_activation::identity,
                                 .candidate_activation = recurrent_activation::sigmoid});
  return std::tuple{pieces::cost_of(back) + layer::mean(cell), hidden, back};
});

constexpr auto projected = program([](block& main) {
  auto x = layer::sequence<"x", double, 5>(main);
  auto h = layer::data<"h", double, 3>(main);
  auto c = layer::data<"c", double, 18>(main);
  auto gates = layer::fc<4 * 18>(x);
  auto [first, cell] = layer::dynamic_lstmp<4 * 18, 3>(gates, h, c);
  auto [second, unused] = layer::dynamic_lstmp<4 * 18, 20>(
      gates, {.use_peepholes = false, .cell_clip = 0.2f, .proj_clip = 0.1f});
  return std::tuple{pieces::cost_of(first) + pieces::cost_of(second) + layer::mean(cell), first,
                    second};
});

constexpr auto grus = program([](block& main) {
  auto x = layer::sequence<"x", double, 7>(main);
  auto h = layer::data<"h", double, 16>(main);
  auto first = layer::dynamic_gru<9>(layer::fc<3 * 9>(x), {.is_reverse = true});
  auto second = layer::dynamic_gru<16>(layer::fc<3 * 16>(first), h, {.origin_mode = true});
  return std::tuple{pieces::cost_of(second), first, second};
});

constexpr auto units = program([](block& main) {
  auto x = layer::data<"x", double, 6>(main);
  auto h = layer::data<"h", double, 19>(main);
  auto c = layer::data<"c", double, 19>(main);
  auto [h1, c1] = layer::lstm_unit(x, h, c, {.forget_bias = 1});
  auto [h2, reset, gates] = layer::gru_unit<3 * 19>(layer::fc<3 * 19>(x), h1);
  return std::tuple{pieces::cost_of(h2) + layer::mean(c1), h1, c1, h2, reset, gates};
});

constexpr auto windows = program([](block& main) {
  auto x = layer::sequence<"x", double, 5>(main);
  auto y = layer::sequence_conv<7, 3>(x, {.act = lamina::activation::tanh});
  return std::tuple{pieces::cost_of(y), y};
});

}  // namespace

TEST_CASE("lstm in double") { check_engine(lstms); }

TEST_CASE("lstmp in double") { check_engine(projected); }

TEST_CASE("gru in double") { check_engine(grus); }

TEST_CASE("single steps in double") { check_engine(units); }

TEST_CASE("sequence_conv in double") { check_engine(windows); }
