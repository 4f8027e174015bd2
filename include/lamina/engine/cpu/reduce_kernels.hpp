// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/reduce_kernels.hpp - sums and extremes along dimensions: reduce_*, cumsum.
#pragma once

#include <type_traits>

#include <lamina/engine/call/reduced_layout.hpp>
#include <lamina/engine/cpu/fill_kernels.hpp>
#include <lamina/engine/cpu/row_math.hpp>
#include <lamina/operators/reduce.hpp>

namespace lamina::engine::cpu {

namespace detail {

template <reduction_kind Kind>
struct reduce_kernel {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand in = c.input(0), out = c.output(0);
    const reduced_layout l(c, in, out);
    with_type(in.type, [&]<class T>(T) {
      for (int r = 0; r < out.rows; ++r)
        for (int j = 0; j < out.columns; ++j) out.row<T>(r)[j] = identity_of<Kind, T>();
      const T* from = in.row<const T>(0);
      T* to = out.row<T>(0);
      const loop_nest<2> loops = l.all();
      const std::ptrdiff_t s = loops.inner_step(0), t = loops.inner_step(1);
      loops.run([&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
        const T* x = from + at[0];
        T* y = to + at[1];
        constexpr bool adds = Kind == reduction_kind::sum || Kind == reduction_kind::mean;
        if constexpr (adds && (std::is_same_v<T, float> || std::is_same_v<T, double>))
          if (s == 1 && t == 0) {
            *y += row_sum(x, n);
            return;
          }
        if (t == 0) {
          T so_far = *y;
          for (std::ptrdiff_t i = 0; i < n; ++i) so_far = reduced<Kind>(so_far, x[i * s]);
          *y = so_far;
        } else if (t == 1 && s == 1) {
          for (std::ptrdiff_t i = 0; i < n; ++i) y[i] = reduced<Kind>(y[i], x[i]);
        } else {
          for (std::ptrdiff_t i = 0; i < n; ++i) y[i * t] = reduced<Kind>(y[i * t], x[i * s]);
        }
      });
      if constexpr (Kind == reduction_kind::mean && !std::is_same_v<T, bool>)
        for (int r = 0; l.count > 0 && r < out.rows; ++r)
          for (int j = 0; j < out.columns; ++j)
            out.row<T>(r)[j] = static_cast<T>(out.row<T>(r)[j] / static_cast<T>(l.count));
    });
    // Of nothing, as of no rows, there is no extreme.
    if (l.count == 0 && (Kind == reduction_kind::max || Kind == reduction_kind::min)) clear(out);
  }
};

template <bool All>
struct reduce_truth_kernel {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand in = c.input(0), out = c.output(0);
    const reduced_layout l(c, in, out);
    fill(out, All ? 1 : 0);
    const loop_nest<2> loops = l.all();
    with_type(in.type, [&]<class T>(T) {
      const T* from = in.row<const T>(0);
      bool* to = out.row<bool>(0);
      loops.run([&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
        for (std::ptrdiff_t i = 0; i < n; ++i)
          if ((from[at[0] + i * loops.inner_step(0)] != T(0)) != All)
            to[at[1] + i * loops.inner_step(1)] = !All;
      });
    });
  }
};

/// dX of sums, means and extremes: the slope of the element's result, or a part of it.
template <reduction_kind Kind>
struct reduce_gradient_kernel {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    using layout = reduce_gradient_layout<Kind, Real>;
    const layout l(c);
    if (!l.dx) return;
    const loop_nest<4>& loops = l.loops;
    const Real factor = l.factor;
    const std::ptrdiff_t gs = loops.inner_step(0), ds = loops.inner_step(1),
                         xs = loops.inner_step(2), ys = loops.inner_step(3);
    loops.run([&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
      Real* to = l.dx.template row<Real>(0) + at[0];
      const Real* from = l.slope.template row<const Real>(0) + at[1];
      if constexpr (layout::is_extreme) {
        const Real* x = l.in.template row<const Real>(0) + at[2];
        const Real* best = l.out.template row<const Real>(0) + at[3];
        for (std::ptrdiff_t i = 0; i < n; ++i)
          to[i * gs] = x[i * xs] == best[i * ys] ? from[i * ds] : Real(0);
      } else {
        (void)xs, (void)ys;
        for (std::ptrdiff_t i = 0; i < n; ++i) to[i * gs] = from[i * ds] * factor;
      }
    });
  }
};

}  // namespace detail

template <>
struct call_kernel<reduce_sum> : detail::reduce_kernel<reduction_kind::sum> {};
template <>
struct call_kernel<reduce_mean> : detail::reduce_kernel<reduction_kind::mean> {};
template <>
struct call_kernel<reduce_max> : detail::reduce_kernel<reduction_kind::max> {};
template <>
struct call_kernel<reduce_min> : detail::reduce_kernel<reduction_kind::min> {};
template <>
struct call_kernel<reduce_prod> : detail::reduce_kernel<reduction_kind::product> {};
template <>
struct call_kernel<reduce_all> : detail::reduce_truth_kernel<true> {};
template <>
struct call_kernel<reduce_any> : detail::reduce_truth_kernel<false> {};
template <>
struct call_kernel<gradient_of<reduce_sum>> : detail::reduce_gradient_kernel<reduction_kind::sum> {
};
template <>
struct call_kernel<gradient_of<reduce_mean>>
    : detail::reduce_gradient_kernel<reduction_kind::mean> {};
template <>
struct call_kernel<gradient_of<reduce_max>> : detail::reduce_gradient_kernel<reduction_kind::max> {
};
template <>
struct call_kernel<gradient_of<reduce_min>> : detail::reduce_gradient_kernel<reduction_kind::min> {
};

/// dX of a product: the slope times the product of all other factors, which is not Out / x where
/// factors are 0.
template <>
struct call_kernel<gradient_of<reduce_prod>> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand in = c.input(0), slope = c.input(2), dx = c.output(0);
    if (!dx) return;
    require_real<Real>(c, dx);
    const reduced_layout l(c, in, slope);
    const array_layout g = layout_of(dx);
    const loop_nest<3> kept = l.kept(g);
    const loop_nest<2> over = l.over(g);
    kept.run([&](const std::ptrdiff_t* first, std::ptrdiff_t n) {
      for (std::ptrdiff_t k = 0; k < n; ++k) {
        const Real* x = in.row<const Real>(0) + first[0] + k * kept.inner_step(0);
        Real* to = dx.row<Real>(0) + first[1] + k * kept.inner_step(1);
        const Real d = slope.row<const Real>(0)[first[2] + k * kept.inner_step(2)];
        Real product = 1;
        int zeros = 0;
        over.run([&](const std::ptrdiff_t* at, std::ptrdiff_t m) {
          for (std::ptrdiff_t i = 0; i < m; ++i) {
            const Real v = x[at[0] + i * over.inner_step(0)];
            if (v == 0)
              ++zeros;
            else
              product *= v;
          }
        });
        over.run([&](const std::ptrdiff_t* at, std::ptrdiff_t m) {
          for (std::ptrdiff_t i = 0; i < m; ++i) {
            const Real v = x[at[0] + i * over.inner_step(0)];
            const Real others = zeros == 0 ? product / v : zeros == 1 && v == 0 ? product : Real(0);
            to[at[1] + i * over.inner_step(1)] = d * others;
          }
        });
      }
    });
  }
};

template <>
struct call_kernel<cumsum> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand in = c.input(0), out = c.output(0);
    if (!out) return;
    const array_layout shape = layout_of(in);
    const int axis = dimension_of(c, c.integer(0), shape.rank);
    const bool exclusive = c.flag(1), reverse = c.flag(2);
    const line_layout from(shape, axis), to(layout_of(out), axis);
    with_type(in.type, [&]<class T>(T) {
      for (int r = 0; r < from.rows; ++r)
        for (int o = 0; o < from.outer; ++o)
          for (int i = 0; i < from.inner; ++i) {
            const T* x = in.row<const T>(0) + from.at(r, o) + i;
            T* y = out.row<T>(0) + to.at(r, o) + i;
            T sum = 0;
            for (int k = 0; k < from.n; ++k) {
              const int at = reverse ? from.n - 1 - k : k;
              const T next = static_cast<T>(sum + x[at * from.step]);
              y[at * to.step] = exclusive ? sum : next;
              sum = next;
            }
          }
    });
  }
};

}  // namespace lamina::engine::cpu
