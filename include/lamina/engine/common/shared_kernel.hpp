// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/shared_kernel.hpp - a kernel that every engine runs, and the lines of arrays
// that it reads and writes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/common/array_layout.hpp>
#include <lamina/engine/common/bound_call.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The kernel of operator Op on every engine. The CPU engine runs it in float and double, one item
/// after the other; the CUDA engine runs it in float, with one thread per item. Write it for an
/// operator where no engine gains from a loop of its own, and specialise call_kernel of an engine
/// that does. A specialisation derives from bound_call<> and has
///   int count;  the number of items
///   LAMINA_FN void run(int item) const;  which writes other elements than all other items
/// or, if an item needs scratch memory,
///   int scratch;  the number of doubles per item
///   LAMINA_FN void run(int item, double* scratch) const;
/// Input 0 has the type of numbers Real.
template <class Op, class Real>
struct shared_kernel;

template <class Op>
concept has_shared_kernel = requires {
  sizeof(shared_kernel<Op, float>);
};

/// The elements of an array along one dimension.
template <class Real>
struct array_line {
  Real* first;
  std::ptrdiff_t step;
  int n;

  LAMINA_INLINE LAMINA_FN Real& operator[](int k) const { return first[k * step]; }
};

/// All lines of an array along one dimension: lines[i] is line i. Arrays of the same shape have the
/// same lines in the same order.
template <class Real>
struct array_lines {
  Real* data;
  line_layout layout;
  int count;

  /// `axis` counts from the last dimension if it is negative.
  array_lines(const operator_call& c, const operand& o, int axis)
      : array_lines(c, o, layout_of(o), axis) {}

  LAMINA_INLINE LAMINA_FN array_line<Real> operator[](int i) const {
    const int outer = i / layout.inner, row = outer / layout.outer;
    return {data + layout.at(row, outer - row * layout.outer) + (i - outer * layout.inner),
            layout.step, layout.n};
  }

 private:
  array_lines(const operator_call& c, const operand& o, const array_layout& whole, int axis)
      : data(o ? o.row<Real>(0) : nullptr),
        layout(whole, dimension_of(c, axis, whole.rank)),
        count(static_cast<int>(layout.lines())) {}
};

}}}  // namespace lamina::engine
