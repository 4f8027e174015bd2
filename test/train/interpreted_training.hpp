// SPDX-License-Identifier: Apache-2.0
// A program that trains itself on the reference executor, from a model's parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "executor/shared_executor.hpp"
#include <laws/compared_operators.hpp>

#include <lamina/model/model.hpp>

namespace interpreted {

/// The parameters of a model, in double, and the rest of what a program starts with. The tests that
/// begin so compare the executor, the compiled loop and a trainer outside of any program.
template <class P, class Model>
void start(lamina::basic_executor<double>& executor, lamina::scope& scope, const P& program,
           const Model& model) {
  const auto view = program.view();
  executor.run_startup(view, scope);
  for (int i = 0; i < view.count.parameters; ++i)
    scope.var(lamina::variable_name(view, view.parameters[i].variable)) =
        lamina::tensor(model.get(i)).cast(lamina::dtype::float64);
  for (const char* column : {"executor", "compiled"}) laws::note_compared(column, view, true);
}

/// Reads one mini-batch of (values, label) after the other into the fields of "train"; `next`
/// counts.
template <class Minibatches>
lamina::run_options reading(const Minibatches& batches, std::size_t width, std::size_t& next) {
  lamina::run_options options;
  options.next_minibatch = [&batches, width, &next](lamina::feed_map& feed) {
    const auto& b = batches[next++];
    std::vector<float> x;
    std::vector<std::int64_t> y;
    for (const auto& [values, label] : b) {
      x.insert(x.end(), values.begin(), values.end());
      y.push_back(label);
    }
    feed["train_0"] = lamina::tensor({b.size(), width}, x);
    feed["train_1"] = lamina::tensor({b.size(), 1}, y);
    return next < batches.size();
  };
  return options;
}

}  // namespace interpreted
