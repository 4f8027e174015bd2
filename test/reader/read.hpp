// SPDX-License-Identifier: Apache-2.0
// test/reader/read.hpp - whole passes as vectors, and a source of integers.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <lamina/reader/begin_pass.hpp>

namespace test {

/// All elements of one pass.
template <class R>
std::vector<lamina::reader::reader_element_t<R>> read(R&& r, std::uint64_t pass = 0) {
  std::vector<lamina::reader::reader_element_t<R>> all;
  for (auto&& x : lamina::reader::begin_pass(std::forward<R>(r), pass))
    all.push_back(std::forward<decltype(x)>(x));
  return all;
}

/// 0, 1, ..., n - 1.
inline std::vector<int> iota(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

/// 0, 1, 2, ... without end.
inline lamina::generator<int> endless() {
  for (int i = 0;; ++i) co_yield i;
}

}  // namespace test
