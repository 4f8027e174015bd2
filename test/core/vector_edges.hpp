// SPDX-License-Identifier: Apache-2.0
// test/core/vector_edges.hpp - compares functions of vectors with those of numbers at edge values.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cpu/vector/simd.hpp>

namespace vector_edges {

using lamina::engine::cpu::vector;

/// Zeros, infinities, NaN, the smallest normal numbers, what is smaller, ends of ranges.
template <class Real>
std::vector<Real> edges() {
  using limits = std::numeric_limits<Real>;
  std::vector<Real> some{0,
                         limits::infinity(),
                         limits::quiet_NaN(),
                         limits::min(),
                         limits::max(),
                         limits::denorm_min(),
                         limits::min() / 4,
                         Real(1e-30),
                         Real(1e20),
                         1,
                         Real(0.5),
                         Real(1.5),
                         Real(2.5),
                         Real(0.49999997),
                         1 - limits::epsilon(),
                         1 + limits::epsilon(),
                         Real(16777217),
                         Real(1e-4),
                         Real(1e-8),
                         87.33f,
                         87.34f,
                         87.7f,
                         88.f,
                         88.37f,
                         88.38f,
                         88.5f,
                         88.72f,
                         88.73f,
                         90.f,
                         103.f,
                         103.9f,
                         104.f,
                         708.3f,
                         708.4f,
                         709.f,
                         709.75f,
                         710.f,
                         720.f,
                         745.f};
  for (int i = 1; i < 60; ++i) some.push_back(Real(i) * Real(0.31));
  const std::size_t n = some.size();
  for (std::size_t i = 0; i < n; ++i) some.push_back(-some[i]);
  return some;
}

/// Whether a number is the expected one: NaN, infinities and signs of 0 alike, others to so many
/// parts of it or of the smallest normal number.
template <class Real>
bool is_alike(Real found, Real expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(found);
  if (std::isinf(expected) || expected == 0)
    return found == expected && std::signbit(found) == std::signbit(expected);
  return std::abs(static_cast<double>(found) - static_cast<double>(expected)) <=
         tolerance * std::max(std::abs(static_cast<double>(expected)),
                              static_cast<double>(std::numeric_limits<Real>::min()));
}

template <class Real, class F>
Real of_vector(F f, std::type_identity_t<Real> x) {
  alignas(64) Real found[lamina::engine::cpu::lanes_in<Real>];
  const lamina::engine::cpu::vector_in<Real> y = f(lamina::engine::cpu::vector_in<Real>(x));
  y.store_aligned(found);
  return found[0];
}

/// Compares a function of vectors with one of numbers at the edges.
template <class Real, class F, class G>
void check_at_edges(const char* name, F f, G exact, double tolerance = 1e-6) {
  if (sizeof(Real) == 8) tolerance *= 1e-8;
  for (const Real x : edges<Real>()) {
    const Real found = of_vector<Real>(f, x);
    const Real expected = static_cast<Real>(exact(x));
    INFO(name << " of " << x << ": " << found << ", expected " << expected);
    CHECK(is_alike(found, expected, tolerance));
  }
}

}  // namespace vector_edges
