// SPDX-License-Identifier: Apache-2.0
// lamina/layers/data.hpp - data layers: the variables that a user feeds.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/compile_time/fixed_string.hpp>
#include <lamina/layers/layer_helper.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

namespace detail {
template <class T>
struct fed_element {
  using type = float;
};
template <element T>
struct fed_element<T> {
  using type = T;
};
/// T; if no variable can have elements of type T, float, so that the mistake gives one error.
template <class T>
using element_or_float = typename fed_element<T>::type;

template <fixed_string Name, element T, class R, int... D>
constexpr variable<T, R, D...> feed_variable(const block& main, int line) {
  program_builder& b = *main.builder;
  lamina::detail::note_line(b, line);
  for (int i = 0; i < b.data.count; ++i)
    if (base_has_name(b, b.names.items, b.variables[b.data[i]].base, Name.view()))
      b.report(fault_kind::name_used_twice, line, Name.view(), nullptr, 0, nullptr, 0);
  const int name = b.own_name(Name.view());
  constexpr bool has_rows = !__is_same(R, once);
  int shape = 0;
  if constexpr (has_rows)
    shape = b.shape(-1, D...);
  else
    shape = b.shape(D...);
  const int v = b.add_variable(name, "", -1, shape, sizeof...(D) + (has_rows ? 1 : 0),
                               rows_of<R>(b), dtype_of<T>);
  b.names[name].output = v;
  b.variables[v].kind = variable_kind::data;
  b.variables[v].block = 0;
  b.variables[v].stop_gradient = true;
  b.variables[v].index = b.data.push(v);
  const int at = b.arguments.count;
  b.argument(v);
  b.operators.push({&schema_of<operators::data>(), at, at, at + 1, -1, 0, b.role});
  return {&b, v};
}
}  // namespace detail

/// Makes an input with one dense array of dimensions Dims per sample: `data<"image", float, 1, 28,
/// 28>(main)`. Without dimensions, the input is one number per sample, shape [-1, 1], as for
/// labels. Fluid: layers.data.
template <fixed_string Name, class T, int... Dims>
constexpr auto data(const block& main, int line = __builtin_LINE()) {
  static_assert(check<element<T>, gets_type<T>>,
                "lamina: data: elements are float, double, bool or std::int64_t and its kind");
  static_assert(((Dims > 0) && ...), "lamina: data: dimensions are positive");
  using type = detail::element_or_float<T>;
  if constexpr (sizeof...(Dims) == 0)
    return detail::feed_variable<Name, type, batch, 1>(main, line);
  else
    return detail::feed_variable<Name, type, batch, Dims...>(main, line);
}
/// Makes an input that has no batch dimension: one dense array of dimensions Dims for the whole
/// mini-batch, as in programs that were converted from files with fixed shapes. A mini-batch of
/// samples for a program with such an input has exactly one sample, or feeding it throws
/// lamina::error; other feeds of evaluator::forward may have any number of rows.
/// Fluid: layers.data(append_batch_size=False).
template <fixed_string Name, class T, int... Dims>
constexpr auto data_once(const block& main, int line = __builtin_LINE()) {
  static_assert(check<element<T>, gets_type<T>>,
                "lamina: data: elements are float, double, bool or std::int64_t and its kind");
  static_assert(sizeof...(Dims) > 0 && ((Dims > 0) && ...),
                "lamina: data: dimensions are positive");
  using type = detail::element_or_float<T>;
  if constexpr (sizeof...(Dims) == 0)
    return detail::feed_variable<Name, type, once, 1>(main, line);
  else
    return detail::feed_variable<Name, type, once, Dims...>(main, line);
}
#ifdef LAMINA_NAMES_OPTIONS
constexpr no_match<block> data(...) = delete;  // call data<"x", float, 4>(main)
template <class, any_value...>
constexpr no_match<block> data(...) = delete;  // call data<"x", float, 4>(main)
template <fixed_string, any_value...>
constexpr no_match<block> data(...) = delete;  // call data<"x", float, 4>(main)
template <fixed_string, class, any_value...>
constexpr no_match<block> data(...) = delete;  // call data<"x", float, 4>(main)
#endif

}}}  // namespace lamina::layer
