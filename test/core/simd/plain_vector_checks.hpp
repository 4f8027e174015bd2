// SPDX-License-Identifier: Apache-2.0
// Compares the functions of core/simd/plain_vectors.hpp with those of the C library, at numbers
// with special cases.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include <lamina/core/simd/plain_vectors.hpp>

namespace plain_vector_checks {

namespace simd = lamina::plain_simd;

template <class T>
bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

/// The number of pairs of numbers for which a function of vectors differs from one of numbers.
template <class T, class F, class G>
long differences(F of_vectors, G of_numbers) {
  using batch = simd::batch<T>;
  using limits = std::numeric_limits<T>;
  const T numbers[] = {T(0),
                       T(-0.0),
                       T(0.5),
                       T(-0.5),
                       T(0.49999997),
                       T(1.5),
                       T(-1.5),
                       T(2.5),
                       T(1),
                       T(-3),
                       T(8388607.5),
                       T(-8388609),
                       T(0x1p52) + T(1),
                       T(1e30),
                       limits::infinity(),
                       -limits::infinity(),
                       limits::quiet_NaN(),
                       limits::denorm_min(),
                       T(0.3),
                       T(-0.7)};
  long count = 0;
  for (const T x : numbers)
    for (const T y : numbers) {
      T left[batch::size], right[batch::size], result[batch::size];
      // The lanes differ from each other, so that a function that mixes them is found.
      for (int i = 0; i < batch::size; ++i) left[i] = i % 2 ? y : x, right[i] = i % 2 ? x : y;
      of_vectors(batch::load_unaligned(left), batch::load_unaligned(right)).store_unaligned(result);
      for (int i = 0; i < batch::size; ++i)
        count += !same(result[i], static_cast<T>(of_numbers(left[i], right[i])));
    }
  return count;
}

/// Calls print(name, count) for each function, with the number of its wrong results.
template <class T, class Print>
void count_wrong_results(const Print& print_count) {
  using batch = simd::batch<T>;
  const auto print = [&](const char* name, auto f, auto g) {
    print_count(name, differences<T>(f, g));
  };
  print(
      "nearbyint", [](batch x, batch) { return nearbyint(x); },
      [](T x, T) { return std::nearbyint(x); });
  print(
      "floor", [](batch x, batch) { return floor(x); }, [](T x, T) { return std::floor(x); });
  print(
      "ceil", [](batch x, batch) { return ceil(x); }, [](T x, T) { return std::ceil(x); });
  print(
      "round", [](batch x, batch) { return round(x); }, [](T x, T) { return std::round(x); });
  print(
      "abs", [](batch x, batch) { return abs(x); }, [](T x, T) { return std::fabs(x); });
  print(
      "copysign", [](batch x, batch y) { return copysign(x, y); },
      [](T x, T y) { return std::copysign(x, y); });
  print(
      "min", [](batch x, batch y) { return min(x, y); }, [](T x, T y) { return x < y ? x : y; });
  print(
      "max", [](batch x, batch y) { return max(x, y); }, [](T x, T y) { return x > y ? x : y; });
  print(
      "sqrt", [](batch x, batch) { return sqrt(abs(x)); },
      [](T x, T) { return std::sqrt(std::fabs(x)); });
  print(
      "select", [](batch x, batch y) { return select(x < y, x, batch(y * y)); },
      [](T x, T y) { return x < y ? x : y * y; });
  print(
      "not", [](batch x, batch y) { return select(!(x < y) && x == x, x, y); },
      [](T x, T y) { return !(x < y) && x == x ? x : y; });
  print(
      "not_equal", [](batch x, batch y) { return select((x < y) != (x < -y), x, y); },
      [](T x, T y) { return (x < y) != (x < -y) ? x : y; });
  print(
      "any", [](batch x, batch y) { return batch(T(any(x < y) == all(x < y))); },
      [](T x, T y) { return batch::size == 1 || (x < y) == (y < x); });
  print(
      "ldexp", [](batch x, batch) { return ldexp(x, to_int(batch(T(-3)))); },
      [](T x, T) { return x * T(0.125); });
}

}  // namespace plain_vector_checks
