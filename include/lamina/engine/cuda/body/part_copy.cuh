// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/part_copy.cuh - copies between parts of arrays with arbitrary strides,
// and fills arrays, with one thread per element.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>

#include <lamina/engine/common/part_layout.hpp>
#include <lamina/engine/cuda/body/element_loops.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

LAMINA_INLINE LAMINA_FN void copy_element(const void* from, std::ptrdiff_t i, void* to,
                                          std::ptrdiff_t j, int bytes) {
  if (bytes == 4)
    static_cast<std::uint32_t*>(to)[j] = static_cast<const std::uint32_t*>(from)[i];
  else if (bytes == 8)
    static_cast<std::uint64_t*>(to)[j] = static_cast<const std::uint64_t*>(from)[i];
  else if (bytes == 2)
    static_cast<std::uint16_t*>(to)[j] = static_cast<const std::uint16_t*>(from)[i];
  else
    static_cast<std::uint8_t*>(to)[j] = static_cast<const std::uint8_t*>(from)[i];
}

LAMINA_INLINE LAMINA_FN void zero_element(void* to, std::ptrdiff_t j, int bytes) {
  if (bytes == 4)
    static_cast<std::uint32_t*>(to)[j] = 0;
  else if (bytes == 8)
    static_cast<std::uint64_t*>(to)[j] = 0;
  else if (bytes == 2)
    static_cast<std::uint16_t*>(to)[j] = 0;
  else
    static_cast<std::uint8_t*>(to)[j] = 0;
}

struct part_copy_body {
  struct arguments {
    const char* from;
    char* to;
    element_loops<2> loops;
    int bytes, count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const auto p = a.loops.at(i);
    copy_element(a.from, p.of[0], a.to, p.of[1], a.bytes);
  }
};

/// Copies all elements in order from an array to another array whose rows may have another length.
struct reshape_body {
  struct arguments {
    const void* from;
    void* to;
    std::ptrdiff_t from_stride, to_stride;
    divider from_columns, to_columns;
    int bytes, count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    int x = i, y = i;
    const int from_row = a.from_columns.divide(x), to_row = a.to_columns.divide(y);
    copy_element(a.from, from_row * a.from_stride + x, a.to, to_row * a.to_stride + y, a.bytes);
  }
};

struct fill_body {
  struct arguments {
    void* to;
    std::ptrdiff_t stride;
    divider columns;
    dtype type;
    double value;
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const int row = a.columns.divide(i);
    store_number(a.to, a.type, row * a.stride + i, a.value);
  }
};

}  // namespace detail

/// Copies the array part `from` to `to`; `extent` holds the number of elements along each of `rank`
/// dimensions. A stride of 0 in `from` repeats the element.
template <class Backend>
void copy_part(Backend& b, const operator_call& c, dtype type, int rank,
               const std::ptrdiff_t* extent, const array_part& from, const array_part& to) {
  if constexpr (requires { b.copy_columns(extent, from, to); }) {
    b.copy_columns(extent, from, to);
  } else {
    loop_nest<2> loops;
    for (int d = 0; d < rank; ++d) loops.add(extent[d], from.step[d], to.step[d]);
    const int bytes = size_of(type);
    detail::part_copy_body::arguments a{static_cast<const char*>(from.data) + from.offset * bytes,
                                        static_cast<char*>(to.data) + to.offset * bytes,
                                        element_loops<2>(c, loops), bytes, 0};
    a.count = a.loops.count;
    b.template elements<detail::part_copy_body>(a);
  }
}

/// Copies an array; does nothing if the plan has assigned the same memory to both operands.
template <class Backend>
void copy_elements(Backend& b, const operand& from, const operand& to) {
  if (from.data == to.data) return;
  b.template elements<detail::reshape_body>({from.data, to.data, from.stride, to.stride,
                                             divider(from.columns), divider(to.columns),
                                             size_of(to.type), to.rows * to.columns});
}

/// Fills an array with one number.
template <class Backend>
void fill(Backend& b, const operand& to, double value) {
  b.template elements<detail::fill_body>(
      {to.data, to.stride, divider(to.columns), to.type, value, to.rows * to.columns});
}

}}}  // namespace lamina::engine::cuda
