// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/array/layer.hpp - arrays of variables that are written and read by
// index.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/control/array/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The handle of an array whose values all have the type `variable<T, Rows, Dims...>`. Operators
/// change the array in place: a read of a slot, in any block, returns the value that was last
/// written to the slot. Fluid: LOD_TENSOR_ARRAY.
template <element T, row_domain Rows, int... Dims>
struct tensor_array {
  using item = variable<T, Rows, Dims...>;

  program_builder* builder;
  int id;
};

namespace layer {

/// Options of the layers on arrays.
struct array_attr {
  std::string_view name{};
};

namespace detail {
template <class T, class R, int... D>
constexpr tensor_array<T, R, D...> array_of(layer_helper& layer, const variable<T, R, D...>& item) {
  program_builder& b = *item.builder;
  b.variables[item.id].kind = variable_kind::tensor_array;
  return layer.returns(tensor_array<T, R, D...>{&b, item.id});
}
}  // namespace detail

/// Creates an array without values. Its slots hold variables of type Item:
/// `create_array<decltype(x)>(main)`. If the body of a loop creates the array, it is empty at the
/// start of each iteration. Fluid: create_array.
template <class Item>
constexpr auto create_array(const block& main, const array_attr& attr = {},
                            int line = __builtin_LINE()) {
  lamina::detail::note_line(*main.builder, line);
  layer_helper layer(*main.builder, "array", attr.name);
  return detail::array_of(layer, layer.template output<Item>());
}

/// a[i] = x. If the array has i slots or fewer, it grows to i + 1 slots; slots that were never
/// written have no value. Fluid: array_write.
template <class T, class R, int... D>
constexpr void array_write(const variable<T, R, D...>& x, const variable<std::int64_t, once, 1>& i,
                           const tensor_array<T, R, D...>& a, int line = __builtin_LINE()) {
  require_one_program(x, i, line);
  require_one_program(x, a, line);
  x.builder->add_operator(schema_of<operators::write_to_array>(), {x.id, i.id}, {a.id});
}
/// Creates an array a, sets a[i] = x and returns a.
template <class T, class R, int... D>
constexpr auto array_write(const variable<T, R, D...>& x, const variable<std::int64_t, once, 1>& i,
                           const options<array_attr, T>& attr = {}, int line = __builtin_LINE()) {
  block here{x.builder, x.builder->current_block};
  const auto a = create_array<variable<T, R, D...>>(here, attr);
  array_write(x, i, a, line);
  return a;
}

/// Returns a[i]. If the slot has no value, the run fails. Fluid: array_read.
template <class T, class R, int... D>
constexpr variable<T, R, D...> array_read(const tensor_array<T, R, D...>& a,
                                          const variable<std::int64_t, once, 1>& i,
                                          const options<array_attr, T>& attr = {},
                                          int line = __builtin_LINE()) {
  require_one_program(i, a, line);
  layer_helper layer(*a.builder, "array_read", attr.name);
  const auto y = layer.template output<variable<T, R, D...>>();
  a.builder->add_operator(schema_of<operators::read_from_array>(), {a.id, i.id}, {y.id});
  return layer.returns(y);
}

/// Returns the number of slots of the array, including slots without a value. Fluid: array_length.
template <class T, class R, int... D>
constexpr variable<std::int64_t, once, 1> array_length(const tensor_array<T, R, D...>& a,
                                                       const options<array_attr, T>& attr = {},
                                                       int line = __builtin_LINE()) {
  lamina::detail::require_visible(*a.builder, a.id, line);
  layer_helper layer(*a.builder, "array_length", attr.name);
  const auto n = layer.template output<variable<std::int64_t, once, 1>>();
  a.builder->add_operator(schema_of<operators::lod_array_length>(), {a.id}, {n.id});
  return layer.returns(n);
}

}  // namespace layer
}}  // namespace lamina
