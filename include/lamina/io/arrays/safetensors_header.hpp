// SPDX-License-Identifier: Apache-2.0
// lamina/io/arrays/safetensors_header.hpp - reads and checks the header of a safetensors file.
// Needs nlohmann_json.
//
// u64 size of the header; the header, JSON: {"NAME": {"dtype": "F32", "shape": [2, 3],
// "data_offsets": [BEGIN, END]}, ..., "__metadata__": {TEXT: TEXT}}; the elements of all values
// without gaps. Offsets are counted from the end of the header.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// clang-format off
#include <lamina/core/simd/macros_hidden.hpp>
#include <nlohmann/json.hpp>
#include <lamina/core/simd/macros_shown.hpp>
// clang-format on

#include <lamina/core/dtype.hpp>
#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// How elements are stored in a file: as a type of lamina, as another type that is converted to one
/// without loss, or as a type that lamina does not read.
enum class stored_as : std::uint8_t {
  itself,
  float16,
  bfloat16,
  float8_e4m3fn,
  float8_e5m2,
  float8_e4m3fnuz,
  float8_e5m2fnuz,
  float8_e8m0,
  uint16,
  uint32,
  uint64,
  unsupported
};

/// An element type of the format: its word in the header, its size, and the dtype of the tensor
/// that a value of this type becomes.
struct safetensors_type {
  std::string_view word;
  unsigned bits;
  stored_as stored;
  dtype type;
};
inline constexpr safetensors_type safetensors_types[] = {
    {"BOOL", 8, stored_as::itself, dtype::boolean},
    {"I8", 8, stored_as::itself, dtype::int8},
    {"U8", 8, stored_as::itself, dtype::uint8},
    {"I16", 16, stored_as::itself, dtype::int16},
    {"U16", 16, stored_as::uint16, dtype::int32},
    {"I32", 32, stored_as::itself, dtype::int32},
    {"U32", 32, stored_as::uint32, dtype::int64},
    {"I64", 64, stored_as::itself, dtype::int64},
    {"U64", 64, stored_as::uint64, dtype::int64},
    {"F16", 16, stored_as::float16, dtype::float32},
    {"BF16", 16, stored_as::bfloat16, dtype::float32},
    {"F32", 32, stored_as::itself, dtype::float32},
    {"F64", 64, stored_as::itself, dtype::float64},
    {"F8_E4M3", 8, stored_as::float8_e4m3fn, dtype::float32},
    {"F8_E5M2", 8, stored_as::float8_e5m2, dtype::float32},
    {"F8_E4M3FNUZ", 8, stored_as::float8_e4m3fnuz, dtype::float32},
    {"F8_E5M2FNUZ", 8, stored_as::float8_e5m2fnuz, dtype::float32},
    {"F8_E8M0", 8, stored_as::float8_e8m0, dtype::float32},
    {"F4", 4, stored_as::unsupported, dtype::float32},
    {"F6_E2M3", 6, stored_as::unsupported, dtype::float32},
    {"F6_E3M2", 6, stored_as::unsupported, dtype::float32},
    {"C64", 64, stored_as::unsupported, dtype::float32}};
inline constexpr std::uint64_t safetensors_largest_header = 100'000'000;

/// The entry of one value in the header.
struct safetensors_entry {
  std::string name{};
  std::string word{};                      // the element type, as in the header
  const safetensors_type* type = nullptr;  // null: the format's table does not have the word
  std::vector<std::uint64_t> dims{};
  std::uint64_t begin = 0, end = 0;  // the elements, counted from the beginning of the file

  bool is_supported() const { return type != nullptr && type->stored != stored_as::unsupported; }
  /// Returns the element type for messages.
  std::string type_name() const {
    return type != nullptr && type->stored == stored_as::itself ? name_of(type->type) : word;
  }
};

/// Empties a value from the innermost level outwards. The destructor of a list or object that is
/// not empty allocates memory, and if this allocation fails, the program terminates; for empty ones
/// it allocates nothing.
inline void take_apart(nlohmann::json& value) {
  if (!value.is_structured()) return;
  for (nlohmann::json& inner : value) take_apart(inner);
  value.clear();
}
struct parsed_json {
  nlohmann::json json;
  ~parsed_json() { take_apart(json); }
};

/// Parses JSON that begins at an offset of a file. Throws format_error for more than three levels,
/// which the format does not need, and for duplicate members, which JSON parsers accept.
inline nlohmann::json parse_header(const binary_reader& from, std::uint64_t offset,
                                   const std::string& bytes) {
  using event = nlohmann::json::parse_event_t;
  std::vector<std::set<std::string>> names(3);
  const auto look = [&](int depth, event e, nlohmann::json& value) {
    const std::size_t level = static_cast<std::size_t>(depth);
    if (e == event::object_start || e == event::array_start) {
      if (level >= names.size())
        from.fail_at(offset, "expected at most 3 levels in the header, found more");
      names[level].clear();
    } else if (e == event::key && !names[level - 1].insert(value.get<std::string>()).second) {
      from.fail_at(offset, "expected each name once in the header, found '" +
                               value.get<std::string>() + "' twice");
    }
    return true;
  };
  try {
    return nlohmann::json::parse(bytes, look);
  } catch (const nlohmann::json::parse_error& e) {
    from.fail_at(
        offset + (e.byte == 0 ? 0 : e.byte - 1),
        std::string("expected JSON in the header, found text that is none (") + e.what() + ")");
  } catch (const nlohmann::json::out_of_range& e) {
    from.fail_at(offset, std::string("expected numbers of 64 bits in the header, found others (") +
                             e.what() + ")");
  }
}

inline safetensors_entry read_safetensors_entry(const binary_reader& from, const std::string& name,
                                                const nlohmann::json& value) {
  const auto fail = [&](const std::string& what) {
    from.fail_at(
        8, "expected " + what + " for '" + name + "' in the header, found " +
               value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).substr(0, 100));
  };
  safetensors_entry e{name};
  if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") ||
      !value.contains("data_offsets"))
    fail("dtype, shape and data_offsets");
  const nlohmann::json &type = value["dtype"], &shape = value["shape"],
                       &offsets = value["data_offsets"];
  if (!type.is_string()) fail("a dtype that is a text");
  e.word = type.get<std::string>();
  for (const safetensors_type& t : safetensors_types)
    if (e.word == t.word) e.type = &t;
  if (!shape.is_array()) fail("a shape that is a list");
  for (const nlohmann::json& d : shape) {
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

/// Whether the elements of a shape have this number of bytes. Always true for an unknown type.
inline bool has_bytes(const safetensors_entry& e, std::uint64_t bytes) {
  if (e.type == nullptr) return true;
  constexpr std::uint64_t most = (std::numeric_limits<std::uint64_t>::max)();
  std::uint64_t bits = e.type->bits;
  bool empty = false;
  for (const std::uint64_t d : e.dims) empty = empty || d == 0;
  if (empty) return bytes == 0;
  for (const std::uint64_t d : e.dims) {
    if (bits > most / d) return false;
    bits *= d;
  }
  return bits % 8 == 0 && bits / 8 == bytes;
}

/// Reads the header of a file. The entries are in the order of their elements in the file. Throws
/// format_error unless the values cover the rest of the file without gaps and overlaps, and each
/// value has the number of bytes that its shape and type require.
inline std::vector<safetensors_entry> read_safetensors_header(binary_reader& from) {
  const std::uint64_t size = from.number<std::uint64_t>("the size of a header");
  if (size > safetensors_largest_header || size > from.left())
    from.fail_at(0, text("expected a header of at most ")
                        << (std::min)(from.left(), safetensors_largest_header) << " bytes, found "
                        << size);
  const std::string header = from.bytes(size, "the header");
  if (header.empty() || header[0] != '{')
    from.fail_at(8, "expected '{' at the begin of the header, found none");
  parsed_json parsed{parse_header(from, 8, header)};
  std::vector<safetensors_entry> entries;
  for (const auto& [name, value] : parsed.json.items()) {
    if (name != "__metadata__") {
      entries.push_back(read_safetensors_entry(from, name, value));
      continue;
    }
    bool texts = value.is_object() || value.is_null();
    for (const nlohmann::json& v : value) texts = texts && v.is_string();
    if (!texts) from.fail_at(8, "expected texts in __metadata__, found others");
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  const std::uint64_t data = from.offset(), all = from.left();
  std::uint64_t at = 0;
  for (safetensors_entry& e : entries) {
    if (e.begin != at)
      from.fail_at(data + at, text("expected values without holes and overlaps, found '")
                                  << e.name << "' at " << e.begin << " instead of " << at);
    if (e.end > all || !has_bytes(e, e.end - e.begin))
      from.fail_at(data + at, text("expected ")
                                  << e.end - e.begin << " bytes of '" << e.name
                                  << "' in the file, found the shape " << text().list(e.dims)
                                  << " of " << e.type_name() << " and " << all - at << " bytes");
    at = e.end;
    e.begin += data;
    e.end += data;
  }
  if (at != all)
    from.fail_at(data + at, text("expected the end of the file after ")
                                << entries.size() << " values, found " << all - at
                                << " more bytes");
  return entries;
}

}}}  // namespace lamina::detail
