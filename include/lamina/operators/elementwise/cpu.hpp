// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/cpu.hpp - kernels of pointwise operators that cannot be part of a
// fused group, because they have element types other than the group or a broadcast along an inner
// axis.
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>
#include <utility>

#include <lamina/core/numbers/number_cast.hpp>
#include <lamina/engine/cpu/vector/element_loops.hpp>
#include <lamina/operators/elementwise/common.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

template <class Op, int K, class Real = float>
struct pointwise_output {
  using vector = vector_in<Real>;
  static constexpr int lanes = lanes_in<Real>;
  static constexpr int inputs = static_cast<int>(Op::inputs.size());
  static constexpr int scalars = scalars_of<Op>;
  template <class T, std::size_t... Index, std::size_t... S>
  static LAMINA_INLINE auto value_of(const T* x, const T* s, std::index_sequence<Index...>,
                                     std::index_sequence<S...>) {
    return pointwise_value<Op, K>(x[Index]..., s[S]...);
  }
  using input_index = std::make_index_sequence<static_cast<std::size_t>(inputs)>;
  using scalar_index = std::make_index_sequence<static_cast<std::size_t>(scalars)>;

  /// Computes the operator if all operands are single integers or truth values, as counters and
  /// conditions of loops are. Otherwise does nothing and returns false, and the caller runs the
  /// general kernel.
  static LAMINA_INLINE bool run_one(const call_context& c) {
    std::int64_t x[bound(inputs)], scalar[bound(scalars)];
    for (int i = 0; i < inputs; ++i)
      if (!load_one(c, i, x[i])) return false;
    for (int i = 0; i < scalars; ++i) {
      const double value = c.number(i);
      scalar[i] = number_cast<std::int64_t>(value);
      if (static_cast<double>(scalar[i]) != value) return false;
    }
    if (is_division<Op> && x[inputs - 1] == 0) return false;
    const auto value = static_cast<std::int64_t>(value_of(static_cast<const std::int64_t*>(x),
                                                          static_cast<const std::int64_t*>(scalar),
                                                          input_index{}, scalar_index{}));
    const argument_info& out = c.info(inputs + K);
    void* const to = c.address(inputs + K);
    if (out.rows != 1 || out.columns != 1 || to == nullptr) return false;
    if (out.type == dtype::int64)
      *static_cast<std::int64_t*>(to) = value;
    else if (out.type == dtype::boolean)
      *static_cast<bool*>(to) = value != 0;
    else
      return false;
    return true;
  }
  static LAMINA_INLINE bool load_one(const call_context& c, int i, std::int64_t& x) {
    const argument_info& in = c.info(i);
    const void* const from = c.address(i);
    if (in.rows != 1 || in.columns != 1 || from == nullptr) return false;
    if (in.type == dtype::int64)
      x = *static_cast<const std::int64_t*>(from);
    else if (in.type == dtype::boolean)
      x = *static_cast<const bool*>(from) ? 1 : 0;
    else
      return false;
    return true;
  }

  static LAMINA_INLINE void run(const call_context& c) {
    if constexpr (is_exact<Op>)
      if (run_one(c)) return;
    run_all(c);
  }
  static LAMINA_NOINLINE void run_all(const call_context& c) {
    static_assert(inputs <= pointwise_form::most_inputs && scalars <= pointwise_form::most_scalars);
    static constexpr basic_pointwise_form<Real> form = {
        inputs,          scalars,          K,
        has_axis<Op>(),  is_division<Op>,  std::is_same_v<Op, operators::cast>,
        &element<float>, &element<double>, exactly(),
        in_lines()};
    run_elements(c, form);
  }

  template <class T>
  static T element(const T* x, const T* scalar) {
    return static_cast<T>(value_of(x, scalar, input_index{}, scalar_index{}));
  }
  static constexpr auto exactly() {
    if constexpr (is_exact<Op>)
      return &element<std::int64_t>;
    else
      return nullptr;
  }
  static constexpr auto in_lines() {
    using result =
        decltype(value_of(static_cast<const vector*>(nullptr), static_cast<const vector*>(nullptr),
                          input_index{}, scalar_index{}));
    if constexpr (std::is_same_v<result, vector>)
      return &line;
    else
      return nullptr;
  }
  static void line(std::ptrdiff_t n, const Real* const* from, const bool* moves, const Real* scalar,
                   Real* to) {
    vector scalar_vector[bound(scalars)];
    for (int s = 0; s < scalars; ++s) scalar_vector[s] = vector(scalar[s]);
    std::ptrdiff_t j = 0;
    for (; j + lanes <= n; j += lanes) {
      vector x[bound(inputs)];
      for (int i = 0; i < inputs; ++i)
        x[i] = moves[i] ? vector::load_unaligned(from[i] + j) : vector(*from[i]);
      value_of(static_cast<const vector*>(x), static_cast<const vector*>(scalar_vector),
               input_index{}, scalar_index{})
          .store_unaligned(to + j);
    }
    for (; j < n; ++j) {
      Real x[bound(inputs)];
      for (int i = 0; i < inputs; ++i) x[i] = from[i][moves[i] ? j : 0];
      to[j] = element<Real>(x, scalar);
    }
  }
};

}  // namespace detail

template <class Op>
requires(Op::kind == operator_kind::pointwise) struct call_kernel<Op> {
  template <class Real = float>
  static void run(const call_context& c) {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (detail::pointwise_output<Op, static_cast<int>(K), Real>::run(c), ...);
    }
    (std::make_index_sequence<Op::outputs.size()>{});
  }
};

/// Whether count() can compute an operator, provided that all operands are single integers or truth
/// values.
template <class Op>
concept counting_operator = Op::kind == operator_kind::pointwise&& is_exact<Op> && !is_division<Op>;

/// Computes an operator on single integers or truth values, such as the counters and conditions of
/// loops. This function exists apart from the general kernel so that such programs need not compile
/// the code for arrays.
template <counting_operator Op>
void count(const call_context& c) {
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    ((void)detail::pointwise_output<Op, static_cast<int>(K)>::run_one(c), ...);
  }
  (std::make_index_sequence<Op::outputs.size()>{});
}

}}}  // namespace lamina::engine::cpu
