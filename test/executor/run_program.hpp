// SPDX-License-Identifier: Apache-2.0
// What most tests of the interpreter do with a program: run it once, look at all numbers.
#pragma once

#include <vector>

#include "shared_executor.hpp"

#include <lamina/program/program.hpp>

namespace executed {

/// What a program returns for a feed, with the parameters that it begins with, drawn by the seed of
/// the options.
template <class Real = float, class P>
std::vector<lamina::lod_tensor> returned_by(P, const lamina::feed_map& feed = {},
                                            const lamina::run_options& options = {}) {
  lamina::basic_executor<Real> executor;
  lamina::scope scope;
  executor.run_startup(P::view(), scope, options.seed);
  return executor.run(P::view(), scope, feed, options);
}

/// All elements of a tensor.
inline std::vector<double> values_of(const lamina::tensor& t) {
  const auto a = t.cast<double>();
  return {a.begin(), a.end()};
}

}  // namespace executed
