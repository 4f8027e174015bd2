// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/array/cpu.hpp - kernels of arrays of tensors: write, read, length, their
// gradients, and the conversions between a dimension of a tensor and an array.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/control/array/definition.hpp>
#include <lamina/operators/control/array/definition_step_array.hpp>
#if LAMINA_DEFINES
#include <algorithm>

#include <lamina/engine/cpu/memory/row_parts.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/control/array/common_dimension_steps.hpp>
#include <lamina/operators/control/array/common_slot_sequences.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Returns slot i of an array of tensors as an operand. The slot must have a value, because the
/// operand refers to its memory.
inline operand slot_of(const operand& array, int i) {
  operand slot = array;
  slot.data = array_of(array).data(i);
  slot.rows = array_of(array).rows(i);
  return slot;
}

/// Returns how many floats of memory `rows` rows occupy in a slot of the array.
inline std::size_t floats_of(const operand& array, int rows) {
  const std::size_t bytes = static_cast<std::size_t>(array.stride) *
                            static_cast<std::size_t>(rows) *
                            static_cast<std::size_t>(size_of(array.type));
  return (bytes + sizeof(float) - 1) / sizeof(float);
}

/// Allocates memory for `rows` rows in slot i of an array and returns the slot as an operand.
inline operand new_slot(const operand& array, int i, int rows) {
  operand slot = array;
  slot.data = array_of(array).write(i, rows, floats_of(array, rows));
  slot.rows = rows;
  return slot;
}

#if LAMINA_DEFINES

namespace detail {

[[noreturn]] LAMINA_API_COLD void fail_slot(const call_context& c, int i, int expected, int found);

/// Returns the smaller of two numbers of rows: of slot i and of operand `o`. Sequences that end
/// early have no rows in later time steps, so if the slot holds a time step, the numbers may
/// differ; the caller treats the missing rows as zeros. Fails if the numbers differ in any other
/// slot.
inline int shared_rows(const call_context& c, const operand& slot, int i, const operand& o) {
  if (slot.rows != o.rows && c.kind_of(slot.domain) != domain_kind::step)
    fail_slot(c, i, o.rows, slot.rows);
  return (std::min)(slot.rows, o.rows);
}

/// Copies the rows of slot i, which must have a value, to `out`. If `out` has more rows than the
/// slot, sets these rows to zeros.
inline void read_slot(const call_context& c, const operand& array, int i, const operand& out) {
  const operand slot = slot_of(array, i);
  const int n = shared_rows(c, slot, i, out);
  copy_block(slot, 0, out, 0, n);
  clear_block(out, n, out.rows - n);
}

/// Makes `out`, a view, refer to the memory of slot i without a copy. If the slot has fewer rows
/// than `out`, `out` refers to a copy that is padded with zeros.
inline void show_slot(const call_context& c, const operand& array, int i, const operand& out) {
  const operand slot = slot_of(array, i);
  const int n = shared_rows(c, slot, i, out);
  if (n == out.rows) return c.show(slot.data);
  operand memory = slot;
  memory.data = array_of(array).allocate(floats_of(array, out.rows));
  copy_block(slot, 0, memory, 0, n);
  clear_block(memory, n, out.rows - n);
  c.show(memory.data);
}

inline void write_slot(const operand& x, const operand& array, int i) {
  copy_block(x, 0, new_slot(array, i, x.rows), 0, x.rows);
}

/// Adds the first n rows of x to the first n rows of `to`. If both have the same stride, one loop
/// adds all elements, including the padding between rows: this is faster than a loop per row.
template <class Real>
inline void add_block(const operand& x, const operand& to, int n) {
  const bool whole = x.stride == to.stride;
  const std::ptrdiff_t count = whole ? n * x.stride : x.columns;
  for (int r = 0; r < (whole ? 1 : n); ++r) {
    const Real* const from = x.row<const Real>(r);
    Real* const sum = to.row<Real>(r);
    for_each_position<Real>(count, [&](std::ptrdiff_t j, auto like) {
      store(sum + j, decltype(like)(load(sum + j, like) + load(from + j, like)));
    });
  }
}

#if LAMINA_DEFINES

void fail_slot(const call_context& c, int i, int expected, int found) {
  fail(c, {"expected ", expected, " rows at index ", i, " of the array, found ", found});
}

#endif  // LAMINA_DEFINES

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::write_to_array> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::write_to_array_gradient> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::read_from_array> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::read_from_array_gradient> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::lod_array_length> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

namespace detail {

/// Finds the elements of slice t of an array.
struct step_parts : dimension_steps {
  using dimension_steps::dimension_steps;

  /// Calls f(offset in the whole array, offset in the slice, count) for each run of `count`
  /// elements that is contiguous in both. `part` is the slice.
  template <class F>
  void each(const operand& part, std::ptrdiff_t t, F&& f) const {
    const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(part.rows) * part.columns;
    for (std::ptrdiff_t done = 0; done < size;) {
      const std::ptrdiff_t line = done / inner, i = done % inner;
      const std::ptrdiff_t at = (line * steps + t) * inner + i;
      const std::ptrdiff_t column = at % whole.columns, own = done % part.columns;
      const std::ptrdiff_t n = (std::min)({inner - i, whole.columns - column, part.columns - own});
      f(at / whole.columns * whole.stride + column, done / part.columns * part.stride + own, n);
      done += n;
    }
  }
};

inline char* element(const operand& o, std::ptrdiff_t at) {
  return static_cast<char*>(o.data) + at * size_of(o.type);
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::tensor_to_tensor_array> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::tensor_array_to_tensor> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::write_to_array>::run(const call_context& c) {
  const operand x = c.input(0), array = c.output(0);
  const int i = index_in(c, c.input(1));
  if (c.refers() && x.stride == array.stride)
    array_of(array).refer(i, x.rows, static_cast<float*>(x.data));
  else
    detail::write_slot(x, array, i);
  keep_sequences(c, x.domain, array_of(array), i);
}
LAMINA_INSTANCE(void call_kernel<operators::write_to_array>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::write_to_array>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::write_to_array_gradient>::run(const call_context& c) {
  const operand from = c.input(2), dx = c.output(0);
  const int i = index_in(c, c.input(1));
  if (dx && c.shows()) {
    if (!array_of(from).holds(i)) clear_block(new_slot(from, i, dx.rows), 0, dx.rows);
    detail::show_slot(c, from, i, dx);
  } else if (dx) {
    if (array_of(from).holds(i))
      detail::read_slot(c, from, i, dx);
    else
      clear(dx);
  }
  array_of(from).erase(i);
}
LAMINA_INSTANCE(
    void call_kernel<operators::write_to_array_gradient>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<operators::write_to_array_gradient>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::read_from_array>::run(const call_context& c) {
  const operand from = c.input(0);
  const tensor_array& array = array_of(from);
  const int i = index_in(c, c.input(1));
  if (!array.holds(i))
    fail(c, {"expected a value at index ", i, " of an array of ", array.size(),
             " values, found none"});
  take_sequences(c, c.output(0).domain, array, i);
  if (c.shows())
    detail::show_slot(c, from, i, c.output(0));
  else
    detail::read_slot(c, from, i, c.output(0));
}
LAMINA_INSTANCE(void call_kernel<operators::read_from_array>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::read_from_array>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::read_from_array_gradient>::run(const call_context& c) {
  const operand d = c.input(1), to = c.output(0);
  require_real<Real>(c, d);
  const int i = index_in(c, c.input(0));
  if (!array_of(to).holds(i)) return detail::write_slot(d, to, i);
  const operand sum = slot_of(to, i);
  detail::add_block<Real>(d, sum, detail::shared_rows(c, sum, i, d));
}
LAMINA_INSTANCE(
    void call_kernel<operators::read_from_array_gradient>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<operators::read_from_array_gradient>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::lod_array_length>::run(const call_context& c) {
  *c.output(0).row<std::int64_t>(0) = array_of(c.input(0)).size();
}
LAMINA_INSTANCE(void call_kernel<operators::lod_array_length>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::lod_array_length>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::tensor_to_tensor_array>::run(const call_context& c) {
  const detail::step_parts x(c, c.input(0), c.integer(0));
  const operand array = c.output(0);
  const std::ptrdiff_t width = size_of(array.type);
  array_of(array).clear();
  for (int t = 0; t < x.steps; ++t) {
    const operand part = new_slot(array, t, x.rows(array));
    x.each(part, t, [&](std::ptrdiff_t from, std::ptrdiff_t to, std::ptrdiff_t n) {
      std::memcpy(detail::element(part, to), detail::element(x.whole, from),
                  static_cast<std::size_t>(n * width));
    });
    if (!x.of_rows) keep_sequences(c, x.whole.domain, array_of(array), t);
  }
}
LAMINA_INSTANCE(
    void call_kernel<operators::tensor_to_tensor_array>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<operators::tensor_to_tensor_array>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::tensor_array_to_tensor>::run(const call_context& c) {
  if (!c.flag(1)) fail(c, {"expected use_stack, found that parts are to be concatenated"});
  const operand array = c.input(0);
  const tensor_array& from = array_of(array);
  const int rank = c.output(0).rank;
  if (dimension_of(c, c.integer(0), rank) > 0)
    for (int t = 0; t < from.size(); ++t)
      if (from.holds(t)) {
        take_sequences(c, c.output(0).domain, from, t);
        break;
      }
  const detail::step_parts out(c, c.output(0), c.integer(0));
  const std::ptrdiff_t width = size_of(array.type);
  for (int t = 0; t < out.steps; ++t) {
    operand part = array;
    part.rows = out.rows(array);
    const bool held = from.holds(t);
    if (held) {
      if (from.rows(t) != part.rows) detail::fail_slot(c, t, part.rows, from.rows(t));
      part = slot_of(array, t);
    }
    out.each(part, t, [&](std::ptrdiff_t to, std::ptrdiff_t at, std::ptrdiff_t n) {
      const std::size_t bytes = static_cast<std::size_t>(n * width);
      if (held)
        std::memcpy(detail::element(out.whole, to), detail::element(part, at), bytes);
      else
        std::memset(detail::element(out.whole, to), 0, bytes);
    });
  }
}
LAMINA_INSTANCE(
    void call_kernel<operators::tensor_array_to_tensor>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<operators::tensor_array_to_tensor>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
