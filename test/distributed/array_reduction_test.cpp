// SPDX-License-Identifier: Apache-2.0
// Sums and maxima of arrays over ranks that are threads: small and large arrays have the same bits.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/distributed/array_reduction.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>

namespace {

using lamina::engine::process_reduction;

template <class T>
T element(int rank, std::size_t k) {
  const auto n = static_cast<T>((k * 31 + static_cast<std::size_t>(rank) * 17) % 101);
  return n / static_cast<T>(7) - static_cast<T>(rank);
}
/// What each rank gets.
template <class T>
std::vector<std::vector<T>> reduced(int ranks, std::size_t count, process_reduction kind,
                                    const std::vector<char>& parts, double odd = 0) {
  std::vector<std::vector<T>> all(static_cast<std::size_t>(ranks));
  test::in_ranks(ranks, [&](test::thread_group& w) {
    lamina::engine::aligned_buffer memory((count + static_cast<std::size_t>(32 * ranks)) *
                                          sizeof(T) / sizeof(float));
    T* const mine = reinterpret_cast<T*>(memory.data());
    for (std::size_t k = 0; k < count; ++k) mine[k] = element<T>(w.rank(), k);
    if (odd != 0 && w.rank() == 1) mine[count / 2] = static_cast<T>(odd);
    bool takes_part[8] = {};
    for (int r = 0; r < ranks; ++r) takes_part[r] = parts[static_cast<std::size_t>(r)] != 0;
    w.reduce({kind, false, 0, lamina::dtype_of<T>, count}, mine, takes_part);
    all[static_cast<std::size_t>(w.rank())].assign(mine, mine + count);
  });
  return all;
}
/// The balanced binary tree over the ranks that take part.
template <class T>
bool tree(int level, int rank, int ranks, const std::vector<char>& parts, std::size_t k, T& sum) {
  if (rank >= ranks) return false;
  if (level == 0) {
    sum = element<T>(rank, k);
    return parts[static_cast<std::size_t>(rank)] != 0;
  }
  T right{};
  const int half = rank + (1 << (level - 1));
  const bool first = tree(level - 1, rank, ranks, parts, k, sum);
  if (!tree(level - 1, half, ranks, parts, k, right)) return first;
  sum = first ? sum + right : right;
  return true;
}

template <class T>
void check_sums() {
  for (const std::size_t count : {std::size_t{1}, std::size_t{17}, std::size_t{10007}})
    for (const int ranks : {1, 2, 3, 5})
      for (const int absent : {-1, 0, ranks - 1}) {
        std::vector<char> parts(static_cast<std::size_t>(ranks), 1);
        if (absent >= 0) parts[static_cast<std::size_t>(absent)] = 0;
        const auto all = reduced<T>(ranks, count, process_reduction::sum, parts);
        for (const auto& one : all) REQUIRE(one == all[0]);
        for (std::size_t k = 0; k < count; ++k) {
          T sum{};
          if (!tree<T>(3, 0, ranks, parts, k, sum)) sum = 0;
          REQUIRE(all[0][k] == sum);
        }
      }
}

TEST_CASE("A sum has the order of a tree over the ranks, whatever its size") {
  check_sums<float>();
  check_sums<double>();
  check_sums<std::int32_t>();
  check_sums<std::int64_t>();
}

TEST_CASE("A maximum is that of the ranks that take part") {
  for (const std::size_t count : {std::size_t{5}, std::size_t{9001}}) {
    const auto all = reduced<float>(3, count, process_reduction::max, {1, 0, 1});
    for (std::size_t k = 0; k < count; ++k)
      REQUIRE(all[2][k] == (std::max)(element<float>(0, k), element<float>(2, k)));
  }
}

TEST_CASE("NaN of a rank that takes part is kept, and NaN of others is not") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto kind : {process_reduction::sum, process_reduction::max}) {
    CHECK(std::isnan(reduced<float>(2, 9, kind, {1, 1}, nan)[0][4]));
    CHECK_FALSE(std::isnan(reduced<float>(2, 9, kind, {1, 0}, nan)[0][4]));
  }
}

}  // namespace
