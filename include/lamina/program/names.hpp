// SPDX-License-Identifier: Apache-2.0
// lamina/program/names.hpp - composes the names of variables: Fluid's unique_name rules.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/program/program_desc.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Writes names to a caller's buffer, or only counts characters if there is no buffer.
struct name_writer {
  char* to;
  int length = 0;

  constexpr void put(char c) {
    if (to != nullptr) to[length] = c;
    ++length;
  }
  constexpr void put(const char* text) {
    for (; *text != 0; ++text) put(*text);
  }
  constexpr void put(const char* text, int count) {
    for (int i = 0; i < count; ++i) put(text[i]);
  }
  constexpr void put_number(int value) {
    char digits[12];
    int n = 0;
    do {
      digits[n++] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    while (n > 0) put(digits[--n]);
  }
};

/// Writes the name with index `name`: "my_fc" as given by the user, or a generated one such as
/// "fc_0".
template <class Program>
constexpr void write_base(const Program& p, const name_desc* names, int name, name_writer& w) {
  const name_desc& d = names[name];
  if (d.key == nullptr) {
    w.put(&p.characters[d.offset], d.length);
  } else {
    w.put(d.key);
    w.put('_');
    w.put_number(d.number);
  }
}

/// Writes the name of a variable, for example "fc_0.tmp_1" or "fc_0.w_0@GRAD".
template <class Program>
constexpr void write_name(const Program& p, int variable, name_writer& w) {
  const variable_desc& v = p.variables[variable];
  if (v.of >= 0)
    write_name(p, v.of, w);
  else
    write_base(p, p.names, v.base, w);
  w.put(v.suffix);
  if (v.number >= 0) w.put_number(v.number);
}

/// Returns the length of the name of a variable.
template <class Program>
constexpr int name_length(const Program& p, int variable) {
  name_writer w{nullptr};
  write_name(p, variable, w);
  return w.length;
}

/// Whether a variable has this name.
template <class Program>
constexpr bool has_name(const Program& p, int variable, std::string_view name) {
  const int n = name_length(p, variable);
  if (n != static_cast<int>(name.size())) return false;
  char* text = new char[static_cast<unsigned>(n) + 1];
  name_writer w{text};
  write_name(p, variable, w);
  const bool same = std::string_view(text, static_cast<std::size_t>(n)) == name;
  delete[] text;
  return same;
}

/// Whether entry `base` of `names`, a layer's name or a name given by the user, equals `name`.
template <class Program>
constexpr bool base_has_name(const Program& p, const name_desc* names, int base,
                             std::string_view name) {
  name_writer count{nullptr};
  write_base(p, names, base, count);
  if (count.length != static_cast<int>(name.size())) return false;
  char* text = new char[static_cast<unsigned>(count.length) + 1];
  name_writer w{text};
  write_base(p, names, base, w);
  const bool same = std::string_view(text, static_cast<std::size_t>(count.length)) == name;
  delete[] text;
  return same;
}

/// Whether a name equals `owner`, or continues it after a whole word: "block_1.w_0" belongs to
/// "block_1" and to "block", but "block_10.w_0" does not belong to "block_1".
constexpr bool belongs_to(std::string_view name, std::string_view owner) {
  const auto is_word = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  if (owner.empty() || !name.starts_with(owner)) return false;
  return name.size() == owner.size() || !is_word(owner.back()) || !is_word(name[owner.size()]);
}

namespace detail {
/// Whether the name of parameter `variable` belongs to `owner`, the name of a layer or parameter.
template <class Program>
constexpr bool parameter_belongs_to(const Program& p, int variable, std::string_view owner) {
  const int n = name_length(p, variable);
  char* text = new char[static_cast<unsigned>(n) + 1];
  name_writer w{text};
  write_name(p, variable, w);
  const bool belongs = belongs_to(std::string_view(text, static_cast<std::size_t>(n)), owner);
  delete[] text;
  return belongs;
}
}  // namespace detail

}}  // namespace lamina
