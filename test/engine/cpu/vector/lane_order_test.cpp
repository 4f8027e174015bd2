// SPDX-License-Identifier: Apache-2.0
// Elements of two vectors, split and taken in turn.
#include <type_traits>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/vector/lane_order.hpp>

namespace {

/// The vector of a processor without vectors.
struct single {
  using value_type = float;
  static constexpr int size = 1;
  float data;
  static single load_unaligned(const float* from) { return {*from}; }
  void store_unaligned(float* to) const { *to = data; }
};

template <class V>
void check_orders() {
  using real = typename V::value_type;
  constexpr int n = lamina::engine::cpu::lanes_of<V>;
  real both[2 * n];
  for (int i = 0; i < 2 * n; ++i) both[i] = static_cast<real>(i);
  const V a = V::load_unaligned(both), b = V::load_unaligned(both + n);
  const auto at = [](V v, int i) {
    real lanes[n];
    v.store_unaligned(lanes);
    return static_cast<int>(lanes[i]);
  };
  for (int i = 0; i < n; ++i) {
    using namespace lamina::engine::cpu;
    CHECK(at(even_lanes(a, b), i) == 2 * i);
    CHECK(at(odd_lanes(a, b), i) == 2 * i + 1);
    CHECK(at(even_and_odd_lanes(a, b), i) == (2 * i < n ? 2 * i : 2 * i + 1));
    CHECK(at(first_in_turn(a, b), i) == i / 2 + i % 2 * n);
    CHECK(at(second_in_turn(a, b), i) == (n + i) / 2 + (n + i) % 2 * n);
    if constexpr (std::is_same_v<V, vector>)
      for (const int first : {1, n - 1, n})
        CHECK(at(first_lanes<real>(first, a, b), i) == (i < first ? i : n + i));
  }
}

}  // namespace

TEST_CASE("elements of two vectors are split by position and taken in turn") {
  using namespace lamina::engine::cpu;
  check_orders<vector>();
  check_orders<vector_of<4>>();
  check_orders<single>();
}
