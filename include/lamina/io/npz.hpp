// SPDX-License-Identifier: Apache-2.0
// lamina/io/npz.hpp - reads and writes named values in a zip archive of .npy files, the format of
// numpy.savez.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <string_view>

#include <lamina/core/files/file.hpp>
#include <lamina/core/files/little_endian.hpp>
#include <lamina/io/archive/zip_reader.hpp>
#include <lamina/io/archive/zip_writer.hpp>
#include <lamina/io/arrays/named_tensors.hpp>
#include <lamina/io/npy.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

inline tensor read_npz_member(zip_reader& archive, binary_reader& from, const zip_member& m,
                              bool checked) {
  const std::string what = "the member '" + m.name + "'";
  const auto read = [&](binary_reader& bytes) {
    tensor value = read_npy(bytes, what);
    if (bytes.left() != 0)
      bytes.fail(text("expected the end of ")
                 << what << ", found " << bytes.left() << " more bytes");
    return value;
  };
  if (!m.deflated) {
    if (checked) archive.check_member(m);
    archive.open(m);
    return read(from);
  }
  const std::string all = archive.inflate(m, checked);
  binary_reader bytes(all, from.path());
  try {
    return read(bytes);
  } catch (const format_error& e) {
    throw format_error(from.path(), m.begin, text("in deflated bytes: ") << e.what());
  }
}

/// Reads the values `wanted` of an archive. If `checked` is false, checksums are not verified;
/// tests use this to pass damaged bytes to the decoder.
inline tensors_of_file read_npz(binary_reader& from, bool checked = true,
                                const wanted_values& wanted = {}) {
  tensors_of_file all{from.path()};
  zip_reader archive(from);
  for (const zip_member& m : archive.members()) {
    constexpr std::string_view suffix = ".npy";
    const bool is_array = m.name.ends_with(suffix);
    if (m.name.ends_with('/') && m.size == 0) continue;  // the entry of a directory
    if (!wanted.has(
            std::string_view(m.name).substr(0, m.name.size() - (is_array ? suffix.size() : 0)))) {
      ++all.others;
      continue;
    }
    if (!is_array) from.fail_at(m.header, "expected members NAME.npy, found '" + m.name + "'");
    all.add(m.name.substr(0, m.name.size() - suffix.size()), m.begin,
            read_npz_member(archive, from, m, checked));
  }
  return all;
}

}  // namespace detail

/// Writes named_tensors, the variables of a scope or the parameters of a model, each as an
/// uncompressed array with its name. An existing file stays intact until the new one is complete.
/// numpy: savez.
template <class Parameters>
void save_npz(const file_path& path, const Parameters& from) {
  const named_tensors& values = tensors_of(from);
  binary_writer to(path.string());
  zip_writer archive(to);
  for (const auto& [name, value] : values) {
    const auto each = static_cast<std::size_t>(size_of(value.type()));
    const detail::little_endian_bytes elements(value.data(), value.size() * each, each);
    archive.add(name + ".npy", npy_header_of(value), elements.data(), elements.size());
  }
  archive.finish();
  to.finish();
}
template <program_type P>
void save_npz(const file_path&, const P&) = delete;  // expects lamina::model{program}

/// Reads an archive that save_npz, numpy.savez or numpy.savez_compressed wrote. Throws format_error
/// for damaged files.
inline named_tensors load_npz(const file_path& path) {
  binary_reader from(path.string());
  return detail::read_npz(from).values;
}
/// Reads the arrays of an archive into a scope, or into the parameters with the same names of a
/// model; arrays without such a parameter are ignored. Throws format_error for a damaged file, and
/// if a parameter is missing or has another type or shape; the scope or model is then unchanged.
template <class Parameters>
void load_npz(const file_path& path, Parameters& to) {
  binary_reader from(path.string());
  put_tensors(detail::read_npz(from, true, detail::wanted_by(to)), to);
}
template <program_type P>
void load_npz(const file_path&, const P&) = delete;  // expects lamina::model{program}

}}  // namespace lamina
