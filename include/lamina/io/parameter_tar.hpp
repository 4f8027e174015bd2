// SPDX-License-Identifier: Apache-2.0
// lamina/io/parameter_tar.hpp - reads and writes parameters in a tar archive, the format of
// PaddlePaddle v2's Parameters.to_tar.
//
// The archive has two members per parameter. The member NAME is u32 0; u32, the bytes per element
// (4 for float, 8 for double); u64, the number of elements; the elements. The member NAME.protobuf
// is a ParameterConfig. In v2 all parameters are matrices, so a vector is written as a matrix of
// one row.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/io/archive/gzip.hpp>
#include <lamina/io/archive/tar_file.hpp>
#include <lamina/io/arrays/named_tensors.hpp>
#include <lamina/io/arrays/tensor_bytes.hpp>
#include <lamina/io/fluid/proto_fields.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

inline constexpr std::string_view parameter_config_suffix = ".protobuf";

/// The fields of a ParameterConfig that lamina reads: name (field 1), size (field 2) and dims
/// (field 9).
struct parameter_config {
  std::string name{};
  std::uint64_t size = 0, offset = 0;
  std::vector<std::uint64_t> dims{};
};

inline parameter_config read_parameter_config(binary_reader& from, const tar_member& m) {
  const std::string bytes = from.bytes(m.size, "a ParameterConfig");
  // Errors report offsets from the beginning of the archive.
  parameter_config c;
  c.offset = m.begin;
  const message_source source{from.path(), bytes.data()};
  try {
    field_reader fields(source, {bytes.data(), bytes.size()}, "ParameterConfig");
    bool has_name = false, has_size = false;
    std::vector<std::int64_t> dims;
    std::string unknown;
    fields.each(unknown, [&](unsigned field) {
      if (field == 1) c.name = fields.string(), has_name = true;
      if (field == 2) c.size = static_cast<std::uint64_t>(fields.integer()), has_size = true;
      if (field == 9) fields.integers(dims);
      return field == 1 || field == 2 || field == 9;
    });
    fields.require(has_name, "name");
    fields.require(has_size, "size");
    for (const std::int64_t d : dims) c.dims.push_back(static_cast<std::uint64_t>(d));
  } catch (const format_error& e) {
    throw format_error(from.path(), m.begin + e.offset(),
                       text("expected a ParameterConfig in '")
                           << m.name << "', found: " << e.what());
  }
  if (c.name + std::string(parameter_config_suffix) != m.name)
    from.fail_at(m.begin, "expected the ParameterConfig of '" + m.name + "', found that of '" +
                              c.name + "'");
  if (c.dims.empty()) c.dims = {c.size};
  if (c.dims.size() > 16)
    from.fail_at(m.begin, text("expected at most 16 dims of '")
                              << c.name << "', found " << c.dims.size());
  std::uint64_t size = 1;
  bool fits = true;
  for (const std::uint64_t d : c.dims) {
    fits = fits && (d == 0 || size <= ~std::uint64_t{0} / d);
    size *= d;
  }
  if (!fits || size != c.size)
    from.fail_at(m.begin, text("expected dims of ") << c.size << " elements of '" << c.name
                                                    << "', found " << text().list(c.dims));
  return c;
}

/// Reads the parameters of an archive.
inline tensors_of_file read_parameter_tar(binary_reader& from, const wanted_values& wanted = {}) {
  std::size_t others = 0;
  std::map<std::string, parameter_config> configs;
  std::map<std::string, tar_member> values;
  tar_reader archive(from);
  for (tar_member m; archive.next(m);) {
    bool is_new;
    std::string_view parameter = m.name;
    const bool is_config = parameter.ends_with(parameter_config_suffix);
    if (is_config) parameter.remove_suffix(parameter_config_suffix.size());
    if (!wanted.has(parameter)) {
      others += is_config ? 0 : 1;
      continue;
    }
    if (is_config) {
      parameter_config c = read_parameter_config(from, m);
      std::string name = c.name;
      is_new = configs.emplace(std::move(name), std::move(c)).second;
    } else {
      is_new = values.emplace(m.name, m).second;
    }
    if (!is_new) from.fail_at(m.header, "expected one member '" + m.name + "', found a second one");
  }
  for (const auto& [name, m] : values)
    if (configs.count(name) == 0)
      from.fail_at(m.header, "expected a ParameterConfig '" + name + ".protobuf', found none");
  tensors_of_file all{from.path()};
  all.others = others;
  for (const auto& [name, c] : configs) {
    const auto found = values.find(name);
    if (found == values.end())
      from.fail_at(c.offset,
                   "expected the values of '" + name + "', found its ParameterConfig only");
    const tar_member& m = found->second;
    from.window(m.begin, m.size, "a parameter");
    const std::uint32_t format = from.number<std::uint32_t>("the header of a parameter");
    const std::uint32_t bytes = from.number<std::uint32_t>("the header of a parameter");
    const std::uint64_t count = from.number<std::uint64_t>("the header of a parameter");
    if (format != 0 || (bytes != 4 && bytes != 8))
      from.fail_at(m.begin, text("expected format 0 with elements of 4 or 8 bytes in '")
                                << name << "', found format " << format << " with " << bytes);
    if (count != c.size || count != from.left() / bytes || from.left() % bytes != 0)
      from.fail_at(m.begin + 8, text("expected ")
                                    << c.size << " elements of '" << name << "', found " << count
                                    << " in " << from.left() << " bytes");
    const dtype type = bytes == 8 ? dtype::float64 : dtype::float32;
    all.add(name, m.begin, read_elements(from, type, c.dims, "'" + name + "'"));
  }
  return all;
}

}  // namespace detail

/// Writes named_tensors, the variables of a scope or the parameters of a model. An existing file
/// stays intact until the new one is complete. Throws lamina::error for elements other than float32
/// and float64, and for names that end in ".protobuf", because they would be read as a
/// ParameterConfig. v2: Parameters.to_tar.
template <class Parameters>
void to_tar(const file_path& path, const Parameters& from) {
  const named_tensors& values = tensors_of(from);
  binary_writer to(path.string());
  tar_writer archive(to);
  for (const auto& [name, value] : values) {
    if (!is_floating(value.type()) || name.ends_with(detail::parameter_config_suffix))
      throw error(
          "lamina: " + path.string() +
          ": expected parameters of float32 or float64 with names without .protobuf, found " +
          name_of(value.type()) + " '" + name + "'");
    const std::uint64_t size = value.size();
    const auto bytes = static_cast<std::uint32_t>(size_of(value.type()));
    archive.begin_member(name, 16 + bytes * size);
    to.number(std::uint32_t{0});
    to.number(bytes);
    to.number(size);
    write_elements(to, value);
    archive.end_member();
    detail::message_writer config;
    config.text(1, name).integer(2, static_cast<std::int64_t>(size));
    if (value.rank() < 2) config.integer(9, 1);
    if (value.rank() < 1) config.integer(9, 1);
    for (const std::size_t d : value.shape()) config.integer(9, static_cast<std::int64_t>(d));
    const std::string described = config.take();
    archive.begin_member(name + std::string(detail::parameter_config_suffix), described.size());
    to.write(described);
    archive.end_member();
  }
  archive.finish();
  to.finish();
}
template <program_type P>
void to_tar(const file_path&, const P&) = delete;  // expects lamina::model{program}

/// Reads an archive that to_tar of lamina or v2 wrote. The archive may be compressed with gzip, and
/// the two blocks of zeros at its end may be missing. Throws format_error for damaged files. v2:
/// Parameters.from_tar.
inline named_tensors from_tar(const file_path& path) {
  binary_reader from(path.string(), detail::unpack_gzip);
  return detail::read_parameter_tar(from).values;
}
/// Reads the parameters of a model from an archive; a vector may be stored as a matrix of one row.
/// Throws format_error for a damaged file, and if a parameter is missing or has another type or
/// shape; the model is then unchanged.
template <program_type P>
void from_tar(const file_path& path, model<P>& to) {
  binary_reader from(path.string(), detail::unpack_gzip);
  put_tensors(detail::read_parameter_tar(from, detail::wanted_by(to)), to, true);
}
/// Reads only the parameters that are both in the archive and in the model. v2:
/// Parameters.init_from_tar.
template <program_type P>
void init_from_tar(const file_path& path, model<P>& to) {
  binary_reader from(path.string(), detail::unpack_gzip);
  put_tensors(detail::read_parameter_tar(from, detail::wanted_by(to)), to, true, true);
}
/// Stores every parameter of the archive as a variable of a scope.
inline void from_tar(const file_path& path, scope& to) {
  binary_reader from(path.string(), detail::unpack_gzip);
  put_tensors(detail::read_parameter_tar(from), to);
}

}}  // namespace lamina
