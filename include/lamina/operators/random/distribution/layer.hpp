// SPDX-License-Identifier: Apache-2.0
// lamina/operators/random/distribution/layer.hpp - operators that generate uniform or normal random
// numbers.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of uniform_random, whose numbers are from `min` (included) to `max`. If `seed` is 0, the
/// seed of the run is used, and each mini-batch gets different numbers; with another seed, each
/// mini-batch gets the same numbers. In a loop, each iteration gets different numbers with any
/// seed.
struct uniform_random_attr {
  float min = -1, max = 1;
  int seed = 0;
  std::string_view name{};
};
/// Options of gaussian_random; `seed` is as in uniform_random.
struct gaussian_random_attr {
  float mean = 0, std = 1;
  int seed = 0;
  std::string_view name{};
};

namespace detail {

/// Records operator Op with a result of type V. `like` is the variable that determines the number
/// of rows; -1: none.
template <class Op, class V>
constexpr V random_numbers(program_builder& b, const char* key, std::string_view name, int like,
                           double first, double second, int seed) {
  layer_helper layer(b, key, name);
  const V y = layer.template output<V>();
  const variable_desc v = b.variables[without_gradient(layer, y.id)];
  const int at = b.integers.count;
  for (int i = 0; i < v.rank; ++i) {
    const int extent = b.dims[v.dims + i];
    b.integers.push(extent);
  }
  const int attributes = b.attribute_list(attribute_value{0, at, v.rank}, static_cast<int>(v.type),
                                          first, second, seed);
  if (like >= 0) b.attribute_list(0, 0);
  const int in = b.arguments.count;
  if (like >= 0) b.argument(like);
  const int out = b.arguments.count;
  b.argument(y.id);
  b.operators.push({&schema_of<Op>(), in, out, out + 1, attributes, b.current_block, b.role});
  return layer.returns(y);
}

}  // namespace detail

/// Returns a variable [Dims...] with uniformly distributed elements from `min` to `max`:
/// `uniform_random<3, 4>(main, {.min = 0})`. Fluid: uniform_random.
template <int... Dims>
constexpr auto uniform_random(const block& main, const uniform_random_attr& attr = {},
                              int line = __builtin_LINE()) {
  lamina::detail::note_line(*main.builder, line);
  main.builder->require_option(attr.min <= attr.max, line, "uniform_random: min <= max");
  static_assert(sizeof...(Dims) > 0 && ((Dims > 0) && ...),
                "lamina: uniform_random: dimensions are positive");
  return detail::random_numbers<operators::uniform_random, variable<float, once, Dims...>>(
      *main.builder, "uniform_random", attr.name, -1, attr.min, attr.max, attr.seed);
}

/// Returns a variable [Dims...] with normally distributed elements, with mean `mean` and standard
/// deviation `std`. Fluid: gaussian_random.
template <int... Dims>
constexpr auto gaussian_random(const block& main, const gaussian_random_attr& attr = {},
                               int line = __builtin_LINE()) {
  lamina::detail::note_line(*main.builder, line);
  main.builder->require_option(attr.std >= 0, line, "gaussian_random: std >= 0");
  static_assert(sizeof...(Dims) > 0 && ((Dims > 0) && ...),
                "lamina: gaussian_random: dimensions are positive");
  return detail::random_numbers<operators::gaussian_random, variable<float, once, Dims...>>(
      *main.builder, "gaussian_random", attr.name, -1, attr.mean, attr.std, attr.seed);
}

/// Returns one row [Dims...] of uniformly distributed numbers from `min` to `max` per row of x.
/// Fluid: uniform_random_batch_size_like.
template <int... Dims, class T, row_domain R, int... D>
requires has_rows<R>
constexpr variable<float, R, Dims...> uniform_random_batch_size_like(
    variable<T, R, D...> x, const options<uniform_random_attr, T>& attr = {},
    int line = __builtin_LINE()) {
  x.builder->require_option(attr.min <= attr.max, line,
                            "uniform_random_batch_size_like: min <= max");
  return detail::random_numbers<operators::uniform_random_batch_size_like,
                                variable<float, R, Dims...>>(
      *x.builder, "uniform_random_batch_size_like", attr.name, x.id, attr.min, attr.max, attr.seed);
}

/// Returns one row [Dims...] of normally distributed numbers per row of x. Fluid:
/// gaussian_random_batch_size_like.
template <int... Dims, class T, row_domain R, int... D>
requires has_rows<R>
constexpr variable<float, R, Dims...> gaussian_random_batch_size_like(
    variable<T, R, D...> x, const options<gaussian_random_attr, T>& attr = {},
    int line = __builtin_LINE()) {
  x.builder->require_option(attr.std >= 0, line, "gaussian_random_batch_size_like: std >= 0");
  return detail::random_numbers<operators::gaussian_random_batch_size_like,
                                variable<float, R, Dims...>>(
      *x.builder, "gaussian_random_batch_size_like", attr.name, x.id, attr.mean, attr.std,
      attr.seed);
}

}}}  // namespace lamina::layer
