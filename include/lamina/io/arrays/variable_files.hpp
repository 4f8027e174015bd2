// SPDX-License-Identifier: Apache-2.0
// lamina/io/arrays/variable_files.hpp - reads and writes the values of variables as Fluid's
// save_vars does: in one file per variable, or in one file for all variables.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/core/files/paths.hpp>
#include <lamina/core/system/system.hpp>
#include <lamina/io/arrays/lod_tensor_stream.hpp>
#include <lamina/tensor/scope.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Returns the path of a variable's file. Throws lamina::error for a name that would give a path
/// outside of the directory.
inline std::string variable_path(const std::string& directory, const std::string& name) {
  if (!is_inner_path(name) || name.ends_with('/') || name.find("//") != std::string::npos)
    throw error("lamina: " + directory + ": expected the name of a variable as a file, found '" +
                name + "'");
  return directory + "/" + name;
}

}  // namespace detail

/// Writes the values of variables. Without `filename`, writes each to a file with the name of the
/// variable; with `filename`, writes all to this file, in alphabetic order. An existing file stays
/// intact until the new one is complete. Throws lamina::error for a variable without a value.
/// Fluid: save_vars.
inline void save_variables(const file_path& directory, const scope& variables,
                           std::vector<std::string> names, const std::string& filename = "") {
  make_directories(directory.string());
  std::sort(names.begin(), names.end());
  if (filename.empty()) {
    for (const std::string& name : names) {
      const std::string path = detail::variable_path(directory.string(), name);
      if (!detail::folder_of(name).empty()) make_directories(detail::folder_of(path));
      binary_writer to(path);
      write_lod_tensor(to, variables.get(name));
      to.finish();
    }
    return;
  }
  binary_writer to(detail::variable_path(directory.string(), filename));
  for (const std::string& name : names) write_lod_tensor(to, variables.get(name));
  to.finish();
}

namespace detail {

/// The value of a variable, and the file and offset at which it was found.
struct found_value {
  lod_tensor value;
  std::string file;
  std::uint64_t offset;
};

/// Reads the values of the variables `names`, which must be sorted: a file with several values has
/// no names, only this order.
inline std::vector<found_value> values_in(const std::string& directory,
                                          const std::vector<std::string>& names,
                                          const std::string& filename) {
  const auto open = [&](const std::string& file, const std::string& what) {
    const std::string path = variable_path(directory, file);
    if (system::status_of(path).kind == system::file_kind::missing)
      throw format_error(path, 0, "expected " + what + ", found no file");
    return path;
  };
  std::vector<found_value> found;
  if (filename.empty()) {
    for (const std::string& name : names) {
      binary_reader from(open(name, "the value of variable '" + name + "'"));
      found.push_back({read_lod_tensor(from, name), from.path(), 0});
      if (from.left() != 0)
        from.fail(text("expected the end of the file of '")
                  << name << "', found " << from.left() << " more bytes");
    }
    return found;
  }
  binary_reader from(open(filename, text("the values of ") << names.size() << " variables"));
  for (const std::string& name : names) {
    const std::uint64_t at = from.offset();
    found.push_back({read_lod_tensor(from, name), from.path(), at});
  }
  if (from.left() != 0)
    from.fail(text("expected the end of the file after ")
              << names.size() << " variables, found " << from.left() << " more bytes");
  return found;
}

/// Throws format_error unless a value has the given type and dimensions; -1 matches every extent.
/// Later versions of PaddlePaddle store scalars with the shape [1] or []; a value with the shape []
/// gets the shape [1], which lamina uses.
inline void require_type(found_value& found, const std::string& name, dtype type,
                         const std::vector<std::int64_t>& dims) {
  lod_tensor& value = found.value;
  const bool scalar = dims.empty() && value.size() == 1;
  if (scalar && value.rank() == 0)
    value = value.visit([]<class T>(const xt::xarray<T>& a) {
      return tensor(tensor_shape{1}, std::vector<T>{a.flat(0)});
    });
  bool fits = value.type() == type && (scalar || value.rank() == dims.size());
  for (std::size_t d = 0; fits && d < dims.size(); ++d)
    fits = dims[d] < 0 || static_cast<std::size_t>(dims[d]) == value.shape()[d];
  if (!fits)
    throw format_error(found.file, found.offset,
                       text("expected ")
                           << name_of(type) << " " << text().list(dims) << " for variable '" << name
                           << "', found " << name_of(value.type()) << " "
                           << to_string(value.shape()));
}

}  // namespace detail

/// Reads files that save_variables wrote. Throws format_error for a file that is damaged or
/// missing; the scope is then unchanged.
inline void load_variables(const file_path& directory, scope& variables,
                           std::vector<std::string> names, const std::string& filename = "") {
  std::sort(names.begin(), names.end());
  std::vector<detail::found_value> found = detail::values_in(directory.string(), names, filename);
  for (std::size_t i = 0; i < names.size(); ++i)
    variables.var(names[i]) = std::move(found[i].value);
}

}}  // namespace lamina
