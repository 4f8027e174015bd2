// SPDX-License-Identifier: Apache-2.0
// A number is no reader.
// expect-error: the left side of \| is not a reader: expected a copyable range
// expect-lines: 12
#include <lamina/reader/batch.hpp>
#include <lamina/reader/first_n.hpp>

namespace reader = lamina::reader;

lamina::generator<int> numbers() {
  for (int i = 0;; ++i) co_yield i;
}

int main() {
#ifdef SHOULD_FAIL
  auto batches = 7 | reader::batch(2) | reader::first_n(1);  // <- here
#else
  auto batches = numbers | reader::batch(2) | reader::first_n(1);
#endif
  for ([[maybe_unused]] auto&& batch : reader::begin_pass(batches)) return 0;
  return 1;
}
