// SPDX-License-Identifier: Apache-2.0
// Sums of the gradients of parts do not depend on where the parts were computed.

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/train/gradients/tree_sum.hpp>

namespace {

using buffer = lamina::engine::aligned_buffer;
constexpr std::size_t n = 1056;  // more than a block, and a part of one

template <class T>
struct parts {
  explicit parts(int count, unsigned seed = 1) {
    std::mt19937 draw(seed);
    std::uniform_real_distribution<double> values(-1, 1);
    for (int p = 0; p < count; ++p) {
      memory.emplace_back(n * sizeof(T) / sizeof(float));
      T* const at = reinterpret_cast<T*>(memory.back().data());
      for (std::size_t k = 0; k < n; ++k) at[k] = static_cast<T>(values(draw));
      of.push_back(at);
      weight.push_back(static_cast<T>(values(draw) + 1.5));
    }
  }
  std::vector<T> sum(int first, int count, bool weighed = true) const {
    buffer to(n * sizeof(T) / sizeof(float));
    T* const at = reinterpret_cast<T*>(to.data());
    lamina::tree_sum<T>({of.data() + first, weighed ? weight.data() + first : nullptr, count})
        .add(0, n, at);
    return {at, at + n};
  }
  std::vector<buffer> memory;
  std::vector<const T*> of;
  std::vector<T> weight;
};

}  // namespace

TEMPLATE_TEST_CASE("a tree sum is the weighted sum", "", float, double) {
  for (const int count : {1, 2, 3, 4, 5, 7, 8, 13, 256}) {
    const parts<TestType> all(count);
    const std::vector<TestType> found = all.sum(0, count);
    for (std::size_t k = 0; k < n; k += 37) {
      double expected = 0;
      for (std::size_t p = 0; p < all.of.size(); ++p)
        expected += static_cast<double>(all.weight[p]) * static_cast<double>(all.of[p][k]);
      CHECK(static_cast<double>(found[k]) == Approx(expected).margin(1e-4));
    }
  }
}

TEMPLATE_TEST_CASE("sums of groups of parts, added up, have the bits of one sum", "", float,
                   double) {
  for (const int count : {4, 6, 8, 12, 16})
    for (const int together : {2, 4, 8}) {
      if (count % together != 0) continue;
      const parts<TestType> all(count, static_cast<unsigned>(count));
      const std::vector<TestType> whole = all.sum(0, count);
      parts<TestType> groups(count / together);
      for (int g = 0; g < count / together; ++g) {
        const std::vector<TestType> one = all.sum(g * together, together);
        std::memcpy(groups.memory[static_cast<std::size_t>(g)].data(), one.data(),
                    n * sizeof(TestType));
      }
      const std::vector<TestType> found = groups.sum(0, count / together, false);
      CHECK(std::memcmp(whole.data(), found.data(), n * sizeof(TestType)) == 0);
    }
}

TEST_CASE("a part without a weight takes no part in a sum") {
  parts<float> all(5);
  const std::vector<float> two = [&] {
    parts<float> some(5);
    for (const std::size_t p : {0u, 2u, 4u}) {
      some.weight[p] = 0;
      float* const at = some.memory[p].data();
      for (std::size_t k = 0; k < n; ++k) at[k] = std::numeric_limits<float>::quiet_NaN();
    }
    return some.sum(0, 5);
  }();
  for (std::size_t k = 0; k < n; k += 41) {
    REQUIRE(std::isfinite(two[k]));
    CHECK(two[k] ==
          Approx(all.weight[1] * all.of[1][k] + all.weight[3] * all.of[3][k]).margin(1e-5));
  }
  for (float& w : all.weight) w = 0;
  CHECK(all.sum(0, 5) == std::vector<float>(n, 0.0f));
}

TEST_CASE("a sum may be written over the first part") {
  parts<float> all(3);
  const std::vector<float> expected = all.sum(0, 3);
  float* const first = all.memory[0].data();
  lamina::tree_sum<float>({all.of.data(), all.weight.data(), 3}).add(0, n, first);
  CHECK(std::memcmp(first, expected.data(), n * sizeof(float)) == 0);
}
