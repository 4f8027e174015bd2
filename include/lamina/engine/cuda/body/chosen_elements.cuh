// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/chosen_elements.cuh - lists the indices of the nonzero elements of an
// array, or of the zero elements, in ascending order.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/device/algorithms.hpp>
#include <lamina/engine/cuda/schedule/call_context.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Whether element i of an array, counted over all rows, is not 0.
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

/// The indices of the nonzero elements (`truth` is true) or of the zero elements (`truth` is false)
/// of an array, and their number, both in device memory.
struct chosen_elements {
  const int *numbers, *count;

  template <class Backend>
  static chosen_elements of(Backend& b, const argument_view& array, bool truth,
                            scratch_arena& arena) {
    const auto a = choice(array, truth, arena);
    if (a.count > 0) b.run_algorithm(a, arena.rest());
    return {a.chosen, a.found};
  }
  /// Returns the floats of scratch memory for one array. Each of several lists has separate memory
  /// for its results. The workspace of the library begins after the results, and the next list may
  /// overwrite it.
  template <class Backend>
  static std::ptrdiff_t scratch(const argument_view& array) {
    scratch_arena arena(nullptr);
    const auto a = choice(array, true, arena);
    return arena.used() + algorithm_floats<Backend>(a);
  }

 private:
  static algorithm::select<detail::element_choice> choice(const argument_view& array, bool truth,
                                                          scratch_arena& arena) {
    const int count = array.rows * array.columns;
    int* const numbers = arena.take<int>(count);
    return {{array, truth}, numbers, arena.take<int>(1), count};
  }
};

}}}  // namespace lamina::engine::cuda
