// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/chosen_elements.cuh - the indices of the elements of an array that are
// not 0, or of those that are 0, in ascending order.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/device/algorithms.hpp>
#include <lamina/engine/cuda/schedule/call_context.hpp>

namespace lamina::inline LAMINA_ABI::engine::cuda {

namespace detail {

/// Whether element i of an array is true; elements are counted over all rows.
LAMINA_INLINE LAMINA_FN bool holds(const argument_view& a, int i) {
  return load_number(a.data, a.type, i / a.columns * a.stride + i % a.columns) != 0;
}
struct element_choice {
  struct arguments {
    argument_view array;
    bool truth;
  };
  static LAMINA_INLINE LAMINA_FN bool run(const arguments& a, int i) {
    return holds(a.array, i) == a.truth;
  }
};

}  // namespace detail

/// The indices of the elements that are not 0 (`truth`), or of those that are 0, in device memory.
struct chosen_elements {
  const int *numbers, *count;

  template <class Backend>
  static chosen_elements of(Backend& b, const argument_view& array, bool truth,
                            scratch_parts& parts) {
    const auto a = choice(array, truth, parts);
    if (a.count > 0) b.run_algorithm(a, parts.rest());
    return {a.chosen, a.found};
  }
  /// Floats of scratch memory. Each of several choices has separate memory for its results; the
  /// library's workspace follows the last of them, where a later choice may overwrite it.
  template <class Backend>
  static std::ptrdiff_t scratch(const argument_view& array) {
    scratch_parts parts(nullptr);
    const auto a = choice(array, true, parts);
    return parts.used() + algorithm_floats<Backend>(a);
  }

 private:
  static algorithm::select<detail::element_choice> choice(const argument_view& array, bool truth,
                                                          scratch_parts& parts) {
    const int count = array.rows * array.columns;
    int* const numbers = parts.take<int>(count);
    return {{array, truth}, numbers, parts.take<int>(1), count};
  }
};

}  // namespace lamina::inline LAMINA_ABI::engine::cuda
