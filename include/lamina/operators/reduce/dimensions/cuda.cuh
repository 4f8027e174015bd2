// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/dimensions/cuda.cuh - the kernels of mean, the mean of all elements, and
// reduce_*: sums, means, products, maxima and minima along dimensions. A team of threads computes
// each result. The order of the terms is fixed, so that the result is the same in each run.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <type_traits>

#include <lamina/core/numbers/whole_sum.hpp>
#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/engine/cuda/body/element_sum.cuh>
#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/operators/reduce/dimensions/common.hpp>
#include <lamina/operators/reduce/dimensions/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Computes Out = the sum of F(x) over all elements x of X, in double; with Mean, the sum divided
/// by the number of elements.
template <class F, bool Mean>
struct all_reduce_kernel {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0);
    require_float(c, x);
    const int n = x.rows * x.columns;
    const scaled_sum to{c.output(0).row<float>(0), Mean && n > 0 ? 1.0 / n : 1.0};
    sum_terms(b, n, element_terms<F>{x.row<const float>(0), x.stride, divider(x.columns)}, to,
              c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand x = c.input(0);
    return sum_scratch<element_terms<F>, scaled_sum, Backend>(x.rows * x.columns);
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::mean> : detail::all_reduce_kernel<element_itself, true> {};

namespace detail {

/// Combines two numbers into one: their sum, product, maximum or minimum.
template <reduction_kind Kind>
struct reducer {
  template <class T>
  LAMINA_INLINE LAMINA_FN T operator()(T a, T b) const {
    if constexpr (Kind == reduction_kind::all)
      return static_cast<T>(a != 0 && b != 0);
    else if constexpr (Kind == reduction_kind::any)
      return static_cast<T>(a != 0 || b != 0);
    else
      return reduced<Kind>(a, b);
  }
};

struct reduce_arguments {
  argument_view from, to;
  element_loops<2> kept;  // loops over X and Out
  element_loops<1> over;  // loops over X
  int lines, width, count;
};

/// Reduces elements of type T: float, whose sums are computed in double, or an integer type.
template <reduction_kind Kind, class T>
struct reduce_lines {
  using arguments = reduce_arguments;
  static constexpr bool adds = Kind == reduction_kind::sum || Kind == reduction_kind::mean;
  using wide = std::conditional_t<adds&& __is_same(T, float), double, T>;
  static constexpr wide first = Kind == reduction_kind::all ? wide(1) : identity_of<Kind, wide>();

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const auto at = a.kept.at(i);
    if constexpr (Kind == reduction_kind::mean && !__is_same(T, float)) {
      whole_sum all;
      for (int k = team.rank(); k < a.over.count; k += team.size())
        all.add(element(a, at.of[0] + a.over.at(k).of[0]));
      all.high = team.reduce(all.high, reducer<reduction_kind::sum>{});
      all.low = team.reduce(all.low, reducer<reduction_kind::sum>{});
      if (team.rank() == 0) store_integer(a.to.data, a.to.type, at.of[1], all.mean(a.over.count));
      return;
    }
    wide so_far = first;
    for (int k = team.rank(); k < a.over.count; k += team.size())
      so_far =
          reducer<Kind>{}(so_far, static_cast<wide>(element(a, at.of[0] + a.over.at(k).of[0])));
    so_far = team.reduce(so_far, reducer<Kind>{});
    if (team.rank() != 0) return;
    if constexpr (Kind == reduction_kind::mean)
      if (a.over.count > 0) so_far = static_cast<wide>(so_far / static_cast<wide>(a.over.count));
    // If there are no elements to reduce, as in a batch without rows, a maximum or minimum does not
    // exist; the result is 0.
    if constexpr (Kind == reduction_kind::max || Kind == reduction_kind::min)
      if (a.over.count == 0) so_far = wide(0);
    if constexpr (__is_same(T, float))
      static_cast<float*>(a.to.data)[at.of[1]] = static_cast<float>(so_far);
    else
      store_integer(a.to.data, a.to.type, at.of[1], so_far);
  }

 private:
  static LAMINA_INLINE LAMINA_FN T element(const arguments& a, std::ptrdiff_t at) {
    if constexpr (__is_same(T, float))
      return static_cast<const float*>(a.from.data)[at];
    else
      return load_integer(a.from.data, a.from.type, at);
  }
};

/// Reduces `from` to `to`. The loops `kept` run over the elements of `to`; the loops `over` run
/// over the elements of `from` that are reduced to one element of `to`. Array 0 of both loops is
/// `from`, array 1 of `kept` is `to`.
template <reduction_kind Kind, class Backend>
void reduce(Backend& b, const operator_call& c, const operand& from, const operand& to,
            const loop_nest<2>& kept, const loop_nest<2>& over) {
  reduce_arguments a{view_of_operand(from),
                     view_of_operand(to),
                     element_loops<2>(c, kept),
                     element_loops<1>(c, over),
                     0,
                     0,
                     0};
  const bool side_by_side = over.inner_step(0) != 1 && kept.inner_step(0) == 1;
  if (from.type == dtype::float32)
    run_lines<reduce_lines<Kind, float>>(b, a, a.kept.count, a.over.count, side_by_side);
  else if (!is_floating(from.type))
    run_lines<reduce_lines<Kind, std::int64_t>>(b, a, a.kept.count, a.over.count, side_by_side);
  else
    fail(c, {"expected elements of float32 or whole numbers, found ", name_of(from.type)});
}

template <reduction_kind Kind>
struct reduce_kernel {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand in = c.input(0), out = c.output(0);
    const reduced_layout l(c, in, out);
    loop_nest<2> kept, over;
    for (int d = 0; d < l.x.rank; ++d)
      (l.is_reduced[d] ? over : kept).add(l.x.extent[d], l.x.step[d], l.out[d]);
    reduce<Kind>(b, c, in, out, kept, over);
  }
};

struct reduce_grad_body {
  struct arguments {
    const float* grad;
    float* to;
    element_loops<4> loops;  // dX, dOut; for extremes X, Out
    float factor;
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const auto at = a.loops.at(i);
    a.to[at.of[0]] = a.grad[at.of[1]] * a.factor;
  }
};

/// Computes dX of sums and means. Each element gets the gradient of the result to which it
/// contributes, for a mean divided by the number of elements of this result.
template <reduction_kind Kind>
struct reduce_gradient_kernel {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const reduce_gradient_layout<Kind> l(c);
    if (!l.dx) return;
    const element_loops<4> loops(c, l.loops);
    b.template elements<reduce_grad_body>({l.grad.template row<const float>(0),
                                           l.dx.template row<float>(0), loops, l.factor,
                                           loops.count});
  }
};

/// Computes dX of maxima and minima. The gradient of a result goes to the first element that equals
/// the result; other elements get 0.
struct extreme_grad_lines {
  struct arguments {
    const float *x, *out, *grad;
    float* to;
    element_loops<4> kept;  // loops over X, dX, gradient of Out, Out
    element_loops<2> over;  // loops over X, dX
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const auto first = a.kept.at(i);
    const float best = a.out[first.of[3]], d = a.grad[first.of[2]];
    int found = a.over.count;
    for (int k = team.rank(); k < a.over.count && found == a.over.count; k += team.size())
      if (math::is_same(a.x[first.of[0] + a.over.at(k).of[0]], best)) found = k;
    found = smallest_of(team, found);
    for (int k = team.rank(); k < a.over.count; k += team.size())
      a.to[first.of[1] + a.over.at(k).of[1]] = k == found ? d : 0.0f;
  }
};
struct extreme_gradient_kernel {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand in = c.input(0), out = c.input(1), grad = c.input(2), dx = c.output(0);
    if (!dx) return;
    require_float(c, dx);
    const array_layout g = layout_of(dx);
    const reduced_layout l(c, in, grad), y(c, in, out);
    loop_nest<4> kept;
    for (int d = 0; d < l.x.rank; ++d)
      if (!l.is_reduced[d]) kept.add(l.x.extent[d], l.x.step[d], g.step[d], l.out[d], y.out[d]);
    const loop_nest<2> over = l.over(g);
    extreme_grad_lines::arguments a{in.row<const float>(0),
                                    out.row<const float>(0),
                                    grad.row<const float>(0),
                                    dx.row<float>(0),
                                    element_loops<4>(c, kept),
                                    element_loops<2>(c, over),
                                    0,
                                    0,
                                    0};
    run_lines<extreme_grad_lines>(b, a, a.kept.count, a.over.count,
                                  over.inner_step(0) != 1 && kept.inner_step(0) == 1);
  }
};

/// Computes dX of products: the gradient of Out times the product of the other factors. For each
/// result, counts the factors that are 0 and multiplies the factors that are not 0. Without a
/// factor 0, the product of the other factors is the whole product divided by the factor. With one
/// factor 0, only this factor has a gradient; with several, no factor has one. If the product of
/// the factors that are not 0 overflows, or if it underflows and no factor is 0, the quotient would
/// be wrong, so the other factors are multiplied separately for each element.
struct product_grad_lines {
  struct arguments {
    const float *x, *grad;
    float* to;
    element_loops<3> kept;  // loops over X, dX, gradient of Out
    element_loops<2> over;  // loops over X, dX
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const auto first = a.kept.at(i);
    float product = 1;
    int zeros = 0;
    for (int k = team.rank(); k < a.over.count; k += team.size()) {
      const float v = a.x[first.of[0] + a.over.at(k).of[0]];
      zeros += v == 0 ? 1 : 0;
      product *= v == 0 ? 1.0f : v;
    }
    product = team.reduce(product, reducer<reduction_kind::product>{});
    zeros = sum_of(team, zeros);
    const float d = a.grad[first.of[2]], size = math::abs(product);
    // The limits are the largest float and the smallest normal float. If `product` is NaN, both
    // comparisons are false.
    const bool divides = size <= 0x1.fffffep127f && (zeros != 0 || size >= 0x1p-126f);
    for (int k = team.rank(); k < a.over.count; k += team.size()) {
      const auto at = a.over.at(k);
      if (!divides) {
        a.to[first.of[1] + at.of[1]] = product_but(d, a, first.of[0], k);
        continue;
      }
      const float v = a.x[first.of[0] + at.of[0]];
      const float others = zeros == 0 ? product / v : zeros == 1 && v == 0 ? product : 0.0f;
      a.to[first.of[1] + at.of[1]] = d * others;
    }
  }

 private:
  /// Returns `product`, the gradient, times all factors except factor `own`.
  static LAMINA_INLINE LAMINA_FN float product_but(float product, const arguments& a,
                                                   std::ptrdiff_t first, int own) {
    LAMINA_CUDA_KEEP_LOOP
    for (int k = 0; k < a.over.count; ++k)
      if (k != own) product *= a.x[first + a.over.at(k).of[0]];
    return product;
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
struct call_kernel<operators::reduce_all> : detail::reduce_kernel<reduction_kind::all> {};
template <>
struct call_kernel<operators::reduce_any> : detail::reduce_kernel<reduction_kind::any> {};
template <>
struct call_kernel<gradient_of<operators::reduce_sum>>
    : detail::reduce_gradient_kernel<reduction_kind::sum> {};
template <>
struct call_kernel<gradient_of<operators::reduce_mean>>
    : detail::reduce_gradient_kernel<reduction_kind::mean> {};
template <>
struct call_kernel<gradient_of<operators::reduce_max>> : detail::extreme_gradient_kernel {};
template <>
struct call_kernel<gradient_of<operators::reduce_min>> : detail::extreme_gradient_kernel {};
template <>
struct call_kernel<gradient_of<operators::reduce_prod>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand in = c.input(0), grad = c.input(2), dx = c.output(0);
    if (!dx) return;
    require_float(c, dx);
    const reduced_layout l(c, in, grad);
    const array_layout g = layout_of(dx);
    const loop_nest<3> kept = l.kept(g);
    const loop_nest<2> over = l.over(g);
    detail::product_grad_lines::arguments a{in.row<const float>(0),
                                            grad.row<const float>(0),
                                            dx.row<float>(0),
                                            element_loops<3>(c, kept),
                                            element_loops<2>(c, over),
                                            0,
                                            0,
                                            0};
    run_lines<detail::product_grad_lines>(b, a, a.kept.count, a.over.count,
                                          over.inner_step(0) != 1 && kept.inner_step(0) == 1);
  }
};

}}}  // namespace lamina::engine::cuda
