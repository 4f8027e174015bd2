// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/expand/cuda.cuh - sequence_expand and sequence_expand_as, which repeat
// rows and sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/pooling_type.hpp>
#include <lamina/engine/cuda/schedule/dynamic_sequences.hpp>
#include <lamina/operators/sequence/cuda.cuh>
#include <lamina/operators/sequence/expand/definition.hpp>
#include <lamina/operators/sequence/pool/cuda.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// `forward` copies row s of x to each row of sequence s in out. `backward` adds up the gradients
/// of the copies of each row.
struct sequence_repeat {
  template <class Backend>
  static void forward(Backend& b, const call_context& c, const operand& x, const operand& out) {
    const sequence_view all = c.sequences(out.domain);
    if (x.rows != all.count)
      fail(c, {"expected one row for each of ", all.count, " sequences, found ", x.rows});
    sequence_arguments a{};
    a.in[0] = view_of_operand(x);
    a.out[0] = view_of_operand(out);
    run_sequences<sequence_copy_lines<false>>(b, c, a, out.domain, out);
  }
  template <class Backend>
  static void backward(Backend& b, const call_context& c, const operand& d, const operand& dx) {
    require_float(c, d);
    sequence_arguments a{};
    a.in[0] = view_of_operand(d);
    a.out[0] = view_of_operand(dx);
    a.type = pooling_type::sum;
    run_sequences<sequence_pool_lines>(b, c, a, d.domain, d);
  }
};

/// Whether sequence_expand repeats single rows of X; otherwise it repeats whole sequences. It
/// repeats rows if X has as many LoD levels as Y has above level ref_level, and sequences if X has
/// one level more. The domains of X and Out do not tell the two cases apart, because in both cases
/// the domain of X may be the parent of the domain of Out.
inline bool repeats_rows(const call_context& c) {
  const int level = c.integer(0);
  const int known = level < 0 ? levels_of(c, c.input(1).domain) + level : level;
  return levels_of(c, c.input(0).domain) == known;
}

}  // namespace detail

template <>
struct call_kernel<operators::sequence_expand> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const int x = c.input(0).domain, out = c.output(0).domain;
    if (detail::repeats_rows(c))
      return detail::sequence_repeat::forward(b, c, c.input(0), c.output(0));
    const host_rows h(c);
    const int copies = c.parent_of(out);
    int item = 0;
    make_sequences(h, out, c.rows_in(copies), [&](int copy) {
      while (copy >= h.sequences(copies).end(item)) ++item;
      return h.sequences(x).length(item);
    });
    row_order order;
    for_each_copy(h, x, out, [&](int first, int rows, int) { order.add(first, rows); });
    move_rows<row_move::gather>(b, c.input(0), c.output(0), order.size(), order.copy_to_device(c));
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return detail::repeats_rows(c) ? 0 : row_order::scratch(c);
  }
};
template <>
struct call_kernel<gradient_of<operators::sequence_expand>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand d = c.input(2), dx = c.output(0);
    if (!dx) return;
    if (detail::repeats_rows(c)) return detail::sequence_repeat::backward(b, c, d, dx);
    require_float(c, d);
    detail::copied_arguments a{};
    a.copies = c.sequences(c.parent_of(d.domain));
    a.outs = c.sequences(d.domain);
    a.in[0] = view_of_operand(d);
    a.out[0] = view_of_operand(dx);
    detail::run_sequences<detail::copied_grad_lines>(b, c, a, dx.domain, dx);
  }
};
template <>
struct call_kernel<operators::sequence_expand_as> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    detail::sequence_repeat::forward(b, c, c.input(0), c.output(0));
  }
};
template <>
struct call_kernel<gradient_of<operators::sequence_expand_as>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    if (const operand dx = c.output(0)) detail::sequence_repeat::backward(b, c, c.input(2), dx);
  }
};

}}}  // namespace lamina::engine::cuda
