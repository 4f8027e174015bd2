// SPDX-License-Identifier: Apache-2.0
// A function of numbers for a reader of strings. What reads the result is told nothing more.
// expect-error: static.assert.*reader: map: the function takes an element of the reader
// expect-fact: gets_type<.*string
// expect-lines: 12
#include <string>
#include <vector>

#include <lamina/reader/map.hpp>

int main() {
  const std::vector<std::string> words{"one", "two"};
#ifdef SHOULD_FAIL
  auto lengths = words | lamina::reader::map([](int word) { return word + 1u; });  // <- here
#else
  auto lengths = words | lamina::reader::map([](const std::string& word) { return word.size(); });
#endif
  std::size_t sum = 0;
  for (const std::size_t length : lengths()) sum += length;
  return sum == 0;
}
