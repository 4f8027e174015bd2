// SPDX-License-Identifier: Apache-2.0
// lamina/io/fluid/program_message.hpp - a ProgramDesc as files store it: the messages of Fluid's
// framework.proto as plain structures.
//
// Each message keeps the fields that lamina does not know: `unknown` holds their unchanged bytes
// with their tags, and a writer appends these bytes after the known fields. `offset` is the offset
// of the message in the file, for errors; it is 0 if the message was not read from a file.
#pragma once

#include <lamina/core/config.hpp>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <lamina/core/dtype.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/program/operator_schema.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Parses a text as a number, independently of the locale. Returns false if the text is not a
/// number as a whole. Accepts "inf" and "nan", because Fluid writes them.
template <class T>
bool read_number(std::string_view digits, T& value) {
  if (digits.size() > 1 && digits[0] == '+') digits.remove_prefix(1);
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return status == std::errc{} && end == digits.data() + digits.size();
}

}  // namespace detail

/// The class of a variable in a file, with the values of Fluid's VarType.Type that are not element
/// types.
enum class variable_class : std::int32_t {
  lod_tensor = 7,
  selected_rows = 8,
  feed_minibatch = 9,
  fetch_list = 10,
  step_scopes = 11,
  lod_rank_table = 12,
  lod_tensor_array = 13,
  place_list = 14,
  reader = 15,
  raw = 17,
  tuple = 18
};

/// The value of a real attribute of a recorded program in double; files store only a float. If
/// `needed` is true, the rounded float would give wrong results, for example in an operator on
/// integers.
struct recorded_real {
  double value = 0;
  bool known = false, needed = false;

  bool operator==(const recorded_real&) const { return true; }  // not compared
};

/// OpDesc.Attr. The type determines the member that holds the value: integer (INT, LONG, BOOLEAN,
/// BLOCK), real, text, integers (INTS, LONGS, BOOLEANS, BLOCKS), reals or texts.
struct attribute_message {
  std::string name{};
  attribute_type type = attribute_type::integer;
  std::int64_t integer = 0;
  float real = 0;
  recorded_real recorded{};
  std::string text{};
  std::vector<std::int64_t> integers{};
  std::vector<float> reals{};
  std::vector<std::string> texts{};
  // The number of a type that is newer than Fluid 1.8; the value is then in `unknown`.
  int later_type = 0;
  std::string unknown{};

  /// Returns the value of a real attribute in double if the double is known, otherwise the float.
  double number() const { return recorded.known ? recorded.value : double(real); }
  /// Throws lamina::error if the double is needed and a float, as files store it, differs from it.
  void require_kept() const {
    if (recorded.needed && recorded.value != double(real))
      throw error((lamina::text("lamina: program file: attribute '")
                   << name << "': expected a number that a float holds, as files keep it, found ")
                      .print("%.17g", recorded.value));
  }

  bool operator==(const attribute_message&) const = default;
};

/// OpDesc.Var: the names of the variables in one slot.
struct slot_message {
  std::string slot{};
  std::vector<std::string> arguments{};
  std::string unknown{};

  bool operator==(const slot_message&) const = default;
};

/// OpDesc.
struct operator_message {
  std::string type{};
  std::vector<slot_message> inputs{}, outputs{};
  std::vector<attribute_message> attributes{};
  bool is_target = false;
  std::string unknown{};
  std::uint64_t offset = 0;

  /// Returns the attribute with this name, or null.
  const attribute_message* attribute(std::string_view name) const {
    for (const attribute_message& a : attributes)
      if (a.name == name) return &a;
    return nullptr;
  }
  /// Returns the variables in a slot; empty if the operator has no such slot.
  const std::vector<std::string>& input(std::string_view slot) const { return of(inputs, slot); }
  const std::vector<std::string>& output(std::string_view slot) const { return of(outputs, slot); }

  bool operator==(const operator_message& o) const {
    return type == o.type && inputs == o.inputs && outputs == o.outputs &&
           attributes == o.attributes && is_target == o.is_target && unknown == o.unknown;
  }

 private:
  static const std::vector<std::string>& of(const std::vector<slot_message>& slot_list,
                                            std::string_view slot) {
    static const std::vector<std::string> none;
    for (const slot_message& s : slot_list)
      if (s.slot == slot) return s.arguments;
    return none;
  }
};

/// VarDesc with its VarType and TensorDesc.
struct variable_message {
  std::string name{};
  variable_class kind = variable_class::lod_tensor;
  dtype type = dtype::float32;
  std::vector<std::int64_t> dims{};  // -1: known at run time
  std::int32_t lod_level = 0;
  bool persistable = false;
  bool need_check_feed = false;  // the variable is fed; files have this field since Fluid 1.6
  bool is_parameter = false;     // written since 2.3
  bool stop_gradient = false;    // written since 2.3
  std::string unknown{}, unknown_of_type{}, unknown_of_lod{}, unknown_of_tensor{};
  std::uint64_t offset = 0;

  /// Whether the variable has an element type and dimensions.
  bool has_tensor() const {
    return kind == variable_class::lod_tensor || kind == variable_class::selected_rows ||
           kind == variable_class::lod_tensor_array;
  }
  bool operator==(const variable_message& o) const {
    return name == o.name && kind == o.kind && type == o.type && dims == o.dims &&
           lod_level == o.lod_level && persistable == o.persistable &&
           need_check_feed == o.need_check_feed && is_parameter == o.is_parameter &&
           stop_gradient == o.stop_gradient && unknown == o.unknown &&
           unknown_of_type == o.unknown_of_type && unknown_of_lod == o.unknown_of_lod &&
           unknown_of_tensor == o.unknown_of_tensor;
  }
};

/// BlockDesc.
struct block_message {
  std::int32_t index = 0;
  std::int32_t parent = -1;
  std::int32_t forward_block = -1;
  std::vector<variable_message> variables{};
  std::vector<operator_message> operators{};
  std::string unknown{};
  std::uint64_t offset = 0;

  /// Returns the variable with this name in this block itself, or null.
  const variable_message* find(std::string_view name) const {
    for (const variable_message& v : variables)
      if (v.name == name) return &v;
    return nullptr;
  }
  bool operator==(const block_message& o) const {
    return index == o.index && parent == o.parent && forward_block == o.forward_block &&
           variables == o.variables && operators == o.operators && unknown == o.unknown;
  }
};

/// ProgramDesc.
struct program_message {
  std::vector<block_message> blocks{};
  std::int64_t version = 0;  // 0 until Fluid 1.7, then major * 10^6 + minor * 10^3 + patch
  std::string unknown{};

  bool operator==(const program_message&) const = default;
};

}}  // namespace lamina
