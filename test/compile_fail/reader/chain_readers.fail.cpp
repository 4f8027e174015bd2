// SPDX-License-Identifier: Apache-2.0
// One element in place of a reader behind another one.
// expect-error: static.assert.*reader: map, compose and chain: expected readers
// expect-fact: gets_type<.*int>
// expect-lines: 12
#include <vector>

#include <lamina/reader/chain.hpp>

int main() {
  const std::vector<int> first{1, 2}, last{3};
#ifdef SHOULD_FAIL
  auto all = lamina::reader::chain(first, 3);  // <- here
#else
  auto all = lamina::reader::chain(first, last);
#endif
  int sum = 0;
  for (const int one : all()) sum += one;
  return sum < 0;
}
