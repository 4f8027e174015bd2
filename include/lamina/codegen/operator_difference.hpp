// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/operator_difference.hpp - describes the difference between an operator of a file
// and the operator that lamina records in its place.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <vector>

#include <lamina/codegen/cpp_text.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/io/program_desc_proto.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Returns the list of names as a text for an error.
inline std::string names_text(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "'" : ", '") + name + "'";
  return names.empty() ? "nothing" : all;
}
/// Returns the value of an attribute with all digits, as a text for an error.
inline std::string exact_value_text(const attribute_message& a) {
  if (a.type == attribute_type::string) return "'" + a.text + "'";
  if (a.type == attribute_type::real) return number_text(static_cast<double>(a.real));
  if (!a.integers.empty() || !a.reals.empty()) return "of a list";
  return std::to_string(a.integer);
}

/// Describes the first difference between the operator `made`, which lamina records, and the
/// operator `found` of a file; empty if there is none.
inline std::string operator_difference(const operator_message& made,
                                       const operator_message& found) {
  if (made.type != found.type)
    return "expected '" + made.type + "', which minimize records, found another operator";
  for (const bool input : {true, false}) {
    const auto &a = input ? made.inputs : made.outputs, &b = input ? found.inputs : found.outputs;
    for (const auto* side : {&a, &b})
      for (const slot_message& s : *side) {
        const std::vector<std::string>&x = input ? made.input(s.slot) : made.output(s.slot),
              &y = input ? found.input(s.slot) : found.output(s.slot);
        if (x != y)
          return "expected " + names_text(x) + " in slot '" + s.slot +
                 "', as minimize records it, found " + names_text(y);
      }
  }
  for (const attribute_message& a : made.attributes) {
    const attribute_message* const b = found.attribute(a.name);
    if (b == nullptr || bytes_of(a) != bytes_of(*b))
      return "expected attribute '" + a.name + "' of the value " + exact_value_text(a) +
             ", as minimize records it, found " + (b == nullptr ? "none" : exact_value_text(*b));
  }
  for (const attribute_message& b : found.attributes)
    if (made.attribute(b.name) == nullptr)
      return "expected no attribute '" + b.name + "', because minimize records none, found one";
  return {};
}

}}}  // namespace lamina::detail
