// SPDX-License-Identifier: Apache-2.0
// lamina/model/feeding/sample_fields.hpp - finds the fields of a sample, and checks whether data
// layers accept them.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <concepts>
#include <iterator>
#include <span>  // for the range concepts; <ranges> would add all views
#include <tuple>
#include <type_traits>
#include <utility>

#include <lamina/core/messages/check.hpp>
#include <lamina/model/feeding/batch_view.hpp>
#include <lamina/model/names/cpp_type_of.hpp>
#include <lamina/model/names/program_names.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

template <class T>
inline constexpr bool is_tuple_like = requires {
  std::tuple_size<T>::value;
};
template <class T, std::size_t N>
inline constexpr bool is_tuple_like<std::array<T, N>> = false;

/// Converts to any base class of S. If it can initialise S, S has a base class.
template <class S>
struct any_base {
  template <class B>
  requires(std::is_base_of_v<B, S> && !__is_same(B, S)) operator B() const;
};
/// The largest number of fields that a struct may have as a sample. (A tuple may have more.)
inline constexpr int most_fields = 10;

/// Returns the largest number of `{}` with which aggregate S can be initialised, at most 11. If S{}
/// is valid, this is the number of fields, because `{}` can initialise each of them.
template <class S>
constexpr int braces_taken() {
  if constexpr (requires { S{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) return 11;
  if constexpr (requires { S{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) return 10;
  if constexpr (requires { S{{}, {}, {}, {}, {}, {}, {}, {}, {}}; }) return 9;
  if constexpr (requires { S{{}, {}, {}, {}, {}, {}, {}, {}}; }) return 8;
  if constexpr (requires { S{{}, {}, {}, {}, {}, {}, {}}; }) return 7;
  if constexpr (requires { S{{}, {}, {}, {}, {}, {}}; }) return 6;
  if constexpr (requires { S{{}, {}, {}, {}, {}}; }) return 5;
  if constexpr (requires { S{{}, {}, {}, {}}; }) return 4;
  if constexpr (requires { S{{}, {}, {}}; }) return 3;
  if constexpr (requires { S{{}, {}}; }) return 2;
  return 1;
}
/// Returns the number of fields of a sample, or N if the number cannot be determined.
template <int N, class S>
constexpr int fields_of() {
  if constexpr (requires { std::tuple_size<S>::value; } && (N != 1 || is_tuple_like<S>)) {
    return static_cast<int>(std::tuple_size_v<S>);
  } else if constexpr (std::is_arithmetic_v<S> || requires(const S& s) { s.size(); }) {
    return 1;
  } else if constexpr (std::is_aggregate_v<S> && N <= most_fields && requires { S{}; }) {
    return requires { S{any_base<S>{}}; }
    ? N : braces_taken<S>();
  } else {
    return N;
  }
}
/// The number of fields of a mini-batch's samples, or N if it cannot be determined.
template <int N, class Batch>
inline constexpr int fields_a_sample = N;
template <int N, class Batch>
requires std::ranges::range<Batch&>
inline constexpr int fields_a_sample<N, Batch> = fields_of<N, std::ranges::range_value_t<Batch>>();

/// Calls `visit(field...)` with the N fields of a sample, which may be a tuple, an aggregate, or
/// one value.
template <int N, class S, class Visit>
constexpr auto with_fields(const S& sample, Visit&& visit) {
  if constexpr (is_tuple_like<S>) {
    static_assert(
        check<std::tuple_size_v<S> == N, expects<N>, gets<static_cast<int>(std::tuple_size_v<S>)>>,
        "lamina: reader: a sample has one field for each data layer of the program");
    return std::apply(visit, sample);
  } else if constexpr (N == 1) {
    if constexpr (std::is_arithmetic_v<S> || requires { sample.size(); }) {
      return visit(sample);
    } else {
      const auto& [a] = sample;
      return visit(a);
    }
  } else if constexpr (N == 2) {
    const auto& [a, b] = sample;
    return visit(a, b);
  } else if constexpr (N == 3) {
    const auto& [a, b, c] = sample;
    return visit(a, b, c);
  } else if constexpr (N == 4) {
    const auto& [a, b, c, d] = sample;
    return visit(a, b, c, d);
  } else if constexpr (N == 5) {
    const auto& [a, b, c, d, e] = sample;
    return visit(a, b, c, d, e);
  } else if constexpr (N == 6) {
    const auto& [a, b, c, d, e, f] = sample;
    return visit(a, b, c, d, e, f);
  } else if constexpr (N == 7) {
    const auto& [a, b, c, d, e, f, g] = sample;
    return visit(a, b, c, d, e, f, g);
  } else if constexpr (N == 8) {
    const auto& [a, b, c, d, e, f, g, h] = sample;
    return visit(a, b, c, d, e, f, g, h);
  } else if constexpr (N == 9) {
    const auto& [a, b, c, d, e, f, g, h, i] = sample;
    return visit(a, b, c, d, e, f, g, h, i);
  } else if constexpr (N == 10) {
    const auto& [a, b, c, d, e, f, g, h, i, j] = sample;
    return visit(a, b, c, d, e, f, g, h, i, j);
  } else {
    static_assert(N <= most_fields && N > 0,
                  "lamina: reader: samples of more than ten fields are tuples");
  }
}

/// Returns the nesting depth of the numbers in a field: 0 for a number, 1 for a contiguous
/// container of numbers, 2 for a container of such containers, and so on. Returns -1 for any other
/// field, such as an enumeration, a std::list or a text.
template <class Field>
constexpr int depth_of_field() {
  if constexpr (std::is_arithmetic_v<Field>) {
    return 0;
  } else if constexpr (requires { typename Field::traits_type; }) {
    return -1;
  } else if constexpr (std::ranges::range<const Field&>) {
    constexpr int inner =
        depth_of_field<std::remove_cvref_t<std::ranges::range_reference_t<const Field&>>>();
    constexpr bool in_place = requires(const Field& f) { std::data(f), std::size(f); };
    return inner < 0 || (inner == 0 && !in_place) ? -1 : inner + 1;
  } else {
    return -1;
  }
}

/// The type of the numbers in a field, which may be in up to three nested containers; void if the
/// field has no numbers.
template <class Field, int Depth = 3>
struct field_number {
  using type = void;
};
template <class Field, int Depth>
requires std::is_arithmetic_v<Field>
struct field_number<Field, Depth> {
  using type = Field;
};
template <class Field, int Depth>
requires(Depth > 0 && std::ranges::range<const Field&>) struct field_number<Field, Depth>
    : field_number<std::remove_cvref_t<std::ranges::range_reference_t<const Field&>>, Depth - 1> {
};

/// How many numbers a field has, if its type determines this; otherwise -1.
template <class Field>
inline constexpr int field_size = std::is_arithmetic_v<Field> ? 1 : -1;
template <class T, std::size_t N>
requires std::is_arithmetic_v<T>
inline constexpr int field_size<T[N]> = static_cast<int>(N);
template <class T, std::size_t N>
requires std::is_arithmetic_v<T>
inline constexpr int field_size<std::array<T, N>> = static_cast<int>(N);

/// Properties of the fields of a sample that follow from their types: how many numbers, whether
/// they are real, and the nesting depth.
template <class... Field>
struct field_list {
  static constexpr int sizes[sizeof...(Field) + 1] = {field_size<Field>..., 0};
  static constexpr bool reals[sizeof...(Field) + 1] = {
      std::is_floating_point_v<typename field_number<Field>::type>..., false};
  static constexpr int depths[sizeof...(Field) + 1] = {depth_of_field<Field>()..., 0};
  template <int Index>
  using type = std::tuple_element_t<static_cast<std::size_t>(Index), std::tuple<Field...>>;
};
struct list_fields {
  template <class... Field>
  constexpr field_list<Field...> operator()(const Field&...) const {
    return {};
  }
};
template <class P, class Sample>
using field_list_of =
    decltype(with_fields<counts_of<P>.data>(std::declval<const Sample&>(), list_fields()));

/// Returns the index of the first data layer that does not accept its field, according to the
/// field's type, or -1. A layer of integers does not accept real numbers, which are usually float
/// labels or fields in the wrong order. An array of fixed size must have the size of its layer. A
/// layer without sequences accepts a number or one container of numbers, a layer of sequences up to
/// two nested containers, and a layer of nested sequences one to three.
template <class P, class Fields>
constexpr int layer_without_field() {
  for (int i = 0; i < counts_of<P>.data; ++i) {
    const data_layer& layer = data_layers_of<P>.of[i];
    const bool rounds =
        !is_floating(layer.type) && layer.type != dtype::boolean && Fields::reals[i];
    const bool fixed = layer.parent < 0 && Fields::sizes[i] >= 0;
    const int depth = Fields::depths[i];
    const int least = layer.grandparent >= 0 ? 1 : 0;
    const int most = layer.grandparent >= 0 ? 3 : layer.parent >= 0 ? 2 : 1;
    if (rounds || depth < least || depth > most || (fixed && Fields::sizes[i] != layer.columns))
      return i;
  }
  return -1;
}

/// Types that an error message shows: the name of the data layer, the type of field that it
/// accepts, and the type of the sample's field.
template <class P, class Fields, int Index>
struct field_fault {
  using element = typename cpp_type_of<data_layers_of<P>.of[Index].type>::type;
  static constexpr std::size_t columns =
      static_cast<std::size_t>(data_layers_of<P>.of[Index].columns);
  using name = typename variable_text<P, P::desc.data[Index]>::type;
  using expected =
      expects_type<std::conditional_t<columns == 1, element, std::array<element, columns>>>;
  using found = gets_type<typename Fields::template type<Index>>;
};
struct no_field_fault {
  using name = void;
  using expected = void;
  using found = void;
};
template <class P, class Fields, int Index>
struct field_check_at : field_fault<P, Fields, Index> {
  static constexpr bool ok = false;
};
template <class P, class Fields>
struct field_check_at<P, Fields, -1> : no_field_fault {
  static constexpr bool ok = true;
};

/// Checks whether the data layers of a program accept the fields of a mini-batch's samples. The
/// caller sets Wanted to false, which disables the check, unless there is one field per data layer.
template <class P, class Batch, bool Wanted>
struct field_check : field_check_at<P, void, -1> {};
template <class P, class Batch>
requires(P::desc.count.data > 0 &&
         (P::desc.count.data <= most_fields ||
          is_tuple_like<std::ranges::range_value_t<Batch>>)) struct field_check<P, Batch, true>
    : field_check_at<
          P, field_list_of<P, std::ranges::range_value_t<Batch>>,
          layer_without_field<P, field_list_of<P, std::ranges::range_value_t<Batch>>>()> {
};

}}}  // namespace lamina::detail
