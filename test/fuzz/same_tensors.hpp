// SPDX-License-Identifier: Apache-2.0
// Whether values are the same, bit for bit.
#pragma once

#include <cstring>

#include <lamina/io/arrays/named_tensors.hpp>

namespace fuzz {

inline bool same(const lamina::tensor& a, const lamina::tensor& b) {
  const std::size_t element = static_cast<std::size_t>(size_of(a.type()));
  return a.type() == b.type() && a.shape() == b.shape() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * element) == 0);
}
inline bool same(const lamina::named_tensors& a, const lamina::named_tensors& b) {
  bool all = a.size() == b.size();
  for (const auto& [name, value] : a) all = all && b.count(name) == 1 && same(value, b.at(name));
  return all;
}

}  // namespace fuzz
