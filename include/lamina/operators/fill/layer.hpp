// SPDX-License-Identifier: Apache-2.0
// lamina/operators/fill/layer.hpp - operators whose results are constants: fill_constant,
// assign_value.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

#include <lamina/core/messages/check.hpp>
#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/fill/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of fill_constant.
struct fill_constant_attr {
  std::string_view name{};
};

/// Returns a variable of shape [Dims...], or [1] without Dims, whose elements are all `value`:
/// `fill_constant<std::int64_t>(main, 10)`. Fluid: fill_constant.
template <element T, int... Dims>
constexpr auto fill_constant(const block& main, double value, const fill_constant_attr& attr = {},
                             int line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  static_assert(((Dims > 0) && ...), "lamina: fill_constant: dimensions are positive");
  program_builder& b = *main.builder;
  lamina::detail::note_line(b, line, file);
  layer_helper layer(b, "fill_constant", attr.name);
  const auto filled = [&](auto y) {
    const variable_desc v = b.variables[detail::without_gradient(layer, y.id)];
    const int at = b.integers.count;
    for (int i = 0; i < v.rank; ++i) {
      const int extent = b.dims[v.dims + i];
      b.integers.push(extent);
    }
    const int attributes = b.attribute_list(attribute_value{0, at, v.rank},
                                            static_cast<int>(dtype_of<T>), value, false);
    const int out = b.arguments.count;
    b.argument(y.id);
    b.operators.push({&schema_of<operators::fill_constant>(), out, out, out + 1, attributes,
                      b.current_block, b.role});
    return layer.returns(y);
  };
  if constexpr (sizeof...(Dims) == 0)
    return filled(layer.template output<variable<T, once, 1>>());
  else
    return filled(layer.template output<variable<T, once, Dims...>>());
}

/// Options of assign_value.
struct assign_value_attr {
  std::string_view name{};
};

/// Returns a constant with the given elements, in row-major order, and the shape [Dims...], or [N]
/// without Dims: `assign_value<2, 3>(main, {1.f, 2.f, 3.f, 4.f, 5.f, 6.f})`. Elements are float or
/// 32-bit integers. The constant gets no gradient and is not saved with the model. Fluid:
/// layers.assign of a numpy array.
template <int... Dims, element T, std::size_t N>
constexpr auto assign_value(const block& main, const T (&values)[N],
                            const assign_value_attr& attr = {}, int line = __builtin_LINE()) {
  constexpr bool whole = __is_same(T, std::int32_t) || __is_same(T, std::int64_t);
  constexpr bool known = whole || __is_same(T, float);
  static_assert(check<known, gets_type<T>>,
                "lamina: assign_value: expected elements of float, int32 or int64");
  constexpr int count = static_cast<int>(N);
  constexpr int size = sizeof...(Dims) == 0 ? count : (1 * ... * Dims);
  static_assert(check<size == count, expects<size>, gets<count>>,
                "lamina: assign_value: there are as many elements as the shape has");
  program_builder& b = *main.builder;
  lamina::detail::note_line(b, line);
  layer_helper layer(b, "assign_value", attr.name);
  const auto made = [&](auto y) {
    const variable_desc v = b.variables[detail::without_gradient(layer, y.id)];
    int extent[sizeof...(Dims) + 1] = {};
    for (int i = 0; i < v.rank; ++i) extent[i] = b.dims[v.dims + i];
    const attribute_value shape = b.integer_list(extent, v.rank), none{0, 0, 0};
    const int type = static_cast<int>(dtype_of<T>);
    int attributes = -1;
    if constexpr (__is_same(T, float)) {
      attributes = b.attribute_list(shape, type, b.real_list(values, count), none);
    } else {
      int numbers[N] = {};
      for (std::size_t i = 0; i < N; ++i) {
        numbers[i] = static_cast<int>(values[i]);
        b.require_option(static_cast<T>(numbers[i]) == values[i], line,
                         "assign_value: whole numbers of 32 bits");
      }
      attributes = b.attribute_list(shape, type, none, b.integer_list(numbers, count));
    }
    const int out = b.arguments.count;
    b.argument(y.id);
    b.operators.push({&schema_of<operators::assign_value>(), out, out, out + 1, attributes,
                      b.current_block, b.role});
    return layer.returns(y);
  };
  if constexpr (sizeof...(Dims) == 0)
    return made(layer.template output<variable<T, once, count>>());
  else
    return made(layer.template output<variable<T, once, Dims...>>());
}
/// assign_value with the elements of a std::array: `assign_value<10, 1>(main, table)`.
template <int... Dims, element T, std::size_t N>
constexpr auto assign_value(const block& main, const std::array<T, N>& values,
                            const assign_value_attr& attr = {}, int line = __builtin_LINE()) {
  T plain[N] = {};
  for (std::size_t i = 0; i < N; ++i) plain[i] = values[i];
  return assign_value<Dims...>(main, plain, attr, line);
}

}}}  // namespace lamina::layer
