// SPDX-License-Identifier: Apache-2.0
// The rows that a mini-batch reads, in a program with more data layers than a word has bits.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "distributed/thread_group.hpp"
#include "model/numbered_layers.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/model.hpp>
#include <lamina/model/sharded/row_fetcher.hpp>

namespace {

namespace layer = lamina::layer;
using ids = std::vector<std::int64_t>;

// Data layers 5 and 69 have the ids.
constexpr auto net = lamina::program([](lamina::block& main) {
  auto before = test::sum_of_layers<0>(main, std::make_integer_sequence<int, 5>());
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto between = test::sum_of_layers<6>(main, std::make_integer_sequence<int, 63>());
  auto user = layer::data<"user", std::int64_t>(main);
  auto rows = layer::sequence_pool(layer::embedding<40, 2>(words, {.is_distributed = true}));
  auto own = layer::embedding<30, 2>(user, {.is_distributed = true});
  auto a = layer::fc<3>(rows, {.name = "a"});
  auto b = layer::fc<3>(own, {.name = "b"});
  return layer::mean(a + b) + layer::mean(before + between);
});
static_assert(lamina::counts_of<decltype(net)>.data == 70);

template <class E>
std::vector<float> forward(E& e, const ids& words, const ids& user) {
  e.forward(lamina::feed<"words">(words), lamina::feed<"user">(user));
  std::vector<float> all;
  for (std::size_t c = 0; c < 3; ++c) {
    all.push_back(e.template activation<"a">()(0, c));
    all.push_back(e.template activation<"b">()(0, c));
  }
  return all;
}

}  // namespace

TEST_CASE("ranks bring rows for data layers that are 64 apart", "[threads]") {
  lamina::model one{net};
  lamina::evaluator expected{one};
  std::mutex mutex;
  test::in_ranks(2, [&](test::thread_group& w) {
    lamina::model m{net, w};
    lamina::evaluator e{m};
    const ids words{39, w.rank(), 20}, user{w.rank() == 0 ? 29 : 0};
    const std::vector<float> found = forward(e, words, user);
    const std::lock_guard lock(mutex);
    CHECK(found == forward(expected, words, user));
  });
}

TEST_CASE("an activation needs the feeds of all data layers that are 64 apart") {
  lamina::model m{net};
  lamina::evaluator e{m};
  const ids words{1, 2};
  e.forward(lamina::feed<"words">(words));
  CHECK_THROWS_WITH(e.activation<"a">(),
                    "lamina: activation a.tmp_1: expected a feed of words and user in the last "
                    "forward(), found none");
}
