// SPDX-License-Identifier: Apache-2.0
// test/fuzz/tar_checksums.hpp - damaged tar archives whose headers have right checksums.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace fuzz {

/// The same archive with right checksums in its headers, so that damage passes them.
inline std::string with_checksums(std::string_view bytes) {
  std::string all(bytes);
  for (std::size_t at = 0; at + 512 <= all.size();) {
    std::memset(&all[at + 148], ' ', 8);
    unsigned sum = 0;
    for (std::size_t i = at; i < at + 512; ++i) sum += static_cast<unsigned char>(all[i]);
    if (sum == 8 * ' ') break;  // the end
    char digits[8];
    std::snprintf(digits, sizeof digits, "%06o", sum & 0777777);
    std::memcpy(&all[at + 148], digits, 7);
    const std::size_t size = std::strtoul(all.substr(at + 124, 12).c_str(), nullptr, 8);
    if (size > all.size()) break;
    at += 512 + (size + 511) / 512 * 512;
  }
  return all;
}

}  // namespace fuzz
