// SPDX-License-Identifier: Apache-2.0
// Images in double on the compiled engine, beside the reference executor in double; and the costs
// of sequences of tags.
#include <tuple>

#include "laws/engine_law.hpp"
#include "laws/recorded_pieces.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::pooling_type;
using lamina::program;
using lamina::window;
using lamina::law::check_engine;

namespace {

// As LeNet: convolutions with bias and activation, pools, and a residual.
constexpr auto net = program([](block& main) {
  auto image = layer::data<"image", double, 2, 12, 11>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto a = layer::conv2d<5, 3, window{.padding = 1}>(image, {.act = lamina::activation::relu});
  auto b = layer::pool2d<2, window{.stride = 2}>(a);
  auto c = layer::conv2d<5, 3, window{.padding = 1}>(b) + b;
  auto d = layer::batch_norm(c, {.act = lamina::activation::relu});
  auto e = layer::pool2d<3, window{.stride = 2}>(d, {.type = pooling_type::average});
  auto logits = layer::fc<4>(e);
  return std::tuple{layer::mean(layer::softmax_with_cross_entropy(logits, label)), logits, a, d};
});

// Strides, paddings, dilations and groups.
template <int Channels, int Filters, int Size, window Window>
constexpr auto convolved = program([](block& main) {
  auto x = layer::data<"x", double, Channels, 9, 10>(main);
  auto y = layer::conv2d<Filters, Size, Window>(x);
  return std::tuple{pieces::cost_of(y), y};
});

constexpr auto transposed = program([](block& main) {
  auto x = layer::data<"x", double, 4, 5, 6>(main);
  auto y = layer::conv2d_transpose<3, 3, window{.stride = 2, .padding = 1}>(x);
  return std::tuple{pieces::cost_of(y), y};
});

constexpr auto volumes = program([](block& main) {
  auto x = layer::data<"x", double, 2, 4, 5, 6>(main);
  auto y = layer::conv3d<3, 2, lamina::window3{.stride = 2, .padding = 1}>(x);
  return std::tuple{pieces::cost_of(y), y};
});

constexpr auto tags = program([](block& main) {
  auto x = layer::sequence<"x", double, 5>(main);
  auto label = layer::sequence<"label", std::int64_t>(x);
  auto cost = layer::linear_chain_crf(x, label, {.param = {.name = "crf"}});
  return std::tuple{layer::mean(cost), cost, layer::crf_decoding(x, {.param = {.name = "crf"}})};
});

constexpr auto pooled = program([](block& main) {
  auto x = layer::data<"x", double, 2, 5, 4, 7>(main);
  auto maps = layer::data<"maps", double, 3, 7, 9>(main);
  using lamina::extent3;
  using lamina::window3;
  auto a = layer::pool3d<extent3{2, 3, 2}, window3{.stride = {1, 2, 3}, .padding = {1, 1, 0}}>(x);
  auto b =
      layer::pool3d<2, window3{.stride = 2, .ceil_mode = true}>(x, {.type = pooling_type::average});
  auto [c, places] = layer::max_pool2d_with_index<3, window{.stride = 2, .padding = 1}>(maps);
  auto d = layer::unpool<3, window{.stride = 2, .padding = 1}>(c * c, places);
  auto e = layer::spp<2>(maps, {.type = pooling_type::average});
  auto f = layer::pad2d<1, 2, 3, 4, lamina::pad_mode::reflect>(maps);
  auto g =
      layer::pool2d<3, window{.stride = 1, .padding = 1}>(maps, {.type = pooling_type::average});
  auto cost = pieces::cost_of(a) + pieces::cost_of(b) + pieces::cost_of(d) + pieces::cost_of(e) +
              pieces::cost_of(f) + pieces::cost_of(g);
  return std::tuple{cost, a, b, c, d, e, f, g};
});

constexpr auto resized = program([](block& main) {
  auto x = layer::data<"x", double, 3, 9, 5>(main);
  using lamina::extent2;
  auto a = layer::resize_bilinear<extent2{4, 13}>(x);
  auto b = layer::resize_bilinear<extent2{4, 13}>(x, {.align_corners = false, .align_mode = 0});
  auto c = layer::resize_nearest<extent2{11, 3}>(x);
  return std::tuple{pieces::cost_of(a) + pieces::cost_of(b) + pieces::cost_of(c), a, b, c};
});

constexpr auto regions = program([](block& main) {
  auto x = layer::data<"x", double, 2, 6, 7>(main);
  auto where = layer::sequence<"where", double, 4>(main);
  using lamina::extent2;
  auto maps = layer::conv2d<6, 1>(x);
  auto a = layer::roi_pool<extent2{2, 3}>(maps, where, {.spatial_scale = 6});
  auto b = layer::roi_align<extent2{2, 3}>(maps, where, {.spatial_scale = 6});
  auto c = layer::roi_align<2>(maps, where, {.spatial_scale = 3, .sampling_ratio = 2});
  auto d = layer::psroi_pool<extent2{2, 3}>(maps, where, {.spatial_scale = 4});
  auto cost = pieces::cost_of(a) + pieces::cost_of(b) + pieces::cost_of(c) + pieces::cost_of(d);
  return std::tuple{cost, a, b, c, d};
});

constexpr auto patches = program([](block& main) {
  auto x = layer::data<"x", double, 2, 5, 9>(main);
  auto a = layer::im2sequence<"a", lamina::extent2{3, 2}, window{.stride = {2, 1}}>(x);
  auto b = layer::sequence_pool(layer::fc<3>(a), {.type = pooling_type::max});
  return std::tuple{pieces::cost_of(b), a, b};
});

constexpr auto labels = program([](block& main) {
  auto label = layer::sequence<"label", std::int64_t>(main);
  auto x = layer::sequence<"x", double, 3>(label);
  auto h = layer::fc<5>(x);
  auto score =
      layer::sequence_concat<"score">(std::tuple{h, layer::tanh(h), layer::scale(h, -2.0f)});
  auto loss = layer::warpctc(score, label, {.blank = 4});
  return std::tuple{layer::mean(loss), loss};
});

}  // namespace

TEST_CASE("a net of images in double") { check_engine(net, {.limit = 4, .rows_are_alone = false}); }
TEST_CASE("convolutions in double") {
  check_engine(convolved<3, 4, 3, window{}>);
  check_engine(convolved<4, 6, 3, window{.stride = 2, .padding = 2, .groups = 2}>);
  check_engine(convolved<3, 3, 2, window{.padding = 1, .dilation = 3, .groups = 3}>);
  check_engine(convolved<2, 17, 1, window{.stride = 3}>);
}
TEST_CASE("transposed convolutions and volumes in double") {
  check_engine(transposed);
  check_engine(volumes);
}
TEST_CASE("linear_chain_crf in double") { check_engine(tags, {.limit = 5}); }
TEST_CASE("pools of every kind in double") { check_engine(pooled); }
TEST_CASE("images of another size in double") { check_engine(resized); }
TEST_CASE("regions of images in double") { check_engine(regions, {.low = -2, .high = 2}); }
TEST_CASE("im2sequence in double") { check_engine(patches); }
TEST_CASE("warpctc in double") { check_engine(labels, {.limit = 4}); }
