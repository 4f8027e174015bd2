// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/pointwise_kernels.hpp - pointwise operators that no group can take: other
// element types, or a broadcast along an inner axis.
#pragma once

#include <cmath>
#include <string_view>
#include <type_traits>
#include <utility>

#include <lamina/engine/cpu/row_math.hpp>
#include <lamina/operators/assign.hpp>
#include <lamina/operators/clip.hpp>
#include <lamina/operators/compare.hpp>
#include <lamina/operators/elementwise.hpp>
#include <lamina/operators/sum.hpp>

namespace lamina::engine::cpu {

namespace detail {

/// Operators whose function makes sense in whole numbers; all others compute integers in double.
template <class Op>
inline constexpr bool is_exact =
    std::is_base_of_v<comparison, Op> || std::is_base_of_v<logical, Op> ||
    std::is_base_of_v<elementwise, Op> || std::is_same_v<Op, assign> || std::is_same_v<Op, cast> ||
    std::is_same_v<Op, increment> || std::is_same_v<Op, scale> || std::is_same_v<Op, clip> ||
    std::is_same_v<Op, fill_zeros_like> || std::is_same_v<Op, elementwise_mod> ||
    std::is_same_v<Op, elementwise_floordiv>;
template <>
inline constexpr bool is_exact<elementwise_pow> = false;

template <class Op>
inline constexpr bool is_division =
    std::is_same_v<Op, elementwise_div> || std::is_same_v<Op, elementwise_mod> ||
    std::is_same_v<Op, elementwise_floordiv>;

template <class Op>
constexpr bool has_axis() {
  if constexpr (Op::attributes.size() == 0)
    return false;
  else
    return std::string_view(Op::attributes[0].name) == "axis";
}

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

/// Out at every place = f(inputs at that place, scalars). A gradient of what was broadcast is a
/// sum. Why a pointer to the function: these loops are compiled once for all operators, and fused
/// groups are where speed matters.
template <class T, int Inputs>
LAMINA_NOINLINE void evaluate_elements(const call_context& c, const operand* in, const operand& out,
                                       const loop_nest<Inputs + 1>& loops, bool is_summed,
                                       const T* scalar, T (*f)(const T*, const T*), bool divides) {
  loops.run([&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    const std::ptrdiff_t step = loops.inner_step(Inputs);
    double line = 0;
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      T x[Inputs];
      for (int i = 0; i < Inputs; ++i)
        x[i] = load_as<T>(in[i].data, in[i].type, at[i] + j * loops.inner_step(i));
      if (divides && x[Inputs - 1] == 0)
        fail(c, {"expected divisors that are not 0, found 0 at element ", j});
      const T value = f(x, scalar);
      const std::ptrdiff_t to = at[Inputs] + j * step;
      if (!is_summed)
        store_as(out.data, out.type, to, value);
      else if (step == 0)
        line += static_cast<double>(value);
      else
        store_as(out.data, out.type, to, load_as<T>(out.data, out.type, to) + value);
    }
    if (is_summed && step == 0)
      store_as(out.data, out.type, at[Inputs],
               static_cast<double>(load_as<T>(out.data, out.type, at[Inputs])) + line);
  });
}

template <class Op, int K>
struct pointwise_output {
  static constexpr int inputs = static_cast<int>(Op::inputs.size());
  static constexpr int scalars = scalars_of<Op>;
  static constexpr int arrays = inputs + 1;
  using nest = loop_nest<arrays>;

  template <class T>
  static void scalar_values(const call_context& c, T* value) {
    for (int i = 0; i < scalars; ++i) value[i] = static_cast<T>(c.number(i));
  }
  template <class T, std::size_t... I, std::size_t... S>
  static LAMINA_INLINE auto value_of(const T* x, const T* s, std::index_sequence<I...>,
                                     std::index_sequence<S...>) {
    return pointwise_value<Op, K>(x[I]..., s[S]...);
  }
  using input_index = std::make_index_sequence<static_cast<std::size_t>(inputs)>;
  using scalar_index = std::make_index_sequence<static_cast<std::size_t>(scalars)>;

  /// Whole numbers and truth values, one each: what counts and decides in loops.
  static LAMINA_INLINE bool run_one(const call_context& c) {
    std::int64_t x[inputs], scalar[at_least_one(scalars)];
    for (int i = 0; i < inputs; ++i)
      if (!load_one(c, i, x[i])) return false;
    for (int i = 0; i < scalars; ++i) {
      const double value = c.number(i);
      scalar[i] = static_cast<std::int64_t>(value);
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
    const operand out = c.output(K);
    if (!out) return;
    operand in[inputs];
    array_layout layouts[arrays];
    array_layout space = layout_of(out);
    layouts[inputs] = space;
    bool is_float = out.type == dtype::float32, is_integer = true;
    for (int i = 0; i < inputs; ++i) {
      in[i] = c.input(i);
      layouts[i] = layout_of(in[i]);
      is_float = is_float && in[i].type == dtype::float32;
      is_integer = is_integer && !is_floating(in[i].type);
      const std::ptrdiff_t size = layouts[i].size();
      if (size > space.size() || (size == space.size() && layouts[i].rank > space.rank))
        space = layouts[i];
    }
    for (int s = 0; s < scalars; ++s)
      is_integer = is_integer && std::floor(c.number(s)) == c.number(s);
    const int axis = has_axis<Op>() ? c.integer(0) : -1;
    std::ptrdiff_t steps[arrays][array_layout::most];
    for (int i = 0; i < arrays; ++i) broadcast_steps(c, space, layouts[i], axis, steps[i]);
    nest loops;
    for (int d = 0; d < space.rank; ++d) {
      std::ptrdiff_t s[arrays];
      for (int i = 0; i < arrays; ++i) s[i] = steps[i][d];
      loops.add_all(space.extent[d], s);
    }
    const bool is_summed = layouts[inputs].size() != space.size();
    if (is_summed) clear(out);
    if (is_float && !is_summed && run_vectors(c, in, out, loops)) return;
    if (is_float)
      evaluate<float>(c, in, out, loops, is_summed);
    else if (is_integer && is_exact<Op>)
      evaluate_integers(c, in, out, loops);
    else
      evaluate<double>(c, in, out, loops, is_summed);
  }

  /// Whole vectors, where every array is contiguous or repeats one element in the innermost loop.
  static bool run_vectors(const call_context& c, const operand* in, const operand& out,
                          const nest& loops) {
    using result =
        decltype(value_of(static_cast<const vector*>(nullptr), static_cast<const vector*>(nullptr),
                          input_index{}, scalar_index{}));
    if constexpr (std::is_same_v<result, vector>) {
      for (int i = 0; i < inputs; ++i)
        if (loops.inner_step(i) != 0 && loops.inner_step(i) != 1) return false;
      if (loops.inner_step(inputs) != 1 && loops.rank != 0) return false;
      float scalar[at_least_one(scalars)];
      vector scalar_vector[at_least_one(scalars)];
      scalar_values(c, scalar);
      for (int s = 0; s < scalars; ++s) scalar_vector[s] = vector(scalar[s]);
      loops.run([&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
        const float* from[inputs];
        bool moves[inputs];
        for (int i = 0; i < inputs; ++i) {
          from[i] = in[i].row<const float>(0) + at[i];
          moves[i] = loops.inner_step(i) == 1;
        }
        float* to = out.row<float>(0) + at[inputs];
        std::ptrdiff_t j = 0;
        for (; j + lanes <= n; j += lanes) {
          vector x[inputs];
          for (int i = 0; i < inputs; ++i)
            x[i] = moves[i] ? vector::load_unaligned(from[i] + j) : vector(*from[i]);
          value_of(static_cast<const vector*>(x), static_cast<const vector*>(scalar_vector),
                   input_index{}, scalar_index{})
              .store_unaligned(to + j);
        }
        for (; j < n; ++j) {
          float x[inputs];
          for (int i = 0; i < inputs; ++i) x[i] = from[i][moves[i] ? j : 0];
          to[j] = value_of(static_cast<const float*>(x), static_cast<const float*>(scalar),
                           input_index{}, scalar_index{});
        }
      });
      return true;
    } else {
      (void)c, (void)in, (void)out, (void)loops;
      return false;
    }
  }

  /// One element at a time, computed in T.
  template <class T>
  static T element(const T* x, const T* scalar) {
    return static_cast<T>(value_of(x, scalar, input_index{}, scalar_index{}));
  }
  template <class T>
  static void evaluate(const call_context& c, const operand* in, const operand& out,
                       const nest& loops, bool is_summed) {
    T scalar[at_least_one(scalars)];
    scalar_values(c, scalar);
    evaluate_elements<T, inputs>(c, in, out, loops, is_summed, scalar, &element<T>,
                                 is_division<Op> && std::is_integral_v<T>);
  }
  static void evaluate_integers(const call_context& c, const operand* in, const operand& out,
                                const nest& loops) {
    if constexpr (is_exact<Op>) evaluate<std::int64_t>(c, in, out, loops, false);
  }
};

}  // namespace detail

template <class Op>
requires(Op::kind == operator_kind::pointwise) struct call_kernel<Op> {
  static void run(const call_context& c) {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      (detail::pointwise_output<Op, static_cast<int>(K)>::run(c), ...);
    }
    (std::make_index_sequence<Op::outputs.size()>{});
  }
};

template <>
struct call_kernel<sum> {
  template <class = void>
  static void run(const call_context& c) {
    const operand out = c.output(0);
    if (!out) return;
    const int n = c.input_count(0);
    for (int i = 0; i < n; ++i) require_size(c, out, c.input(0, i));
    with_type(out.type, [&]<class T>(T) {
      for (int r = 0; r < out.rows; ++r) {
        T* const y = out.row<T>(r);
        for (int i = 0; i < n; ++i) {
          const T* const x = c.input(0, i).template row<const T>(r);
          if (i == 0)
            for (int j = 0; j < out.columns; ++j) y[j] = x[j];
          else
            for (int j = 0; j < out.columns; ++j) y[j] = static_cast<T>(y[j] + x[j]);
        }
      }
    });
  }
};

}  // namespace lamina::engine::cpu
