// SPDX-License-Identifier: Apache-2.0
// test/operators/pool/pool_rows.hpp - one row per pool.
#pragma once

#include <laws/operator_row.hpp>

#include <lamina/operators/pool/pool3d/layer.hpp>
#include <lamina/operators/pool/pool3d/layer_unpool.hpp>

namespace rows {

template <class To>
void pool(To& to) {
  of_two_images(to, "pool2d_max", [](auto x) { return layer::pool2d<2, window{.stride = 2}>(x); });
  of_two_images(to, "pool2d_average", [](auto x) {
    return layer::pool2d<3, window{.stride = 2, .padding = 1}>(
        x, {.type = lamina::pooling_type::average});
  });
  of_two_images(to, "pool2d_global", [](auto x) {
    return layer::global_pool2d(x, {.type = lamina::pooling_type::average});
  });
  of_images(to, "pool2d_ceil", [](auto x) {
    return std::tuple{layer::pool2d<2, window{.stride = 2, .ceil_mode = true}>(x),
                      layer::pool2d<3, window{.stride = 2, .padding = 1, .ceil_mode = true}>(
                          x, {.type = pooling_type::average})};
  });
  of_images(to, "pool2d_adaptive", [](auto x) { return layer::adaptive_pool2d<extent2{3, 4}>(x); });
  of_images(to, "pool2d_adaptive_average",
            [](auto x) { return layer::adaptive_pool2d<2>(x, {.type = pooling_type::average}); });
  to.write("pool3d_max", []<class T>(lamina::block& main) {
    auto x = layer::data<"x", T, 2, 4, 3, 5>(main);
    return squared(layer::pool3d<2, lamina::window3{.stride = {1, 2, 1}, .padding = {1, 0, 1}}>(x));
  });
  to.write("pool3d_average", []<class T>(lamina::block& main) {
    auto x = layer::data<"x", T, 2, 4, 3, 5>(main);
    return squared(layer::pool3d<2, lamina::window3{.stride = {1, 2, 1}, .padding = {1, 0, 1}}>(
        x, {.type = lamina::pooling_type::average, .exclusive = false}));
  });
  to.write("pool3d_global", []<class T>(lamina::block& main) {
    auto x = layer::data<"x", T, 2, 4, 3, 5>(main);
    return squared(layer::global_pool3d(x, {.type = lamina::pooling_type::average}));
  });
  to.write("max_pool2d_with_index", []<class T>(lamina::block& main) {
    auto x = layer::data<"x", T, 2, 5, 6>(main);
    auto [y, places] = layer::max_pool2d_with_index<3, window{.stride = 2, .padding = 1}>(x);
    return std::tuple{cost_of(y), y, places};
  });
  to.write("unpool", []<class T>(lamina::block& main) {
    auto x = layer::data<"x", T, 2, 4, 6>(main);
    auto [y, places] = layer::max_pool2d_with_index<2, window{.stride = 2}>(x);
    return squared(layer::unpool<2, window{.stride = 2}>(layer::square(y), places));
  });
}

}  // namespace rows
