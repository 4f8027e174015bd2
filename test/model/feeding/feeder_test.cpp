// SPDX-License-Identifier: Apache-2.0
// Mini-batches that do not fit a program.
#include <vector>

#include "model/draws.hpp"
#include "model/samples.hpp"
#include "model/sentences.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/model/feeding/feeder.hpp>

using sentences_of::points;
using sentences_of::polarity;
using sentences_of::tagged;
using sentences_of::tagging;

TEST_CASE("what does not fit is named") {
  lamina::model model{tagging};
  lamina::gradient_machine g{model};
  CHECK(test::error_of([&] {
          g.backward(std::vector<tagged>{{{1, 2, 3}, {1, 2}}});
        }) ==
        "lamina: data layer next, row 0: expected 3 elements as in another sequence of that name, "
        "found 2");
  lamina::model nested{points};
  lamina::evaluator e{nested};
  const std::vector<std::vector<std::vector<float>>> odd = {{{1, 2, 3}}};
  CHECK(test::error_of([&] { e.forward(lamina::feed<"x">(odd)); }) ==
        "lamina: data layer x, row 0: expected 2 values (or a multiple), found 3");
  lamina::model two{polarity};
  lamina::evaluator f{two};
  const std::vector<std::vector<std::int64_t>> words = {{1}, {2}};
  const std::vector<std::int64_t> labels = {0};
  CHECK(test::error_of([&] {
          f.forward(lamina::feed<"word">(words), lamina::feed<"label">(labels));
        }) == "lamina: feed label: expected 2 rows as in the other feeds, found 1");
}
