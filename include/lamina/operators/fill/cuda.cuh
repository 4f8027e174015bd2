// SPDX-License-Identifier: Apache-2.0
// lamina/operators/fill/cuda.cuh - the kernel of assign_value.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>

#include <lamina/engine/cuda/body/chosen_elements.cuh>
#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/operators/fill/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Writes numbers from the host to the device. A launch writes as many numbers as fit into the
/// arguments of a kernel.
template <class T>
struct given_numbers_body {
  static constexpr int most = 128;
  struct arguments {
    void* to;
    std::ptrdiff_t stride;
    divider columns;
    dtype type;
    int first, count;
    T number[most];
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    int column = a.first + i;
    const int r = a.columns.divide(column);
    if constexpr (__is_same(T, double))
      store_number(a.to, a.type, r * a.stride + column, a.number[i]);
    else
      store_integer(a.to, a.type, r * a.stride + column, a.number[i]);
  }
};

/// Sets the elements of an array, in order, to number(0), number(1), ...
template <class T, class Backend, class Numbers>
void give_numbers(Backend& b, const operand& to, int size, const Numbers& number) {
  using body = given_numbers_body<T>;
  for (int first = 0; first < size; first += body::most) {
    typename body::arguments a{};
    a.to = to.data;
    a.stride = to.stride;
    a.columns = divider(to.columns);
    a.type = to.type;
    a.first = first;
    a.count = size - first < body::most ? size - first : body::most;
    for (int i = 0; i < a.count; ++i) a.number[i] = number(first + i);
    b.template elements<body>(a);
  }
}

}  // namespace detail

template <>
struct call_kernel<operators::assign_value> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand out = c.output(0);
    if (!out) return;
    const int reals = c.list_size(2), integers = c.list_size(3), size = out.rows * out.columns;
    if ((reals > 0 ? reals : integers) != size)
      fail(c, {"expected ", size, " values, found ", reals > 0 ? reals : integers});
    if (reals > 0)
      detail::give_numbers<double>(b, out, size, [&](int i) { return c.real_at(2, i); });
    else
      detail::give_numbers<std::int64_t>(
          b, out, size, [&](int i) { return static_cast<std::int64_t>(c.integer_at(3, i)); });
  }
};

}}}  // namespace lamina::engine::cuda
