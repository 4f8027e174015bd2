// SPDX-License-Identifier: Apache-2.0
// numpy's files: one array, and zip archives of arrays.
#include <fuzz/same_tensors.hpp>
#include <fuzz/targets.hpp>

#include <lamina/io/npz.hpp>

void fuzz::npy(std::string_view bytes) {
  lamina::tensor read;
  const bool accepted = accepts(bytes, [&] {
    lamina::binary_reader from(bytes, "fuzz.npy");
    read = lamina::read_npy(from, "an array");
  });
  if (!accepted) return;
  const std::string path = folder() + "/array.npy";
  lamina::save_npy(path, read);
  require(same(lamina::load_npy(path), read), "an array is written as it was read");
  lamina::remove_file(path);
}

void fuzz::npz(std::string_view bytes) {
  // Damage seldom has the right checksum: once without looking at it.
  for (const bool checked : {true, false}) {
    lamina::named_tensors read;
    const bool accepted = accepts(bytes, [&] {
      lamina::binary_reader from(bytes, "fuzz.npz");
      read = lamina::detail::read_npz(from, checked).values;
    });
    if (!accepted) continue;
    const std::string path = folder() + "/arrays.npz";
    lamina::save_npz(path, read);
    require(same(lamina::load_npz(path), read), "arrays are written as they were read");
    lamina::remove_file(path);
  }
}
