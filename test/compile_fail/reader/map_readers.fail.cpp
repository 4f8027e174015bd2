// SPDX-License-Identifier: Apache-2.0
// A function of one element for two readers.
// expect-error: static.assert.*reader: map: the function takes an element of each reader
// expect-fact: gets_type<float, int>
#include <vector>

#include <lamina/reader/map.hpp>

int main() {
  const std::vector<float> x{1, 2};
  const std::vector<int> y{3, 4};
#ifdef SHOULD_FAIL
  auto sums = lamina::reader::map([](float a) { return a; }, x, y);  // <- here
#else
  auto sums = lamina::reader::map([](float a, int b) { return a + static_cast<float>(b); }, x, y);
#endif
  float sum = 0;
  for (const float one : sums()) sum += one;
  return sum < 0;
}
