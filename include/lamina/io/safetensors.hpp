// SPDX-License-Identifier: Apache-2.0
// lamina/io/safetensors.hpp - reads and writes named values in a safetensors file. Needs
// nlohmann_json.
//
// u64 size of the header; the header, JSON: {"NAME": {"dtype": "F32", "shape": [2, 3],
// "data_offsets": [BEGIN, END]}, ..., "__metadata__": {TEXT: TEXT}}; the elements of all values
// without gaps. Offsets are counted from the end of the header.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// clang-format off
#include <lamina/core/simd/macros_hidden.hpp>
#include <nlohmann/json.hpp>
#include <lamina/core/simd/macros_shown.hpp>
// clang-format on

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/io/arrays/named_tensors.hpp>
#include <lamina/io/arrays/tensor_bytes.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

struct safetensors_type {
  std::string_view word;
  dtype type;
};
inline constexpr safetensors_type safetensors_types[] = {
    {"BOOL", dtype::boolean}, {"I16", dtype::int16},   {"I32", dtype::int32}, {"I64", dtype::int64},
    {"F32", dtype::float32},  {"F64", dtype::float64}, {"U8", dtype::uint8},  {"I8", dtype::int8}};
inline constexpr std::uint64_t safetensors_largest_header = 100'000'000;

/// The entry of one value in the header; `begin` and `end` are the offsets of its elements.
struct safetensors_entry {
  std::string name{};
  bool wanted = true;
  dtype type = dtype::float32;
  std::vector<std::uint64_t> dims{};
  std::uint64_t begin = 0, end = 0;
};

/// Empties a value from the innermost level outwards. The destructor of a list or object that is
/// not empty allocates memory, and if this allocation fails, the program terminates; for empty ones
/// it allocates nothing.
inline void take_apart(nlohmann::json& value) {
  if (!value.is_structured()) return;
  for (nlohmann::json& inner : value) take_apart(inner);
  value.clear();
}
struct safetensors_header {
  nlohmann::json json;
  ~safetensors_header() { take_apart(json); }
};

/// Parses the header. Throws format_error for more than three levels, which the format does not
/// need, and for duplicate members, which JSON parsers accept.
inline nlohmann::json parse_safetensors_header(const binary_reader& from,
                                               const std::string& bytes) {
  using event = nlohmann::json::parse_event_t;
  std::vector<std::set<std::string>> names(3);
  const auto look = [&](int depth, event e, nlohmann::json& value) {
    const std::size_t level = static_cast<std::size_t>(depth);
    if (e == event::object_start || e == event::array_start) {
      if (level >= names.size())
        from.fail_at(8, "expected at most 3 levels in the header, found more");
      names[level].clear();
    } else if (e == event::key && !names[level - 1].insert(value.get<std::string>()).second) {
      from.fail_at(8, "expected each name once in the header, found '" + value.get<std::string>() +
                          "' twice");
    }
    return true;
  };
  try {
    return nlohmann::json::parse(bytes, look);
  } catch (const nlohmann::json::parse_error& e) {
    from.fail_at(
        8 + (e.byte == 0 ? 0 : e.byte - 1),
        std::string("expected JSON in the header, found text that is none (") + e.what() + ")");
  } catch (const nlohmann::json::out_of_range& e) {
    from.fail_at(8, std::string("expected numbers of 64 bits in the header, found others (") +
                        e.what() + ")");
  }
}

inline safetensors_entry read_safetensors_entry(const binary_reader& from, const std::string& name,
                                                const nlohmann::json& value, bool wanted) {
  const auto fail = [&](const std::string& what) {
    from.fail_at(
        8, "expected " + what + " for '" + name + "' in the header, found " +
               value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).substr(0, 100));
  };
  safetensors_entry e{name, wanted};
  if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") ||
      !value.contains("data_offsets"))
    fail("dtype, shape and data_offsets");
  const nlohmann::json &type = value["dtype"], &shape = value["shape"],
                       &offsets = value["data_offsets"];
  bool known = false;
  for (const safetensors_type& t : safetensors_types)
    if (type.is_string() && type.get_ref<const std::string&>() == t.word) {
      e.type = t.type;
      known = true;
    }
  if (!known && wanted) fail("one of the dtypes BOOL I8 U8 I16 I32 I64 F32 F64");
  if (!shape.is_array() || (shape.size() > 16 && wanted)) fail("a shape of at most 16 dimensions");
  for (const nlohmann::json& d : shape) {
    if (!wanted) break;
    if (!d.is_number_unsigned()) fail("dimensions that are whole numbers");
    e.dims.push_back(d.get<std::uint64_t>());
  }
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned())
    fail("two data_offsets");
  e.begin = offsets[0].get<std::uint64_t>();
  e.end = offsets[1].get<std::uint64_t>();
  if (e.begin > e.end) fail("data_offsets that ascend");
  return e;
}

/// Reads the values of a file.
inline tensors_of_file read_safetensors(binary_reader& from, const wanted_values& wanted = {}) {
  const std::uint64_t size = from.number<std::uint64_t>("the size of a header");
  if (size > safetensors_largest_header || size > from.left())
    from.fail_at(0, text("expected a header of at most ")
                        << (std::min)(from.left(), safetensors_largest_header) << " bytes, found "
                        << size);
  const std::string header = from.bytes(size, "the header");
  if (header.empty() || header[0] != '{')
    from.fail_at(8, "expected '{' at the begin of the header, found none");
  safetensors_header parsed{parse_safetensors_header(from, header)};
  const nlohmann::json& json = parsed.json;
  std::vector<safetensors_entry> entries;
  for (const auto& [name, value] : json.items()) {
    if (name != "__metadata__") {
      entries.push_back(read_safetensors_entry(from, name, value, wanted.has(name)));
      continue;
    }
    bool texts = value.is_object() || value.is_null();
    for (const nlohmann::json& v : value) texts = texts && v.is_string();
    if (!texts) from.fail_at(8, "expected texts in __metadata__, found others");
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  const std::uint64_t data = from.offset();
  tensors_of_file all{from.path()};
  for (const safetensors_entry& e : entries) {
    if (e.begin != from.offset() - data)
      from.fail(text("expected values without holes and overlaps, found '")
                << e.name << "' at " << e.begin << " instead of " << from.offset() - data);
    const std::uint64_t begin = from.offset();
    if (!e.wanted && e.end - e.begin <= from.left()) {
      from.window(begin + (e.end - e.begin), from.left() - (e.end - e.begin), "values");
      ++all.others;
      continue;
    }
    std::uint64_t bytes = static_cast<std::uint64_t>(size_of(e.type));
    bool known = e.end - e.begin <= from.left();
    for (const std::uint64_t d : e.dims) {
      known = known && (d == 0 || bytes <= ~std::uint64_t{0} / d);
      bytes *= d;
    }
    if (!known || bytes != e.end - e.begin)
      from.fail(text("expected ") << e.end - e.begin << " bytes of '" << e.name
                                  << "' in the file, found the shape " << text().list(e.dims)
                                  << " of " << name_of(e.type) << " and " << from.left()
                                  << " bytes");
    all.add(e.name, begin, read_elements(from, e.type, e.dims, "'" + e.name + "'"));
  }
  if (from.left() != 0)
    from.fail(text("expected the end of the file after ")
              << entries.size() << " values, found " << from.left() << " more bytes");
  return all;
}

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
      if (t.type == value.type()) word = t.word;
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
  for (const auto* entry : order)
    to.write(entry->second.data(),
             entry->second.size() * static_cast<std::uint64_t>(size_of(entry->second.type())));
  to.finish();
}
template <program_type P>
void save_safetensors(const file_path&, const P&) = delete;  // expects lamina::model{program}

/// Reads a file that save_safetensors or the safetensors library wrote. Throws format_error for
/// damaged files, and for element types with which lamina does not compute (float16, bfloat16,
/// unsigned integers of more than one byte).
inline named_tensors load_safetensors(const file_path& path) {
  binary_reader from(path.string());
  return detail::read_safetensors(from).values;
}
/// Reads the values of a file into a scope, or into the parameters with the same names of a model;
/// values without such a parameter are ignored. Throws format_error for a damaged file, and if a
/// parameter is missing or has another type or shape; the scope or model is then unchanged.
template <class Parameters>
void load_safetensors(const file_path& path, Parameters& to) {
  binary_reader from(path.string());
  put_tensors(detail::read_safetensors(from, detail::wanted_by(to)), to);
}
template <program_type P>
void load_safetensors(const file_path&, const P&) = delete;  // expects lamina::model{program}

}}  // namespace lamina
