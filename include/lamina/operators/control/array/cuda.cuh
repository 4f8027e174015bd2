// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/array/cuda.cuh - arrays of tensors on a device: the host stores the
// addresses of the slots, and kernels copy the rows.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>

#include <lamina/engine/cuda/body/row_map.cuh>
#include <lamina/engine/cuda/memory/device_tensor_array.hpp>
#include <lamina/engine/cuda/schedule/dynamic_sequences.hpp>
#include <lamina/operators/control/array/common_dimension_steps.hpp>
#include <lamina/operators/control/array/common_slot_sequences.hpp>
#include <lamina/operators/control/array/definition.hpp>
#include <lamina/operators/control/array/definition_step_array.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Returns the array of tensors to which an operand refers.
template <class Backend>
auto& array_of(const operand& o) {
  return *static_cast<device_tensor_array<Backend>*>(o.data);
}
/// Returns slot i of an array of tensors as an operand. The slot must have a value, because the
/// operand refers to its memory.
template <class Backend>
operand slot_of(const operand& array, int i) {
  operand slot = array;
  slot.data = array_of<Backend>(array).data(i);
  slot.rows = array_of<Backend>(array).rows(i);
  return slot;
}
inline std::size_t slot_floats(const operand& array, int rows) {
  const std::size_t bytes = static_cast<std::size_t>(array.stride) *
                            static_cast<std::size_t>(rows) *
                            static_cast<std::size_t>(size_of(array.type));
  return (bytes + sizeof(float) - 1) / sizeof(float);
}
/// Allocates memory for `rows` rows in slot i of an array and returns the slot as an operand.
template <class Backend>
operand new_slot(const operand& array, int i, int rows) {
  operand slot = array;
  slot.data = array_of<Backend>(array).write(i, rows, slot_floats(array, rows));
  slot.rows = rows;
  return slot;
}

/// Whether `domain` already has the sequences of slot i, for instance because the caller fed these
/// sequences. Then the offsets need not be copied to the device again.
template <class Array>
bool has_sequences(const host_rows& h, int domain, const Array& from, int i) {
  const int levels = levels_of(h, domain);
  const int* at = from.offsets(i);
  for (int l = levels; l-- > 0;) {
    const int d = domain_above(h, domain, l), n = *at++;
    if (!h.knows_rows(d) || h.sequences(d).count != n) return false;
    for (int s = 0; s < n; ++s)
      if (h.sequences(d).length(s) != at[s + 1] - at[s]) return false;
    at += n + 1;
  }
  return true;
}
/// Gives `domain` the number of rows and the sequences that are stored with slot i.
template <class Array>
void take_slot_rows(const call_context& c, int domain, const Array& from, int i) {
  const host_rows h(c);
  if (from.sequences(i) == 0 || has_sequences(h, domain, from, i))
    c.set_rows(domain, from.rows(i));
  else
    take_sequences(h, domain, from, i);
}

/// Returns the smaller of two numbers of rows: of slot i and of operand `o`. If the slot holds a
/// time step, the numbers may differ, and the missing rows count as zeros. Fails if the numbers
/// differ in any other slot.
inline int shared_rows(const call_context& c, const operand& slot, int i, const operand& o) {
  if (slot.rows != o.rows && c.kind_of(slot.domain) != domain_kind::step)
    fail(c, {"expected ", o.rows, " rows at index ", i, " of the array, found ", slot.rows});
  return (std::min)(slot.rows, o.rows);
}

/// Sets `out` to the rows of slot i, which must have a value. If `out` is a view and the slot has
/// enough rows, `out` gets the address of the slot; otherwise the rows are copied.
template <class Backend>
void read_slot(Backend& b, const call_context& c, const operand& array, int i, operand out) {
  const operand slot = slot_of<Backend>(array, i);
  const int n = shared_rows(c, slot, i, out);
  if (c.shows()) {
    if (n == out.rows) return c.show(slot.data);
    out = slot;
    out.rows = c.output(0).rows;
    out.data = array_of<Backend>(array).allocate(slot_floats(array, out.rows));
    c.show(out.data);
  }
  copy_rows(b, slot, out, n);
  clear_rows(b, out, n);
}

/// Adds n rows of x, which `map` selects, to the first n rows of `to`.
template <class Backend>
void add_rows(Backend& b, const call_context& c, const operand& x, const operand& to, int n,
              const row_map& map = {}) {
  require_float(c, x);
  move_rows<row_move::gather_add>(b, x, to, n, map);
}

}  // namespace detail

template <>
struct call_kernel<operators::write_to_array> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), array = c.output(0);
    const int i = c.index_in(1);
    if (c.refers() && x.stride == array.stride)
      detail::array_of<Backend>(array).refer(i, x.rows, static_cast<float*>(x.data));
    else
      copy_rows(b, x, detail::new_slot<Backend>(array, i, x.rows), x.rows);
    keep_sequences(host_rows(c), x.domain, detail::array_of<Backend>(array), i);
  }
};

template <>
struct call_kernel<operators::write_to_array_gradient> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand from = c.input(2), dx = c.output(0);
    const int i = c.index_in(1);
    auto& array = detail::array_of<Backend>(from);
    if (dx && !array.holds(i) && c.shows())
      clear_rows(b, detail::new_slot<Backend>(from, i, dx.rows), 0);
    if (dx && array.holds(i))
      detail::read_slot(b, c, from, i, dx);
    else if (dx)
      clear_rows(b, dx, 0);
    array.erase(i);
  }
};

template <>
struct call_kernel<operators::read_from_array> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand from = c.input(0);
    const auto& array = detail::array_of<Backend>(from);
    const int i = c.index_in(1);
    if (!array.holds(i))
      fail(c, {"expected a value at index ", i, " of an array of ", array.size(),
               " values, found none"});
    detail::take_slot_rows(c, c.output(0).domain, array, i);
    detail::read_slot(b, c, from, i, c.output(0));
  }
};

template <>
struct call_kernel<operators::read_from_array_gradient> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand d = c.input(1), to = c.output(0);
    const int i = c.index_in(0);
    if (!detail::array_of<Backend>(to).holds(i))
      return copy_rows(b, d, detail::new_slot<Backend>(to, i, d.rows), d.rows);
    const operand sum = detail::slot_of<Backend>(to, i);
    detail::add_rows(b, c, d, sum, detail::shared_rows(c, sum, i, d));
  }
};

template <>
struct call_kernel<operators::lod_array_length> {
  static constexpr bool launches = true;
  template <class Backend>
  static void here(Backend&, const call_context& c) {
    *c.output(0).row<std::int64_t>(0) = detail::array_of<Backend>(c.input(0)).size();
  }
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    fill(b, c.output(0), detail::array_of<Backend>(c.input(0)).size());
  }
};

namespace detail {

/// Maps the position of an element in slice t of an array to its position in the whole array.
struct step_map {
  divider inner, whole_columns, part_columns;
  int steps, t;
  std::ptrdiff_t whole_stride, part_stride;

  struct positions {
    std::ptrdiff_t whole, part;
  };
  LAMINA_INLINE LAMINA_FN positions at(int i) const {
    int k = i, column = i;
    const int line = inner.divide(k), row = part_columns.divide(column);
    int in_whole = (line * steps + t) * inner.divisor() + k;
    const int whole_row = whole_columns.divide(in_whole);
    return {whole_row * whole_stride + in_whole, row * part_stride + column};
  }
};

enum class step_move : std::uint8_t { cut, stack, stack_zeros };

template <step_move How>
struct step_move_body {
  struct arguments {
    void* whole;
    void* part;
    step_map map;
    int bytes, count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const auto p = a.map.at(i);
    if constexpr (How == step_move::cut)
      copy_element(a.whole, p.whole, a.part, p.part, a.bytes);
    else if constexpr (How == step_move::stack)
      copy_element(a.part, p.part, a.whole, p.whole, a.bytes);
    else
      zero_element(a.whole, p.whole, a.bytes);
  }
};

/// Copies between an array and its slices along one dimension.
struct step_parts : dimension_steps {
  using dimension_steps::dimension_steps;

  template <step_move How, class Backend>
  void move(Backend& b, const operand& part, int t) const {
    b.template elements<step_move_body<How>>(
        {whole.data, part.data,
         step_map{divider(static_cast<int>(inner)), divider(whole.columns), divider(part.columns),
                  static_cast<int>(steps), t, whole.stride, part.stride},
         size_of(whole.type), part.rows * part.columns});
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::tensor_to_tensor_array> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const detail::step_parts x(c, c.input(0), c.integer(0));
    const operand array = c.output(0);
    detail::array_of<Backend>(array).clear();
    for (int t = 0; t < x.steps; ++t) {
      x.template move<detail::step_move::cut>(b, detail::new_slot<Backend>(array, t, x.rows(array)),
                                              t);
      if (!x.of_rows)
        keep_sequences(host_rows(c), x.whole.domain, detail::array_of<Backend>(array), t);
    }
  }
};

template <>
struct call_kernel<operators::tensor_array_to_tensor> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    if (!c.flag(1)) fail(c, {"expected use_stack, found that parts are to be concatenated"});
    const operand array = c.input(0);
    const auto& from = detail::array_of<Backend>(array);
    if (dimension_of(c, c.integer(0), c.output(0).rank) > 0)
      for (int t = 0; t < from.size(); ++t)
        if (from.holds(t)) {
          detail::take_slot_rows(c, c.output(0).domain, from, t);
          break;
        }
    const detail::step_parts out(c, c.output(0), c.integer(0));
    for (int t = 0; t < out.steps; ++t) {
      operand part = array;
      part.rows = out.rows(array);
      if (!from.holds(t)) {
        out.template move<detail::step_move::stack_zeros>(b, part, t);
        continue;
      }
      if (from.rows(t) != part.rows)
        fail(c,
             {"expected ", part.rows, " rows at index ", t, " of the array, found ", from.rows(t)});
      out.template move<detail::step_move::stack>(b, detail::slot_of<Backend>(array, t), t);
    }
  }
};

}}}  // namespace lamina::engine::cuda
