// SPDX-License-Identifier: Apache-2.0
// test/operators/region/region_rows.hpp - one row per operator of parts of images.
#pragma once

#include <laws/operator_row.hpp>

#include <lamina/operators/region/patch/layer.hpp>
#include <lamina/operators/region/roi/layer.hpp>

namespace rows {

template <class To>
void region(To& to) {
  const tensor regions({4, 4}, std::vector<float>{0, 0, 5, 4, 1, 2, 3, 3, 4, 0, 5, 1, 2, 1, 9, 8});
  const row_options given{
      .feed = {{"regions", lod_tensor(regions, lamina::lod::from_lengths({{2, 1, 1}}))}},
      .constant = {"regions"},
      .any_rows = false};
  const auto of_regions = [&](const char* name, auto f) {
    using F = decltype(f);
    to.write(
        name,
        []<class T>(block& main) {
          auto x = layer::data<"x", T, 2, 5, 6>(main);
          return squared(F{}(x, layer::sequence<"regions", T, 4>(main)));
        },
        given);
  };
  of_images(to, "spp", [](auto x) { return layer::spp<2>(x); });
  of_images(to, "spp_average",
            [](auto x) { return layer::spp<2>(x, {.type = pooling_type::average}); });
  of_images(to, "im2sequence", [](auto x) {
    return layer::im2sequence<"windows", extent2{2, 3},
                              window{.stride = extent2{1, 2}, .padding = 1}>(x);
  });
  of_regions("roi_pool", [](auto x, auto r) { return layer::roi_pool<extent2{2, 3}>(x, r); });
  of_regions("roi_align", [](auto x, auto r) {
    return layer::roi_align<extent2{2, 3}>(x, r, {.spatial_scale = 0.75f});
  });
  of_regions("roi_align_ratio", [](auto x, auto r) {
    return layer::roi_align<2>(x, r, {.sampling_ratio = 2, .aligned = true});
  });
  to.write(
      "psroi_pool",
      []<class T>(block& main) {
        auto x = layer::data<"x", T, 8, 5, 6>(main);
        auto regions = layer::sequence<"regions", T, 4>(main);
        return squared(layer::psroi_pool<2>(x, regions));
      },
      given);
}

}  // namespace rows
