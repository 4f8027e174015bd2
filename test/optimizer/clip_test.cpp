// SPDX-License-Identifier: Apache-2.0
// The scales of gradients whose norms are limited.
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/optimizer/clip.hpp>
#include <lamina/optimizer/prepare.hpp>

namespace optimizer = lamina::optimizer;

TEST_CASE("scales from norms", "[optimizer]") {
  CHECK(optimizer::norm_scale(2.f, 4.f) == 1.f);
  CHECK(optimizer::norm_scale(4.f, 4.f) == 1.f);
  CHECK(optimizer::norm_scale(8.f, 4.f) == 0.5f);
  CHECK(optimizer::norm_scale(0.f, 4.f) == 1.f);
  CHECK(optimizer::shared_scale(25, 5.f) == 1.f);
  CHECK(optimizer::shared_scale(25, 1.f) == Approx(0.2));
  CHECK(optimizer::shared_scale(0, 1.f) == 1.f);
  CHECK(optimizer::needs_norm(lamina::clip_by_norm(1.f)));
  CHECK_FALSE(optimizer::needs_norm(lamina::clip_by_value(1.f)));
}

TEST_CASE("the global norm is that of its group alone", "[optimizer]") {
  const std::vector<lamina::gradient_clip> clips{lamina::clip_by_global_norm(1.f),
                                                 lamina::clip_by_norm(2.f),
                                                 {},
                                                 lamina::clip_by_value(1.f),
                                                 lamina::clip_by_global_norm(1.f)};
  const std::vector<float> norms{3.f, 8.f, 100.f, 100.f, 4.f};
  std::vector<float> scales(5);
  optimizer::clip_scales(clips, norms, scales);
  CHECK(scales[0] == Approx(0.2));
  CHECK(scales[1] == 0.25f);
  CHECK(scales[2] == 1.f);
  CHECK(scales[3] == 1.f);
  CHECK(scales[4] == Approx(0.2));

  const std::vector<lamina::gradient_clip> differing{lamina::clip_by_global_norm(1.f),
                                                     lamina::clip_by_global_norm(2.f)};
  std::vector<float> two(2);
  CHECK_THROWS_WITH(optimizer::clip_scales(differing, two, two), Catch::Contains("one limit"));
  CHECK_THROWS_WITH(optimizer::clip_scales(clips, norms, two), Catch::Contains("expected 5"));
}
