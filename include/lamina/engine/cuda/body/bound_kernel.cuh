// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/bound_kernel.cuh - launches kernels whose members say what they hold
// (engine/common/bound_call.hpp), and the kernels that all engines share.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/common/shared_kernel.hpp>
#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/engine/cuda/schedule/call_context.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The base of a kernel of this engine.
using kernel_call = bound_call<call_context>;

namespace detail {

/// An array of floats that is accessed by row.
using row_array = real_rows<float>;

template <class Kernel>
struct bound_elements {
  using arguments = Kernel;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& kernel, int i) { kernel.run(i); }
};
template <class Kernel>
struct bound_lines {
  struct arguments {
    Kernel kernel;
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    a.kernel.line(i, team);
  }
};
template <class Kernel>
struct shared_items {
  struct arguments {
    Kernel kernel;
    double* scratch;
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    if constexpr (requires { a.kernel.scratch; })
      a.kernel.run(i, a.scratch + static_cast<std::ptrdiff_t>(i) * a.kernel.scratch);
    else
      a.kernel.run(i);
  }
};

}  // namespace detail

/// Launches a kernel with the operands of a call, one thread per element: `int count` is the number
/// of elements, run(i) computes element i.
template <class Kernel, class Backend>
void launch_elements(Backend& b, const call_context& c) {
  if (has_output(c)) b.template elements<detail::bound_elements<Kernel>>(bind_call<Kernel>(c));
}
/// Launches a kernel that computes lines, with one thread or one team per line (run_lines). It has
/// `int lines`, the number of lines, `int width`, the number of elements per line, and
///   template <class Team>
///   LAMINA_FN void line(int i, const Team& team) const;
/// A kernel whose neighbouring lines are adjacent in memory, but the elements of a line are not,
/// says so in `bool side_by_side`.
template <class Kernel, class Backend>
void launch_lines(Backend& b, const call_context& c) {
  if (!has_output(c)) return;
  typename detail::bound_lines<Kernel>::arguments a{bind_call<Kernel>(c), 0, 0, 0};
  bool side_by_side = false;
  if constexpr (requires { a.kernel.side_by_side; }) side_by_side = a.kernel.side_by_side;
  if (a.kernel.lines > 0)
    run_lines<detail::bound_lines<Kernel>>(b, a, a.kernel.lines, a.kernel.width, side_by_side);
}

/// call_kernel<Op> derives from one of these if a single kernel computes the operator.
template <class Kernel>
struct elements_call {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    require_float(c, c.input(0));
    launch_elements<Kernel>(b, c);
  }
};
template <class Kernel>
struct lines_call {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    require_float(c, c.input(0));
    launch_lines<Kernel>(b, c);
  }
};

template <class Op>
requires has_shared_kernel<Op>
struct call_kernel<Op> {
  using kernel = shared_kernel<Op, float>;
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    require_float(c, c.input(0));
    if (!has_output(c)) return;
    const auto k = bind_call<kernel>(static_cast<const operator_call&>(c));
    b.template elements<detail::shared_items<kernel>>(
        {k, reinterpret_cast<double*>(c.run.scratch), k.count});
  }
  template <class Backend>
  requires requires(const kernel& k) { k.scratch; }
  static std::ptrdiff_t scratch(const call_context& c) {
    const auto k = bind_call<kernel>(static_cast<const operator_call&>(c));
    return in_floats<double>(static_cast<std::ptrdiff_t>(k.scratch) * k.count);
  }
};

}}}  // namespace lamina::engine::cuda
