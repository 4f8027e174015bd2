// SPDX-License-Identifier: Apache-2.0
// roi_pool, roi_align, psroi_pool, spp and im2sequence on the compiled engine, against the
// executor.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::extent2;
using lamina::program;
using lamina::window;

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

constexpr auto pyramid = program([](block& main) {
  auto x = layer::data<"x", float, 3, 5, 8>(main);
  auto a = layer::spp<2>(x);
  auto b = layer::spp<2>(x, {.type = lamina::pooling_type::average});
  return std::tuple{layer::mean(a * b), a, b};
});

constexpr auto patches = program([](block& main) {
  auto x = layer::data<"x", float, 2, 5, 9>(main);
  auto a = layer::im2sequence<"a", extent2{3, 2}, window{.stride = {2, 1}, .padding = {1, 0}}>(x);
  auto b = layer::sequence_pool(layer::fc<3>(a), {.type = lamina::pooling_type::max});
  return std::tuple{layer::mean(b * b), a, b};
});

}  // namespace

TEST_CASE("roi_pool on the engine") { lamina::law::check_engine(regions); }

TEST_CASE("roi_align and psroi_pool on the engine") {
  lamina::law::check_engine(averages, {.low = -2, .high = 2});
}

TEST_CASE("spp on the engine") { lamina::law::check_engine(pyramid); }

TEST_CASE("im2sequence on the engine: sequences that an operator makes") {
  lamina::law::check_engine(patches);
}
