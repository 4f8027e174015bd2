// SPDX-License-Identifier: Apache-2.0
// lamina/model/load_by_name.hpp - loads those parameters of a model that a file contains, and
// reports which were loaded.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/model/model.hpp>
#include <lamina/model/parameters/stored_arrays.hpp>
#include <lamina/model/parameters/tensor_file.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The result of load_by_name, by names of parameters and arrays.
struct load_report {
  std::vector<std::string> loaded;        // parameters that got values from the file
  std::vector<std::string> missing;       // parameters without an array in the file; they keep
                                          // their values
  std::vector<std::string> surplus;       // arrays in the file without a parameter of their name
  std::vector<std::string> other_shapes;  // parameters whose array has another shape or type, with
                                          // both shapes or types; they keep their values

  /// Whether every parameter got a value from the file.
  bool complete() const { return missing.empty() && other_shapes.empty(); }
  /// Returns one line per list that is not empty.
  LAMINA_API LAMINA_COLD std::string text() const;
};

/// Options of load_by_name.
struct load_by_name_options {
  std::string_view from{};         // uses only arrays that belong to this name of the file ...
  std::string_view to{};           // ... for parameters that belong to this name; in the names of
                                   // arrays, it replaces `from`
  bool skip_other_shapes = false;  // true: a parameter of another shape keeps its value
};

namespace detail {

/// Throws a lamina::error that says that no array in the file has the name of a parameter.
[[noreturn]] LAMINA_API_COLD void fail_without_names(const std::vector<tensor_entry>& from,
                                                     const std::string& source,
                                                     const load_report& report);

/// Sets the parameters to the arrays with their names.
LAMINA_API_COLD load_report load_by_name(const std::vector<tensor_entry>& from,
                                         const std::string& source, const stored_arrays& to,
                                         const load_by_name_options& options);

#if LAMINA_DEFINES

void fail_without_names(const std::vector<tensor_entry>& from, const std::string& source,
                        const load_report& report) {
  text arrays, parameters;
  for (std::size_t i = 0; i < from.size() && i < 3; ++i)
    arrays << (i == 0 ? " (" : ", ") << from[i].name << (i + 1 == from.size() ? ")" : "");
  for (std::size_t i = 0; i < report.missing.size() && i < 3; ++i)
    parameters << (i == 0 ? "" : ", ") << report.missing[i];
  throw error(text() << "lamina: load_by_name: " << source
                     << ": expected an array for a parameter such as " << parameters << ", found "
                     << from.size() << " others" << arrays << (from.size() > 3 ? ", ...)" : ""));
}

load_report load_by_name(const std::vector<tensor_entry>& from, const std::string& source,
                         const stored_arrays& to, const load_by_name_options& options) {
  load_report report;
  std::vector<stored_arrays::assignment> all;
  std::vector<bool> used(from.size());
  const auto chosen = [](std::string_view name, std::string_view owner) {
    return owner.empty() || belongs_to(name, owner);
  };
  for (int i = 0; i < to.parameters.size(); ++i) {
    parameter_info info = to.parameters.describe(i);
    if (!chosen(info.name, options.to)) continue;
    const std::string wanted = std::string(options.from) + info.name.substr(options.to.size());
    std::size_t k = 0;
    while (k < from.size() && (used[k] || from[k].name != wanted)) ++k;
    if (k == from.size()) {
      report.missing.push_back(info.name);
      continue;
    }
    used[k] = true;
    const tensor_entry& e = from[k];
    bool same = e.type == info.type && e.dims.size() == info.shape.size();
    for (std::size_t d = 0; same && d < e.dims.size(); ++d) same = e.dims[d] == info.shape[d];
    same = same && e.bytes.size() == info.size() * static_cast<std::size_t>(size_of(info.type));
    if (same) {
      report.loaded.push_back(info.name);
      all.push_back({std::move(info), e.bytes.data(), to.array[i]});
      continue;
    }
    const std::string both = text() << info.name << ": expected " << name_of(info.type) << " "
                                    << text().list(info.shape) << ", found " << name_of(e.type)
                                    << " " << text().list(e.dims);
    if (!options.skip_other_shapes) throw error("lamina: load_by_name: " + source + ": " + both);
    report.other_shapes.push_back(both);
  }
  for (std::size_t k = 0; k < from.size(); ++k)
    if (!used[k] && chosen(from[k].name, options.from)) report.surplus.push_back(from[k].name);
  if (report.loaded.empty() && report.other_shapes.empty())
    fail_without_names(from, source, report);
  stored_arrays::assign(all);
  return report;
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// Sets each parameter for which `from` has an array of the same name to this array. The result
/// names the parameters that were loaded, the parameters without an array and the arrays without a
/// parameter. Use it for transfer learning, in which new layers keep their initial values.
///   lamina::load_report r = lamina::load_by_name("trained.model", model);
///   std::puts(r.text().c_str());
/// With `{.from = "tower", .to = "left"}` the array tower.w_0 becomes the parameter left.w_0, and
/// the report covers only the arrays and parameters of these two names. Throws lamina::error, and
/// changes nothing, if an array has another shape or type than its parameter (unless
/// `skip_other_shapes`), and if no array has the name of a parameter.
template <program_type P>
[[nodiscard]] load_report load_by_name(const std::vector<tensor_entry>& from, model<P>& to,
                                       const load_by_name_options& options = {},
                                       const std::string& source = "arrays") {
  return detail::load_by_name(from, source, to.arrays(), options);
}
/// Does the same with a file that model::save or a checkpoint wrote.
template <program_type P>
[[nodiscard]] load_report load_by_name(const file_path& path, model<P>& to,
                                       const load_by_name_options& options = {}) {
  return detail::load_by_name(read_tensor_file(path), path.string(), to.arrays(), options);
}
/// Does the same with another model.
template <program_type Q, program_type P>
[[nodiscard]] load_report load_by_name(const model<Q>& from, model<P>& to,
                                       const load_by_name_options& options = {}) {
  return detail::load_by_name(from.entries(), "the other model", to.arrays(), options);
}

#if LAMINA_DEFINES

std::string load_report::text() const {
  lamina::text all;
  const auto add = [&](const char* what, const std::vector<std::string>& names) {
    if (names.empty()) return;
    all << names.size() << " " << what << ":";
    for (const std::string& n : names) all << (&n == names.data() ? " " : ", ") << n;
    all << "\n";
  };
  add("loaded", loaded);
  add("missing in the file", missing);
  add("not in the model", surplus);
  add("of another shape", other_shapes);
  return all;
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
