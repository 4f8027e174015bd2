// SPDX-License-Identifier: Apache-2.0
// Options of optimizers as C++ text.
#include <string>

#include <catch2/catch.hpp>

#include <lamina/codegen/optimizer_options.hpp>

namespace detail = lamina::detail;
using lamina::optimizer::schedule_kind;

TEST_CASE("optimizer options: decays and clips are calls of their functions") {
  CHECK(detail::decay_text(lamina::l1_decay(0.5f)) == "lamina::l1_decay(0.5f)");
  CHECK(detail::decay_text(lamina::l2_decay(1)) == "lamina::l2_decay(1)");
  CHECK(detail::clip_text(lamina::clip_by_value(-1, 2)) == "lamina::clip_by_value(-1, 2)");
  CHECK(detail::clip_text(lamina::clip_by_value(0.1f)) == "lamina::clip_by_value(0.1f)");
  CHECK(detail::clip_text(lamina::clip_by_norm(0.25f)) == "lamina::clip_by_norm(0.25f)");
  CHECK(detail::clip_text(lamina::clip_by_global_norm(3)) == "lamina::clip_by_global_norm(3)");
}

TEST_CASE("optimizer options: a schedule has the text and the rates of its attributes") {
  detail::schedule_attributes s{schedule_kind::constant, false, 0.1f, 0, 0, 0, 0, 0, 0, 0, {}, {}};
  CHECK(detail::learning_rate_of(s).text == "0.1f");
  s.kind = schedule_kind::noam;
  s.m = 64, s.n = 10;
  const detail::learning_rate_text noam = detail::learning_rate_of(s);
  CHECK(noam.text ==
        "lamina::schedule::noam_decay{.d_model = 64, .warmup_steps = 10, .learning_rate = 0.1f}");
  CHECK(noam.rate.at(3) ==
        lamina::optimizer::learning_rate(lamina::schedule::noam_decay{64, 10, 0.1f}).at(3));
  s.kind = schedule_kind::polynomial;
  s.a = 0.5, s.b = 2, s.flag = true;
  CHECK(detail::learning_rate_of(s).text ==
        "lamina::schedule::polynomial_decay{.learning_rate = 0.1f, .decay_steps = 64, "
        ".end_learning_rate = 0.5f, .power = 2, .cycle = true}");
  s.kind = schedule_kind::v2_discexp;
  CHECK(detail::learning_rate_of(s).text ==
        "lamina::schedule::v2::discexp{.learning_rate = 0.1f, .a = 0.5f, .b = 2, .batch_size = "
        "64}");
  s.kind = schedule_kind::one_cycle;
  s.n = 1, s.values = {100};
  const detail::learning_rate_text cycle = detail::learning_rate_of(s);
  CHECK(cycle.text ==
        "lamina::schedule::one_cycle{.max_lr = 0.1f, .total_steps = 64, .pct_start = 0.5f, "
        ".anneal_strategy = lamina::schedule::anneal::linear, .div_factor = 2, .final_div_factor = "
        "100, .three_phase = true}");
  CHECK(cycle.rate.at(31) == 0.1f);
  s.values = {};
  CHECK(detail::learning_rate_of(s).text.empty());
  s.kind = schedule_kind::piecewise;
  s.boundaries = {3, 5}, s.values = {1, 0.5f, 0.25f};
  s.warmup_steps = 2, s.warmup_end = 1;
  const detail::learning_rate_text warm = detail::learning_rate_of(s);
  CHECK(warm.text ==
        "lamina::schedule::linear_lr_warmup{.learning_rate = "
        "lamina::schedule::piecewise_decay({3, 5}, {1, 0.5f, 0.25f}), .warmup_steps = 2, .start_lr "
        "= 0, .end_lr = 1}");
  CHECK(warm.rate.at(1) == 0.5f);
  CHECK(warm.rate.at(4) == 0.5f);
}

TEST_CASE("optimizer options: attributes that no schedule has are refused") {
  detail::schedule_attributes s{schedule_kind::cosine, false, 0.1f, 0, 0, 0, 4, 0, 0, 0, {}, {}};
  CHECK_THROWS_WITH(detail::learning_rate_of(s),
                    Catch::Contains("cosine_decay: expected step_each_epoch above 0"));
  s.kind = schedule_kind::piecewise;
  s.boundaries = {5, 3}, s.values = {1, 2, 3};
  CHECK_THROWS_WITH(detail::learning_rate_of(s), Catch::Contains("boundaries that rise"));
  for (const schedule_kind kind :
       {schedule_kind::custom, schedule_kind::variable, static_cast<schedule_kind>(99)}) {
    s.kind = kind;
    CHECK(detail::learning_rate_of(s).text.empty());
  }
}
