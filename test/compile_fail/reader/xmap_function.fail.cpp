// SPDX-License-Identifier: Apache-2.0
// The same on several threads.
// expect-error: static.assert.*reader: map: the function takes an element of the reader
// expect-fact: gets_type<.*string
// expect-lines: 12
#include <string>
#include <vector>

#include <lamina/reader/xmap.hpp>

int main() {
  const std::vector<std::string> words{"one", "two"};
#ifdef SHOULD_FAIL
  auto lengths = words | lamina::reader::xmap([](int word) { return word + 1; });  // <- here
#else
  auto lengths = words | lamina::reader::xmap([](const std::string& word) { return word.size(); });
#endif
  (void)lengths;
}
