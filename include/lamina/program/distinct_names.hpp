// SPDX-License-Identifier: Apache-2.0
// lamina/program/distinct_names.hpp - finds two variables with the same name.
//
// Most names cannot collide: generated names differ, two layers with the same user name get
// different numbers, and two parameters with the same user name are one shared parameter by design.
// Three cases remain. A layer may have a user name that equals a generated name, such as "fc_0". A
// parameter may have the name of an earlier layer. A layer or parameter may have the name of a data
// layer. Such names are mistakes, because in a file both variables would become one.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string_view>

#include <lamina/program/block.hpp>
#include <lamina/program/program_builder.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Returns the parameter whose generated name, such as "fc_0.w_0", equals `name`; -1: none.
constexpr int made_parameter(const program_builder& b, std::string_view name) {
  if (b.made_parameters.count == 0) return -1;
  if (name.find(".w_") == name.npos && name.find(".b_") == name.npos) return -1;
  const struct {
    const variable_desc* variables;
    const name_desc* names;
    const char* characters;
  } named{b.variables.items, b.names.items, b.characters.items};
  for (int i = 0; i < b.made_parameters.count; ++i)
    if (has_name(named, b.made_parameters[i], name)) return b.made_parameters[i];
  return -1;
}

class distinct_names {
 public:
  explicit constexpr distinct_names(program_builder& b) : b_(b) {}

  /// Checks all names. Records a mistake for the first name that belongs to two variables. Returns
  /// a variable whose line is still to be found, or -1.
  constexpr int require() {
    for (int i = 0; i < b_.names.count; ++i)
      if (b_.names.items[i].key == nullptr) require_layer(i);
    for (int i = 0; i < b_.parameters.count; ++i) {
      const int v = b_.parameters.items[i].variable;
      if (b_.variables.items[v].suffix[0] != 0) continue;
      for (int k = 0; k < b_.data.count; ++k)
        if (b_.variables.items[b_.data.items[k]].base == b_.variables.items[v].base) report(v);
      require_no_parameter(v);
    }
    for (int k = 0; k < b_.data.count; ++k) require_no_parameter(b_.data.items[k]);
    return without_line_;
  }

 private:
  constexpr std::string_view text_of(const name_desc& d) const {
    return {b_.characters.items + d.offset, static_cast<std::size_t>(d.length)};
  }
  /// Reports the variable with its name and, if it is a layer's parameter, with the line of the
  /// layer.
  constexpr void report(int variable) {
    const variable_desc& v = b_.variables.items[variable];
    const bool known = v.kind == variable_kind::parameter && v.index < b_.origins.count;
    if (!known && b_.fault.kind == fault_kind::none) without_line_ = variable;
    report_variable(b_, fault_kind::name_used_twice, variable,
                    known ? b_.origins.items[v.index].line : 0);
  }

  /// Finds a user's layer name, such as "fc_0", that is also a generated layer name.
  constexpr void require_layer(int name) {
    const std::string_view text = text_of(b_.names.items[name]);
    std::size_t at = text.size();
    while (at > 0 && is_digit(text[at - 1])) --at;
    const std::size_t digits = text.size() - at;
    if (digits == 0 || digits > 9 || (digits > 1 && text[at] == '0')) return;
    if (at == 0 || text[at - 1] != '_') return;
    const std::string_view stem = text.substr(0, at - 1);
    int number = 0;
    for (; at < text.size(); ++at) number = 10 * number + (text[at] - '0');
    for (int k = 0; k < b_.keys.count; ++k)
      if (number < b_.keys[k].next && stem == b_.keys[k].key) require_variables(name, stem, number);
  }
  /// Compares the variables of the layer with user's name `name` to those of the layer with
  /// generated name `key`_`number`; reports a variable whose name both layers have.
  constexpr void require_variables(int name, std::string_view key, int number) {
    for (int v = 0; v < b_.variables.count; ++v) {
      const variable_desc& mine = b_.variables.items[v];
      if (mine.base != name || mine.of >= 0) continue;
      for (int u = 0; u < b_.variables.count; ++u) {
        const variable_desc& other = b_.variables.items[u];
        if (other.of >= 0 || other.number != mine.number) continue;
        const name_desc& base = b_.names.items[other.base];
        if (base.key != nullptr && base.number == number && key == base.key &&
            is_same_text(other.suffix, mine.suffix))
          return report(v);
      }
    }
  }
  /// Finds a user's variable name, such as "fc_0.w_0", that is also the name of a parameter.
  constexpr void require_no_parameter(int v) {
    if (made_parameter(b_, text_of(b_.names.items[b_.variables.items[v].base])) >= 0) report(v);
  }
  static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

  program_builder& b_;
  int without_line_ = -1;
};

}}}  // namespace lamina::detail
