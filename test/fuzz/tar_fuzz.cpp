// SPDX-License-Identifier: Apache-2.0
// Parameters in tar archives.
#include <fuzz/same_tensors.hpp>
#include <fuzz/tar_checksums.hpp>
#include <fuzz/targets.hpp>

#include <lamina/io/parameter_tar.hpp>

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
