// SPDX-License-Identifier: Apache-2.0
// What most tests of the interpreter do with a program: run it once, look at all numbers.
#pragma once

#include <vector>

#include "shared_executor.hpp"

#include <lamina/program/program.hpp>

namespace executed {

/// What a program without parameters returns for a feed.
template <class P>
std::vector<lamina::lod_tensor> returned_by(P, const lamina::feed_map& feed) {
  lamina::executor executor;
  lamina::scope scope;
  return executor.run(P::view(), scope, feed);
}

/// All elements of a tensor.
inline std::vector<double> values_of(const lamina::tensor& t) {
  const auto a = t.cast<double>();
  return {a.begin(), a.end()};
}

}  // namespace executed
