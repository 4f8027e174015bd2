// SPDX-License-Identifier: Apache-2.0
// A function with a generator of its own, of which each thread would have a copy.
// expect-error: static.assert.*reader: xmap: expected a function that does not change itself
// expect-lines: 12
#include <random>
#include <vector>

#include <lamina/reader/xmap.hpp>

int main() {
  const std::vector<int> images(64);
  const auto own = [engine = std::mt19937(1)](int) mutable { return engine(); };
  const auto given = [](int, auto, auto, auto& random) { return random(); };
#ifdef SHOULD_FAIL
  auto noisy = images | lamina::reader::xmap(own, 4, 16);  // <- here
  (void)given;
#else
  auto noisy = images | lamina::reader::xmap(given, 4, 16);
  (void)own;
#endif
  (void)noisy;
}
