// SPDX-License-Identifier: Apache-2.0
// increment and assign leave earlier readers the old value.

#include "executor/shared_executor.hpp"
#include "laws/recorded_pieces.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::lod_tensor;

using integer = std::int64_t;

using number = lamina::variable<integer, lamina::once, 1>;

using numbers = std::vector<integer>;

namespace {

template <class P>
std::vector<lod_tensor> run(P, const lamina::feed_map& feed = {},
                            const lamina::run_options& options = {}) {
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  executor.run_startup(P::view(), scope);
  return executor.run(P::view(), scope, feed, options);
}

numbers values_of(const lamina::tensor& t) {
  const auto a = t.cast<integer>();
  return {a.begin(), a.end()};
}

template <class P>
numbers all_values(P program, const lamina::feed_map& feed = {}) {
  numbers all;
  for (const lod_tensor& t : run(program, feed))
    for (const integer x : values_of(t)) all.push_back(x);
  return all;
}

constexpr number constant(block& main, integer value) {
  return layer::fill_constant<integer>(main, static_cast<double>(value));
}

}  // namespace

TEST_CASE("increment and assign leave what was read before as it was") {
  constexpr auto net = lamina::program([](block& main) {
    auto i = constant(main, 5), j = i, k = constant(main, 0);
    auto same = layer::increment(i, 2);
    layer::assign(i, k);
    layer::increment(i);
    return std::tuple{i, j, k, same};
  });
  CHECK(all_values(net) == numbers{8, 5, 7, 7});
}
