// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/element_loops.hpp - a pointwise function over arrays of any shapes and element
// types: one piece of code for all operators.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <lamina/engine/cpu/row_math.hpp>

namespace lamina::engine::cpu {

/// An output of a pointwise operator as functions of elements: value = f(inputs, scalars).
/// Why pointers: the loops are compiled once, and fused groups are where speed matters.
struct pointwise_form {
  static constexpr int most_inputs = 7, most_scalars = 8;
  int inputs, scalars;
  int output;     // which output
  bool has_axis;  // attribute 0 says where the shapes of smaller operands begin
  bool divides;   // by the last input, which in whole numbers must not be 0
  float (*in_float)(const float* x, const float* scalars);
  double (*in_double)(const double* x, const double* scalars);
  std::int64_t (*in_integers)(const std::int64_t* x, const std::int64_t* scalars);  // may be null
  /// to[j] for j < n, where input i either moves by one element or repeats its first; may be null.
  void (*line)(std::ptrdiff_t n, const float* const* x, const bool* moves, const float* scalars,
               float* to);
};

namespace detail {

/// The steps with which array `a` is read, or summed into, at the places of `space`.
inline void broadcast_steps(const call_context& c, const array_layout& space, array_layout a,
                            int axis, std::ptrdiff_t* steps) {
  const int begin = axis < 0 || a.rank == space.rank ? space.rank - a.rank : axis;
  while (a.rank > 0 && a.extent[a.rank - 1] == 1) --a.rank;
  for (int d = 0; d < space.rank; ++d) steps[d] = 0;
  bool fits = a.rank == 0 || (begin >= 0 && begin + a.rank <= space.rank);
  for (int d = 0; fits && d < a.rank; ++d) {
    if (a.extent[d] == space.extent[begin + d])
      steps[begin + d] = a.step[d];
    else
      fits = a.extent[d] == 1;
  }
  if (!fits) fail(c, {"expected a shape that is a part of the largest operand's"});
}

// The inputs, and the output behind them.
using element_nest = loop_nest<pointwise_form::most_inputs + 1>;

template <class T>
LAMINA_NOINLINE void evaluate_elements(const call_context& c, const pointwise_form& form,
                                       const operand* in, const operand& out,
                                       const element_nest& loops, bool is_summed,
                                       T (*f)(const T*, const T*)) {
  T scalar[pointwise_form::most_scalars] = {};
  for (int i = 0; i < form.scalars; ++i) scalar[i] = static_cast<T>(c.number(i));
  const int inputs = form.inputs;
  const bool divides = form.divides && static_cast<T>(0.5) == T(0);
  loops.run([&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    const std::ptrdiff_t step = loops.inner_step(inputs);
    double line = 0;
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      T x[pointwise_form::most_inputs] = {};
      for (int i = 0; i < inputs; ++i)
        x[i] = load_as<T>(in[i].data, in[i].type, at[i] + j * loops.inner_step(i));
      if (divides && x[inputs - 1] == 0)
        fail(c, {"expected divisors that are not 0, found 0 at element ", j});
      const T value = f(x, scalar);
      const std::ptrdiff_t to = at[inputs] + j * step;
      if (!is_summed)
        store_as(out.data, out.type, to, value);
      else if (step == 0)
        line += static_cast<double>(value);
      else
        store_as(out.data, out.type, to, load_as<T>(out.data, out.type, to) + value);
    }
    if (is_summed && step == 0)
      store_as(out.data, out.type, at[inputs],
               static_cast<double>(load_as<T>(out.data, out.type, at[inputs])) + line);
  });
}

/// Whole vectors, where every array is contiguous or repeats one element in the innermost loop.
inline bool evaluate_lines(const call_context& c, const pointwise_form& form, const operand* in,
                           const operand& out, const element_nest& loops) {
  bool moves[pointwise_form::most_inputs] = {};
  for (int i = 0; i < form.inputs; ++i) {
    moves[i] = loops.inner_step(i) == 1;
    if (!moves[i] && loops.inner_step(i) != 0) return false;
  }
  if (form.line == nullptr || (loops.inner_step(form.inputs) != 1 && loops.rank != 0)) return false;
  float scalar[pointwise_form::most_scalars] = {};
  for (int i = 0; i < form.scalars; ++i) scalar[i] = static_cast<float>(c.number(i));
  loops.run([&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    const float* from[pointwise_form::most_inputs] = {};
    for (int i = 0; i < form.inputs; ++i) from[i] = in[i].row<const float>(0) + at[i];
    form.line(n, from, moves, scalar, out.row<float>(0) + at[form.inputs]);
  });
  return true;
}

}  // namespace detail

/// Out at every place = f(inputs at that place, scalars). A gradient of what was broadcast is a
/// sum over the places that read it. Computed in float, in whole numbers where all are and the
/// function makes sense there, else in double.
LAMINA_NOINLINE inline void run_elements(const call_context& c, const pointwise_form& form) {
  const int inputs = form.inputs;
  const operand out = c.output(form.output);
  if (!out) return;
  operand in[pointwise_form::most_inputs];
  array_layout layouts[pointwise_form::most_inputs + 1];
  array_layout space = layout_of(out);
  layouts[inputs] = space;
  bool is_float = out.type == dtype::float32, is_integer = form.in_integers != nullptr;
  for (int i = 0; i < inputs; ++i) {
    in[i] = c.input(i);
    layouts[i] = layout_of(in[i]);
    is_float = is_float && in[i].type == dtype::float32;
    is_integer = is_integer && !is_floating(in[i].type);
    const std::ptrdiff_t size = layouts[i].size();
    if (size > space.size() || (size == space.size() && layouts[i].rank > space.rank))
      space = layouts[i];
  }
  for (int s = 0; s < form.scalars; ++s)
    is_integer = is_integer && std::floor(c.number(s)) == c.number(s);
  const int axis = form.has_axis ? c.integer(0) : -1;
  std::ptrdiff_t steps[pointwise_form::most_inputs + 1][array_layout::most];
  for (int i = 0; i <= inputs; ++i) detail::broadcast_steps(c, space, layouts[i], axis, steps[i]);
  detail::element_nest loops;
  for (int d = 0; d < space.rank; ++d) {
    std::ptrdiff_t s[pointwise_form::most_inputs + 1] = {};
    for (int i = 0; i <= inputs; ++i) s[i] = steps[i][d];
    loops.add_all(space.extent[d], s);
  }
  const bool is_summed = layouts[inputs].size() != space.size();
  if (is_summed) clear(out);
  if (is_float && !is_summed && detail::evaluate_lines(c, form, in, out, loops)) return;
  if (is_float)
    detail::evaluate_elements<float>(c, form, in, out, loops, is_summed, form.in_float);
  else if (is_integer)
    detail::evaluate_elements<std::int64_t>(c, form, in, out, loops, false, form.in_integers);
  else
    detail::evaluate_elements<double>(c, form, in, out, loops, is_summed, form.in_double);
}

}  // namespace lamina::engine::cpu
