// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/vector/element_loops.hpp - applies a pointwise function to arrays of arbitrary
// shapes and element types. All operators share one loop.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <lamina/core/numbers/number_cast.hpp>
#include <lamina/engine/common/broadcast_layout.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Describes one output of a pointwise operator by functions that compute one element: value =
/// f(inputs, scalars). They are function pointers, so that the loops are compiled once for all
/// operators. A call per element is slow, but nearly all pointwise operators are fused into groups,
/// and fused groups do not use these functions. `Real` is the element type of `line`.
template <class Real>
struct basic_pointwise_form {
  static constexpr int most_inputs = 7, most_scalars = 8;
  int inputs, scalars;
  int output;     // index of the output
  bool has_axis;  // attribute 0 is the dimension at which the shapes of smaller operands begin
  bool divides;   // f divides by the last input; an integer divisor must not be 0
  bool converts;  // f is a cast: a value out of the output type's range does not wrap
  float (*in_float)(const float* x, const float* scalars);
  double (*in_double)(const double* x, const double* scalars);
  std::int64_t (*in_integers)(const std::int64_t* x, const std::int64_t* scalars);  // may be null
  /// Computes to[j] for j < n. If moves[i] is true, the value of input i at j is x[i][j], otherwise
  /// x[i][0]. May be null.
  void (*line)(std::ptrdiff_t n, const Real* const* x, const bool* moves, const Real* scalars,
               Real* to);
};
using pointwise_form = basic_pointwise_form<float>;

namespace detail {

// A loop nest over all inputs and, as the last array, the output.
using element_nest = loop_nest<pointwise_form::most_inputs + 1>;

template <class T, class Real>
LAMINA_NOINLINE void evaluate_elements(const call_context& c,
                                       const basic_pointwise_form<Real>& form, const operand* in,
                                       const operand& out, const element_nest& loops,
                                       T (*f)(const T*, const T*)) {
  T scalar[pointwise_form::most_scalars] = {};
  for (int i = 0; i < form.scalars; ++i) scalar[i] = number_cast<T>(c.number(i));
  const int inputs = form.inputs;
  const bool divides = form.divides && static_cast<T>(0.5) == T(0);
  loops.run([&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    const std::ptrdiff_t step = loops.inner_step(inputs);
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      T x[pointwise_form::most_inputs] = {};
      for (int i = 0; i < inputs; ++i)
        x[i] = load_as<T>(in[i].data, in[i].type, at[i] + j * loops.inner_step(i));
      if (divides && x[inputs - 1] == 0)
        fail(c, {"expected divisors that are not 0, found 0 at element ", j});
      const T value = f(x, scalar);
      if constexpr (__is_same(T, std::int64_t))
        if (!form.converts) {
          store_wrapped(out.data, out.type, at[inputs] + j * step, value);
          continue;
        }
      store_as(out.data, out.type, at[inputs] + j * step, value);
    }
  });
}

/// Stores at each position of loop nest `kept` the sum of f over all positions of loop nest `over`,
/// added in double. Computes 64 positions of `kept` at a time, because their inputs are mostly
/// adjacent in memory.
template <class T, class Real>
LAMINA_NOINLINE void sum_elements(const call_context& c, const basic_pointwise_form<Real>& form,
                                  const operand* in, const operand& out, const element_nest& kept,
                                  const element_nest& over, T (*f)(const T*, const T*)) {
  constexpr std::ptrdiff_t together = 64;
  T scalar[pointwise_form::most_scalars] = {};
  for (int i = 0; i < form.scalars; ++i) scalar[i] = number_cast<T>(c.number(i));
  const int inputs = form.inputs;
  kept.run([&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    for (std::ptrdiff_t first = 0; first < n; first += together) {
      const std::ptrdiff_t width = n - first < together ? n - first : together;
      double sums[together] = {};
      over.run([&](const std::ptrdiff_t* next, std::ptrdiff_t m) {
        for (std::ptrdiff_t k = 0; k < m; ++k)
          for (std::ptrdiff_t j = 0; j < width; ++j) {
            T x[pointwise_form::most_inputs] = {};
            for (int i = 0; i < inputs; ++i)
              x[i] = load_as<T>(
                  in[i].data, in[i].type,
                  at[i] + (first + j) * kept.inner_step(i) + next[i] + k * over.inner_step(i));
            sums[j] += static_cast<double>(f(x, scalar));
          }
      });
      for (std::ptrdiff_t j = 0; j < width; ++j)
        store_as(out.data, out.type, at[inputs] + (first + j) * kept.inner_step(inputs), sums[j]);
    }
  });
}

/// Computes the elements with `form.line`, which uses vector instructions. It requires that in the
/// innermost loop the output is contiguous, and that each input is contiguous or is a single
/// element; otherwise the function computes nothing and returns false.
template <class Real>
bool evaluate_lines(const call_context& c, const basic_pointwise_form<Real>& form,
                    const operand* in, const operand& out, const element_nest& loops) {
  bool moves[pointwise_form::most_inputs] = {};
  for (int i = 0; i < form.inputs; ++i) {
    moves[i] = loops.inner_step(i) == 1;
    if (!moves[i] && loops.inner_step(i) != 0) return false;
  }
  if (form.line == nullptr || (loops.inner_step(form.inputs) != 1 && loops.rank != 0)) return false;
  Real scalar[pointwise_form::most_scalars] = {};
  for (int i = 0; i < form.scalars; ++i) scalar[i] = static_cast<Real>(c.number(i));
  loops.run([&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    const Real* from[pointwise_form::most_inputs] = {};
    for (int i = 0; i < form.inputs; ++i) from[i] = in[i].row<const Real>(0) + at[i];
    form.line(n, from, moves, scalar, out.row<Real>(0) + at[form.inputs]);
  });
  return true;
}

}  // namespace detail

/// Sets every element of the output to f(inputs at its position, scalars). If the output is the
/// gradient of a broadcast input, it is smaller than the inputs, and each of its elements is the
/// sum of f over all positions that map to it. The computation is in float if all arrays are float;
/// in integers if all inputs and scalars are integers and the operator has a function for integers;
/// otherwise in double.
template <class Real>
LAMINA_NOINLINE inline void run_elements(const call_context& c,
                                         const basic_pointwise_form<Real>& form) {
  const int inputs = form.inputs;
  const operand out = c.output(form.output);
  if (!out) return;
  operand all[pointwise_form::most_inputs + 1];
  bool is_float = out.type == dtype::float32, is_integer = form.in_integers != nullptr;
  bool is_real = out.type == dtype_of<Real>;
  for (int i = 0; i < inputs; ++i) {
    all[i] = c.input(i);
    is_float = is_float && all[i].type == dtype::float32;
    is_real = is_real && all[i].type == dtype_of<Real>;
    is_integer = is_integer && !is_floating(all[i].type);
  }
  all[inputs] = out;
  for (int s = 0; s < form.scalars; ++s)
    is_integer = is_integer && std::floor(c.number(s)) == c.number(s);
  const broadcast_layout<pointwise_form::most_inputs + 1> l(c, inputs + 1, all,
                                                            form.has_axis ? c.integer(0) : -1);
  const operand* const in = all;
  if (l.is_summed) {
    clear(out);
    const detail::element_nest kept = l.kept(), over = l.summed();
    if (is_float)
      detail::sum_elements<float>(c, form, in, out, kept, over, form.in_float);
    else
      detail::sum_elements<double>(c, form, in, out, kept, over, form.in_double);
    return;
  }
  const detail::element_nest loops = l.all();
  if (is_real && detail::evaluate_lines(c, form, in, out, loops)) return;
  if (is_float)
    detail::evaluate_elements<float>(c, form, in, out, loops, form.in_float);
  else if (is_integer)
    detail::evaluate_elements<std::int64_t>(c, form, in, out, loops, form.in_integers);
  else
    detail::evaluate_elements<double>(c, form, in, out, loops, form.in_double);
}

}}}  // namespace lamina::engine::cpu
