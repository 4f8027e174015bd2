// SPDX-License-Identifier: Apache-2.0
// Two optimizers with another option have another text, which names it: each option of each
// optimizer, of each schedule, of each decay and clip.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/optimizer/optimizers.hpp>
#include <lamina/optimizer/option_text.hpp>
#include <lamina/optimizer/rule.hpp>

namespace {

namespace optimizer = lamina::optimizer;
namespace schedule = lamina::schedule;
using optimizer::option_text;

/// Whether the text depends on the bytes of an option at this place, a float or a bool.
template <class Opt>
bool shows(const Opt& of, std::size_t at) {
  Opt changed = of;
  const float other = 0.375f;
  std::memcpy(reinterpret_cast<unsigned char*>(&changed) + at, &other, sizeof other);
  if (option_text(changed) != option_text(of)) return true;
  changed = of;
  reinterpret_cast<unsigned char*>(&changed)[at] ^= 1;  // a bool
  return option_text(changed) != option_text(of);
}

template <class Opt>
void check_every_member(const Opt& of) {
  INFO(Opt::type);
  const auto begin_of = [&](const auto& member) {
    return static_cast<std::size_t>(reinterpret_cast<const unsigned char*>(&member) -
                                    reinterpret_cast<const unsigned char*>(&of));
  };
  const std::size_t rate = begin_of(of.learning_rate), end = sizeof(Opt);
  const std::size_t decay = begin_of(of.regularization), clip = begin_of(of.clip);
  REQUIRE(rate == 0);
  int options = 0;
  for (std::size_t at = sizeof of.learning_rate; at + 4 <= end; at += 4) {
    if (at >= decay && at < decay + sizeof of.regularization) continue;
    if (at >= clip && at < clip + sizeof of.clip) continue;
    const bool is_padding = at + 4 == end && clip + sizeof of.clip == at;
    INFO(at);
    CHECK((is_padding || shows(of, at)));
    ++options;
  }
  CHECK(options <= 8);
  Opt changed = of;
  changed.regularization = lamina::l2_decay(0.1f);
  CHECK(optimizer::lines_of_one(option_text(changed), option_text(of)) ==
        "regularization = l2_decay(0.100000001)");
  changed = of;
  changed.clip = lamina::clip_by_norm(3);
  CHECK(optimizer::lines_of_one(option_text(changed), option_text(of)) == "clip = clip_by_norm(3)");
  changed = of;
  changed.learning_rate.factor = 0.5f;
  CHECK(optimizer::lines_of_one(option_text(changed), option_text(of))
            .find("learning_rate.factor = 0.5") != std::string::npos);
}

std::string text_with(const optimizer::learning_rate& rate) {
  return option_text(optimizer::sgd{.learning_rate = rate});
}

/// A schedule of its own instead of a learning rate.
struct scheduled : optimizer::rule<scheduled> {
  float first = 1, power = 0;
  std::array<float, 2> scalars(std::int64_t step) const {
    return {step < 5 ? first : first * power, 3};
  }
  template <class T>
  static void update(T& param, T grad, T rate, T) {
    param -= rate * grad;
  }
};

}  // namespace

TEST_CASE("each option of each optimizer is in its text") {
  check_every_member(optimizer::sgd{.learning_rate = 1});
  check_every_member(optimizer::momentum{});
  check_every_member(optimizer::adagrad{});
  check_every_member(optimizer::adam{});
  check_every_member(optimizer::adamax{});
  check_every_member(optimizer::adamw{});
  check_every_member(optimizer::adadelta{});
  check_every_member(optimizer::decayed_adagrad{});
  check_every_member(optimizer::ftrl{});
  check_every_member(optimizer::rmsprop{});
  check_every_member(optimizer::lamb{});
  check_every_member(optimizer::lars_momentum{});
  check_every_member(optimizer::proximal_gd{});
  check_every_member(optimizer::proximal_adagrad{});
  CHECK(option_text(optimizer::adam{}) != option_text(optimizer::adamax{}));
  CHECK(option_text(optimizer::momentum{.momentum = 0.5f}).find("momentum = 0.5\n") !=
        std::string::npos);
}

TEST_CASE("each option of each schedule is in the text, and all texts differ") {
  const std::vector<optimizer::learning_rate> all{
      0.5f,
      0.25f,
      schedule::noam_decay{2, 3, 1},
      schedule::noam_decay{3, 3, 1},
      schedule::noam_decay{2, 4, 1},
      schedule::noam_decay{2, 3, 2},
      schedule::exponential_decay{1, 2, 0.5f, false},
      schedule::exponential_decay{2, 2, 0.5f, false},
      schedule::exponential_decay{1, 3, 0.5f, false},
      schedule::exponential_decay{1, 2, 0.25f, false},
      schedule::exponential_decay{1, 2, 0.5f, true},
      schedule::natural_exp_decay{1, 2, 0.5f, false},
      schedule::natural_exp_decay{1, 2, 0.5f, true},
      schedule::inverse_time_decay{1, 2, 0.5f, false},
      schedule::inverse_time_decay{1, 2, 0.25f, false},
      schedule::polynomial_decay{1, 2, 0.5f, 1, false},
      schedule::polynomial_decay{1, 2, 0.25f, 1, false},
      schedule::polynomial_decay{1, 2, 0.5f, 2, false},
      schedule::polynomial_decay{1, 2, 0.5f, 1, true},
      schedule::piecewise_decay({10, 20}, {1, 0.5f, 0.25f}),
      schedule::piecewise_decay({10, 21}, {1, 0.5f, 0.25f}),
      schedule::piecewise_decay({10, 20}, {1, 0.5f, 0.125f}),
      schedule::piecewise_decay({10}, {1, 0.5f}),
      schedule::one_cycle{1, 20},
      schedule::one_cycle{2, 20},
      schedule::one_cycle{1, 21},
      schedule::one_cycle{1, 20, 0.5f},
      schedule::one_cycle{1, 20, 0.3f, schedule::anneal::linear},
      schedule::one_cycle{1, 20, 0.3f, schedule::anneal::cos, 26},
      schedule::one_cycle{1, 20, 0.3f, schedule::anneal::cos, 25, 1e3f},
      schedule::one_cycle{1, 20, 0.3f, schedule::anneal::cos, 25, 1e4f, true},
      schedule::cosine_decay{1, 2, 3},
      schedule::cosine_decay{1, 3, 3},
      schedule::cosine_decay{1, 2, 4},
      schedule::v2::poly{1, 0.5, 2, 3},
      schedule::v2::poly{1, 0.5, 2, 4},
      schedule::v2::caffe_poly{1, 0.5, 2, 3},
      schedule::v2::exp{1, 0.5, 2, 3},
      schedule::v2::discexp{1, 0.5, 2, 3},
      schedule::v2::discexp{1, 0.5, 3, 3},
      schedule::v2::linear{1, 0.5, 2, 3},
      schedule::v2::linear{1, 0.25, 2, 3},
      schedule::custom{[](std::int64_t step) { return 1.0 / static_cast<double>(1 + step); }},
      schedule::custom{[](std::int64_t step) { return 1.0 / static_cast<double>(1 + 2 * step); }},
      schedule::linear_lr_warmup{0.5f, 10, 0, 0.5f},
      schedule::linear_lr_warmup{0.5f, 11, 0, 0.5f},
      schedule::linear_lr_warmup{0.5f, 10, 0.1f, 0.5f},
      schedule::linear_lr_warmup{0.5f, 10, 0, 0.25f}};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < all.size(); ++k) {
      INFO(text_with(all[i]) << "and\n" << text_with(all[k]));
      CHECK((text_with(all[i]) == text_with(all[k])) == (i == k));
    }
}

TEST_CASE("clips and decays are written as in a program") {
  CHECK(optimizer::text_of(lamina::clip_by_value(1)) == "clip_by_value(-1, 1)");
  CHECK(optimizer::text_of(lamina::clip_by_value(-2, 1)) == "clip_by_value(-2, 1)");
  CHECK(optimizer::text_of(lamina::clip_by_global_norm(1)) == "clip_by_global_norm(1)");
  CHECK(optimizer::text_of(lamina::gradient_clip{}) == "none");
  CHECK(optimizer::text_of(lamina::l1_decay(0.5f)) == "l1_decay(0.5)");
  CHECK(optimizer::text_of(lamina::regularizer{}) == "none");
}

TEST_CASE("an optimizer without a learning rate shows its schedule by values") {
  const scheduled one{{}, 1, 0.5f}, other{{}, 1, 0.25f};
  CHECK(optimizer::lines_of_one(option_text(other), option_text(one)) ==
        "scalar 0 of the update in step 10 = 0.25, scalar 0 of the update in step 1000 = 0.25");
}

TEST_CASE("many differences are counted") {
  CHECK(optimizer::lines_of_one("a\nb\nc\nd\ne\nf\n", "a\n") == "b, c, d, e and 1 more");
  CHECK(optimizer::lines_of_one("a\n", "a\nb\n") == "no other option");
}
