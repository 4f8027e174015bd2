// SPDX-License-Identifier: Apache-2.0
// A gradient is clipped first and decayed second.
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/core/simd/intrinsics.hpp>
#include <lamina/optimizer/clip.hpp>
#include <lamina/optimizer/prepare.hpp>

namespace optimizer = lamina::optimizer;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

float prepared(float grad, float param, float scale, lamina::gradient_clip clip,
               lamina::regularizer decay) {
  const auto with = optimizer::preparation_of(clip, decay);
  return optimizer::prepared_gradient(grad, param, scale, with.low, with.high, with.l1, with.l2);
}

}  // namespace

TEST_CASE("a gradient is clipped first and decayed second", "[optimizer]") {
  CHECK(prepared(5.f, 2.f, 1.f, {}, {}) == 5.f);
  CHECK(prepared(5.f, 2.f, 0.5f, {}, {}) == 2.5f);
  CHECK(prepared(5.f, 2.f, 1.f, lamina::clip_by_value(1.f), {}) == 1.f);
  CHECK(prepared(-5.f, 2.f, 1.f, lamina::clip_by_value(-2.f, 1.f), {}) == -2.f);
  CHECK(prepared(5.f, 2.f, 1.f, lamina::clip_by_value(1.f), lamina::l2_decay(0.5f)) == 2.f);
  CHECK(prepared(5.f, -2.f, 1.f, lamina::clip_by_value(1.f), lamina::l2_decay(0.5f)) == 0.f);
  CHECK(prepared(5.f, -2.f, 1.f, {}, lamina::l1_decay(0.5f)) == 4.5f);
  CHECK(prepared(5.f, 0.f, 1.f, {}, lamina::l1_decay(0.5f)) == 5.f);
  CHECK(std::isnan(prepared(NAN, 1.f, 1.f, lamina::clip_by_value(1.f), {})));
  CHECK(prepared(5.f, 2.f, 1.f, {}, {}) == 5.f);
  CHECK(prepared(5.f, 2.f, 1.f, lamina::clip_by_norm(1.f), {}) == 5.f);
}

TEST_CASE("a gradient is left as it is without scale, clip and decay", "[optimizer]") {
  const auto leaves = [](float scale, lamina::gradient_clip clip, lamina::regularizer decay) {
    const auto with = optimizer::preparation_of(clip, decay);
    return optimizer::leaves_gradient(scale, with.low, with.high, with.l1, with.l2);
  };
  CHECK(leaves(1.f, {}, {}));
  CHECK(leaves(1.f, lamina::clip_by_norm(1.f), {}));
  CHECK_FALSE(leaves(0.5f, {}, {}));
  CHECK_FALSE(leaves(NAN, {}, {}));
  CHECK_FALSE(leaves(1.f, lamina::clip_by_value(1.f), {}));
  CHECK_FALSE(leaves(1.f, lamina::clip_by_value(-infinity, 1.f), {}));
  CHECK_FALSE(leaves(1.f, lamina::clip_by_value(-1.f, infinity), {}));
  CHECK_FALSE(leaves(1.f, {}, lamina::l1_decay(0.5f)));
  CHECK_FALSE(leaves(1.f, {}, lamina::l2_decay(0.5f)));
}

TEST_CASE("the prepared gradient is the same in batches", "[optimizer]") {
  using batch = xsimd::batch<float>;
  for (std::uint64_t round = 0; round < 50; ++round) {
    float grad[batch::size], param[batch::size], wide[batch::size];
    for (std::size_t i = 0; i < batch::size; ++i) {
      grad[i] = 4 * lamina::uniform_at(1, round, i) - 2;
      param[i] = i == 0 ? 0.f : 2 * lamina::uniform_at(2, round, i) - 1;
    }
    optimizer::prepared_gradient(batch::load_unaligned(grad), batch::load_unaligned(param),
                                 batch(0.9f), batch(-1.f), batch(round % 2 ? 1.f : infinity),
                                 batch(0.1f), batch(0.2f))
        .store_unaligned(wide);
    for (std::size_t i = 0; i < batch::size; ++i)
      CHECK(wide[i] == Approx(optimizer::prepared_gradient(grad[i], param[i], 0.9f, -1.f,
                                                           round % 2 ? 1.f : infinity, 0.1f, 0.2f))
                           .margin(1e-6));
  }
}

TEST_CASE("a parameter's own decay and clip beat the optimizer's", "[optimizer]") {
  const auto l1 = lamina::l1_decay(1.f), l2 = lamina::l2_decay(2.f);
  CHECK(optimizer::decay_in_force(l1, l2).kind == lamina::regularizer_kind::l1);
  CHECK(optimizer::decay_in_force({}, l2).kind == lamina::regularizer_kind::l2);
  CHECK(optimizer::clip_in_force(lamina::clip_by_norm(1.f), lamina::clip_by_value(1.f)).kind ==
        lamina::clip_kind::norm);
  CHECK(optimizer::clip_in_force({}, lamina::clip_by_value(1.f)).kind == lamina::clip_kind::value);
}
