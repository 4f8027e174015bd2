// SPDX-License-Identifier: Apache-2.0
// Arrays that are handed to data layers.
#include <array>
#include <vector>

#include "model/classifier.hpp"
#include "model/samples.hpp"
#include "model/sentences.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/feeding/feed.hpp>

using classifier::net;
using sentences_of::points;
using sentences_of::polarity;

TEST_CASE("numbers in braces and single numbers are fed as containers are") {
  lamina::model m{net, 3};
  lamina::evaluator e{m};
  const std::vector<float> x{0.5f, 1, -1, 0.25f, 0, 2};
  const std::vector<std::int64_t> label{2};
  e.forward(lamina::feed<"x">(x), lamina::feed<"label">(label));
  const float cost = e.cost();
  e.forward(lamina::feed<"x">({0.5f, 1.f, -1.f, 0.25f, 0.f, 2.f}),
            lamina::feed<"label">(std::int64_t{2}));
  CHECK(e.cost() == cost);
  CHECK(e.activation<"output">().shape(0) == 1);
  const float rows[2][6] = {{0.5f, 1, -1, 0.25f, 0, 2}, {1, 1, 1, 1, 1, 1}};
  e.forward(lamina::feed<"x">(rows[0], 12), lamina::feed<"label">({2L, 2L}));
  CHECK(e.activation<"output">().shape(0) == 2);
}

TEST_CASE("sequences in braces are fed as those in containers") {
  lamina::model model{polarity};
  lamina::evaluator e{model}, braces{model};
  e.forward(lamina::feed<"word">(std::vector<std::vector<std::int64_t>>{{3, 1, 4}, {}, {1}}));
  braces.forward(lamina::feed<"word">({{3, 1, 4}, {}, {1}}));
  const auto expected = e.activation<"logits">(), found = braces.activation<"logits">();
  REQUIRE(found.shape(0) == 3);
  CHECK(std::vector<float>(found.begin(), found.end()) ==
        std::vector<float>(expected.begin(), expected.end()));
  braces.forward(lamina::feed<"word">({3, 1, 4}));  // one sequence
  REQUIRE(braces.activation<"logits">().shape(0) == 1);
  CHECK(braces.activation<"logits">()(0, 0) == Approx(expected(0, 0)));
}

TEST_CASE("nested sequences are fed as containers of containers") {
  lamina::model model{points};
  lamina::evaluator e{model};
  using point = std::array<float, 2>;
  const std::vector<std::vector<std::vector<point>>> x = {
      {{{1, 2}, {3, 4}}, {{10, -1}}}, {}, {{{5, 5}}, {}}};
  e.forward(lamina::feed<"x">(x));
  auto y = e.activation<"y">();
  REQUIRE(y.shape(0) == 3);
  CHECK(y(0, 0) == 10);
  CHECK(y(0, 1) == 6);
  CHECK(y(1, 0) == 0);
  CHECK(y(2, 0) == 5);
  const auto of_samples = e.sequences<"x", 0>(), of_sequences = e.sequences<"x">();
  REQUIRE(of_samples.count == 3);
  CHECK(of_samples.length(0) == 2);
  CHECK(of_samples.length(1) == 0);
  CHECK(of_samples.begin(2) == 2);
  REQUIRE(of_sequences.count == 4);
  CHECK(of_sequences.end(0) == 2);
  CHECK(of_sequences.length(2) == 1);
  CHECK(of_sequences.length(3) == 0);
}
