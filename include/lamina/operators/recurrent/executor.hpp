// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/executor.hpp - code that the kernels of recurrent operators share.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include <lamina/core/simd/intrinsics.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/operators/recurrent/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// An activation function of gates, cells or candidates, and its derivative as a function of the
/// result.
template <class Real>
class recurrent_function {
 public:
  /// The function that a text attribute names; the identity if the operator has no such attribute.
  recurrent_function(const call_context<Real>& ctx, const char* attribute)
      : recurrent_function(named(ctx, attribute, ctx.text(attribute))) {}
  explicit recurrent_function(recurrent_activation act) : act_(act) {}

  Real operator()(Real x) const {
    return act_ == recurrent_activation::sigmoid ? Real(1) / (Real(1) + std::exp(-x))
           : act_ == recurrent_activation::tanh  ? std::tanh(x)
           : act_ == recurrent_activation::relu  ? (std::max)(x, Real(0))
                                                 : x;
  }
  /// Applies the function to n elements in place. Floats are computed in vectors. Doubles are
  /// computed one by one, because the exponential of xsimd 8 converts doubles to integers, which is
  /// undefined for NaN.
  void apply(Real* x, std::size_t n) const {
    using vector = simd::batch<Real>;
    std::size_t i = 0;
    const bool in_vectors =
        act_ == recurrent_activation::sigmoid || act_ == recurrent_activation::tanh;
    if (std::is_same_v<Real, float> && in_vectors)
      for (; i + vector::size <= n; i += vector::size) {
        const vector v = vector::load_unaligned(x + i);
        const vector one(Real(1));
        (act_ == recurrent_activation::tanh ? simd::tanh(v) : one / (one + simd::exp(-v)))
            .store_unaligned(x + i);
      }
    for (; i < n; ++i) x[i] = (*this)(x[i]);
  }
  Real derivative(Real y) const {
    return act_ == recurrent_activation::sigmoid ? y * (Real(1) - y)
           : act_ == recurrent_activation::tanh  ? Real(1) - y * y
           : act_ == recurrent_activation::relu  ? Real(y > 0)
                                                 : Real(1);
  }

 private:
  static recurrent_activation named(const call_context<Real>& ctx, const char* attribute,
                                    const std::string& name) {
    if (name.empty()) return recurrent_activation::identity;
    const int found = find_recurrent_activation(name);
    if (found < 0)
      ctx.fail("expected sigmoid, tanh, relu or identity as " + std::string(attribute) +
               ", found '" + name + "'");
    return static_cast<recurrent_activation>(found);
  }

  recurrent_activation act_;
};

/// The rows of one sequence in the order in which a recurrent operator processes them.
struct recurrent_steps {
  std::size_t first, count;
  bool reverse;

  recurrent_steps(const lod& sequences, std::size_t s, bool backwards)
      : first(sequences.last()[s]), count(sequences.length(s)), reverse(backwards) {}
  std::size_t row(std::size_t step) const {
    return reverse ? first + count - 1 - step : first + step;
  }
};

/// Returns x limited to [-limit, limit]; x itself if the limit is 0.
template <class Real>
Real clipped(Real x, Real limit) {
  return limit > 0 ? (std::min)((std::max)(x, -limit), limit) : x;
}
/// Whether clipping passes on the gradient of x: only if x is within the limits, or the limit is 0.
template <class Real>
bool passes_clip(Real x, Real limit) {
  return !(limit > 0) || !(std::abs(x) >= limit);
}

/// Fails unless the rows of an input have `width` elements.
template <class Real>
void require_extent(const call_context<Real>& ctx, const char* slot, std::size_t width) {
  const tensor_shape shape = ctx.input(slot).shape();
  if (matrix(shape, 1).columns != width)
    ctx.fail("expected rows of " + std::to_string(width) + " numbers in variable '" +
             ctx.input_name(slot) + "', found " + to_string(shape));
}

/// Returns the elements of an initial state; null if the input is absent. Throws lamina::error if
/// its shape is not [rows, width].
template <class Real>
const Real* initial_state(const call_context<Real>& ctx, const char* slot, std::size_t rows,
                          std::size_t width) {
  if (!ctx.has(slot)) return nullptr;
  const auto& state = ctx.real(slot);
  if (shape_of(state) != tensor_shape{rows, width})
    ctx.fail("expected the shape " + to_string(tensor_shape{rows, width}) + " for variable '" +
             ctx.input_name(slot) + "', one row for each sequence, found " +
             to_string(shape_of(state)));
  return state.data();
}

}}}  // namespace lamina::kernel
