// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/update_kernels.hpp - updates of optimizers that need norms, and so two passes
// over the parameter.
#pragma once

#include <algorithm>
#include <cmath>

#include <lamina/engine/cpu/panel.hpp>
#include <lamina/engine/cpu/row_math.hpp>
#include <lamina/optimizer/update_operator.hpp>

namespace lamina::engine::cpu {

/// The arrays of an update, in place: parameter, gradient, accumulators, all in one layout; behind
/// them the numbers, one for each attribute, as one array.
template <class Opt>
struct call_kernel<update_operator<Opt>> {
  using update = update_operator<Opt>;
  static constexpr int states = update::states;
  static constexpr int arrays = 2 + states;
  static constexpr int numbers = static_cast<int>(update::attributes.size());

  static void run(const call_context& c) {
    if (!c.at_position(0)) return;
    float* array[arrays];
    for (int i = 0; i < arrays; ++i) array[i] = c.address(i);
    if (c.address(arrays) == nullptr) return keep_gradient(c.at_position(0), array);
    run(c.at_position(0), array, c.address(arrays));
  }

  /// Updates a parameter from arrays that lie as it lies: itself, its gradient, its accumulators.
  static void run(const operand& param, float* const* array, const float* given) {
    float number[numbers];
    vector number_vector[numbers];
    for (int i = 0; i < numbers; ++i) {
      number[i] = given[i];
      number_vector[i] = vector(number[i]);
    }
    float norm[2] = {0, 0};
    if constexpr (update::traits::has_norms) {
      double square[2] = {0, 0};
      for_each_run(param, [&](std::ptrdiff_t offset, std::ptrdiff_t n) {
        vector part[2] = {vector(0.f), vector(0.f)};
        float rest[2] = {0, 0};
        for_each_place(n, [&](std::ptrdiff_t j, auto like) {
          using T = decltype(like);
          T state[at_least_one(states)];
          const T p = load(array[0] + offset + j, like), g = load(array[1] + offset + j, like);
          for (int s = 0; s < states; ++s) state[s] = load(array[2 + s] + offset + j, like);
          const T u = update::template normed<T>(p, g, state, of(number, number_vector, like));
          T* to = of(rest, part, like);
          to[0] += p * p;
          to[1] += u * u;
        });
        for (int i = 0; i < 2; ++i)
          square[i] += static_cast<double>(sum_of(part[i])) + static_cast<double>(rest[i]);
      });
      for (int i = 0; i < 2; ++i) norm[i] = static_cast<float>(std::sqrt(square[i]));
    }
    const vector norm_vector[2] = {vector(norm[0]), vector(norm[1])};
    for_each_run(param, [&](std::ptrdiff_t offset, std::ptrdiff_t n) {
      for_each_place(n, [&](std::ptrdiff_t j, auto like) {
        using T = decltype(like);
        T state[at_least_one(states)];
        T p = load(array[0] + offset + j, like);
        const T g = load(array[1] + offset + j, like);
        for (int s = 0; s < states; ++s) state[s] = load(array[2 + s] + offset + j, like);
        update::template apply<T>(p, g, state, of(number, number_vector, like),
                                  of(norm, norm_vector, like));
        store(array[0] + offset + j, p);
        for (int s = 0; s < states; ++s) store(array[2 + s] + offset + j, state[s]);
      });
    });
  }

 private:
  /// For a machine that leaves updates to somebody else.
  static void keep_gradient(const operand& param, float* const* array) {
    const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(param.rows) * padded(param.columns);
    std::copy(array[1], array[1] + n, array[0]);
  }

  /// The array of numbers or of vectors, as `like` says.
  template <class A, class B>
  static A* of(A* numbers_, B*, float) {
    return numbers_;
  }
  template <class A, class B>
  static B* of(A*, B* vectors, vector) {
    return vectors;
  }

  /// Calls f(offset, count) for the parts of an array without its padding, which must not count in
  /// a norm.
  template <class F>
  static void for_each_run(const operand& o, F&& f) {
    if (o.panel)
      for_each_row_segment(o.rows, o.columns,
                           [&](std::ptrdiff_t offset, int count, int, int) { f(offset, count); });
    else
      for (int r = 0; r < o.rows; ++r) f(r * o.stride, static_cast<std::ptrdiff_t>(o.columns));
  }
};

}  // namespace lamina::engine::cpu
