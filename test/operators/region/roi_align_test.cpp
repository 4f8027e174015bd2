// SPDX-License-Identifier: Apache-2.0
// roi_align and psroi_pool: values by hand, and the engine against the executor.
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

TEST_CASE("roi_align by hand: points between elements, beyond the border, far outside") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 1, 3, 4>(main);
    auto regions = layer::sequence<"regions", float, 4>(main);
    return std::tuple{layer::roi_align<extent2{1, 2}>(x, regions, {.sampling_ratio = 1}),
                      layer::roi_align<1>(x, regions)};
  });
  lamina::executor executor;
  lamina::scope scope;
  const auto r =
      executor.run(net.view(), scope,
                   {{"x", images()},
                    {"regions", lamina::sequences<std::array<float, 4>>(
                                    {{{0, 0, 2, 2}, {2, 1, 6, 2}}, {{20, 20, 30, 30}}})}});
  CHECK(r[0].shape() == lamina::tensor_shape{3, 1, 1, 2});
  // The middles of halves of columns 0 to 2 in row 1; of columns 2 to 6, of which 5 is too far.
  CHECK(values_of(r[0]) == std::vector<double>{4.5, 5.5, 9, 0, 0, 0});
  // Four points in quarters: a plane has its value in the middle. Of points 2.5, 3.5, 4.5, 5.5 the
  // last two are outside, the second one is at the border.
  CHECK(values_of(r[1]) == std::vector<double>{5, (8.5 + 9) / 4, 0});
  CHECK(r[1].lod().recursive_sequence_lengths()[0] == lamina::lod::level{2, 1});
}

TEST_CASE("roi_align by hand: aligned regions lie half an element before, and may be small") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 1, 3, 4>(main);
    auto regions = layer::sequence<"regions", float, 4>(main);
    return layer::roi_align<1>(x, regions, {.aligned = true});
  });
  lamina::executor executor;
  lamina::scope scope;
  // The elements 1 and 2 of row 1; a quarter of element 0; a region whose end is before its
  // beginning.
  const auto regions = lamina::sequences<std::array<float, 4>>(
      {{{1, 1, 3, 2}, {0.5F, 0.5F, 0.75F, 0.75F}, {3, 2, 1, 1}}, {}});
  const auto found = executor.run(net.view(), scope, {{"x", images()}, {"regions", regions}});
  CHECK(values_of(found[0]) == std::vector<double>{5.5, 0.625, 0});
}

TEST_CASE("psroi_pool by hand: each bin looks at its channel") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2, 3, 4>(main);
    auto regions = layer::sequence<"regions", float, 4>(main);
    return layer::psroi_pool<extent2{1, 2}>(x, regions);
  });
  std::vector<float> v;
  for (int i = 0; i < 24; ++i) v.push_back(static_cast<float>(i));
  lamina::executor executor;
  lamina::scope scope;
  const auto r = executor.run(net.view(), scope,
                              {{"x", lamina::tensor(lamina::tensor_shape{1, 2, 3, 4}, v)},
                               {"regions", lamina::sequences<std::array<float, 4>>(
                                               {{{0, 0, 3, 0}, {1, 1, 2, 2}, {9, 9, 9, 9}}})}});
  CHECK(r[0].shape() == lamina::tensor_shape{3, 1, 1, 2});
  CHECK(values_of(r[0]) == std::vector<double>{0.5, 14.5, 7, 20, 0, 0});
}

namespace {

constexpr auto regions = program([](block& main) {
  auto x = layer::data<"x", float, 2, 6, 7>(main);
  auto where = layer::sequence<"where", float, 4>(main);
  auto y = layer::roi_pool<extent2{2, 3}>(x, where, {.spatial_scale = 6});
  return std::tuple{layer::mean(y * y), y};
});

constexpr auto averages = program([](block& main) {
  auto x = layer::data<"x", float, 6, 6, 7>(main);
  auto where = layer::sequence<"where", float, 4>(main);
  auto y = layer::roi_align<extent2{2, 3}>(x, where, {.spatial_scale = 6});
  auto z = layer::roi_align<2>(x, where, {.spatial_scale = 3, .sampling_ratio = 2});
  auto s = layer::psroi_pool<extent2{2, 3}>(x, where, {.spatial_scale = 4});
  return std::tuple{layer::mean(y * y) + layer::mean(z * z) + layer::mean(s * s), y, z, s};
});

}  // namespace

TEST_CASE("roi_align and psroi_pool on the engine") {
  lamina::law::check_engine(averages, {.low = -2, .high = 2});
}
