// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/dimensions/cpu.hpp - the kernels of mean, the mean of all elements, and
// reduce_*: sums, means, products, maxima and minima along dimensions.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include <lamina/core/numbers/whole_sum.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/engine/cpu/vector/long_sums.hpp>
#include <lamina/operators/fill/cpu.hpp>
#include <lamina/operators/reduce/dimensions/common.hpp>
#include <lamina/operators/reduce/dimensions/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Computes the mean of all elements. The sum over a large array is divided into parts, which
/// threads compute. The number of parts does not depend on the number of threads, so that the
/// result does not depend on it either.
template <>
struct call_kernel<operators::mean> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);

 private:
  /// Returns the mean of integers, rounded towards 0.
  static std::int64_t whole_mean(const operand& x) {
    whole_sum all;
    for (int r = 0; r < x.rows; ++r)
      for (int j = 0; j < x.columns; ++j) all.add(integer_in(x, r, j));
    return all.mean(static_cast<std::int64_t>(x.rows) * x.columns);
  }
  /// Returns the sum of the elements [first, end), counted row by row.
  static double sum(const operand& x, std::int64_t first, std::int64_t end) {
    double total = 0;
    while (first < end) {
      const std::int64_t r = first / x.columns, j = first % x.columns;
      const std::int64_t n = std::min<std::int64_t>(x.columns - j, end - first);
      if (x.type == dtype::float32)
        total += detail::double_sum(x.row<const float>(static_cast<int>(r)) + j, n);
      else
        total += row_sum(x.row<const double>(static_cast<int>(r)) + j, n);
      first += n;
    }
    return total;
  }
};

/// Computes the gradient of mean for element types other than the program's real type. For the real
/// type, a fused group computes it.
template <>
struct call_kernel<gradient_of<operators::mean>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::mean>::run(const call_context& c) {
  const operand x = c.input(0), out = c.output(0);
  const std::int64_t count = static_cast<std::int64_t>(x.rows) * x.columns;
  const int parts = count < 1 << 14 ? 1 : shared_sums::parts;
  double own[shared_sums::parts];
  if (!is_floating(x.type) && c.run().sums.first < c.run().sums.end) return;  // floats only
  if (!is_floating(x.type)) return store_as(out.data, out.type, 0, whole_mean(x));
  const shared_sums s = c.run().sums.of != nullptr ? c.run().sums : shared_sums{own, 0, parts};
  for (int p = s.first; p < s.end && p < parts; ++p)
    s.of[p] = sum(x, count * p / parts, count * (p + 1) / parts);
  if (s.of != own && s.first < s.end) return;
  double all = 0;
  for (int p = 0; p < parts; ++p) all += s.of[p];
  store_as(out.data, out.type, 0, count > 0 ? all / static_cast<double>(count) : 0.0);
}
LAMINA_INSTANCE(void call_kernel<operators::mean>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::mean>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::mean>>::run(const call_context& c) {
  const operand grad = c.input(0), dx = c.output(0);
  if (!dx) return;
  const double count = static_cast<double>(dx.rows) * dx.columns;
  detail::fill(dx, load_as<double>(grad.data, grad.type, 0) / count);
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::mean>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::mean>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

namespace detail {

template <class T>
inline constexpr bool is_real = std::is_same_v<T, float> || std::is_same_v<T, double>;

/// Returns the largest or smallest number among `best` and the n contiguous elements at x.
template <reduction_kind Kind, class T>
LAMINA_NOINLINE inline T row_extreme(T best, const T* x, std::ptrdiff_t n) {
  using vector = vector_in<T>;
  constexpr int lanes = lanes_in<T>;
  std::ptrdiff_t j = 0;
  if (n >= lanes) {
    vector all = vector::load_unaligned(x);
    for (j = lanes; j + lanes <= n; j += lanes)
      all = reduced<Kind>(all, vector::load_unaligned(x + j));
    alignas(64) T part[bound(lanes)];
    all.store_aligned(part);
    for (const T p : part) best = reduced<Kind>(best, p);
  }
  for (; j < n; ++j) best = reduced<Kind>(best, x[j]);
  return best;
}

template <reduction_kind Kind>
struct reduce_kernel {
  template <class Real = float>
  static void run(const call_context& c) {
    const operand in = c.input(0), out = c.output(0);
    const reduced_layout l(c, in, out);
    with_type(in.type, [&]<class T>(T) {
      if constexpr (is_real<T> && adds)
        sums<T>(l, in, out);
      else if constexpr (Kind == reduction_kind::mean && !std::is_same_v<T, bool>)
        whole_means<T>(l, in, out);
      else
        one_by_one<T>(l, in, out);
    });
    // If there are no elements to reduce, as in a batch without rows, a maximum or minimum does not
    // exist; the result is 0.
    if (l.count == 0 && is_extreme) clear(out);
  }

 private:
  static constexpr bool adds = Kind == reduction_kind::sum || Kind == reduction_kind::mean;
  static constexpr bool is_extreme = Kind == reduction_kind::max || Kind == reduction_kind::min;

  /// Computes sums of floating-point numbers, in double.
  template <class T>
  static void sums(const reduced_layout& l, const operand& in, const operand& out) {
    const loop_nest<3> kept = l.kept(l.x);
    const loop_nest<2> over = l.over(l.x);
    const std::ptrdiff_t step = kept.inner_step(2);
    const double count = static_cast<double>(l.count);
    T* const to = out.row<T>(0);
    sum_over(kept, over, in.row<const T>(0),
             [&](const std::ptrdiff_t* at, std::ptrdiff_t k, double sum) {
               if constexpr (Kind == reduction_kind::mean)
                 if (l.count > 0) sum /= count;
               to[at[2] + k * step] = static_cast<T>(sum);
             });
  }
  /// Computes means of integers, rounded towards 0.
  template <class T>
  static void whole_means(const reduced_layout& l, const operand& in, const operand& out) {
    const loop_nest<3> kept = l.kept(l.x);
    const loop_nest<2> over = l.over(l.x);
    const T* const from = in.row<const T>(0);
    T* const to = out.row<T>(0);
    kept.run([&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
      for (std::ptrdiff_t k = 0; k < n; ++k) {
        whole_sum all;
        over.run([&](const std::ptrdiff_t* next, std::ptrdiff_t m) {
          const T* const x = from + at[0] + k * kept.inner_step(0) + next[0];
          for (std::ptrdiff_t i = 0; i < m; ++i) all.add(x[i * over.inner_step(0)]);
        });
        to[at[2] + k * kept.inner_step(2)] = static_cast<T>(all.mean(l.count));
      }
    });
  }
  template <class T>
  static void one_by_one(const reduced_layout& l, const operand& in, const operand& out) {
    for (int r = 0; r < out.rows; ++r)
      for (int j = 0; j < out.columns; ++j) out.row<T>(r)[j] = identity_of<Kind, T>();
    const T* from = in.row<const T>(0);
    T* to = out.row<T>(0);
    const loop_nest<2> loops = l.all();
    const std::ptrdiff_t s = loops.inner_step(0), t = loops.inner_step(1);
    loops.run([&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
      const T* x = from + at[0];
      T* y = to + at[1];
      if constexpr (is_real<T> && is_extreme)
        if (s == 1 && t <= 1) {
          if (t == 0)
            *y = row_extreme<Kind>(*y, x, n);
          else
            for_each_position<T>(n, [=](std::ptrdiff_t j, auto like) {
              store(y + j, decltype(like)(reduced<Kind>(load(y + j, like), load(x + j, like))));
            });
          return;
        }
      if (t == 0) {
        T so_far = *y;
        for (std::ptrdiff_t i = 0; i < n; ++i) so_far = reduced<Kind>(so_far, x[i * s]);
        *y = so_far;
      } else {
        for (std::ptrdiff_t i = 0; i < n; ++i) y[i * t] = reduced<Kind>(y[i * t], x[i * s]);
      }
    });
  }
};

template <bool All>
struct reduce_truth_kernel {
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

/// Computes dX of sums and means. Each element gets the gradient of the result to which it
/// contributes, for a mean divided by the number of elements of this result.
template <reduction_kind Kind>
struct reduce_gradient_kernel {
  template <class Real = float>
  static void run(const call_context& c) {
    const reduce_gradient_layout<Kind, Real> l(c);
    if (!l.dx) return;
    const loop_nest<4>& loops = l.loops;
    const Real factor = l.factor;
    const std::ptrdiff_t gs = loops.inner_step(0), ds = loops.inner_step(1);
    loops.run([&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
      Real* to = l.dx.template row<Real>(0) + at[0];
      const Real* from = l.grad.template row<const Real>(0) + at[1];
      for (std::ptrdiff_t i = 0; i < n; ++i) to[i * gs] = from[i * ds] * factor;
    });
  }
};

/// Computes dX of maxima and minima. The gradient of a result goes to the first element that equals
/// the result; other elements get 0.
template <reduction_kind Kind>
struct extreme_gradient_kernel {
  template <class Real = float>
  static void run(const call_context& c) {
    const operand in = c.input(0), out = c.input(1), grad = c.input(2), dx = c.output(0);
    if (!dx) return;
    require_real<Real>(c, dx);
    clear(dx);
    const array_layout g = layout_of(dx);
    const reduced_layout l(c, in, grad), y(c, in, out);
    loop_nest<4> kept;  // strides: X, dX, gradient of Out, Out
    for (int d = 0; d < l.x.rank; ++d)
      if (!l.is_reduced[d]) kept.add(l.x.extent[d], l.x.step[d], g.step[d], l.out[d], y.out[d]);
    const loop_nest<2> over = l.over(g);
    const std::ptrdiff_t xs = over.inner_step(0), gs = over.inner_step(1);
    kept.run([&](const std::ptrdiff_t* first, std::ptrdiff_t n) {
      for (std::ptrdiff_t k = 0; k < n; ++k) {
        const Real* const x = in.row<const Real>(0) + first[0] + k * kept.inner_step(0);
        Real* const to = dx.row<Real>(0) + first[1] + k * kept.inner_step(1);
        const Real d = grad.row<const Real>(0)[first[2] + k * kept.inner_step(2)];
        const Real best = out.row<const Real>(0)[first[3] + k * kept.inner_step(3)];
        bool found = false;
        over.run([&](const std::ptrdiff_t* at, std::ptrdiff_t m) {
          for (std::ptrdiff_t i = 0; i < m && !found; ++i) {
            if (!math::is_same(x[at[0] + i * xs], best)) continue;
            to[at[1] + i * gs] = d;
            found = true;
          }
        });
      }
    });
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::reduce_sum> : detail::reduce_kernel<reduction_kind::sum> {};
template <>
struct call_kernel<operators::reduce_mean> : detail::reduce_kernel<reduction_kind::mean> {};
template <>
struct call_kernel<operators::reduce_max> : detail::reduce_kernel<reduction_kind::max> {};
template <>
struct call_kernel<operators::reduce_min> : detail::reduce_kernel<reduction_kind::min> {};
template <>
struct call_kernel<operators::reduce_prod> : detail::reduce_kernel<reduction_kind::product> {};
template <>
struct call_kernel<operators::reduce_all> : detail::reduce_truth_kernel<true> {};
template <>
struct call_kernel<operators::reduce_any> : detail::reduce_truth_kernel<false> {};
template <>
struct call_kernel<gradient_of<operators::reduce_sum>>
    : detail::reduce_gradient_kernel<reduction_kind::sum> {};
template <>
struct call_kernel<gradient_of<operators::reduce_mean>>
    : detail::reduce_gradient_kernel<reduction_kind::mean> {};
template <>
struct call_kernel<gradient_of<operators::reduce_max>>
    : detail::extreme_gradient_kernel<reduction_kind::max> {};
template <>
struct call_kernel<gradient_of<operators::reduce_min>>
    : detail::extreme_gradient_kernel<reduction_kind::min> {};

/// Computes dX of a product: the gradient of the result times the product of all other factors.
/// This product is Out / x, unless a factor is 0 or the product overflows or underflows. In these
/// cases the kernel multiplies the other factors separately for each element.
template <>
struct call_kernel<gradient_of<operators::reduce_prod>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);

 private:
  /// Returns `product`, the gradient, times all factors except the factor at `own`.
  template <class Real>
  LAMINA_COLD static Real product_but(Real product, const Real* x, std::ptrdiff_t own,
                                      const loop_nest<2>& over) {
    over.run([&](const std::ptrdiff_t* at, std::ptrdiff_t m) {
      for (std::ptrdiff_t i = 0; i < m; ++i)
        if (const std::ptrdiff_t position = at[0] + i * over.inner_step(0); position != own)
          product *= x[position];
    });
    return product;
  }
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<gradient_of<operators::reduce_prod>>::run(const call_context& c) {
  const operand in = c.input(0), grad = c.input(2), dx = c.output(0);
  if (!dx) return;
  require_real<Real>(c, dx);
  const reduced_layout l(c, in, grad);
  const array_layout g = layout_of(dx);
  const loop_nest<3> kept = l.kept(g);
  const loop_nest<2> over = l.over(g);
  kept.run([&](const std::ptrdiff_t* first, std::ptrdiff_t n) {
    for (std::ptrdiff_t k = 0; k < n; ++k) {
      const Real* x = in.row<const Real>(0) + first[0] + k * kept.inner_step(0);
      Real* to = dx.row<Real>(0) + first[1] + k * kept.inner_step(1);
      const Real d = grad.row<const Real>(0)[first[2] + k * kept.inner_step(2)];
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
      const bool divides = zeros == 0 ? std::isnormal(product) : std::isfinite(product);
      over.run([&](const std::ptrdiff_t* at, std::ptrdiff_t m) {
        for (std::ptrdiff_t i = 0; i < m; ++i) {
          const std::ptrdiff_t own = at[0] + i * over.inner_step(0);
          const Real v = x[own];
          if (!divides) {
            to[at[1] + i * over.inner_step(1)] = product_but(d, x, own, over);
            continue;
          }
          const Real others = zeros == 0 ? product / v : zeros == 1 && v == 0 ? product : Real(0);
          to[at[1] + i * over.inner_step(1)] = d * others;
        }
      });
    }
  });
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::reduce_prod>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::reduce_prod>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
