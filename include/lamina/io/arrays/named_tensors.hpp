// SPDX-License-Identifier: Apache-2.0
// lamina/io/arrays/named_tensors.hpp - a map from names to values, which is the contents of a
// parameter file, and copies between such maps, scopes and models.
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

#include <lamina/core/messages/error.hpp>
#include <lamina/model/parameters/tensor_file.hpp>
#include <lamina/program/program.hpp>
#include <lamina/tensor/scope.hpp>
#include <lamina/tensor/tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI {

template <program_type P>
class model;

/// A map from names to values, in alphabetic order.
using named_tensors = std::map<std::string, tensor, std::less<>>;

/// Returns the values that a writer of parameter files stores; here they are given as such a map.
inline const named_tensors& tensors_of(const named_tensors& all) { return all; }

/// Returns the values of the variables `names` of a scope. Throws lamina::error for a variable
/// without a value, or whose rows form sequences.
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

/// Returns the parameters of a model, in row-major order.
template <program_type P>
named_tensors tensors_of(const model<P>& from) {
  named_tensors all;
  for (int i = 0; i < model<P>::parameter_arrays(); ++i)
    all.emplace(model<P>::describe(i).name, from.get(i));
  return all;
}

/// Converts a map of values to a list of arrays for load_by_name:
/// `load_by_name(entries_of(load_npz(path)), model)`.
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

/// The names of the values that a reader of files must read: all names, or a list of names. Readers
/// do not decode other values, so these may have any type.
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

/// The values of a parameter file, and the offset of each value in the file.
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

/// Whether a value of shape `found` fits a parameter of shape `wanted`. Some formats store a vector
/// as a matrix of one row; with `vectors_are_rows`, such a matrix fits a vector too.
inline bool fits_parameter(tensor_shape found, const tensor_shape& wanted, bool vectors_are_rows) {
  if (vectors_are_rows && wanted.size() == 1 && found.size() == 2 && found[0] == 1)
    found.erase(found.begin());
  return found == wanted;
}

/// Sets the parameters of a model; values for which the model has no parameter are ignored. Throws
/// format_error if a value has another type or shape than the parameter, or if the value of a
/// parameter is missing and `some` is false. After an error the model is unchanged.
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
