// SPDX-License-Identifier: Apache-2.0
// Programs at edge values compute on a device what they do on the CPU.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "engine/cuda/edges/check_at_place.hpp"
#include <catch2/catch.hpp>

namespace cuda = lamina::engine::cuda;

namespace {

using namespace test::edges;

constexpr int width = 16;
/// Results whose gradients do not count.
constexpr auto chosen = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, width>(main);
  auto y = layer::data<"y", float, width>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto n = layer::cast<std::int64_t>(label);
  auto [best, places] = layer::topk<5>(x);
  auto image = layer::reshape<1, 4, 4>(x);
  return std::tuple{layer::elementwise_max(x, y),
                    layer::elementwise_min(x, y),
                    layer::reduce_max<1>(x),
                    layer::reduce_min<1>(x),
                    layer::reduce_max<0>(x),
                    layer::reduce_min<0>(x),
                    layer::argmax<1>(x),
                    layer::argmin<1>(x),
                    layer::argmax<0>(x),
                    layer::argmax<0>(n),
                    layer::clip(x, -1, 1),
                    layer::relu(x),
                    layer::relu6(x),
                    layer::elu(x),
                    layer::hard_shrink(x),
                    layer::softshrink(x),
                    layer::thresholded_relu(x),
                    layer::sign(x),
                    best,
                    places,
                    layer::accuracy(x, label),
                    layer::accuracy<3>(x, label),
                    layer::pool2d<2, lamina::window{.stride = 2}>(image),
                    layer::pool2d<3, lamina::window{.stride = 1, .padding = 1}>(image),
                    layer::maxout<4>(layer::reshape<4, 2, 2>(x))};
});

/// Costs through which the first of equal ones, or NaN, gets a gradient.
constexpr auto choices = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, width>(main);
  auto y = layer::data<"y", float, width>(main);
  auto w = layer::data<"w", float, width>(main);
  auto image = layer::reshape<1, 4, 4>(x);
  auto volume = layer::reshape<1, 2, 2, 4>(x);
  auto of_rows =
      layer::reduce_max<1>(x, layer::keep_dim) + layer::reduce_min<1>(x, layer::keep_dim);
  auto all =
      layer::elementwise_max(x, y) * w + layer::elementwise_min(x, y) + of_rows +
      layer::reshape<width>(layer::pool2d<3, lamina::window{.stride = 1, .padding = 1}>(image)) * w;
  auto few = layer::reshape<4>(layer::pool2d<2, lamina::window{.stride = 2}>(image)) +
             layer::reshape<4>(layer::maxout<4>(layer::reshape<4, 2, 2>(x)));
  auto deep = layer::reshape<2>(layer::pool3d<2, lamina::window3{.stride = 2}>(volume));
  auto pyramid = layer::spp<2>(image);
  return std::tuple{layer::mean(all) + layer::mean(few) + layer::mean(deep) + layer::mean(pyramid),
                    all, few, deep, pyramid};
});
constexpr auto of_sequences = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  return layer::mean(layer::sequence_pool(x, {.type = lamina::pooling_type::max}));
});

constexpr auto neighbours = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4, 1, 2>(main);
  auto y = layer::lrn(x, {.k = 0});
  return std::tuple{layer::mean(layer::square(y)), y};
});

constexpr auto tagged = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto tag = layer::sequence<"tag", std::int64_t>(x);
  auto cost = layer::linear_chain_crf(x, tag);
  return std::tuple{layer::mean(cost), cost};
});
constexpr auto spoken = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto cost = layer::warpctc(x, layer::sequence<"labels", std::int64_t>(main));
  return std::tuple{layer::mean(cost), cost};
});
constexpr auto one_value = lamina::program([](lamina::block& main) {
  auto y = layer::batch_norm(layer::data<"x", float, 3>(main));
  return std::tuple{layer::mean(y * layer::square(y)), y};
});
constexpr auto pairs = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
  auto all = layer::sequence_expand<"pairs">(x, x);
  auto word = layer::nested_sequence<"word", float, 2>(main);
  auto sentence = layer::sequence_pool(word, {.type = lamina::pooling_type::sum});
  auto repeated = layer::sequence_expand<"repeated", 0>(sentence, word);
  auto last = layer::sequence_expand<"last", -2>(sentence, word);
  return std::tuple{
      layer::mean(layer::square(all)) + layer::mean(layer::square(repeated)) + layer::mean(last),
      all, repeated, last};
});
constexpr auto remainders = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1>(main);
  auto y = layer::data<"y", float, 1>(main);
  return std::tuple{layer::elementwise_mod(x, y), layer::elementwise_floordiv(x, y),
                    layer::elementwise_div(x, y)};
});

constexpr auto whole = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", std::int64_t>(main);
  auto y = layer::data<"y", std::int64_t>(main);
  return std::tuple{layer::elementwise_mod(x, y), layer::elementwise_floordiv(x, y),
                    layer::elementwise_div(x, y)};
});

}  // namespace

// ml-explore/mlx#4274, tensorflow/tensorflow#125965, pytorch/pytorch#25016
TEST_CASE("NaN is chosen before every number on a device, too") {
  for (const double rest : {-3., 0., infinity, -infinity, none})
    for (const int place : {0, 5, width - 1}) {
      INFO(rest << " at " << place);
      numbers x(2 * width, rest), y(2 * width, rest), w;
      x[static_cast<std::size_t>(place)] = none;
      x[width + 3] = 7;
      for (int i = 0; i < 2 * width; ++i) w.push_back(1 + i);
      const numbers label{static_cast<double>(place), 3};
      check_teams(chosen, {x, y, label}, 2);
      check(chosen, {y, x, label}, 2);
      check_teams(choices, {x, y, w}, 2);
    }
}
TEST_CASE("the first of equal ones has the gradient of an extreme on a device, too") {
  numbers x, y, w;
  for (int i = 0; i < 3 * width; ++i) x.push_back(i * i % 3), y.push_back(i % 2), w.push_back(i);
  check_teams(choices, {x, y, w}, 3);
}
TEST_CASE("the largest of a sequence is NaN, and the first of equal ones, on a device, too") {
  check_teams(of_sequences, {{1, none, 2, 3, 4, 2, none, none, 1, 5, 6, none}}, 2,
              {.lengths = {{3, 1}}});
}
// tiny-dnn/tiny-dnn#410, pytorch/pytorch#11752
TEST_CASE("0 times infinity is 0 on a device, too") {
  check_teams(probabilities,
              {joined({{120, 0, -1}, {120, 0, -1}, {0, 1, 2}, {-1e30, 1e30, 0}}),
               joined({{1, 0, 0}, {0, 1, 0}, {0.5, 0.5, 0}, {0, 0, 1}}),
               {0, 1, -100, 0}},
              4);
  check_teams(logits,
              {joined({{0, -infinity, 0}, {1e7, 1e7, -infinity}, {infinity, 0, 0}, {1, 2, 3}}),
               {1, 1, 0, 1},
               joined({{0.5, 0, 0.5}, {1, 0, 0}, {0, 0, 0}, {1, 0, 0}}),
               {0, 1, -100, -100}},
              4);
  check(costs_of_pairs,
        {{infinity, -infinity, 1e20, -1e20, 30, -30, -17, 17, -100, 0},
         {1, 0, 1, 0, 1, 0, 0, 1, 0.25, 0.5},
         numbers(10, 0.)},
        10);
  check(ranked, {{1000, 0, -1000, -1000, 0, 1000}, {0, 0}}, 2);
}
TEST_CASE("logits that share a large number keep their digits on a device, too") {
  for (const double v : {1e4, 1e6, 1e7, -1e7})
    check_teams(logits,
                {joined({{v, v, v - 1e6}, {v, v, v - 1e6}}),
                 {1, 1},
                 joined({{1, 0, 0}, {0.5, 0.5, 0}}),
                 {0, 1}},
                2);
}
// tracel-ai/burn#5584, google-deepmind/optax#946
TEST_CASE("norms of zero vectors and of vectors around 1e20 on a device") {
  numbers x, y;
  for (const double size : {0., 1., 1e20, 1e-22, 1e-18})
    for (int i = 0; i < 20; ++i) x.push_back(size * std::sin(i + 1.));
  for (const double size : {1., 0., 1e19, 1., 1e18})
    for (int i = 0; i < 20; ++i) y.push_back(size * std::cos(3. * i));
  check_teams(norms, {x, y}, 5, {.tolerance = 1e-4, .margin = 1e-6});
  check_teams(slopes_of_norms, {x, numbers(100, 1.)}, 5, {.tolerance = 2e-2, .margin = 1e-5});
  for (const double size : {0., 1., 1e20, 1e-30, 1e38})
    check(clipped, {{3 * size, 0, -size, size, 2 * size, 0}}, 2);
}
TEST_CASE("norms of groups and of neighbours on a device: zeros, large numbers") {
  numbers w;
  for (int i = 0; i < 36; ++i) w.push_back(std::cos(i * 0.7));
  for (const double size : {0., 1e20, 1e-20, 1.}) {
    numbers one;
    for (int i = 0; i < 36; ++i) one.push_back(size * std::sin(1.3 * i));
    check_teams(groups, {one, w}, 1, {.tolerance = 1e-3, .margin = 1e-6});
  }
  check(neighbours, {{0, 1, 0, 2, 0, 3, 0, 0}}, 1);
}
// ml-explore/mlx#4188
TEST_CASE("CTC on a device: offsets, and labels without a path") {
  const numbers labels{1, 2, 1, 2};
  for (const double offset : {0., 1e6, -1e6}) {
    numbers x;
    for (int i = 0; i < 18; ++i) x.push_back(offset + i % 3 / 2.);
    check_teams(spoken, {x, labels}, 2,
                {.tolerance = 1e-4, .margin = 1e-6, .lengths = {{3, 3}, {2, 2}}});
    for (int t = 0; t < 3; ++t) x[static_cast<std::size_t>(3 * t + 1)] = -infinity;
    check_teams(spoken, {x, labels}, 2,
                {.tolerance = 1e-4, .margin = 1e-6, .lengths = {{3, 3}, {2, 2}}});
    std::fill_n(x.begin(), 9, -infinity);
    check_teams(spoken, {x, labels}, 2,
                {.tolerance = 1e-4, .margin = 1e-6, .lengths = {{3, 3}, {2, 2}}});
  }
}
// allenai/allennlp#4478
TEST_CASE("CRF on a device: forbidden transitions, and labels without a path") {
  constexpr float never = -std::numeric_limits<float>::infinity();
  const numbers tags{0, 1, 1, 0, 0, 0};
  test::edge_options options{.tolerance = 2e-4, .margin = 1e-4, .lengths = {{2, 1, 3}}};
  for (const float forbidden : {0.5f, -10000.f, never})
    for (const double gap : {1., 50., 110., 1000.})
      for (const double offset : {0., 1048576.}) {
        INFO("a gap of " << gap << ", " << forbidden << ", offset " << offset);
        // Of the last sequence the label takes what is forbidden.
        options.parameters = {{0, 0, 0, 0, forbidden, 0, 0, 0}};
        numbers x;
        for (int i = 0; i < 12; ++i) x.push_back(offset + (i % 2 == 0 ? gap : 0));
        check_teams(tagged, {x, tags}, 3, options);
        x[2] = -infinity;
        check_teams(tagged, {x, tags}, 3, options);
        x[3] = -infinity;
        check_teams(tagged, {x, tags}, 3, options);
      }
}
TEST_CASE("batch_norm on a device passes one number a channel") {
  check(one_value, {{3, -4, 1e20}}, 1);
  // Of two values a channel all gradients are rounding errors.
  check(one_value, {{3, -4, 1, 2, 5, 6, -1, 0, 9}}, 3, {.tolerance = 1e-4});
  check(one_value, {{infinity, -4, -infinity}}, 1);
}
// pytorch/pytorch#162489
TEST_CASE(
    "norms of channels and groups on a device: sums and products that are more than a float") {
  numbers x, w;
  for (int i = 0; i < 108; ++i)
    x.push_back(3 + std::sin(1.3 * i * i)), w.push_back(std::cos(i * 0.7));
  for (const double size : {1e20, 1e37})
    for (const double slope : {1., 1e20}) {
      numbers of_x, of_w;
      for (const double v : x) of_x.push_back(size * v);
      for (const double v : w) of_w.push_back(slope * v);
      check_teams(channels, {of_x, of_w}, 3, {.tolerance = 1e-3, .margin = 1e-6});
      check_teams(groups, {of_x, of_w}, 3, {.tolerance = 1e-3, .margin = 1e-6});
    }
}
// PaddlePaddle/Paddle PR 15877
TEST_CASE("the form of sequence_expand is told by levels on a device, too") {
  numbers x, word;
  for (int i = 0; i < 9; ++i) x.push_back(i);
  for (int i = 0; i < 12; ++i) word.push_back(1 - i);
  check_teams(pairs, {x, word}, 2, {.lengths = {{2, 1}, {3, 4}, {1, 2, 1}, {1, 0, 1, 1, 1, 1, 1}}});
}
TEST_CASE("batches without rows on a device") {
  check_teams(choices, {{}, {}, {}}, 0);
  CHECK_THROWS_WITH(test::edges_apart<serial>(chosen, {{}, {}, {}}, 0),
                    "lamina: layer arg_max_1: expected elements along dimension 0, found none");
  check_teams(probabilities, {{}, {}, {}}, 0);
  check_teams(logits, {{}, {}, {}, {}}, 0);
  check_teams(costs_of_pairs, {{}, {}, {}}, 0);
  check_teams(norms, {{}, {}}, 0);
  check_teams(slopes_of_norms, {{}, {}}, 0);
  check_teams(groups, {{}, {}}, 0);
  check_teams(neighbours, {{}}, 0);
  check_teams(clipped, {{}}, 0);
  check_teams(ranked, {{}, {}}, 0);
  check_teams(of_sequences, {{}}, 0, {.lengths = {{}}});
  check_teams(tagged, {{}, {}}, 0, {.lengths = {{}}});
  check_teams(tagged, {{}, {}}, 2, {.lengths = {{0, 0}}});
  check_teams(spoken, {{}, {}}, 0, {.lengths = {{}, {}}});
  check_teams(pairs, {{}, {}}, 0, {.lengths = {{}, {}, {}, {}}});
  check_teams(pairs, {{}, {}}, 1, {.lengths = {{0}, {0}, {0}, {}}});
  check_teams(
      one_value, {{}}, 0,
      {.parameters = {{1, 2, 3}, {0, 0, 0}, {0, 0, 0}, std::vector<float>(3, std::nanf(""))}});
}
TEST_CASE("scores of a CRF without a finite sum are an error on a device, too") {
  const test::edge_options options{.lengths = {{2}}};
  for (const float forbidden : {0.5f, -10000.f})
    for (const double odd : {infinity, none}) {
      INFO(odd << ", " << forbidden);
      test::edge_options o = options;
      o.parameters = {{0, 0, 0, 0, forbidden, 0, 0, 0}};
      constexpr const char* said = "expected scores whose e^x has a sum that a float can hold";
      for (const numbers& x :
           {numbers{odd, 0, 1, 2}, numbers{0, odd, 1, 2}, numbers{0, 1, 2, odd}}) {
        CHECK_THROWS_WITH(test::edges_apart<serial>(tagged, {x, {0, 1}}, 1, o),
                          Catch::Contains(said));
        CHECK_THROWS_WITH(test::edges_apart<team>(tagged, {x, {0, 1}}, 1, o),
                          Catch::Contains(said));
      }
    }
}
// pytorch/pytorch#37743, pytorch/pytorch#190042
TEST_CASE("remainders on a device are exact, and whole numbers do not trap") {
  check(remainders,
        {{7, -7, 1e9, -1e9, 1e20, -1e20, 3e-39, 0, -0., 5.5, -5.5, 1e-30, 1e30, 6, -6, 1},
         {3, 3, 7, 7, 3, -3, 1e-39, 2, 2, -2, -2, 1e-20, 7e-20, 3, 3, 0}},
        16);
  check(whole, {{-0x1p63, -7, 7, -7}, {-1, 2, -2, -2}}, 4);
  CHECK_THROWS_WITH(test::edges_apart<serial>(whole, {{1}, {1}}, 1) +
                        test::edges_apart<serial>(whole, {{1}, {0}}, 1),
                    Catch::Contains("layer elementwise_mod_0: expected divisors"));
}
