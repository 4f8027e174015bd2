// SPDX-License-Identifier: Apache-2.0
// lamina/io/arrays/named_tensors.hpp - values by name, the contents of parameter files, and their
// copies from and to scopes and models.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/model/tensor_file.hpp>
#include <lamina/program/program.hpp>
#include <lamina/tensor/scope.hpp>
#include <lamina/tensor/tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI {

template <program_type P>
class model;

/// Values by name, in alphabetic order.
using named_tensors = std::map<std::string, tensor, std::less<>>;

/// Returns the values that a writer of parameter files stores, here from values by name.
inline const named_tensors& tensors_of(const named_tensors& all) { return all; }

/// Returns them from variables of a scope. Throws lamina::error for a variable without a value or
/// with sequences.
inline named_tensors tensors_of(const scope& from, const std::vector<std::string>& names) {
  named_tensors all;
  for (const std::string& name : names) {
    const lod_tensor& value = from.get(name);
    if (value.lod().levels() != 0)
      throw error("lamina: files of parameters: expected a value without sequences for '" + name +
                  "', found " + std::to_string(value.lod().levels()) + " levels of them");
    all.emplace(name, value);
  }
  return all;
}
inline named_tensors tensors_of(const scope& from) { return tensors_of(from, from.names()); }

/// Returns them from the parameters of a model, row-major.
template <program_type P>
named_tensors tensors_of(const model<P>& from) {
  named_tensors all;
  for (int i = 0; i < model<P>::parameter_arrays(); ++i)
    all.emplace(model<P>::describe(i).name, from.get(i));
  return all;
}

/// Returns values by name as arrays for load_by_name: `load_by_name(entries_of(load_npz(path)),
/// model)`.
inline std::vector<tensor_entry> entries_of(const named_tensors& all) {
  std::vector<tensor_entry> made;
  for (const auto& [name, value] : all) {
    const std::size_t bytes = value.size() * static_cast<std::size_t>(size_of(value.type()));
    const tensor_shape shape = value.shape();
    tensor_entry& e = made.emplace_back();
    e.name = name;
    e.type = value.type();
    e.dims.assign(shape.begin(), shape.end());
    e.bytes.resize(bytes);
    if (bytes > 0) std::memcpy(e.bytes.data(), value.data(), bytes);
  }
  return made;
}

namespace detail {

/// The values of a file that the caller requests: all, or those of a list. Readers skip other
/// values without decoding them, so these may have any type.
class wanted_values {
 public:
  wanted_values() = default;
  explicit wanted_values(std::vector<std::string> names) : all_(false), names_(std::move(names)) {
    std::sort(names_.begin(), names_.end());
  }
  bool has(std::string_view name) const {
    return all_ || std::binary_search(names_.begin(), names_.end(), name);
  }

 private:
  bool all_ = true;
  std::vector<std::string> names_{};
};
inline wanted_values wanted_by(const scope&) { return {}; }
template <program_type P>
wanted_values wanted_by(const model<P>&) {
  std::vector<std::string> names;
  for (int i = 0; i < model<P>::parameter_arrays(); ++i)
    names.emplace_back(model<P>::describe(i).name);
  return wanted_values(std::move(names));
}

/// The values of a parameter file, and their offsets in it.
struct tensors_of_file {
  std::string path;
  named_tensors values{};
  std::map<std::string, std::uint64_t, std::less<>> offsets{};
  std::size_t others = 0;  // number of values that the caller did not request

  void add(std::string name, std::uint64_t offset, tensor value) {
    offsets.emplace(name, offset);
    values.emplace(std::move(name), std::move(value));
  }
};

/// Stores every value as a variable of the scope.
inline void put_tensors(tensors_of_file&& from, scope& to) {
  for (auto& [name, value] : from.values) to.var(name) = std::move(value);
}

/// Whether a value has the shape of a parameter. With `vectors_are_rows`, for formats that store
/// vectors as matrices of one row, such a matrix also fits a vector.
inline bool fits_parameter(tensor_shape found, const tensor_shape& wanted, bool vectors_are_rows) {
  if (vectors_are_rows && wanted.size() == 1 && found.size() == 2 && found[0] == 1)
    found.erase(found.begin());
  return found == wanted;
}

/// Sets parameters of a model. Throws format_error for a parameter that is missing, unless `some`
/// is true, or that has another type or shape; the model then stays unchanged. Further values are
/// ignored.
template <program_type P>
void put_tensors(tensors_of_file&& from, model<P>& to, bool vectors_are_rows = false,
                 bool some = false) {
  using real = typename decltype(to.get(0))::value_type;
  std::vector<const real*> found(static_cast<std::size_t>(model<P>::parameter_arrays()) + 1);
  for (int i = 0; i < model<P>::parameter_arrays(); ++i) {
    const auto info = model<P>::describe(i);
    const auto entry = from.values.find(info.name);
    if (entry == from.values.end()) {
      if (some) continue;
      throw format_error(from.path, 0,
                         text("expected the parameter '")
                             << info.name << "', found " << from.values.size() + from.others
                             << " others");
    }
    tensor& value = entry->second;
    const tensor_shape wanted(info.shape.begin(), info.shape.end());
    if (value.type() != info.type || !fits_parameter(value.shape(), wanted, vectors_are_rows))
      throw format_error(from.path, from.offsets.at(info.name),
                         text("expected ")
                             << name_of(info.type) << " " << to_string(wanted)
                             << " for the parameter '" << info.name << "', found "
                             << name_of(value.type()) << " " << to_string(value.shape()));
    value.as<real>().reshape(wanted);
    found[static_cast<std::size_t>(i)] = value.as<real>().data();
  }
  to.set_all(found.data());
}

}  // namespace detail

}}  // namespace lamina
