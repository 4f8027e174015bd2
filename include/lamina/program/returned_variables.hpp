// SPDX-License-Identifier: Apache-2.0
// lamina/program/returned_variables.hpp - the variables that a record function returned, as handles
// for run time.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <lamina/program/program.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A variable of the recorded program P, with the element type, rows and dimensions of its handle.
/// It can be passed to an executor, which then returns the variable's value.
template <program_type P, class T, class Rows, int... Dims>
struct returned_variable {
  using program = P;
  using value_type = T;
  using rows_type = Rows;
  static constexpr int rank = static_cast<int>(sizeof...(Dims));
  static constexpr int size = (1 * ... * Dims);

  int id;
};

namespace detail {

template <class P, class V>
struct returned_type;
template <class P, class T, class R, int... D>
struct returned_type<P, variable<T, R, D...>> {
  using type = returned_variable<P, T, R, D...>;
};
template <class P, class Result, std::size_t... Index>
constexpr auto returned_each(std::index_sequence<Index...>) {
  return std::tuple{typename returned_type<P, std::tuple_element_t<Index, Result>>::type{
      P::desc.outputs[Index]}...};
}

}  // namespace detail

/// Returns the variables that the record function of a program returned: one handle for one
/// variable, a tuple for several, in the same order: `const auto [cost, hidden] =
/// returned_variables(net)`. Pass them to executor::run as its fetch list. Fluid: the Variables
/// that layers return.
template <program_type P>
constexpr auto returned_variables(P) {
  using result = typename P::result;
  if constexpr (is_faulty<P>)
    return std::tuple{};
  else if constexpr (is_variable<result>)
    return typename detail::returned_type<P, result>::type{P::desc.outputs[0]};
  else if constexpr (std::is_void_v<result>)
    return std::tuple{};
  else
    return detail::returned_each<P, result>(std::make_index_sequence<std::tuple_size_v<result>>{});
}

}}  // namespace lamina
