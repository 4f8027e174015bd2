// SPDX-License-Identifier: Apache-2.0
// The values of variables in Fluid's files, and lamina's own files of named arrays.
#include <fuzz/targets.hpp>

#include <lamina/io/lod_tensor_stream.hpp>
#include <lamina/model/tensor_file.hpp>

namespace {

void lod_tensor(std::string_view bytes) {
  lamina::lod_tensor read;
  std::uint64_t end = 0;
  const bool accepted = fuzz::accepts(bytes, [&] {
    lamina::binary_reader from(bytes, "fuzz.tensor");
    read = lamina::read_lod_tensor(from, "v");
    end = from.offset();
  });
  if (!accepted) return;
  fuzz::require(end <= bytes.size(), "no more is read than there is");
  const std::string path = fuzz::folder() + "/value";
  lamina::binary_writer to(path);
  lamina::write_lod_tensor(to, read);
  to.finish();
  lamina::binary_reader again(path);
  const lamina::lod_tensor second = lamina::read_lod_tensor(again, "v");
  fuzz::require(
      second.type() == read.type() && second.shape() == read.shape() && second.lod() == read.lod(),
      "a value is written as it was read");
  lamina::remove_file(path);
}

}  // namespace

void fuzz::parameters(std::string_view bytes) {
  lod_tensor(bytes);
  // A right checksum lets damage pass to what it guards.
  std::string file(bytes.substr(0, bytes.size() - std::min<std::size_t>(bytes.size(), 8)));
  lamina::detail::put_number(file, lamina::detail::checksum(file));
  for (const std::string& all : {std::string(bytes), file})
    accepts(all, [&] {
      for (const lamina::tensor_entry& e :
           lamina::detail::tensor_file_reader("fuzz.model", all).read())
        require(e.bytes.size() <= all.size(), "no more is read than there is");
    });
}
