// SPDX-License-Identifier: Apache-2.0
// What the tests of recurrent operators feed and compare: numbers that another program can make
// too, sin(phase + 1.7 i).
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/program/program.hpp>

namespace recurrent {

inline std::vector<double> wave(std::size_t n, double phase) {
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = std::sin(phase + 1.7 * static_cast<double>(i));
  return v;
}
inline lamina::tensor matrix(std::size_t rows, std::size_t columns, double phase) {
  return lamina::tensor({rows, columns}, wave(rows * columns, phase));
}
inline lamina::lod_tensor sequences(const std::vector<lamina::lod::level>& lengths,
                                    std::size_t columns, double phase) {
  return lamina::create_lod_tensor(
      matrix(lamina::lod::from_lengths(lengths).rows(), columns, phase), lengths);
}

/// The outputs of a program in double; the parameters are waves of the given phases, in order.
template <class P>
std::vector<lamina::lod_tensor> run(P, const lamina::feed_map& feed,
                                    const std::vector<double>& phases) {
  const lamina::program_view program = P::view();
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  executor.run_startup(program, scope, 1);
  REQUIRE(program.count.parameters == static_cast<int>(phases.size()));
  for (std::size_t i = 0; i < phases.size(); ++i) {
    lamina::tensor& value =
        scope.var(lamina::variable_name(program, program.parameters[i].variable));
    value = lamina::tensor(value.shape(), wave(value.size(), phases[i]));
  }
  return executor.run(program, scope, feed);
}

inline void check_values(const lamina::tensor& found, const std::vector<double>& expected) {
  const auto values = found.cast<double>();
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("element " << i);
    CHECK(values.flat(i) == Approx(expected[i]).margin(1e-8));
  }
}

}  // namespace recurrent
