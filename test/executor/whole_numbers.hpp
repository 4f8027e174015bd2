// SPDX-License-Identifier: Apache-2.0
// Programs of whole numbers, run by the executor.
#pragma once

#include <cstdint>
#include <vector>

#include "shared_executor.hpp"

#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace whole_numbers {

using integer = std::int64_t;
using number = lamina::variable<integer, lamina::once, 1>;
using numbers = std::vector<integer>;

/// What a program returns, computed by the executor in double.
template <class P>
std::vector<lamina::lod_tensor> run(P, const lamina::feed_map& feed = {},
                                    const lamina::run_options& options = {}) {
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  executor.run_startup(P::view(), scope);
  return executor.run(P::view(), scope, feed, options);
}

inline numbers values_of(const lamina::tensor& t) {
  const auto a = t.cast<integer>();
  return {a.begin(), a.end()};
}

/// All whole numbers that a program returns.
template <class P>
numbers all_values(P program, const lamina::feed_map& feed = {}) {
  numbers all;
  for (const lamina::lod_tensor& t : run(program, feed))
    for (const integer x : values_of(t)) all.push_back(x);
  return all;
}

constexpr number constant(lamina::block& main, integer value) {
  return lamina::layer::fill_constant<integer>(main, static_cast<double>(value));
}

}  // namespace whole_numbers
