// SPDX-License-Identifier: Apache-2.0
// lamina/model/names/program_names.hpp - looks up names of a program at compile time.
#pragma once

#include <lamina/core/config.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <lamina/core/compile_time/fixed_string.hpp>
#include <lamina/core/messages/check.hpp>
#include <lamina/program/program.hpp>
#include <lamina/program/variable_name.hpp>
#include <lamina/transform/prune.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Returns the number of the data layer with this name, or -1.
template <program_type P>
constexpr int data_named(std::string_view name) {
  for (int i = 0; i < counts_of<P>.data; ++i)
    if (has_name(P::desc, P::desc.data[i], name)) return i;
  return -1;
}
/// Returns the number of the parameter with this name, or -1.
template <program_type P>
constexpr int parameter_named(std::string_view name) {
  for (int i = 0; i < counts_of<P>.parameters; ++i)
    if (has_name(P::desc, P::desc.parameters[i].variable, name)) return i;
  return -1;
}
/// Returns the variable that the layer with this name returned; if there is no such layer, the
/// variable with this name; -1 if there is none.
template <program_type P>
constexpr int variable_named(std::string_view name) {
  return detail::find_variable(P::desc, P::desc.names, counts_of<P>.names, counts_of<P>.variables,
                               name);
}

namespace detail {

/// Whether all names differ.
constexpr bool all_differ(std::initializer_list<std::string_view> names) {
  for (const std::string_view* a = names.begin(); a != names.end(); ++a)
    for (const std::string_view* b = names.begin(); b != a; ++b)
      if (*a == *b) return false;
  return true;
}

/// Returns a type that consists of the characters of a name, for error messages.
template <fixed_string Name, std::size_t... Index>
auto letters_of(std::index_sequence<Index...>) -> named<Name.text[Index]...>;
template <fixed_string Name>
using name_letters = decltype(letters_of<Name>(std::make_index_sequence<Name.view().size()>{}));

template <class P, int V>
struct variable_text {
  static constexpr int size = name_length(P::desc, V);
  struct text_type {
    char text[bound(size + 1)];
  };
  static constexpr text_type value = [] {
    text_type t{};
    name_writer w{t.text};
    write_name(P::desc, V, w);
    return t;
  }();
  template <int... Index>
  static auto letters(std::integer_sequence<int, Index...>) -> named<value.text[Index]...>;
  using type = decltype(letters(std::make_integer_sequence<int, size>{}));
};

template <class...>
struct the_program_has {};
template <class P, class Sequence>
struct data_names;
template <class P, int... Index>
struct data_names<P, std::integer_sequence<int, Index...>> {
  using type = the_program_has<typename variable_text<P, P::desc.data[Index]>::type...>;
};
template <class P, class Sequence>
struct parameter_names;
template <class P, int... Index>
struct parameter_names<P, std::integer_sequence<int, Index...>> {
  using type =
      the_program_has<typename variable_text<P, P::desc.parameters[Index].variable>::type...>;
};

/// The first 32 names that the user gave to layers.
template <class P>
struct own_names {
  struct list {
    int count;
    int of[32];
  };
  static constexpr list all = [] {
    list l{};
    for (int i = 0; i < counts_of<P>.names && l.count < 32; ++i)
      if (P::desc.names[i].key == nullptr && P::desc.names[i].output >= 0) l.of[l.count++] = i;
    return l;
  }();
  template <int Name, int... Index>
  static auto letters(std::integer_sequence<int, Index...>)
      -> named<P::desc.characters[P::desc.names[Name].offset + Index]...>;
  template <int... Index>
  static auto names(std::integer_sequence<int, Index...>)
      -> the_program_has<decltype(letters<all.of[Index]>(
          std::make_integer_sequence<int, P::desc.names[all.of[Index]].length>{}))...>;
  using type = decltype(names(std::make_integer_sequence<int, all.count>{}));
};

/// The names of the layers as types, which the error message for an unknown layer lists. They are
/// computed only if Wanted is true.
template <class P, bool Wanted>
struct all_layers : own_names<P> {};
template <class P>
struct all_layers<P, false> {
  using type = void;
};
template <class P, bool Wanted>
using known_layers = typename all_layers<P, Wanted>::type;

/// The names of all data layers, which the error message for an unknown data layer lists.
template <class P, bool Wanted>
struct all_data {
  using type = typename data_names<P, std::make_integer_sequence<int, counts_of<P>.data>>::type;
};
template <class P>
struct all_data<P, false> {
  using type = void;
};
template <class P, bool Wanted>
using known_data = typename all_data<P, Wanted>::type;

/// The names of all parameters, which the error message for an unknown parameter lists.
template <class P, bool Wanted>
struct all_parameters {
  using type =
      typename parameter_names<P, std::make_integer_sequence<int, counts_of<P>.parameters>>::type;
};
template <class P>
struct all_parameters<P, false> {
  using type = void;
};
template <class P, bool Wanted>
using known_parameters = typename all_parameters<P, Wanted>::type;

}  // namespace detail
}}  // namespace lamina
