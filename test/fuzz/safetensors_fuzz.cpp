// SPDX-License-Identifier: Apache-2.0
// safetensors files.
#include <fuzz/same_tensors.hpp>
#include <fuzz/targets.hpp>

#include <lamina/io/safetensors.hpp>

void fuzz::safetensors(std::string_view bytes) {
  lamina::named_tensors read;
  const bool accepted = accepts(bytes, [&] {
    lamina::binary_reader from(bytes, "fuzz.safetensors");
    read = lamina::detail::read_safetensors(from).values;
  });
  if (!accepted) return;
  const std::string path = folder() + "/values.safetensors";
  lamina::save_safetensors(path, read);
  require(same(lamina::load_safetensors(path), read), "values are written as they were read");
  lamina::remove_file(path);
}
