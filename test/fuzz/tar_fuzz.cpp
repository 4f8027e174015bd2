// SPDX-License-Identifier: Apache-2.0
// Parameters in tar archives.
#include <cstdio>
#include <cstring>

#include <fuzz/same_tensors.hpp>
#include <fuzz/targets.hpp>

#include <lamina/io/parameter_tar.hpp>

namespace {

/// The same archive with right checksums in its headers, so that damage passes them.
std::string with_checksums(std::string_view bytes) {
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

}  // namespace

void fuzz::tar(std::string_view bytes) {
  for (const std::string& all : {std::string(bytes), with_checksums(bytes)}) {
    lamina::named_tensors read;
    const bool accepted = accepts(all, [&] {
      lamina::binary_reader from(all, "fuzz.tar");
      read = lamina::detail::read_parameter_tar(from).values;
    });
    if (!accepted) continue;
    const std::string path = folder() + "/parameters.tar";
    try {
      lamina::to_tar(path, read);
    } catch (const lamina::error&) {
      continue;  // a name that cannot be written
    }
    const lamina::named_tensors again = lamina::from_tar(path);
    require(again.size() == read.size(), "parameters are written as they were read");
    for (const auto& [name, value] : again)
      require(value.rank() != read.at(name).rank() || same(value, read.at(name)),
              "a parameter is written as it was read");
    lamina::remove_file(path);
  }
}
