// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/lstm_unit/common.hpp - the equations of lstm_unit for one cell. All
// engines share them.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/activation/simple/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The gates of a cell after their activation functions.
template <class T>
struct lstm_unit_step {
  T i, f, o, candidate;

  /// Computes the gates from the elements of X; the bias is already added to the forget gate.
  LAMINA_INLINE LAMINA_NUMBER_FN lstm_unit_step(T x_i, T x_f, T x_o, T x_candidate)
      : i(operators::sigmoid::f(x_i)),
        f(operators::sigmoid::f(x_f)),
        o(operators::sigmoid::f(x_o)),
        candidate(operators::tanh::f(x_candidate)) {}

  LAMINA_INLINE LAMINA_NUMBER_FN T cell(T before) const { return f * before + i * candidate; }
  LAMINA_INLINE LAMINA_NUMBER_FN T hidden(T cell) const { return o * operators::tanh::f(cell); }

  /// The gradients of the elements of X and of the previous cell.
  struct grads {
    T i, f, o, candidate, before;
  };
  LAMINA_INLINE LAMINA_NUMBER_FN grads backward(T cell, T before, T d_cell, T d_hidden) const {
    const T a = operators::tanh::f(cell);
    const T dc = d_cell + operators::tanh::df(a, T(d_hidden * o));
    return {operators::sigmoid::df(i, T(dc * candidate)), operators::sigmoid::df(f, T(dc * before)),
            operators::sigmoid::df(o, T(d_hidden * a)), operators::tanh::df(candidate, T(dc * i)),
            T(dc * f)};
  }
};

}}}  // namespace lamina::engine
