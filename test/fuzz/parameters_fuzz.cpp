// SPDX-License-Identifier: Apache-2.0
// The values of variables in Fluid's files, and lamina's own files of named arrays.
#include <algorithm>
#include <cstring>
#include <vector>

#include <fuzz/targets.hpp>

#include <lamina/io/arrays/lod_tensor_stream.hpp>
#include <lamina/model/parameters/tensor_file.hpp>

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

// Right checksums, one of the header and one of all, let damage pass to what they guard.
std::string signed_again(std::string file) {
  std::uint64_t header = 0;
  if (file.size() < 72) return file;
  std::memcpy(&header, &file[8], 8);
  header = std::min<std::uint64_t>(header, file.size() - 8) / 64 * 64;
  if (header == 0) return file;
  std::memcpy(&file[8], &header, 8);
  const std::uint64_t sum = lamina::detail::sum_of_header(file.data(), header);
  std::memcpy(&file[header - 8], &sum, 8);
  const std::size_t data = (file.size() - 8 - header) / 64 * 64;
  lamina::checksum all(sum);
  all.add(file.data() + header, data);
  file.resize(header + data);
  lamina::detail::append_little_endian(file, all.value());
  return file;
}

void own_file(const std::string& all) {
  std::vector<lamina::tensor_entry> read;
  const bool accepted = fuzz::accepts(all, [&] {
    lamina::binary_reader from(all, "fuzz.model");
    read = lamina::detail::tensor_file_reader(from).read();
  });
  if (!accepted) return;
  std::size_t size = 0;
  for (const lamina::tensor_entry& e : read) size += e.bytes.size();
  fuzz::require(size <= all.size(), "no more is read than there is");
  const std::string path = fuzz::folder() + "/model";
  lamina::write_tensor_file(path, read);
  const std::vector<lamina::tensor_entry> again = lamina::read_tensor_file(path);
  fuzz::require(again.size() == read.size(), "all entries are written");
  for (std::size_t i = 0; i < read.size(); ++i)
    fuzz::require(again[i].name == read[i].name && again[i].type == read[i].type &&
                      again[i].dims == read[i].dims &&
                      again[i].bytes.view() == read[i].bytes.view(),
                  "an entry is written as it was read");
  lamina::remove_file(path);
}

}  // namespace

void fuzz::parameters(std::string_view bytes) {
  lod_tensor(bytes);
  const std::string as_it_is(bytes);
  for (const std::string& all : {as_it_is, signed_again(as_it_is)}) own_file(all);
}
