// SPDX-License-Identifier: Apache-2.0
// What the tests of second derivatives share: a cost of a gradient, and the laws for it.
#pragma once

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>
#include <laws/engine_law.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/lamina.hpp>
#include <lamina/transform/gradients.hpp>

namespace second_gradients {

namespace layer = lamina::layer;

template <class V>
constexpr auto size_of_gradient(V dx) {
  return layer::reduce_sum(layer::square(dx));
}

/// Whether the engine computes a program and its gradients as the executor does.
template <class P>
void check_engine(P program, bool rows_are_alone = true) {
  lamina::law::check_engine(program, {.low = 0.15f,
                                      .high = 0.95f,
                                      .limit = 3,
                                      .tolerance = 1e-4,
                                      .rows_are_alone = rows_are_alone,
                                      .batches = {1, 3},
                                      .edges = false});
}

inline const laws::gradient_options positive{.rows = 3, .low = 0.15f, .high = 0.95f};

}  // namespace second_gradients
