// SPDX-License-Identifier: Apache-2.0
// lamina/io/arrays/lod_tensor_stream.hpp - reads and writes one value in the format of Fluid's save
// operator.
//
// The format is, in this order: u32 0; u64, the number of levels of the LoD; for each level, u64,
// its size in bytes, and its offsets, each u64; u32 0; i32, the size of a TensorDesc, and its bytes
// in protobuf; the elements, little-endian, row by row.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/io/arrays/tensor_bytes.hpp>
#include <lamina/io/program_desc_proto.hpp>
#include <lamina/tensor/lod_tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI {

static_assert(sizeof(std::size_t) == 8, "lamina: LoD offsets of files are numbers of 64 bits");

/// Writes a value. Fluid: SerializeToStream.
inline void write_lod_tensor(binary_writer& to, const lod_tensor& value) {
  to.number(std::uint32_t{0});
  to.number(std::uint64_t{value.lod().levels()});
  for (std::size_t l = 0; l < value.lod().levels(); ++l) {
    const lod::level& offsets = value.lod().offsets(l);
    to.number(std::uint64_t{offsets.size() * 8});
    for (const std::size_t at : offsets) to.number(std::uint64_t{at});
  }
  to.number(std::uint32_t{0});
  std::vector<std::int64_t> dims;
  for (const std::size_t d : value.shape()) dims.push_back(static_cast<std::int64_t>(d));
  const std::string desc = detail::tensor_desc_bytes(value.type(), dims);
  to.number(static_cast<std::int32_t>(desc.size()));
  to.write(desc);
  write_elements(to, value);
}

/// Reads the value of the variable `name`. Throws format_error for bytes that do not follow the
/// format, for example another version, a size that exceeds the file, or descending offsets. Fluid:
/// DeserializeFromStream.
inline lod_tensor read_lod_tensor(binary_reader& from, const std::string& name) {
  const auto version = [&](const char* of) {
    const std::uint64_t at = from.offset();
    const std::uint32_t found = from.number<std::uint32_t>(of);
    if (found != 0) from.fail_at(at, text("expected version 0 of ") << of << ", found " << found);
  };
  const std::string of_value = "the value of '" + name + "'";
  version("a LoDTensor");
  std::uint64_t at = from.offset();
  const std::uint64_t levels = from.number<std::uint64_t>("the number of LoD levels");
  if (levels > 16) from.fail_at(at, text("expected at most 16 LoD levels, found ") << levels);
  at = from.offset();
  std::vector<lod::level> offsets;
  for (std::uint64_t l = 0; l < levels; ++l) {
    const std::uint64_t bytes = from.number<std::uint64_t>("the size of a LoD level");
    if (bytes % 8 != 0 || bytes > from.left())
      from.fail(text("expected at most ") << from.left() << " bytes of offsets, found " << bytes);
    lod::level& level = offsets.emplace_back(bytes / 8);
    from.numbers(level.data(), bytes / 8, "LoD offsets");
  }
  version("a Tensor");
  const std::uint64_t at_desc = from.offset();
  const std::int32_t size = from.number<std::int32_t>("the size of a TensorDesc");
  if (size < 0) from.fail_at(at_desc, text("expected the size of a TensorDesc, found ") << size);
  const std::uint64_t begin = from.offset();
  const std::string desc = from.bytes(static_cast<std::uint64_t>(size), "a TensorDesc");
  dtype type{};
  std::vector<std::int64_t> dims;
  std::string unknown;
  try {
    const detail::message_source source{from.path(), desc.data()};
    detail::read_tensor_desc({source, {desc.data(), desc.size()}, "TensorDesc"}, type, dims,
                             unknown);
  } catch (const format_error& e) {
    from.fail_at(begin + e.offset(),
                 "expected a TensorDesc of '" + name + "', found bytes that are none");
  }
  if (dims.size() > 16)
    from.fail_at(begin, text("expected at most 16 dimensions, found ") << dims.size());
  std::vector<std::uint64_t> shape;
  for (const std::int64_t d : dims) {
    if (d < 0) from.fail_at(begin, text("expected dimensions of 0 and more, found ") << d);
    shape.push_back(static_cast<std::uint64_t>(d));
  }
  tensor value = read_elements(from, type, shape, of_value);
  try {
    return lod_tensor(std::move(value), lod(std::move(offsets)));
  } catch (const format_error&) {
    throw;
  } catch (const error& e) {
    from.fail_at(at, "expected the LoD of " + of_value + ", found " + e.what());
  }
}

}}  // namespace lamina
