// SPDX-License-Identifier: Apache-2.0
// The optimizer of a user is an operator.
#include <limits>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>
#include <laws/compared_operators.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/training_program.hpp>

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
using lamina::block;
using lamina::tensor;

namespace golden {
#include "golden.inc"
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

TEST_CASE("a user's own optimizer needs no kernel") { check(own_momentum{}, golden::momentum); }
