// SPDX-License-Identifier: Apache-2.0
// im2sequence: values by hand, and the engine against the executor.
#include <tuple>

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using executed::values_of;
using lamina::block;
using lamina::extent2;
using lamina::program;
using lamina::window;

namespace {

// Two images of 3 by 4, one channel: 0 to 11 and 11 to 0.
lamina::tensor images() {
  std::vector<float> v;
  for (int i = 0; i < 12; ++i) v.push_back(static_cast<float>(i));
  for (int i = 12; i-- > 0;) v.push_back(static_cast<float>(i));
  return lamina::tensor(lamina::tensor_shape{2, 1, 3, 4}, v);
}

}  // namespace

TEST_CASE("im2sequence by hand: windows of each image in order") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 1, 3, 4>(main);
    return layer::im2sequence<"patches", extent2{3, 2}, window{.stride = {1, 2}}>(x);
  });
  lamina::executor executor;
  lamina::scope scope;
  const auto r = executor.run(net.view(), scope, {{"x", images()}});
  CHECK(r[0].shape() == lamina::tensor_shape{4, 6});
  CHECK(r[0].lod().recursive_sequence_lengths()[0] == lamina::lod::level{2, 2});
  const std::vector<double> found = values_of(r[0]);
  CHECK(std::vector<double>(found.begin(), found.begin() + 12) ==
        std::vector<double>{0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11});
}

namespace {

constexpr auto patches = program([](block& main) {
  auto x = layer::data<"x", float, 2, 5, 9>(main);
  auto a = layer::im2sequence<"a", extent2{3, 2}, window{.stride = {2, 1}, .padding = {1, 0}}>(x);
  auto b = layer::sequence_pool(layer::fc<3>(a), {.type = lamina::pooling_type::max});
  return std::tuple{layer::mean(b * b), a, b};
});

}  // namespace

TEST_CASE("im2sequence on the engine: sequences that an operator makes") {
  lamina::law::check_engine(patches);
}
