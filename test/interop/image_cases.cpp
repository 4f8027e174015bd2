// SPDX-License-Identifier: Apache-2.0
// Cases of operators over images beside the plain ones in row_cases.cpp.
#include <interop/case_writer.hpp>

#include <lamina/operators/conv/layer_conv2d_transpose.hpp>
#include <lamina/operators/conv/layer_conv3d.hpp>
#include <lamina/operators/norm/batch_norm/layer.hpp>
#include <lamina/operators/norm/group_norm/layer.hpp>
#include <lamina/operators/norm/lrn/layer.hpp>
#include <lamina/operators/region/patch/layer.hpp>
#include <lamina/operators/region/roi_align/layer.hpp>
#include <lamina/operators/region/roi_pool/layer.hpp>
#include <lamina/operators/resize/layer.hpp>

namespace interop {
namespace {

/// One operator of images [3, 4, 5, 6].
template <class F>
void of_images(case_writer& to, const char* name, F, float low = 0.1f) {
  to.write(name,
           []<class T>(block& main) { return squared(F{}(layer::data<"x", T, 4, 5, 6>(main))); },
           {.low = low, .high = 1});
}

}  // namespace

void write_image_cases(case_writer& to) {
  using lamina::extent2;
  using lamina::pooling_type;
  using lamina::window;
  of_images(to, "conv2d_groups", [](auto x) {
    return layer::conv2d<4, 3, window{.padding = extent2{1, 0}, .dilation = 2, .groups = 2}>(x);
  });
  of_images(to, "conv2d_transpose", [](auto x) {
    return layer::conv2d_transpose<3, 3, window{.stride = 2, .padding = 1}>(x);
  });
  of_images(to, "conv2d_transpose_size", [](auto x) {
    return layer::conv2d_transpose<4, 3, window{.stride = 2, .groups = 2}, extent2{12, 13}>(x);
  });
  to.write("conv3d", []<class T>(block& main) {
    auto x = layer::data<"x", T, 2, 4, 5, 3>(main);
    return squared(layer::conv3d<3, 2>(x, {.act = lamina::activation::relu}));
  });
  of_images(to, "pool2d_ceil", [](auto x) {
    return std::tuple{layer::pool2d<2, window{.stride = 2, .ceil_mode = true}>(x),
                      layer::pool2d<3, window{.stride = 2, .padding = 1, .ceil_mode = true}>(
                          x, {.type = pooling_type::average})};
  });
  of_images(to, "pool2d_adaptive", [](auto x) { return layer::adaptive_pool2d<extent2{3, 4}>(x); });
  of_images(to, "pool2d_adaptive_average",
            [](auto x) { return layer::adaptive_pool2d<2>(x, {.type = pooling_type::average}); });
  of_images(to, "batch_norm",
            [](auto x) { return layer::batch_norm(x, {.use_global_stats = true}); });
  of_images(to, "batch_norm_training", [](auto x) { return layer::batch_norm(x); });
  of_images(to, "group_norm", [](auto x) { return layer::group_norm<2>(x); });
  of_images(to, "instance_norm", [](auto x) { return layer::instance_norm(x); });
  of_images(to, "lrn", [](auto x) { return layer::lrn(x, {.n = 3, .alpha = 0.1f}); });
  of_images(to, "bilinear_interp", [](auto x) { return layer::resize_bilinear<extent2{8, 9}>(x); });
  of_images(to, "bilinear_interp_centred", [](auto x) {
    return layer::resize_bilinear<extent2{3, 9}>(x, {.align_corners = false, .align_mode = 0});
  });
  of_images(to, "bilinear_interp_edge", [](auto x) {
    return layer::resize_bilinear<extent2{8, 4}>(x, {.align_corners = false});
  });
  of_images(to, "nearest_interp", [](auto x) {
    return std::tuple{layer::resize_nearest<extent2{7, 9}>(x),
                      layer::resize_nearest<extent2{10, 3}>(x, {.align_corners = false})};
  });
  of_images(to, "pad2d", [](auto x) {
    return std::tuple{layer::pad2d<1, 0, 2, 1>(x, {.value = 0.5f}),
                      layer::pad2d<1, 2, 3, 0, lamina::pad_mode::reflect>(x),
                      layer::pad2d<0, 1, 1, 2, lamina::pad_mode::edge>(x)};
  });
  of_images(
      to, "prelu_channel",
      [](auto x) { return layer::prelu(x, {.mode = layer::prelu_mode::channel}); }, -1);
  of_images(to, "spp", [](auto x) { return layer::spp<2>(x); });
  of_images(to, "spp_average",
            [](auto x) { return layer::spp<2>(x, {.type = pooling_type::average}); });
  of_images(to, "depthwise_conv2d", [](auto x) {
    return layer::conv2d<8, 3, window{.padding = 1, .groups = 4}>(x, {.bias = false});
  });
  of_images(to, "im2sequence", [](auto x) {
    return layer::im2sequence<"windows", extent2{2, 3},
                              window{.stride = extent2{1, 2}, .padding = 1}>(x);
  });
  const tensor regions({4, 4}, std::vector<float>{0, 0, 5, 4, 1, 2, 3, 3, 4, 0, 5, 1, 2, 1, 9, 8});
  to.write("roi_pool",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 2, 5, 6>(main);
             auto regions = layer::sequence<"regions", T, 4>(main);
             return squared(layer::roi_pool<extent2{2, 3}>(x, regions));
           },
           {.feed = {{"regions", lod_tensor(regions, lamina::lod::from_lengths({{2, 1, 1}}))}},
            .any_rows = false});
  const case_options of_regions{
      .feed = {{"regions", lod_tensor(regions, lamina::lod::from_lengths({{2, 1, 1}}))}},
      .any_rows = false};
  to.write(
      "roi_align",
      []<class T>(block& main) {
        auto x = layer::data<"x", T, 2, 5, 6>(main);
        auto regions = layer::sequence<"regions", T, 4>(main);
        return squared(layer::roi_align<extent2{2, 3}>(x, regions, {.spatial_scale = 0.75f}));
      },
      of_regions);
  to.write(
      "roi_align_ratio",
      []<class T>(block& main) {
        auto x = layer::data<"x", T, 2, 5, 6>(main);
        auto regions = layer::sequence<"regions", T, 4>(main);
        return squared(layer::roi_align<2>(x, regions, {.sampling_ratio = 2}));
      },
      of_regions);
  to.write(
      "psroi_pool",
      []<class T>(block& main) {
        auto x = layer::data<"x", T, 8, 5, 6>(main);
        auto regions = layer::sequence<"regions", T, 4>(main);
        return squared(layer::psroi_pool<2>(x, regions));
      },
      of_regions);
  to.write("pool3d_max", []<class T>(block& main) {
    auto x = layer::data<"x", T, 2, 4, 3, 5>(main);
    return squared(layer::pool3d<2, lamina::window3{.stride = {1, 2, 1}, .padding = {1, 0, 1}}>(x));
  });
  to.write("pool3d_average", []<class T>(block& main) {
    auto x = layer::data<"x", T, 2, 4, 3, 5>(main);
    return squared(layer::pool3d<2, lamina::window3{.stride = {1, 2, 1}, .padding = {1, 0, 1}}>(
        x, {.type = lamina::pooling_type::average, .exclusive = false}));
  });
  to.write("pool3d_global", []<class T>(block& main) {
    auto x = layer::data<"x", T, 2, 4, 3, 5>(main);
    return squared(layer::global_pool3d(x, {.type = lamina::pooling_type::average}));
  });
  to.write("max_pool2d_with_index", []<class T>(block& main) {
    auto x = layer::data<"x", T, 2, 5, 6>(main);
    auto [y, places] = layer::max_pool2d_with_index<3, window{.stride = 2, .padding = 1}>(x);
    return std::tuple{cost_of(y), y, places};
  });
  to.write("unpool", []<class T>(block& main) {
    auto x = layer::data<"x", T, 2, 4, 6>(main);
    auto [y, places] = layer::max_pool2d_with_index<2, window{.stride = 2}>(x);
    return squared(layer::unpool<2, window{.stride = 2}>(layer::square(y), places));
  });
}

}  // namespace interop
