// SPDX-License-Identifier: Apache-2.0
// roi_pool: values by hand, and the engine against the executor.
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

namespace {

// Two images of 3 by 4, one channel: 0 to 11 and 11 to 0.
lamina::tensor images() {
  std::vector<float> v;
  for (int i = 0; i < 12; ++i) v.push_back(static_cast<float>(i));
  for (int i = 12; i-- > 0;) v.push_back(static_cast<float>(i));
  return lamina::tensor(lamina::tensor_shape{2, 1, 3, 4}, v);
}

}  // namespace

TEST_CASE("roi_pool by hand: regions of several images, beyond the border, empty") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 1, 3, 4>(main);
    auto regions = layer::sequence<"regions", float, 4>(main);
    return layer::roi_pool<extent2{1, 2}>(x, regions, {.spatial_scale = 0.5f});
  });
  lamina::executor executor;
  lamina::scope scope;
  // Left, top, right, bottom; halved: columns 0 to 3 of row 1; 1 to 2 of rows 0 and 1; outside.
  const auto r =
      executor.run(net.view(), scope,
                   {{"x", images()},
                    {"regions", lamina::sequences<std::array<float, 4>>(
                                    {{{0, 2, 6, 2}}, {{2, 0, 4, 2}, {20, 20, 30, 30}}})}});
  CHECK(r[0].shape() == lamina::tensor_shape{3, 1, 1, 2});
  CHECK(values_of(r[0]) == std::vector<double>{5, 7, 10, 9, 0, 0});
  CHECK(r[0].lod().recursive_sequence_lengths()[0] == lamina::lod::level{1, 2});
}

namespace {

constexpr auto regions = program([](block& main) {
  auto x = layer::data<"x", float, 2, 6, 7>(main);
  auto where = layer::sequence<"where", float, 4>(main);
  auto y = layer::roi_pool<extent2{2, 3}>(x, where, {.spatial_scale = 6});
  return std::tuple{layer::mean(y * y), y};
});

}  // namespace

TEST_CASE("roi_pool on the engine") { lamina::law::check_engine(regions); }
