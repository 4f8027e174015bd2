// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/static/static_recurrent_kernels.hpp - one step of an LSTM or a GRU of a size
// that the compiler knows.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cpu/static/static_kernels.hpp>
#include <lamina/operators/recurrent/definition.hpp>
#include <lamina/operators/recurrent/gru/definition.hpp>
#include <lamina/operators/recurrent/lstm_unit/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The last vector of a row may reach beyond the last element of the state; the results for the
/// extra lanes go to the padding of the row.
template <>
struct static_call_kernel<operators::lstm_unit> {
  template <class Group>
  static void run(float* memory) {
    constexpr argument_info gates = Group::arguments.of[0].info,
                            before = Group::arguments.of[1].info;
    constexpr argument_info cell = Group::arguments.of[2].info,
                            hidden = Group::arguments.of[3].info;
    constexpr int n = before.columns;
    using row_vector = detail::static_vector<n>;
    constexpr int width = lanes_of<row_vector>;
    const row_vector forget_bias(static_cast<float>(Group::number(0)));
    const float* const x = detail::address_in<Group, 0>(memory);
    const float* const c_before = detail::address_in<Group, 1>(memory);
    float* const c = detail::address_in<Group, 2>(memory);
    float* const h = detail::address_in<Group, 3>(memory);
    for (int r = 0; r < gates.rows; ++r)
      for (int j = 0; j < n; j += width) {
        const float* const g = x + r * gates.stride + j;
        const auto at = [](const float* p) { return row_vector::load_unaligned(p); };
        const row_vector now = operators::sigmoid::f(row_vector(at(g + n) + forget_bias)) *
                                   at(c_before + r * before.stride + j) +
                               operators::sigmoid::f(at(g)) * operators::tanh::f(at(g + 3 * n));
        if (c != nullptr) now.store_unaligned(c + r * cell.stride + j);
        if (h != nullptr)
          row_vector(operators::sigmoid::f(at(g + 2 * n)) * operators::tanh::f(now))
              .store_unaligned(h + r * hidden.stride + j);
      }
  }
};

namespace detail {

/// Applies an activation function of a recurrent operator.
template <recurrent_activation Function>
LAMINA_INLINE vector static_activation(vector x) {
  if constexpr (Function == recurrent_activation::sigmoid) return operators::sigmoid::f(x);
  if constexpr (Function == recurrent_activation::tanh) return operators::tanh::f(x);
  if constexpr (Function == recurrent_activation::relu) return operators::relu::f(x);
  return x;
}

/// A matrix [Depth, Columns] whose elements begin at element `Begin` of a parameter with rows of
/// `Width` elements.
template <int Begin, int Columns, int Width>
struct static_gapless_matrix {
  const float* parameter;

  /// Returns the elements of row k from column j on; lanes after the last column are other
  /// elements.
  LAMINA_INLINE vector load(int k, int j) const {
    const int first = Begin + k * Columns + j;
    const int row = first / Width, column = first % Width;
    const float* const at = parameter + row * padded(Width) + column;
    if (padded(Width) == Width || column + lanes <= Width) return vector::load_unaligned(at);
    alignas(64) float apart[lanes];
    for (int l = 0; l < lanes; ++l)
      apart[l] = at[column + l < Width ? l : l + padded(Width) - Width];
    return vector::load_aligned(apart);
  }
};

}  // namespace detail

/// The vectors of a row may reach beyond the last element of the state; the results for the extra
/// lanes go to the padding of the row, or are overwritten by the next gate.
template <>
struct static_call_kernel<operators::gru_unit> {
  template <class Group>
  static void run(float* memory) {
    constexpr argument_info in = Group::arguments.of[0].info, before = Group::arguments.of[1].info;
    constexpr argument_info bias = Group::arguments.of[3].info, next = Group::arguments.of[6].info;
    constexpr int n = before.columns;
    constexpr auto candidate =
        static_cast<recurrent_activation>(static_cast<int>(Group::number(0)));
    constexpr auto gate = static_cast<recurrent_activation>(static_cast<int>(Group::number(1)));
    const float* const w = detail::address_in<Group, 2>(memory);
    const float* const b = detail::address_in<Group, 3>(memory);
    static_assert(bias.rows <= 1);
    for (int r = 0; r < in.rows; ++r) {
      const float* const x = detail::address_in<Group, 0>(memory) + r * in.stride;
      const float* const h = detail::address_in<Group, 1>(memory) + r * before.stride;
      alignas(64) float gates[bound(3 * n + lanes)], reset[bound(n + lanes)];
      product<2 * n, gate>(x, b, h, detail::static_gapless_matrix<0, 2 * n, 3 * n>{w}, gates, n);
      for (int j = 0; j < n; j += lanes)
        (vector::load_unaligned(gates + n + j) * vector::load_unaligned(h + j))
            .store_unaligned(reset + j);
      product<n, candidate>(x + 2 * n, b == nullptr ? nullptr : b + 2 * n, reset,
                            detail::static_gapless_matrix<2 * n * n, n, 3 * n>{w}, gates + 2 * n,
                            n);
      keep<Group, 4>(memory, r, gates, 3 * n);
      keep<Group, 5>(memory, r, reset, n);
      float* const to = detail::address_in<Group, 6>(memory);
      if (to == nullptr) continue;
      for (int j = 0; j < n; j += lanes) {
        const auto u = vector::load_unaligned(gates + j);
        const auto c = vector::load_unaligned(gates + 2 * n + j);
        const auto old = vector::load_unaligned(h + j);
        const vector rest = vector(1.F) - u;
        const vector now =
            Group::number(2) != 0 ? vector(u * old + rest * c) : vector(rest * old + u * c);
        now.store_unaligned(to + r * next.stride + j);
      }
    }
  }

 private:
  // y = Function(x + b + h w) for `Columns` columns.
  template <int Columns, recurrent_activation Function, class Matrix>
  static LAMINA_INLINE void product(const float* x, const float* b, const float* h, const Matrix& w,
                                    float* y, int depth) {
    for (int j = 0; j < Columns; j += lanes) {
      auto sum = vector::load_unaligned(x + j);
      if (b != nullptr) sum = sum + vector::load_unaligned(b + j);
      for (int k = 0; k < depth; ++k) sum = fused_multiply_add(vector(h[k]), w.load(k, j), sum);
      detail::static_activation<Function>(sum).store_unaligned(y + j);
    }
  }
  template <class Group, int To>
  static LAMINA_INLINE void keep(float* memory, int row, const float* from, int columns) {
    float* const to = detail::address_in<Group, To>(memory);
    if (to == nullptr) return;
    std::memcpy(to + row * Group::arguments.of[To].info.stride, from,
                sizeof(float) * static_cast<std::size_t>(columns));
  }
};

}}}  // namespace lamina::engine::cpu
