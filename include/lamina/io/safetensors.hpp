// SPDX-License-Identifier: Apache-2.0
// lamina/io/safetensors.hpp - reads and writes named values in a safetensors file. Needs
// nlohmann_json.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// clang-format off
#include <lamina/core/simd/macros_hidden.hpp>
#include <nlohmann/json.hpp>
#include <lamina/core/simd/macros_shown.hpp>
// clang-format on

#include <lamina/core/arrays/raw_bytes.hpp>
#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/io/arrays/named_tensors.hpp>
#include <lamina/io/arrays/renaming.hpp>
#include <lamina/io/arrays/safetensors_elements.hpp>
#include <lamina/io/arrays/safetensors_files.hpp>
#include <lamina/io/arrays/safetensors_header.hpp>
#include <lamina/model/load_by_name.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Options with which load_safetensors sets the parameters of a model.
struct safetensors_options {
  renaming names{};  // from the names in the file to the names of parameters
  /// Parameters that are matrices, and whose transposes the file has.
  std::vector<std::string> transpose{};
  /// The file has the weights of fully connected layers as [outputs, inputs], as PyTorch does:
  /// transposes each matrix that is a weight of fc or mul.
  bool outputs_first = false;
  bool skip_missing = false;       // a parameter without a value in the file keeps its values
  bool skip_other_shapes = false;  // so does a parameter whose value has another shape or type
};

/// Returns the options for a state_dict() of PyTorch and a program whose layers have the names of
/// PyTorch's modules: `.names = torch_names(), .outputs_first = true`.
inline safetensors_options torch_state_dict() {
  return {.names = torch_names(), .outputs_first = true};
}

namespace detail {

/// Reads all values as tensors, under their new names.
inline tensors_of_file read_safetensors(const safetensors_files& all, const renaming& names) {
  tensors_of_file read{all.name};
  for (const safetensors_files::value& v : all.values) {
    const std::string name = names(v.entry.name);
    if (name.empty()) continue;
    if (read.values.contains(name))
      v.from->fail_at(v.entry.begin, "expected one value per name, found two for '" + name + "'");
    read.add(name, v.entry.begin, read_safetensors_value(*v.from, v.entry));
  }
  return read;
}

/// weights_of_fc<P>.of[i]: whether parameter i is a matrix by which fc or mul multiplies.
template <int Parameters>
struct parameter_flags {
  bool of[static_cast<std::size_t>(Parameters) + 1];
};
template <program_type P>
inline constexpr auto weights_of_fc = [] {
  parameter_flags<P::desc.count.parameters> all{};
  for (int k = 0; k < P::desc.count.operators; ++k) {
    const operator_desc& op = P::desc.operators[k];
    if (op.schema->facts.products != product_rule::mul) continue;
    const variable_desc& v = P::desc.variables[P::desc.arguments[op.inputs + 1]];
    if (v.kind == variable_kind::parameter && v.rank == 2)
      all.of[static_cast<std::size_t>(v.index)] = true;
  }
  return all;
}();

/// Sets parameters to the values of safetensors files.
class safetensors_loader {
 public:
  /// `is_weight_of_fc` has a flag per parameter.
  safetensors_loader(const safetensors_files& all, const stored_arrays& to,
                     const bool* is_weight_of_fc, const safetensors_options& options)
      : all_(all), to_(to), is_weight_of_fc_(is_weight_of_fc), options_(options) {}

  /// Checks all values, then sets the parameters. Throws format_error, and changes nothing, if a
  /// parameter is missing or has another shape or type and `options` do not skip it.
  load_report run() {
    find_transposed();
    rename();
    for (int i = 0; i < to_.parameters.size(); ++i) plan(i);
    for (const auto& [name, v] : by_name_)
      if (v != nullptr) report_.surplus.push_back(v->entry.name);
    refuse();
    assign();
    return std::move(report_);
  }

 private:
  using value = safetensors_files::value;
  struct step {
    const value* from;
    bool is_transposed;
    std::vector<stored_arrays::assignment> to;  // one; a list, because assign() expects one
  };

  void find_transposed() {
    std::vector<std::string> names = options_.transpose;
    transposed_.resize(static_cast<std::size_t>(to_.parameters.size()));
    for (int i = 0; i < to_.parameters.size(); ++i) {
      const parameter_info info = to_.parameters.describe(i);
      const auto listed = std::find(names.begin(), names.end(), info.name);
      if (listed != names.end() && info.shape.size() == 2)
        names.erase(listed);
      else if (!options_.outputs_first || !is_weight_of_fc_[i])
        continue;
      transposed_[static_cast<std::size_t>(i)] = true;
    }
    if (!names.empty())
      throw error("lamina: " + all_.name +
                  ": expected names of parameters that are matrices in the option transpose, found "
                  "'" +
                  names[0] + "'");
  }
  void rename() {
    for (const value& v : all_.values) {
      std::string name = options_.names(v.entry.name);
      if (name.empty()) continue;
      const auto [at, is_new] = by_name_.emplace(std::move(name), &v);
      if (!is_new)
        v.from->fail_at(v.entry.begin, "expected one value per parameter, found '" +
                                           at->second->entry.name + "' and '" + v.entry.name +
                                           "' for '" + at->first + "'");
    }
  }

  void plan(int i) {
    parameter_info info = to_.parameters.describe(i);
    const auto found = by_name_.find(info.name);
    if (found == by_name_.end()) {
      report_.missing.push_back(info.name);
      return;
    }
    const value& v = *std::exchange(found->second, nullptr);
    const bool is_transposed = transposed_[static_cast<std::size_t>(i)];
    std::vector<std::uint64_t> wanted(info.shape.begin(), info.shape.end());
    if (is_transposed) std::swap(wanted[0], wanted[1]);
    if (v.entry.dims == wanted && v.entry.is_supported() && widens_to(*v.entry.type, info.type)) {
      report_.loaded.push_back(info.name);
      steps_.push_back({&v, is_transposed, {{std::move(info), nullptr, to_.array[i]}}});
      return;
    }
    text what("expected ");
    what << name_of(info.type) << " " << text().list(wanted) << " for the parameter '" << info.name
         << "', found " << v.entry.type_name() << " " << text().list(v.entry.dims);
    if (wanted.size() == 2 && v.entry.dims.size() == 2 && wanted[0] == v.entry.dims[1] &&
        wanted[1] == v.entry.dims[0])
      what << (is_transposed ? ": leave it out of the options transpose and outputs_first"
                             : ": set the option transpose or outputs_first");
    report_.other_shapes.push_back(what);
    if (other_ == nullptr) other_ = &v;
  }

  /// Returns the number of names and the first names: "3 parameters are missing (a, b, c)".
  static std::string first_of(const std::vector<std::string>& names) {
    text list(" (");
    for (std::size_t i = 0; i < names.size() && i < 5; ++i)
      list << (i == 0 ? "" : ", ") << names[i];
    return list << (names.size() > 5 ? ", ...)" : ")");
  }
  void refuse() const {
    const bool is_missing = !report_.missing.empty() && !options_.skip_missing;
    const bool is_other = !report_.other_shapes.empty() && !options_.skip_other_shapes;
    if (!is_missing && !is_other && !(report_.loaded.empty() && to_.parameters.size() > 0)) return;
    if (is_other && !is_missing) {
      text what(report_.other_shapes[0]);
      if (report_.other_shapes.size() > 1)
        what << "; " << report_.other_shapes.size() << " parameters have another shape or type";
      throw format_error(other_->from->path(), other_->entry.begin, what);
    }
    if (report_.missing.empty()) return;  // all of another shape, which is allowed
    text what("expected the parameter '");
    what << report_.missing[0] << "', found " << all_.values.size() << " others";
    if (!report_.surplus.empty())
      what << "; no parameter has the name of " << report_.surplus.size() << " of them"
           << first_of(report_.surplus);
    if (report_.missing.size() > 1)
      what << "; " << report_.missing.size() << " parameters are missing"
           << first_of(report_.missing);
    if (is_other)
      what << "; " << report_.other_shapes.size()
           << " have another shape or type: " << report_.other_shapes[0];
    throw format_error(all_.name, 0, what);
  }

  /// Sets the parameters in the order of their values in the files. Nothing can fail after the
  /// first parameter has changed: buffers are allocated before.
  void assign() {
    std::sort(steps_.begin(), steps_.end(), [](const step& a, const step& b) {
      return a.from->from != b.from->from ? a.from->from < b.from->from
                                          : a.from->entry.begin < b.from->entry.begin;
    });
    std::map<const binary_reader*, std::string_view> bytes_of;
    for (const auto& reader : all_.readers) bytes_of[reader.get()] = reader->map();
    std::size_t most = 0, most_rows = 0;
    for (step& s : steps_) {
      stored_arrays::assignment& a = s.to[0];
      const char* const bytes = bytes_of[s.from->from].data() + s.from->entry.begin;
      const std::size_t element = static_cast<std::size_t>(size_of(a.info.type));
      const safetensors_type& type = *s.from->entry.type;
      if (is_little_endian && type.stored == stored_as::itself && type.type == a.info.type &&
          !s.is_transposed && reinterpret_cast<std::uintptr_t>(bytes) % element == 0)
        a.values = bytes;  // the only copy is the one into the parameter
      else
        most = (std::max)(most, a.info.size() * element);
      if (s.is_transposed) most_rows = (std::max)(most_rows, a.info.shape[0] * element);
    }
    raw_bytes buffer(most), block(most_rows * transposed_rows);
    for (step& s : steps_) {
      stored_arrays::assignment& a = s.to[0];
      if (a.values == nullptr) {
        const char* const bytes = bytes_of[s.from->from].data() + s.from->entry.begin;
        if (a.info.type == dtype::float64)
          convert<double>(s, bytes, buffer.data(), block.data());
        else
          convert<float>(s, bytes, buffer.data(), block.data());
        a.values = buffer.data();
      }
      stored_arrays::assign(s.to);
      s.from->from->release(s.from->entry.begin, s.from->entry.end);
    }
  }
  template <class Real>
  static void convert(const step& s, const char* from, char* buffer, char* block) noexcept {
    const parameter_info& info = s.to[0].info;
    Real* const to = reinterpret_cast<Real*>(buffer);
    const safetensors_type& type = *s.from->entry.type;
    if (s.is_transposed)
      transpose_elements(from, type, info.shape[0], info.shape[1], to,
                         reinterpret_cast<Real*>(block));
    else
      convert_elements(from, info.size(), type, to);
  }

  const safetensors_files& all_;
  const stored_arrays to_;
  const bool* const is_weight_of_fc_;
  const safetensors_options& options_;
  std::vector<bool> transposed_{};
  std::map<std::string, const value*> by_name_{};  // null: a parameter has got the value
  std::vector<step> steps_{};
  const value* other_ = nullptr;  // the first value of another shape
  load_report report_{};
};

}  // namespace detail

/// Writes named_tensors, the variables of a scope or the parameters of a model. Values with larger
/// elements come first, so that each value is aligned to the size of its elements. An existing file
/// stays intact until the new one is complete. Throws lamina::error for a name that is not UTF-8.
/// safetensors: save_file.
template <class Parameters>
void save_safetensors(const file_path& path, const Parameters& from) {
  const named_tensors& values = tensors_of(from);
  std::vector<const named_tensors::value_type*> order;
  for (const auto& entry : values) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    const int size_a = size_of(a->second.type()), size_b = size_of(b->second.type());
    return size_a != size_b ? size_a > size_b : a->first < b->first;
  });
  std::string header = "{";
  std::uint64_t begin = 0;
  for (const auto* entry : order) {
    const tensor& value = entry->second;
    if (entry->first == "__metadata__")
      throw error("lamina: " + path.string() + ": expected names of values, found __metadata__");
    const std::uint64_t end =
        begin + value.size() * static_cast<std::uint64_t>(size_of(value.type()));
    std::string_view word;
    for (const detail::safetensors_type& t : detail::safetensors_types)
      if (t.stored == detail::stored_as::itself && t.type == value.type()) word = t.word;
    try {  // dumps a single string, so that nlohmann_json escapes it
      header += (header.size() > 1 ? "," : "") + nlohmann::json(entry->first).dump();
    } catch (const nlohmann::json::type_error&) {
      throw error("lamina: " + path.string() + ": expected names of values in UTF-8, found others");
    }
    std::string shape;
    for (const std::size_t d : value.shape())
      shape += (shape.empty() ? "" : ",") + std::to_string(d);
    header += text(":{\"data_offsets\":[") << begin << "," << end << "],\"dtype\":\"" << word
                                           << "\",\"shape\":[" << shape << "]}";
    begin = end;
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  if (header.size() > detail::safetensors_largest_header)
    throw error(text() << "lamina: " << path.string() << ": expected a header of at most "
                       << detail::safetensors_largest_header << " bytes, found " << header.size());
  binary_writer to(path.string());
  to.number(static_cast<std::uint64_t>(header.size()));
  to.write(header);
  for (const auto* entry : order) write_elements(to, entry->second);
  to.finish();
}
template <program_type P>
void save_safetensors(const file_path&, const P&) = delete;  // expects lamina::model{program}

/// Reads a file that save_safetensors or the safetensors library wrote; `source` may also be an
/// index of several files, or bytes in memory. Numbers of 8 and 16 bits are widened to float32,
/// unsigned integers to the next larger integers. Throws format_error for damaged files, and for
/// element types that no tensor represents.
inline named_tensors load_safetensors(const safetensors_source& source,
                                      const renaming& names = {}) {
  return detail::read_safetensors(detail::open_safetensors(source), names).values;
}
/// Reads all values of a file into variables of a scope.
inline void load_safetensors(const safetensors_source& source, scope& to,
                             const renaming& names = {}) {
  put_tensors(detail::read_safetensors(detail::open_safetensors(source), names), to);
}
/// Sets the parameters of a model to the values of a file, and reports by name what was loaded.
/// Values are converted to the type of their parameter if no number is rounded: float16, bfloat16
/// and numbers of 8 bits to float and double, float to double. The file is mapped into memory, and
/// elements are copied once, from the map to the parameter; if they must be converted or
/// transposed, one buffer of the size of the largest parameter is used. Values for which the model
/// has no parameter are ignored, whatever their type; the report names them as `surplus`.
///
/// Throws format_error for a damaged file, if two values get the name of one parameter, and if a
/// parameter is missing or has another shape or type (unless `options` skip it), or if the file has
/// no value for any parameter. The model is then unchanged. Discards the training state, as
/// model::load does.
template <program_type P>
load_report load_safetensors(const safetensors_source& source, model<P>& to,
                             const safetensors_options& options = {}) {
  const detail::safetensors_files files = detail::open_safetensors(source);
  load_report report =
      detail::safetensors_loader(files, to.arrays(), detail::weights_of_fc<P>.of, options).run();
  to.forget_training();
  return report;
}
template <program_type P>
load_report load_safetensors(const safetensors_source&, const P&,  // expects lamina::model{program}
                             const safetensors_options& = {}) = delete;

}}  // namespace lamina
