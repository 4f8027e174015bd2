// SPDX-License-Identifier: Apache-2.0
// layer::all_reduce in programs that ranks run together: sums and maxima of all types.
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto total = layer::create_global_var<float>(main, 0, {.name = "total"});
  auto largest = layer::create_global_var<float>(main, 0, {.name = "largest"});
  auto count = layer::create_global_var<float>(main, 0, {.name = "count"});
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [x, n] =
        layer::read_minibatch<"train", lamina::field<float, 3>, lamina::field<std::int64_t>>(loop,
                                                                                             more);
    layer::store(total + layer::all_reduce(layer::reduce_sum(x)), total);
    layer::store(layer::all_reduce(layer::reduce_max(x), {.type = layer::reduce_type::max}),
                 largest);
    auto whole = layer::all_reduce(layer::reduce_sum(n));
    layer::store(count + layer::cast<float>(whole), count);
  });
});

TEST_CASE("Ranks add numbers up, and find the largest") {
  std::vector<std::tuple<std::array<float, 3>, std::int64_t>> samples;
  for (int i = 0; i < 12; ++i)
    samples.push_back({{static_cast<float>(i), static_cast<float>(-i), 0.5f}, i * i});
  const auto reader = samples | lamina::reader::batch(6);
  for (const int ranks : {0, 1, 2, 3})
    test::in_ranks(ranks == 0 ? 1 : ranks, [&](test::thread_group& w) {
      lamina::model m{net};
      lamina::run(m, reader, {.world = ranks == 0 ? nullptr : &w});
      // Threads of Catch must not assert at once.
      if (w.rank() != 0) return;
      CHECK(m.parameter<"total">()(0) == 6);
      CHECK(m.parameter<"largest">()(0) == 11);
      CHECK(m.parameter<"count">()(0) == 506);
    });
}

}  // namespace
