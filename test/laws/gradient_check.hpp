// SPDX-License-Identifier: Apache-2.0
// laws/gradient_check.hpp - the law that every gradient operator must obey: gradients are the
// limits of difference quotients. The law is checked in double, for every element of every
// parameter and floating feed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>
#include <laws/compared_operators.hpp>

#include <lamina/core/numbers/random.hpp>
#include <lamina/program/program.hpp>
#include <lamina/transform/append_backward.hpp>

namespace laws {

/// Options of the difference quotients and of the values at which they are computed.
struct gradient_options {
  std::size_t rows = 3;
  float low = -1, high = 1;  // the range of random parameters and feeds
  double step = 1e-6;
  double tolerance = 1e-6;  // relative to the gradient, or to 1 if the gradient is smaller
  std::uint64_t seed = 1;
  // The lengths of the sequences of random feeds. A feed with one level of sequences uses the last
  // list, a feed with two levels uses both.
  std::vector<lamina::lod::level> lengths{{2, 0, 1}, {2, 0, 3}};
  std::vector<std::string> constant{};  // feeds without a gradient, such as soft labels
  // integer feeds are random from 0 to integers - 1; if this is 0, they must be given
  int integers = 0;
};

/// A tensor of random numbers with a variable's recorded shape.
inline lamina::lod_tensor random_value(const lamina::program_view& p, int variable,
                                       const gradient_options& options) {
  const lamina::variable_desc& v = p.variables[variable];
  const int levels = lamina::lod_level_of(p, v.rows);
  const lamina::lod sequences =
      lamina::lod::from_lengths({options.lengths.end() - levels, options.lengths.end()});
  const std::size_t rows = levels > 0 ? sequences.rows() : options.rows;
  lamina::tensor_shape shape;
  for (int d = 0; d < v.rank; ++d)
    shape.push_back(p.dims[v.dims + d] < 0 ? rows : static_cast<std::size_t>(p.dims[v.dims + d]));
  std::vector<double> values(lamina::size_of(shape));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = lamina::random_uniform_at(options.seed, 1000 + static_cast<std::uint64_t>(variable),
                                          i, options.low, options.high);
  return lamina::lod_tensor(lamina::tensor(shape, values), sequences);
}

/// Random integers for an integer feed.
inline lamina::lod_tensor random_integers(const lamina::program_view& p, int variable,
                                          gradient_options options) {
  options.low = 0;
  options.high = static_cast<float>(options.integers);
  const lamina::lod_tensor value = random_value(p, variable, options);
  const lamina::tensor whole = value.cast(lamina::dtype::int64);
  return lamina::lod_tensor(whole.cast(p.variables[variable].type), value.lod());
}

/// One element of a gradient, computed both by the gradient operators and as a difference quotient.
struct compared_element {
  const std::string& name;  // the name of the parameter or feed
  std::size_t index;
  double quotient, gradient;
  bool known;  // whether the program computes this gradient; if not, it is taken as 0

  std::string where() const {
    return "d cost / d " + name + "[" + std::to_string(index) + "]: difference quotient " +
           std::to_string(quotient) + ", gradient operator " + std::to_string(gradient);
  }
};

/// Calls `compare` for each element of the gradients of parameters and floating feeds, with the
/// central difference quotient of output 0 of `forward`, which must be a scalar. `backward`
/// computes the gradients. Feeds that are not in `feed` are random. Integer feeds must be in `feed`
/// unless options.integers is set.
template <class F>
void for_each_gradient(const lamina::program_view& forward, const lamina::program_view& backward,
                       lamina::feed_map feed, const gradient_options& options, F compare) {
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  executor.run_startup(forward, scope, options.seed);
  std::vector<std::string> varied;
  for (int i = 0; i < forward.count.parameters; ++i) {
    const int v = forward.parameters[i].variable;
    const std::string name = lamina::variable_name(forward, v);
    scope.var(name) = random_value(forward, v, options);
    // Parameters that are not trained, such as moving statistics, have no gradient.
    if (forward.parameters[i].trainable) varied.push_back(name);
  }
  for (int i = 0; i < forward.count.data; ++i) {
    const int v = forward.data[i];
    const std::string name = lamina::variable_name(forward, v);
    if (!lamina::is_floating(forward.variables[v].type)) {
      if (options.integers > 0 && feed.find(name) == feed.end())
        feed[name] = random_integers(forward, v, options);
      continue;
    }
    if (feed.find(name) == feed.end()) feed[name] = random_value(forward, v, options);
    if (std::find(options.constant.begin(), options.constant.end(), name) == options.constant.end())
      varied.push_back(name);
  }
  lamina::run_options run;
  run.check_nan = true;
  const auto cost = [&] {
    return executor.run(forward, scope, feed, run).at(0).as<double>().flat(0);
  };
  std::vector<std::string> gradients;
  for (int v = 0; v < backward.count.variables; ++v)
    if (backward.variables[v].block == 0) gradients.push_back(lamina::variable_name(backward, v));

  for (const std::string& name : varied) {
    const std::string gradient = name + "@GRAD";
    const bool known = std::find(gradients.begin(), gradients.end(), gradient) != gradients.end();
    const auto fed = feed.find(name);
    lamina::tensor& value = fed != feed.end() ? fed->second : scope.var(name);
    value = value.cast(lamina::dtype::float64);
    const lamina::tensor found = known
                                     ? executor.run(backward, scope, feed, {gradient}, run).at(0)
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
      compare(compared_element{name, i, (above - below) / (2 * options.step),
                               found.as<double>().flat(i), known});
    }
  }
  note_compared("executor", backward, false);
}

/// Checks every element of the gradients against its difference quotient.
inline void check_gradients(const lamina::program_view& forward,
                            const lamina::program_view& backward, lamina::feed_map feed,
                            const gradient_options& options) {
  int compared = 0;
  for_each_gradient(forward, backward, std::move(feed), options, [&](const compared_element& e) {
    INFO(e.where());
    CHECK(std::abs(e.gradient - e.quotient) <=
          options.tolerance * std::max(1.0, std::abs(e.quotient)));
    compared += e.known ? 1 : 0;
  });
  CHECK(compared > 0);
}

/// Checks every gradient of a recorded program, after it has added the gradient operators to the
/// program.
template <class P>
void check_gradients(P program, lamina::feed_map feed = {}, const gradient_options& options = {}) {
  constexpr auto backward = decltype(lamina::transform::append_backward_to_data(program)){};
  check_gradients(P::view(), backward.view(), std::move(feed), options);
}

}  // namespace laws
