// SPDX-License-Identifier: Apache-2.0
// Cases of operators over images beside the plain ones in row_cases.cpp.
#include <interop/case_writer.hpp>
#include <operators/norm/group_norm_rows.hpp>
#include <operators/norm/lrn_rows.hpp>
#include <operators/pool/pool3d_rows.hpp>
#include <operators/resize_rows.hpp>

#include <lamina/operators/conv/layer_conv2d_transpose.hpp>
#include <lamina/operators/conv/layer_conv3d.hpp>
#include <lamina/operators/norm/batch_norm/layer.hpp>
#include <lamina/operators/region/patch/layer.hpp>
#include <lamina/operators/region/roi_align/layer.hpp>
#include <lamina/operators/region/roi_pool/layer.hpp>

namespace interop {

void write_image_cases(case_writer& to) {
  using lamina::extent2;
  using lamina::pooling_type;
  using lamina::window;
  using laws::of_images;
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
  of_images(to, "depthwise_conv2d", [](auto x) {
    return layer::conv2d<8, 3, window{.padding = 1, .groups = 4}>(x, {.bias = false});
  });
  rows::group_norm(to);
  rows::lrn(to);
  rows::pool3d(to);
  rows::resize(to);
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
  of_images(
      to, "prelu_channel",
      [](auto x) { return layer::prelu(x, {.mode = layer::prelu_mode::channel}); }, -1);
  of_images(to, "spp", [](auto x) { return layer::spp<2>(x); });
  of_images(to, "spp_average",
            [](auto x) { return layer::spp<2>(x, {.type = pooling_type::average}); });
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
}

}  // namespace interop
