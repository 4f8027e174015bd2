// SPDX-License-Identifier: Apache-2.0
// lamina/operators/collective/all_reduce/layer.hpp - sums and maxima over the processes that run a
// program together.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string_view>

#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/collective/all_reduce/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// The function by which all_reduce combines the values of all processes.
enum class reduce_type : std::uint8_t { sum, max };

/// Options of all_reduce.
struct all_reduce_attr {
  reduce_type type = reduce_type::sum;
  std::string_view name{};
};

/// Returns the sum or maximum of each element of x over all processes that run the program together
/// (`lamina::run(model, reader, {.world = &world})`). All processes get the same result, bit by
/// bit. In a run of one process, the result is x. The elements of x must be float, double,
/// std::int32_t or std::int64_t, and x must have the same number of elements in each process. All
/// processes must compute the layer equally often, because each call waits for all processes. The
/// layer passes no gradient back. Fluid: layers.collective._c_allreduce.
template <class T, class R, int... D>
constexpr variable<T, R, D...> all_reduce(variable<T, R, D...> x,
                                          const options<all_reduce_attr, T>& attr = {}) {
  constexpr bool numbers = sizeof(T) >= 4;
  static_assert(check<numbers, gets_type<T>>,
                "lamina: all_reduce: expected float, double, std::int32_t or std::int64_t");
  const auto y = attr.type == reduce_type::max
                     ? detail::same_shape<operators::c_allreduce_max>(x, "all_reduce", attr.name)
                     : detail::same_shape<operators::c_allreduce_sum>(x, "all_reduce", attr.name);
  x.builder->variables[y.id].stop_gradient = true;
  return y;
}

}}}  // namespace lamina::layer
