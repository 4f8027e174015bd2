// SPDX-License-Identifier: Apache-2.0
// lamina/model/parameters/stored_arrays.hpp - converts arrays with the layout of parameters to the
// entries of files, and back.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/arrays/padding.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/gemm/panel_copies.hpp>
#include <lamina/model/names/program_names.hpp>
#include <lamina/model/parameters/tensor_file.hpp>
#include <lamina/plan/run_time_tables.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Describes a parameter, for functions that are not templates on the program.
struct parameter_info {
  std::string name;
  std::vector<std::size_t> shape;
  int rows, columns;
  bool panel;  // it has the engine's panel layout
  dtype type;

  /// Returns the number of elements without padding.
  std::size_t size() const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  }
};

/// unpack_like() converts an array from the engine's layout of a parameter to row-major elements
/// without padding; pack_like() does the reverse. The gradient and the accumulators of a parameter
/// have the same layout as the parameter. `Real` is the element type of the parameter.
template <class Real>
LAMINA_COLD void unpack_like(const parameter_info& info, const float* memory, Real* to) {
  const Real* const from = engine::numbers_at<Real>(memory);
  if (info.panel) return engine::cpu::unpack(info.rows, info.columns, from, to);
  for (int r = 0; r < info.rows; ++r)
    std::copy_n(from + static_cast<std::ptrdiff_t>(r) * padded(info.columns), info.columns,
                to + static_cast<std::ptrdiff_t>(r) * info.columns);
}
template <class Real>
LAMINA_COLD void pack_like(const parameter_info& info, const Real* from, float* memory) {
  Real* const to = engine::numbers_at<Real>(memory);
  if (info.panel) return engine::cpu::pack(info.rows, info.columns, from, to);
  for (int r = 0; r < info.rows; ++r)
    std::copy_n(from + static_cast<std::ptrdiff_t>(r) * info.columns, info.columns,
                to + static_cast<std::ptrdiff_t>(r) * padded(info.columns));
}

/// The parameters of a program, for functions that are not templates on the program.
struct parameter_list_view {
  const program_view* program;
  const parameter_layout* layouts;

  int size() const { return program->count.parameters; }

  /// Returns name, shape and layout of parameter i.
  LAMINA_API LAMINA_COLD parameter_info describe(int i) const;
  /// Returns the number of floats that parameter i occupies in memory, including padding. A double
  /// occupies two floats.
  std::size_t floats(int i) const {
    const dtype type = program->variables[program->parameters[i].variable].type;
    return numbers(i) * static_cast<std::size_t>(size_of(type)) / sizeof(float);
  }
  /// Returns the number of elements of parameter i, including padding.
  std::size_t numbers(int i) const {
    return static_cast<std::size_t>(layouts[i].rows) *
           static_cast<std::size_t>(padded(layouts[i].columns));
  }
};

template <program_type P>
parameter_list_view parameters_in() {
  return {&run_time_program<P>::view, parameter_table<P>::table.of};
}

/// Arrays with the layout of parameters, such as accumulators: `of_each` arrays per parameter.
/// Array s of parameter i is at array[i * of_each + s], and its name in files is the parameter's
/// name followed by `before`, state[s] and `after`. `kind` is the word for such an array in
/// messages. If the pointer is null, the array is not in the memory of this process
/// (sharded_tables), and its entry has no bytes.
struct stored_arrays {
  parameter_list_view parameters;
  float* const* array;
  int of_each;
  const char* const* state;
  const char *before, *after, *kind;

  std::size_t size() const {
    return static_cast<std::size_t>(parameters.size()) * static_cast<std::size_t>(of_each);
  }
  /// Whether one of the arrays has this name.
  LAMINA_API LAMINA_COLD bool has(std::string_view name) const;
  /// Appends an entry with a copy of each array.
  LAMINA_API LAMINA_COLD void append_to(std::vector<tensor_entry>& all) const;
  /// Throws lamina::error if an array has no entry, or an entry of another shape or type. `source`
  /// names the entries in the error.
  LAMINA_API LAMINA_COLD void check_entries(const std::vector<tensor_entry>& from,
                                            const std::string& source) const;
  /// The values for one array, and the array's layout.
  struct assignment {
    parameter_info info;
    const void* values;  // row-major; null: the array keeps its values
    float* to;
  };
  /// Finds the entries of all arrays and ignores further entries. Call check_entries() first: this
  /// function does not check shapes and types.
  LAMINA_API LAMINA_COLD std::vector<assignment> find_all(
      const std::vector<tensor_entry>& from) const;
  /// Copies the values to the arrays. It does not allocate memory, so it cannot fail after some
  /// arrays have changed.
  LAMINA_API LAMINA_COLD static void assign(const std::vector<assignment>& all) noexcept;
  /// Returns the name of array s of a parameter.
  LAMINA_API LAMINA_COLD std::string name_of(const parameter_info& info, int s) const;

 private:
  LAMINA_API LAMINA_COLD static std::size_t size_of(const parameter_info& info);
  /// Returns the entry with this name. An accumulator may have the name of a parameter, such as
  /// "w_velocity_0". In checkpoints, parameters come first; so for a parameter the first entry with
  /// the name is returned, and for an accumulator the last entry.
  LAMINA_API LAMINA_COLD const tensor_entry* find(const std::vector<tensor_entry>& from,
                                                  const std::string& name) const;
};

/// Returns the parameters of a program in the form in which they are written to files.
template <program_type P>
stored_arrays parameters_for_files(float* const* memory) {
  static constexpr const char* none[] = {""};
  return {parameters_in<P>(), memory, 1, none, "", "", "a parameter"};
}

#if LAMINA_DEFINES

parameter_info parameter_list_view::describe(int i) const {
  const int v = program->parameters[i].variable;
  const variable_desc& d = program->variables[v];
  parameter_info info{variable_name(*program, v), {},    layouts[i].rows, layouts[i].columns,
                      layouts[i].panel,           d.type};
  for (int k = 0; k < d.rank; ++k)
    info.shape.push_back(static_cast<std::size_t>(program->dims[d.dims + k]));
  return info;
}

bool stored_arrays::has(std::string_view name) const {
  for (int i = 0; i < parameters.size(); ++i) {
    const parameter_info info = parameters.describe(i);
    for (int s = 0; s < of_each; ++s)
      if (name_of(info, s) == name) return true;
  }
  return false;
}

void stored_arrays::append_to(std::vector<tensor_entry>& all) const {
  for (int i = 0; i < parameters.size(); ++i)
    for (int s = 0; s < of_each; ++s) {
      const parameter_info info = parameters.describe(i);
      tensor_entry& e = all.emplace_back();
      e.name = name_of(info, s);
      e.type = info.type;
      for (const std::size_t n : info.shape) e.dims.push_back(n);
      if (array[i * of_each + s] == nullptr) continue;
      e.bytes.resize(size_of(info));
      if (info.type == dtype::float64)
        unpack_like(info, array[i * of_each + s], reinterpret_cast<double*>(e.bytes.data()));
      else
        unpack_like(info, array[i * of_each + s], reinterpret_cast<float*>(e.bytes.data()));
    }
}

void stored_arrays::check_entries(const std::vector<tensor_entry>& from,
                                  const std::string& source) const {
  for (int i = 0; i < parameters.size(); ++i)
    for (int s = 0; s < of_each; ++s) {
      const parameter_info info = parameters.describe(i);
      const std::string name = name_of(info, s);
      const tensor_entry* found = find(from, name);
      if (found == nullptr)
        LAMINA_THROW error(text() << "lamina: " << source << ": expected " << kind << " " << name
                                  << ", found none");
      bool same = found->type == info.type && found->dims.size() == info.shape.size() &&
                  (array[i * of_each + s] == nullptr || found->bytes.size() == size_of(info));
      for (std::size_t k = 0; same && k < info.shape.size(); ++k)
        same = found->dims[k] == info.shape[k];
      if (!same)
        LAMINA_THROW error(text() << "lamina: " << source << ": " << name << ": expected "
                                  << lamina::name_of(info.type) << " " << text().list(info.shape)
                                  << ", found " << lamina::name_of(found->type) << " "
                                  << text().list(found->dims));
    }
}

std::vector<stored_arrays::assignment> stored_arrays::find_all(
    const std::vector<tensor_entry>& from) const {
  std::vector<assignment> all;
  for (int i = 0; i < parameters.size(); ++i)
    for (int s = 0; s < of_each; ++s) {
      parameter_info info = parameters.describe(i);
      float* const to = array[i * of_each + s];
      const void* const values =
          to == nullptr ? nullptr : find(from, name_of(info, s))->bytes.data();
      all.push_back({std::move(info), values, to});
    }
  return all;
}

void stored_arrays::assign(const std::vector<assignment>& all) noexcept {
  for (const assignment& a : all) {
    if (a.values == nullptr) continue;
    if (a.info.type == dtype::float64)
      pack_like(a.info, static_cast<const double*>(a.values), a.to);
    else
      pack_like(a.info, static_cast<const float*>(a.values), a.to);
  }
}

std::string stored_arrays::name_of(const parameter_info& info, int s) const {
  return text() << info.name << before << state[s] << after;
}

std::size_t stored_arrays::size_of(const parameter_info& info) {
  return info.size() * static_cast<std::size_t>(lamina::size_of(info.type));
}

const tensor_entry* stored_arrays::find(const std::vector<tensor_entry>& from,
                                        const std::string& name) const {
  const bool are_parameters = *before == '\0';
  const tensor_entry* match = nullptr;
  for (const tensor_entry& e : from)
    if (e.name == name && (match == nullptr || !are_parameters)) match = &e;
  return match;
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
