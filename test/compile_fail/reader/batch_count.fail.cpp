// SPDX-License-Identifier: Apache-2.0
// The reader and the number of samples as two arguments.
// expect-error: element_count
// expect-fact: // expected a whole number of elements
// expect-lines: 12
#include <vector>

#include <lamina/reader/reader.hpp>

namespace reader = lamina::reader;

int main() {
  std::vector<int> samples(8);
#ifdef SHOULD_FAIL
  auto batches = reader::batch(samples, 4);  // <- here
#else
  auto batches = samples | reader::batch(4);
#endif
  return sizeof(batches) == 0;
}
