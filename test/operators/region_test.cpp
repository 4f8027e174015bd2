// SPDX-License-Identifier: Apache-2.0
// Regions of images: values by hand, gradients, the engine against the executor.
#include <tuple>

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

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

TEST_CASE("spp by hand: the whole image, then quarters") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 1, 3, 4>(main);
    return std::tuple{layer::spp<2>(x), layer::spp<2>(x, {.type = lamina::pooling_type::average})};
  });
  lamina::executor executor;
  lamina::scope scope;
  const auto r = executor.run(net.view(), scope, {{"x", images()}});
  CHECK(r[0].shape() == lamina::tensor_shape{2, 5});
  // 3 rows are padded to 4 by one above and none below.
  CHECK(values_of(r[0]) == std::vector<double>{11, 1, 3, 9, 11, 11, 11, 9, 7, 5});
  CHECK(values_of(r[1]) == std::vector<double>{5.5, 0.5, 2.5, 6.5, 8.5, 5.5, 10.5, 8.5, 4.5, 2.5});
}

TEST_CASE("gradients of roi_pool, spp and im2sequence are difference quotients") {
  SECTION("roi_pool") {
    constexpr auto net = lamina::program([](block& main) {
      auto x = layer::data<"x", float, 2, 4, 5>(main);
      auto regions = layer::sequence<"regions", float, 4>(main);
      auto y = layer::roi_pool<2>(x, regions);
      return layer::mean(y * y);
    });
    laws::gradient_options options;
    options.constant = {"regions"};
    laws::check_gradients(net,
                          {{"regions", lamina::sequences<std::array<float, 4>>(
                                           {{{0, 0, 4, 3}, {1, 1, 2, 2}}, {}, {{3, 2, 9, 9}}})}},
                          options);
  }
  SECTION("roi_align and psroi_pool") {
    constexpr auto net = lamina::program([](block& main) {
      auto x = layer::data<"x", float, 4, 4, 5>(main);
      auto regions = layer::sequence<"regions", float, 4>(main);
      auto y = layer::roi_align<2>(x, regions, {.spatial_scale = 0.75f});
      auto z = layer::psroi_pool<2>(x, regions);
      return layer::mean(y * y) + layer::mean(z * z);
    });
    laws::gradient_options options;
    options.constant = {"regions"};
    laws::check_gradients(
        net,
        {{"regions",
          lamina::sequences<std::array<float, 4>>(
              {{{0, 0, 4, 3}, {1, 1.5f, 2, 2.25f}}, {}, {{3, 2, 9, 9}, {-5, 1, 0, 2}}})}},
        options);
  }
  SECTION("spp") {
    constexpr auto net = lamina::program([](block& main) {
      auto x = layer::data<"x", float, 2, 4, 5>(main);
      auto a = layer::spp<2>(x), b = layer::spp<2>(x, {.type = lamina::pooling_type::average});
      return layer::mean(a * b);
    });
    laws::check_gradients(net);
  }
  SECTION("im2sequence") {
    constexpr auto net = lamina::program([](block& main) {
      auto x = layer::data<"x", float, 2, 4, 5>(main);
      auto a = layer::im2sequence<"a", 2, window{.stride = {2, 1}, .padding = {1, 0}}>(x);
      return layer::mean(layer::sequence_pool(a * a, {.type = lamina::pooling_type::max}));
    });
    laws::check_gradients(net);
  }
}

namespace {

constexpr auto regions = program([](block& main) {
  auto x = layer::data<"x", float, 2, 6, 7>(main);
  auto where = layer::sequence<"where", float, 4>(main);
  auto y = layer::roi_pool<extent2{2, 3}>(x, where, {.spatial_scale = 6});
  return std::tuple{layer::mean(y * y), y};
});

constexpr auto pyramid = program([](block& main) {
  auto x = layer::data<"x", float, 3, 5, 8>(main);
  auto a = layer::spp<2>(x);
  auto b = layer::spp<2>(x, {.type = lamina::pooling_type::average});
  return std::tuple{layer::mean(a * b), a, b};
});

}  // namespace

TEST_CASE("spp on the engine") { lamina::law::check_engine(pyramid); }
