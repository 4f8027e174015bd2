// SPDX-License-Identifier: Apache-2.0
// A decorator without its parentheses.
// expect-error: reader: a decorator is called before it takes a reader
// expect-lines: 12
#include <vector>

#include <lamina/reader/batch.hpp>

namespace reader = lamina::reader;

int main() {
  const std::vector<int> numbers(4);
#ifdef SHOULD_FAIL
  auto batches = numbers | reader::batch;  // <- here
#else
  auto batches = numbers | reader::batch(2);
#endif
  for ([[maybe_unused]] auto&& batch : reader::begin_pass(batches)) return 0;
  return 1;
}
