// SPDX-License-Identifier: Apache-2.0
// Layers of images against PyTorch: image_golden.inc, which make_image_golden.py prints.
#include "image_golden.inc"

#include <cmath>
#include <span>

#include "shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/transform/append_backward.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::extent2;
using lamina::extent3;
using lamina::pooling_type;
using lamina::window;
using lamina::window3;

namespace {

lamina::tensor wave(const lamina::tensor_shape& shape, double more = 0, std::size_t skipped = 0) {
  std::vector<double> values(lamina::size_of(shape));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<double>(i + 1 + skipped)) + more;
  return lamina::tensor(shape, values);
}

// Places between elements are floats, as Fluid computes them.
void check_close(const lamina::tensor& t, std::span<const double> expected, double margin = 1e-9) {
  const auto found = t.cast<double>();
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found.flat(i) == Approx(expected[i]).margin(margin));
}

// Runs a layer of "x" and the mean of its squares with parameters w and b.
template <class P>
void check(P program, const lamina::tensor& x, const lamina::tensor& w, const lamina::tensor& b,
           std::span<const double> y, std::initializer_list<std::span<const double>> gradients,
           double margin = 1e-9) {
  constexpr auto backward = decltype(lamina::transform::append_backward_to_data(program)){};
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  executor.run_startup(backward.view(), scope);
  if (w.has_value()) scope.var("w") = w;
  if (b.has_value()) scope.var("b") = b;
  const lamina::feed_map feed{{"x", x}};
  check_close(executor.run(backward.view(), scope, feed).at(1), y, margin);
  const char* names[] = {"x@GRAD", "w@GRAD", "b@GRAD"};
  std::size_t i = 0;
  for (const auto& g : gradients)
    check_close(executor.run(backward.view(), scope, feed, {names[i++]})[0], g, margin);
}

template <class Layer>
constexpr auto of(Layer) {
  return lamina::program([](block& main) {
    const auto y = Layer{}(layer::data<"x", float, 4, 5, 6>(main));
    return std::tuple{layer::mean(y * y), y};
  });
}

const lamina::tensor_shape shape{2, 4, 5, 6};
const lamina::tensor none;

}  // namespace

TEST_CASE("convolutions are PyTorch's") {
  check(of([](auto x) {
          return layer::conv2d<
              6, extent2{3, 2},
              window{.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 2}>(
              x, {.param = {.name = "w"}, .bias = false});
        }),
        wave(shape), wave({6, 2, 3, 2}), none, golden::conv_y, {golden::conv_d0, golden::conv_d1});
  check(of([](auto x) {
          return layer::conv2d<8, 3, window{.padding = 1, .groups = 4}>(
              x, {.param = {.name = "w"}, .bias = false});
        }),
        wave(shape), wave({8, 1, 3, 3}), none, golden::depthwise_y,
        {golden::depthwise_d0, golden::depthwise_d1});
  check(of([](auto x) {
          return layer::conv2d_transpose<6, 3, window{.stride = 2, .padding = 1, .groups = 2},
                                         extent2{10, 12}>(x,
                                                          {.param = {.name = "w"}, .bias = false});
        }),
        wave(shape), wave({4, 3, 3, 3}), none, golden::transposed_y,
        {golden::transposed_d0, golden::transposed_d1});
  check(of([](auto x) {
          return layer::conv3d<3, extent3{2, 3, 2},
                               window3{.stride = {1, 2, 1}, .padding = {1, 0, 1}}>(
              layer::reshape<2, 2, 5, 6>(x), {.param = {.name = "w"}, .bias = false});
        }),
        wave(shape), wave({3, 2, 2, 3, 2}), none, golden::volume_y,
        {golden::volume_d0, golden::volume_d1});
}

TEST_CASE("pools are PyTorch's") {
  check(of([](auto x) {
          return layer::pool2d<3, window{.stride = 2, .padding = 1, .ceil_mode = true}>(x);
        }),
        wave(shape), none, none, golden::most_y, {golden::most_d0});
  check(of([](auto x) {
          return layer::pool2d<extent2{2, 3}, window{.stride = 2, .padding = 1}>(
              x, {.type = pooling_type::average});
        }),
        wave(shape), none, none, golden::average_y, {golden::average_d0});
  check(of([](auto x) {
          return layer::pool2d<extent2{2, 3}, window{.stride = 2, .padding = 1}>(
              x, {.type = pooling_type::average, .exclusive = false});
        }),
        wave(shape), none, none, golden::counted_y, {golden::counted_d0});
  check(of([](auto x) {
          return layer::adaptive_pool2d<extent2{3, 4}>(x, {.type = pooling_type::average});
        }),
        wave(shape), none, none, golden::adaptive_y, {golden::adaptive_d0});
}

TEST_CASE("normalised channels are PyTorch's") {
  const lamina::tensor w = wave({4}, 1.5), b = wave({4}, 0, 4);
  check(of([](auto x) {
          return layer::batch_norm(x, {.param = {.name = "w"}, .bias_param = {.name = "b"}});
        }),
        wave(shape), w, b, golden::batch_y, {golden::batch_d0, golden::batch_d1, golden::batch_d2});
  check(of([](auto x) {
          return layer::group_norm<2>(x, {.param = {.name = "w"}, .bias_param = {.name = "b"}});
        }),
        wave(shape), w, b, golden::group_y, {golden::group_d0, golden::group_d1, golden::group_d2});
  check(of([](auto x) {
          return layer::instance_norm(x, {.param = {.name = "w"}, .bias_param = {.name = "b"}});
        }),
        wave(shape), w, b, golden::instance_y,
        {golden::instance_d0, golden::instance_d1, golden::instance_d2});
  check(of([](auto x) { return layer::lrn(x, {.n = 3, .k = 1, .alpha = 0.1f}); }), wave(shape),
        none, none, golden::local_y, {golden::local_d0});
}

TEST_CASE("images of another size are PyTorch's") {
  static constexpr extent2 tall{8, 3}, wide{8, 4};
  check(of([](auto x) { return layer::resize_bilinear<tall>(x); }), wave(shape), none, none,
        golden::corners_y, {golden::corners_d0}, 1e-6);
  check(of([](auto x) {
          return layer::resize_bilinear<tall>(x, {.align_corners = false, .align_mode = 0});
        }),
        wave(shape), none, none, golden::middle_y, {golden::middle_d0}, 1e-6);
  check(of([](auto x) { return layer::resize_nearest<wide>(x, {.align_corners = false}); }),
        wave(shape), none, none, golden::nearest_y, {golden::nearest_d0});
  check(of([](auto x) { return layer::pad2d<2, 1, 1, 3, lamina::pad_mode::reflect>(x); }),
        wave(shape), none, none, golden::mirror_y, {golden::mirror_d0});
  check(of([](auto x) { return layer::pad2d<2, 1, 1, 3, lamina::pad_mode::edge>(x); }), wave(shape),
        none, none, golden::edge_y, {golden::edge_d0});
}
