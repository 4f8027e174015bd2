// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/cuda.cuh - kernels of pointwise operators that cannot be part of a
// fused group, because they have element types other than the group or a broadcast along an inner
// axis.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <utility>

#include <lamina/core/numbers/number_cast.hpp>
#include <lamina/engine/common/broadcast_layout.hpp>
#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/engine/cuda/body/team.cuh>
#include <lamina/operators/elementwise/common.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// The arguments of a pointwise kernel: the inputs and two loops. The loop `kept` runs over the
/// elements of the output; the loop `over` runs over the terms of one output element, which has
/// several terms if it is the gradient of a broadcast input.
template <int Inputs, int Scalars, class T>
struct pointwise_call_arguments {
  const void* in[bound(Inputs)];
  void* to;
  dtype in_type[bound(Inputs)], to_type;
  element_loops<Inputs + 1> kept;
  element_loops<Inputs> over;
  T scalar[bound(Scalars)];
  fault_word* fault;
  int group;
  int lines, width, count;
};

/// Computes output K of a pointwise operator. T is the type of the arithmetic.
template <class Op, int K, class T>
struct pointwise_call_lines {
  static constexpr int inputs = static_cast<int>(Op::inputs.size()), scalars = scalars_of<Op>;
  using arguments = pointwise_call_arguments<inputs, scalars, T>;

  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const auto at = a.kept.at(i);
    T sum = 0;
    if (is_division<Op> && __is_same(T, std::int64_t) &&
        element(a.in[inputs - 1], a.in_type[inputs - 1], at.of[inputs - 1]) == 0) {
      // An integer is divided by 0. The host reports this fault later.
      report_fault(a.fault, a.group, i);
    } else if (a.over.count == 1) {
      sum = value(a, at.of, input_index{}, scalar_index{});
    } else {
      for (int k = team.rank(); k < a.over.count; k += team.size()) {
        auto positions = a.over.at(k);
        LAMINA_CUDA_UNROLL
        for (int n = 0; n < inputs; ++n) positions.of[n] += at.of[n];
        sum += value(a, positions.of, input_index{}, scalar_index{});
      }
      sum = sum_of(team, sum);
    }
    if (team.rank() != 0) return;
    if constexpr (__is_same(T, float))
      static_cast<float*>(a.to)[at.of[inputs]] = sum;
    else if constexpr (__is_same(T, double))
      store_number(a.to, a.to_type, at.of[inputs], sum);
    else if constexpr (__is_same(Op, operators::cast))
      store_converted(a.to, a.to_type, at.of[inputs], sum);
    else
      store_integer(a.to, a.to_type, at.of[inputs], sum);
  }

 private:
  using input_index = std::make_index_sequence<static_cast<std::size_t>(inputs)>;
  using scalar_index = std::make_index_sequence<static_cast<std::size_t>(scalars)>;
  template <std::size_t... Index, std::size_t... S>
  static LAMINA_INLINE LAMINA_FN T value(const arguments& a, const std::ptrdiff_t* at,
                                         std::index_sequence<Index...>, std::index_sequence<S...>) {
    return static_cast<T>(pointwise_value<Op, K>(
        element(a.in[Index], a.in_type[Index], at[Index])..., a.scalar[S]...));
  }
  static LAMINA_INLINE LAMINA_FN T element(const void* data, dtype type, std::ptrdiff_t at) {
    if constexpr (__is_same(T, float))
      return static_cast<const float*>(data)[at];
    else if constexpr (__is_same(T, double))
      return load_number(data, type, at);
    else
      return load_integer(data, type, at);
  }
};

[[noreturn]] LAMINA_COLD inline void fail_division(const call_context& c, int i) {
  fail(c, {"expected divisors that are not 0, found 0 at element ", i});
}

template <class Op, int K>
struct pointwise_call {
  static constexpr int inputs = static_cast<int>(Op::inputs.size()), scalars = scalars_of<Op>;

  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    operand all[bound(inputs + 1)];
    all[inputs] = c.output(K);
    if (!all[inputs]) return;
    bool is_float = all[inputs].type == dtype::float32, is_integer = is_exact<Op>;
    for (int i = 0; i < inputs; ++i) {
      all[i] = c.input(i);
      is_float = is_float && all[i].type == dtype::float32;
      is_integer = is_integer && !is_floating(all[i].type);
    }
    for (int s = 0; s < scalars; ++s)
      is_integer = is_integer && std::floor(c.number(s)) == c.number(s);
    const broadcast_layout<inputs + 1> l(c, inputs + 1, all, has_axis<Op>() ? c.integer(0) : -1);
    if (is_float) return run<float>(b, c, l, all);
    if (l.is_summed) fail(c, {"expected gradients of float32 to be summed"});
    if constexpr (is_exact<Op>)
      if (is_integer) {
        // The serial backend runs kernels on the host, where they cannot report a fault; so the
        // divisor is checked here.
        if constexpr (is_division<Op> && __is_same(Backend, serial_backend))
          if (load_integer(all[inputs - 1].data, all[inputs - 1].type, 0) == 0) fail_division(c, 0);
        return run<std::int64_t>(b, c, l, all);
      }
    run<double>(b, c, l, all);
  }

 private:
  template <class T, class Backend>
  static void run(Backend& b, const call_context& c, const broadcast_layout<inputs + 1>& l,
                  const operand* all) {
    using kernel = pointwise_call_lines<Op, K, T>;
    typename kernel::arguments a{};
    for (int i = 0; i < inputs; ++i) a.in[i] = all[i].data, a.in_type[i] = all[i].type;
    a.to = all[inputs].data;
    a.to_type = all[inputs].type;
    for (int s = 0; s < scalars; ++s) a.scalar[s] = number_cast<T>(c.number(s));
    a.fault = c.run.fault;
    a.group = c.number_of_group;
    a.kept = element_loops<inputs + 1>(c, l.is_summed ? l.kept() : l.all());
    if constexpr (__is_same(T, float)) {
      if (l.is_summed) {
        const auto over = l.summed();
        a.over = element_loops<inputs>(c, over);
        return run_lines<kernel>(b, a, a.kept.count, a.over.count, over.inner_step(0) != 1);
      }
    }
    a.count = a.kept.count;
    b.template elements<thread_lines<kernel>>(a);
  }
};

}  // namespace detail

template <class Op>
requires(Op::kind == operator_kind::pointwise && !Op::inputs[0].duplicable) struct call_kernel<Op> {
  static constexpr bool launches = true;
  static constexpr checked_input checked{.tell = is_division<Op> ? detail::fail_division : nullptr};
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (detail::pointwise_call<Op, static_cast<int>(K)>::launch(b, c), ...);
    }
    (std::make_index_sequence<Op::outputs.size()>{});
  }
};

}}}  // namespace lamina::engine::cuda
