// SPDX-License-Identifier: Apache-2.0
// Updates of parameters: three steps of every optimizer, formulas, Fluid's form.
#include <algorithm>
#include <cmath>
#include <limits>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>
#include <laws/compared_operators.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/optimizers.hpp>
#include <lamina/optimizer/training_program.hpp>

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
using lamina::block;
using lamina::tensor;

namespace golden {
#include "executor/golden.inc"
}

namespace {

// With one row the gradient of the weight is x itself.
constexpr auto net = lamina::program([](block& main) {
  return layer::mean(layer::fc<1>(layer::data<"x", float, 4>(main), {.bias = false}));
});

std::vector<double> column(const double* from) { return {from, from + 4}; }

/// The weight after three steps; `preparation` is scale, low, high, l1 and l2.
template <class Opt>
tensor three_steps(const Opt& opt, const std::vector<float>& preparation) {
  constexpr auto training = decltype(lamina::transform::minimize(net, opt)){};
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  scope.var("fc_0.w_0") = tensor({4, 1}, column(golden::w0));
  for (int step = 0; step < 3; ++step) {
    const auto scalars = opt.scalars(step);
    std::vector<float> numbers(scalars.begin(), scalars.end());
    numbers.insert(numbers.begin() + 1, preparation.begin(), preparation.end());
    lamina::run_options options;
    options.update_numbers = {numbers};
    executor.run(training.view(), scope,
                 {{"x", tensor({1, 4}, column(golden::gradients + 4 * step))}}, options);
  }
  return scope.get("fc_0.w_0");
}

const float infinity = std::numeric_limits<float>::infinity();

template <class Opt>
void check(const Opt& opt, const double (&expected)[4]) {
  INFO(Opt::type);
  const tensor w = three_steps(opt, {1, -infinity, infinity, 0, 0});
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(w.as<double>().flat(i) == Approx(expected[i]).epsilon(1e-5).margin(1e-6));
  laws::note_compared_operator("executor", Opt::type);
}

}  // namespace

TEST_CASE("three steps of every optimizer agree with another library") {
  check(optimizer::sgd{.learning_rate = 0.1f}, golden::sgd);
  check(optimizer::momentum{.learning_rate = 0.1f, .momentum = 0.9f}, golden::momentum);
  check(optimizer::momentum{.learning_rate = 0.1f, .momentum = 0.9f, .use_nesterov = true},
        golden::nesterov);
  check(optimizer::adagrad{.learning_rate = 0.1f, .epsilon = 1e-6f}, golden::adagrad);
  check(optimizer::adam{.learning_rate = 0.1f, .beta2 = 0.99f}, golden::adam);
  check(optimizer::adamax{.learning_rate = 0.1f, .beta2 = 0.99f}, golden::adamax);
  check(optimizer::adadelta{.epsilon = 1e-6f, .rho = 0.95f}, golden::adadelta);
  check(optimizer::rmsprop{.learning_rate = 0.01f,
                           .rho = 0.9f,
                           .epsilon = 1e-6f,
                           .momentum = 0.5f,
                           .centered = true},
        golden::rmsprop);
  check(optimizer::decayed_adagrad{.learning_rate = 0.1f, .decay = 0.9f, .epsilon = 1e-6f},
        golden::decayed_adagrad);
  check(optimizer::ftrl{.learning_rate = 0.1f, .l1 = 0.05f, .l2 = 0.2f}, golden::ftrl);
}

TEST_CASE("optimizers that look at norms agree with their formulas") {
  check(optimizer::lars_momentum{.learning_rate = 0.1f,
                                 .momentum = 0.9f,
                                 .lars_coeff = 0.01f,
                                 .lars_weight_decay = 0.001f},
        golden::lars_momentum);
  check(optimizer::lamb{.learning_rate = 0.1f, .lamb_weight_decay = 0.01f, .beta2 = 0.99f},
        golden::lamb);
}

TEST_CASE("proximal updates agree with their formulas") {
  const double lr = 0.1f, l1 = 0.02f, l2 = 0.03f;
  const auto nearest = [&](double z, double rate) {
    return std::copysign(std::max(std::abs(z) - rate * l1, 0.0), z) / (1 + rate * l2);
  };
  double plain[4], adaptive[4];
  for (std::size_t i = 0; i < 4; ++i) {
    double squares = 0;
    plain[i] = adaptive[i] = golden::w0[i];
    for (std::size_t step = 0; step < 3; ++step) {
      const double g = golden::gradients[4 * step + i];
      squares += g * g;
      plain[i] = nearest(plain[i] - lr * g, lr);
      adaptive[i] = nearest(adaptive[i] - lr * g / std::sqrt(squares), lr);
    }
  }
  check(optimizer::proximal_gd{.learning_rate = 0.1f, .l1 = 0.02f, .l2 = 0.03f}, plain);
  check(optimizer::proximal_adagrad{.learning_rate = 0.1f, .l1 = 0.02f, .l2 = 0.03f}, adaptive);
}

namespace {

// What a user would write; the same equations as momentum under another name, without a kernel.
struct own_momentum : optimizer::rule<own_momentum> {
  static constexpr std::array<const char*, 1> states{"speed"};
  optimizer::learning_rate learning_rate = 0.1f;
  std::array<float, 1> scalars(std::int64_t step) const { return {learning_rate.at(step)}; }
  template <class T>
  LAMINA_FN static void update(T& param, T grad, T& speed, T learning_rate) {
    speed = T(0.9) * speed + grad;
    param -= learning_rate * speed;
  }
};

}  // namespace

TEST_CASE("adam with lazy_mode updates the rows that a gradient has") {
  // With one row the gradient of the row of the table is x itself.
  constexpr auto table = lamina::program([](block& main) {
    auto e = layer::embedding<3, 4>(layer::data<"id", std::int64_t>(main), {.is_sparse = true});
    return layer::mean(layer::reduce_sum<1>(e * layer::data<"x", float, 4>(main)));
  });
  constexpr optimizer::adam adam{.learning_rate = 0.1f, .beta2 = 0.99f};
  constexpr auto training = decltype(lamina::transform::minimize(table, adam)){};
  for (const bool lazy : {true, false}) {
    lamina::basic_executor<double> executor;
    lamina::scope scope;
    std::vector<double> rows;
    for (int r = 0; r < 3; ++r) rows.insert(rows.end(), golden::w0, golden::w0 + 4);
    scope.var("embedding_0.w_0") = tensor({3, 4}, rows);
    const auto step = [&](int number, std::int64_t id) {
      const auto s = adam.scalars(number);
      lamina::run_options options;
      options.update_numbers = {
          {s[0], 1, -infinity, infinity, 0, 0, s[1], s[2], s[3], lazy ? 1.0f : 0.0f}};
      executor.run(training.view(), scope,
                   {{"x", tensor({1, 4}, column(golden::gradients + 4 * (number % 3)))},
                    {"id", tensor({1, 1}, std::vector<std::int64_t>{id})}},
                   options);
      return scope.get("embedding_0.w_0").as<double>();
    };
    step(0, 1), step(1, 1);
    const xt::xarray<double> third = step(2, 1), fourth = step(3, 2);
    for (std::size_t j = 0; j < 4; ++j) {
      CHECK(third(0, j) == golden::w0[j]);
      CHECK(third(1, j) == Approx(golden::adam[j]).epsilon(1e-5));
      CHECK((fourth(1, j) == third(1, j)) == lazy);
      CHECK(fourth(2, j) != third(2, j));
    }
  }
}

TEST_CASE("a user's own optimizer needs no kernel") { check(own_momentum{}, golden::momentum); }

TEST_CASE("a gradient is scaled, clipped and then decayed") {
  const tensor w = three_steps(optimizer::sgd{.learning_rate = 1}, {2, -0.5f, 0.5f, 0.01f, 0.1f});
  double x = golden::w0[0];
  for (int step = 0; step < 3; ++step) {
    const double g = std::min(std::max(2 * golden::gradients[4 * step], -0.5), 0.5);
    x -= g + 0.01 * (x > 0 ? 1 : -1) + 0.1 * x;
  }
  CHECK(w.as<double>().flat(0) == Approx(x).margin(1e-6));
}

namespace {

// Fluid's own form: the learning rate and the powers of beta are variables.
constexpr std::array<lamina::slot_desc, 7> adam_inputs{
    {{"Param"}, {"Grad"}, {"LearningRate"}, {"Moment1"}, {"Moment2"}, {"Beta1Pow"}, {"Beta2Pow"}}};

constexpr std::array<lamina::slot_desc, 5> adam_outputs{
    {{"ParamOut"}, {"Moment1Out"}, {"Moment2Out"}, {"Beta1PowOut"}, {"Beta2PowOut"}}};

struct fluid_adam : lamina::operator_definition {
  static constexpr const char* type = "adam";
  static constexpr auto inputs = adam_inputs;
  static constexpr auto outputs = adam_outputs;
  static constexpr std::array<lamina::attribute_desc, 3> attributes{
      {{"beta1", lamina::attribute_type::real, 0.9},
       {"beta2", lamina::attribute_type::real, 0.99},
       {"epsilon", lamina::attribute_type::real, 1e-8}}};
};

constexpr auto fluid_step = lamina::program([](block& main) {
  auto grad = layer::data<"g", float, 4>(main);
  layer::layer_helper h(*main.builder, "state");
  int state[6];
  for (int i = 0; i < 6; ++i) {
    const int extent[1] = {i < 3 ? 4 : 1};
    state[i] = h.parameter(lamina::param_attr{}, ".w_", extent, lamina::dtype::float32,
                           lamina::init::constant(0), 0);
  }
  main.builder->add_operator(lamina::schema_of<fluid_adam>(),
                             {state[0], grad.id, state[3], state[1], state[2], state[4], state[5]},
                             {state[0], state[1], state[2], state[4], state[5]});
});

}  // namespace

TEST_CASE("adam in Fluid's form multiplies the powers of beta after the update") {
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  executor.run_startup(fluid_step.view(), scope);
  scope.var("state_0.w_0") = tensor({4}, column(golden::w0));
  scope.var("state_0.w_3") = tensor({1}, std::vector<double>{0.1});
  scope.var("state_0.w_4") = tensor({1}, std::vector<double>{0.9});
  scope.var("state_0.w_5") = tensor({1}, std::vector<double>{0.99});
  for (int step = 0; step < 3; ++step)
    executor.run(fluid_step.view(), scope,
                 {{"g", tensor({1, 4}, column(golden::gradients + 4 * step))}});
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(scope.get("state_0.w_0").as<double>().flat(i) == Approx(golden::adam[i]).epsilon(1e-6));
  CHECK(scope.get("state_0.w_4").as<double>().flat(0) == Approx(std::pow(0.9, 4)));
}
