// SPDX-License-Identifier: Apache-2.0
// laws/block_gradient_law.hpp - gradients through loops and branches are the limits of difference
// quotients. Errors are measured against the largest gradient, which must not be small: where all
// gradients are tiny, wrong ones would pass.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <laws/gradient_check.hpp>

namespace laws {

/// Compares all gradients of parameters and floating feeds with central differences in double.
template <class P>
void check_block_gradients(P, lamina::feed_map feed = {}, gradient_options options = {}) {
  constexpr auto made = lamina::with_backward<P, true>{};
  const lamina::program_view forward = P::view(), backward = made.view();
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  executor.run_startup(forward, scope, options.seed);
  std::vector<std::string> varied;
  for (int i = 0; i < forward.count.parameters; ++i) {
    const int v = forward.parameters[i].variable;
    varied.push_back(lamina::name_of(forward, v));
    scope.var(varied.back()) = random_value(forward, v, options);
  }
  for (int i = 0; i < forward.count.data; ++i) {
    const int v = forward.data[i];
    const std::string name = lamina::name_of(forward, v);
    if (!lamina::is_floating(forward.variables[v].type)) continue;
    if (feed.find(name) == feed.end()) feed[name] = random_value(forward, v, options);
    if (std::find(options.constant.begin(), options.constant.end(), name) == options.constant.end())
      varied.push_back(name);
  }
  lamina::run_options run;
  run.check_nan = true;
  const auto cost = [&] {
    return executor.run(forward, scope, feed, run).at(0).as<double>().flat(0);
  };
  std::vector<std::string> known;
  for (int v = 0; v < backward.count.variables; ++v)
    if (backward.variables[v].block == 0) known.push_back(lamina::name_of(backward, v));

  double largest = 0, worst = 0;
  std::string where = "nothing";
  for (const std::string& name : varied) {
    const std::string gradient = name + "@GRAD";
    const auto fed = feed.find(name);
    lamina::tensor& value = fed != feed.end() ? fed->second : scope.var(name);
    value = value.cast(lamina::dtype::float64);
    const bool has = std::find(known.begin(), known.end(), gradient) != known.end();
    const lamina::tensor found = has ? executor.run(backward, scope, feed, {gradient}, run).at(0)
                                     : lamina::tensor::zeros(lamina::dtype::float64, value.shape());
    REQUIRE(found.shape() == value.shape());
    for (std::size_t i = 0; i < value.size(); ++i) {
      double& x = value.as<double>().flat(i);
      const double before = x;
      x = before + options.step;
      const double above = cost();
      x = before - options.step;
      const double below = cost();
      x = before;
      const double expected = (above - below) / (2 * options.step);
      const double error = std::abs(found.as<double>().flat(i) - expected);
      largest = std::max(largest, std::abs(expected));
      if (error <= worst) continue;
      worst = error;
      where = "d cost / d " + name + "[" + std::to_string(i) + "]: difference quotient " +
              std::to_string(expected) + ", gradient operator " +
              std::to_string(found.as<double>().flat(i));
    }
  }
  INFO("worst: " << where << "; largest gradient " << largest);
  CHECK(largest > 0.1);
  CHECK(worst <= 1e-7 * largest);
}

}  // namespace laws
