// SPDX-License-Identifier: Apache-2.0
// lamina/io/persistables.hpp - the values of variables in a directory, as Fluid's save_vars writes
// them: one file a variable, or all in one.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/file.hpp>
#include <lamina/io/loaded_program.hpp>
#include <lamina/io/lod_tensor_stream.hpp>
#include <lamina/tensor/scope.hpp>

namespace lamina {

namespace detail {

/// The file of a variable. A name that leads out of the directory is refused.
inline std::string variable_path(const std::string& directory, const std::string& name) {
  const std::string inside = "/" + name + "/";
  if (name.empty() || inside.find("/../") != std::string::npos ||
      inside.find("//") != std::string::npos || name.find('\0') != std::string::npos)
    throw error("lamina: " + directory + ": expected the name of a variable as a file, found '" +
                name + "'");
  return directory + "/" + name;
}

}  // namespace detail

/// Writes the values of variables, each into a file of its name, or, with `filename`, all into one
/// in alphabetic order. A file that was there stays whole until the new one is. Throws
/// lamina::error for a variable without a value. Fluid: save_vars.
inline void save_variables(const file_path& directory, const scope& variables,
                           std::vector<std::string> names, const std::string& filename = "") {
  make_directories(directory.string());
  if (filename.empty()) {
    for (const std::string& name : names) {
      const std::string path = detail::variable_path(directory.string(), name);
      if (const std::size_t slash = name.rfind('/'); slash != std::string::npos)
        make_directories(path.substr(0, path.rfind('/')));
      binary_writer to(path);
      write_lod_tensor(to, variables.get(name));
      to.finish();
    }
    return;
  }
  std::sort(names.begin(), names.end());
  binary_writer to(detail::variable_path(directory.string(), filename));
  for (const std::string& name : names) write_lod_tensor(to, variables.get(name));
  to.finish();
}

/// Reads what save_variables wrote. All or nothing: the scope changes when every value is there.
/// Throws format_error for damaged files, and lamina::error for one that is missing.
inline void load_variables(const file_path& directory, scope& variables,
                           std::vector<std::string> names, const std::string& filename = "") {
  std::sort(names.begin(), names.end());
  std::vector<lod_tensor> values;
  if (filename.empty()) {
    for (const std::string& name : names) {
      binary_reader from(detail::variable_path(directory.string(), name));
      values.push_back(read_lod_tensor(from, name));
      if (from.left() != 0)
        from.fail(text("expected the end of the file of '")
                  << name << "', found " << from.left() << " more bytes");
    }
  } else {
    binary_reader from(detail::variable_path(directory.string(), filename));
    for (const std::string& name : names) values.push_back(read_lod_tensor(from, name));
    if (from.left() != 0)
      from.fail(text("expected the end of the file after ")
                << names.size() << " variables, found " << from.left() << " more bytes");
  }
  for (std::size_t i = 0; i < names.size(); ++i) variables.var(names[i]) = std::move(values[i]);
}

/// The persistable variables of a program that was read. Fluid: save_persistables.
inline void save_persistables(const file_path& directory, const scope& variables,
                              const loaded_program& program, const std::string& filename = "") {
  save_variables(directory, variables, program.persistable_names(), filename);
}

/// Reads them again; a value of another shape or type than the program says is a format_error
/// that names the variable. Fluid: load_persistables.
inline void load_persistables(const file_path& directory, scope& variables,
                              const loaded_program& program, const std::string& filename = "") {
  scope found;
  load_variables(directory, found, program.persistable_names(), filename);
  for (const std::string& name : program.persistable_names()) {
    const variable_message& wanted = *program.find(name);
    lod_tensor& value = *found.find(name);
    // Later versions call scalars [1] or [], and lamina knows [1] only.
    const bool scalar = wanted.dims.empty() && value.size() == 1;
    if (scalar && value.rank() == 0)
      value = value.visit([]<class T>(const xt::xarray<T>& a) {
        return tensor(tensor_shape{1}, std::vector<T>{a.flat(0)});
      });
    bool fits = value.type() == wanted.type && (scalar || value.rank() == wanted.dims.size());
    for (std::size_t d = 0; fits && d < wanted.dims.size(); ++d)
      fits = wanted.dims[d] < 0 || static_cast<std::size_t>(wanted.dims[d]) == value.shape()[d];
    if (!fits)
      throw format_error(directory.string() + "/" + (filename.empty() ? name : filename), 0,
                         text("expected ")
                             << name_of(wanted.type) << " " << text().list(wanted.dims)
                             << " for variable '" << name << "', found " << name_of(value.type())
                             << " " << to_string(value.shape()));
  }
  for (const std::string& name : program.persistable_names())
    variables.var(name) = std::move(*found.find(name));
}

}  // namespace lamina
