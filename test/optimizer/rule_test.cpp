// SPDX-License-Identifier: Apache-2.0
// What an engine sees of an optimizer: of a user's own with nothing but an update, and of ours.
#include <string_view>

#include <catch2/catch.hpp>

#include <lamina/core/simd/intrinsics.hpp>
#include <lamina/optimizer/optimizers.hpp>
#include <lamina/optimizer/rule.hpp>

namespace user {

// All that a user has to write.
struct sign_sgd : lamina::optimizer::rule<sign_sgd> {
  lamina::optimizer::learning_rate learning_rate = 0.01f;
  template <class T>
  LAMINA_FN static void update(T& param, T grad, T lr) {
    param -= lr * lamina::math::sign(grad);
  }
};

// The learning rate may be a plain number; accumulators and scalars are a line each.
struct signum : lamina::optimizer::rule<signum> {
  float learning_rate = 0.5f;
  lamina::regularizer regularization = lamina::l2_decay(0.25f);
  static constexpr std::array<const char*, 1> states{"average"};
  constexpr std::array<float, 2> scalars(std::int64_t) const { return {learning_rate, 0.75f}; }
  constexpr float initial_state(int) const { return 2; }
  template <class T>
  LAMINA_FN static void update(T& param, T grad, T& average, T lr, T beta) {
    average = beta * average + (T(1) - beta) * grad;
    param -= lr * lamina::math::sign(average);
  }
};

// Not optimizers.
struct without_update : lamina::optimizer::rule<without_update> {
  lamina::optimizer::learning_rate learning_rate = 0.01f;
};
struct without_rate : lamina::optimizer::rule<without_rate> {
  template <class T>
  static void update(T&, T) {}
};
struct wrong_arguments : lamina::optimizer::rule<wrong_arguments> {
  lamina::optimizer::learning_rate learning_rate = 0.01f;
  template <class T>
  static void update(T&, T, T&, T) {}
};
struct without_rule {
  lamina::optimizer::learning_rate learning_rate = 0.01f;
  template <class T>
  static void update(T&, T, T) {}
};

struct counting_model {
  int trained = 0;
};
// Stands in for the training loop, which is found by argument-dependent look-up.
template <class Opt, class Options>
float train_with(const Opt& opt, counting_model& model, int batches, const Options& options) {
  model.trained += batches * options.passes;
  return lamina::optimizer::traits<Opt>::scalars(opt, 0)[0];
}

}  // namespace user

namespace optimizer = lamina::optimizer;
using optimizer::optimizer_type;
using optimizer::traits;

static_assert(optimizer_type<user::sign_sgd> && optimizer_type<user::signum>);
static_assert(optimizer_type<optimizer::sgd> && optimizer_type<optimizer::lamb>);
static_assert(!optimizer_type<user::without_update> && !optimizer_type<user::without_rate>);
static_assert(!optimizer_type<user::wrong_arguments> && !optimizer_type<user::without_rule>);
static_assert(!optimizer_type<int>);
static_assert(traits<user::sign_sgd>::state_count == 0 &&
              traits<user::sign_sgd>::scalar_count == 1);
static_assert(traits<user::signum>::state_count == 1 && traits<user::signum>::scalar_count == 2);
static_assert(traits<optimizer::adam>::state_count == 2 &&
              traits<optimizer::adam>::scalar_count == 4);
static_assert(!traits<user::sign_sgd>::has_norms && !traits<optimizer::adam>::has_norms);
static_assert(traits<optimizer::lamb>::has_norms && traits<optimizer::lars_momentum>::has_norms);
// The base costs nothing, so two optimizers differ in size by their numbers alone.
static_assert(std::is_empty_v<optimizer::rule<optimizer::sgd>>);
static_assert(std::is_aggregate_v<optimizer::adam>);

TEST_CASE("an optimizer with nothing but an update", "[optimizer]") {
  using of = traits<user::sign_sgd>;
  const user::sign_sgd opt{.learning_rate = 0.25f};
  CHECK(std::string_view(of::type) == "custom");
  CHECK(of::scalars(opt, 3)[0] == 0.25f);
  CHECK(of::regularization(opt).kind == lamina::regularizer_kind::none);
  CHECK(of::clip(opt).kind == lamina::clip_kind::none);

  const float scalar[]{0.25f};
  float param = 1;
  of::update<float>(param, -3.f, nullptr, scalar);
  CHECK(param == 1.25f);

  using batch = xsimd::batch<float>;
  const batch wide_scalar[]{batch(0.25f)};
  batch wide(1.f);
  of::update<batch>(wide, batch(3.f), nullptr, wide_scalar);
  float lanes[batch::size];
  wide.store_unaligned(lanes);
  for (const float lane : lanes) CHECK(lane == 0.75f);
}

TEST_CASE("an optimizer with a state, a scalar and a decay of its own", "[optimizer]") {
  using of = traits<user::signum>;
  const user::signum opt{};
  CHECK(std::string_view(user::signum::states[0]) == "average");
  CHECK(of::initial_state(opt, 0) == 2.f);
  CHECK(of::regularization(opt).coefficient == 0.25f);
  const auto s = of::scalars(opt, 0);
  CHECK(s[1] == 0.75f);
  float param = 1, state[]{2.f};
  of::update<float>(param, -4.f, state, s.data());
  CHECK(state[0] == 0.5f);
  CHECK(param == 0.5f);
}

TEST_CASE("a schedule reaches the scalars of a step", "[optimizer]") {
  const optimizer::momentum opt{.learning_rate =
                                    lamina::schedule::piecewise_decay({2}, {1.f, 0.125f})};
  CHECK(traits<optimizer::momentum>::scalars(opt, 1)[0] == 1.f);
  CHECK(traits<optimizer::momentum>::scalars(opt, 2)[0] == 0.125f);
}

TEST_CASE("names are Fluid's", "[optimizer]") {
  CHECK(std::string_view(traits<optimizer::adam>::type) == "adam");
  CHECK(std::string_view(optimizer::adam::states[1]) == "moment2");
  CHECK(std::string_view(optimizer::adamax::states[1]) == "inf_norm");
  CHECK(std::string_view(optimizer::rmsprop::states[2]) == "mean_grad");
  CHECK(std::string_view(optimizer::momentum::states[0]) == "velocity");
  CHECK(std::string_view(optimizer::adadelta::states[0]) == "_avg_squared_grad");
  CHECK(std::string_view(optimizer::ftrl::state_slots[1]) == "LinearAccumulator");
  CHECK(std::string_view(optimizer::rmsprop::attributes[0]) == "decay");
}

TEST_CASE("train calls the loop with the derived optimizer", "[optimizer]") {
  user::counting_model model;
  const user::sign_sgd own{.learning_rate = 0.5f};
  CHECK(own.train(model, 3) == 0.5f);
  CHECK(model.trained == 3);
  const optimizer::sgd ours{.learning_rate = 0.75f};
  CHECK(ours.train(model, 5, {.passes = 2}) == 0.75f);
  CHECK(model.trained == 13);
}
