// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/shape/cuda.cuh - sequence operators that change lengths:
// sequence_concat, sequence_slice, sequence_reshape, sequence_erase, ctc_align. The host computes
// the new lengths. It waits for values from the device only if the lengths depend on these values.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/schedule/dynamic_sequences.hpp>
#include <lamina/operators/sequence/cuda.cuh>
#include <lamina/operators/sequence/shape/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

template <>
struct call_kernel<operators::sequence_concat> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const host_rows h(c);
    const auto all = [&](int i) { return h.sequences(c.input(0, i).domain); };
    const int inputs = c.input_count(0), sequences = all(0).count;
    for (int i = 1; i < inputs; ++i)
      if (all(i).count != sequences)
        fail(c, {"expected ", sequences, " sequences in input ", i, " as in the first, found ",
                 all(i).count});
    make_sequences(h, c.output(0).domain, sequences, [&](int s) {
      int n = 0;
      for (int i = 0; i < inputs; ++i) n += all(i).length(s);
      return n;
    });
    for (int i = 0; i < inputs; ++i) {
      const operand x = c.input(0, i);
      move_rows<row_move::scatter>(b, x, c.output(0), x.rows, positions(h, i).copy_to_device(c));
    }
  }
  /// Returns the rows of the result to which the rows of input i are copied.
  static row_order positions(const host_rows& h, int i) {
    row_order order;
    for_each_concatenated(h, [&](int input, int, int rows, int to) {
      if (input == i) order.add(to, rows);
    });
    return order;
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return row_order::scratch(c);
  }
};
template <>
struct call_kernel<gradient_of<operators::sequence_concat>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    for (int i = 0; i < c.input_count(0); ++i)
      if (const operand dx = c.output(0, i))
        move_rows<row_move::gather>(
            b, c.input(1), dx, dx.rows,
            call_kernel<operators::sequence_concat>::positions(host_rows(c), i).copy_to_device(c));
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return row_order::scratch(c);
  }
};

namespace detail {

struct cut_arguments : sequence_arguments {
  sequence_view cut;
  argument_view offset;
};
/// Copies rows of each sequence from an offset on. With Back, copies the gradients of these rows to
/// the gradient of X.
template <bool Back>
struct sequence_cut_lines {
  using arguments = cut_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int first = a.all.begin(s) + static_cast<int>(a.offset.integer(s * a.offset.columns));
    const int begin = a.cut.begin(s);
    LAMINA_CUDA_KEEP_LOOP
    for (int i = team.rank(); i < (a.cut.end(s) - begin) * a.columns.divisor(); i += team.size()) {
      int j = i;
      const int r = a.columns.divide(j), from = Back ? begin + r : first + r,
                to = Back ? first + r : begin + r;
      copy_element(a.in[0].data, from * a.in[0].stride + j, a.out[0].data, to * a.out[0].stride + j,
                   a.bytes);
    }
  }
};
template <bool Back, class Backend>
void run_cut(Backend& b, const call_context& c, const operand& from, const operand& to, int whole,
             const operand& cut) {
  cut_arguments a{};
  a.all = c.sequences(whole);
  a.cut = c.sequences(cut.domain);
  a.offset = c.in(1);
  a.in[0] = view_of_operand(from);
  a.out[0] = view_of_operand(to);
  a.columns = divider(cut.columns);
  a.bytes = size_of(cut.type);
  a.lines = a.count = a.cut.count;
  a.width = a.lines > 0 ? cut.rows / a.lines * cut.columns : 0;
  if (a.lines > 0) b.template lines<team_lines<sequence_cut_lines<Back>>>(a);
}

}  // namespace detail

template <>
struct call_kernel<operators::sequence_slice> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const host_rows h(c);
    const int from = c.input(0).domain, sequences = h.sequences(from).count;
    const operand offset = c.input(1), length = c.input(2);
    if (offset.rows != sequences || length.rows != sequences)
      fail(c, {"expected one offset and length for each of ", sequences, " sequences, found ",
               offset.rows, " and ", length.rows});
    const std::vector<std::int64_t> offsets = values_of(c, 1), lengths = values_of(c, 2);
    make_sequences(h, c.output(0).domain, sequences, [&](int s) {
      const std::int64_t has = h.sequences(from).length(s);
      const std::int64_t first = offsets[static_cast<std::size_t>(s * offset.columns)];
      const std::int64_t n = lengths[static_cast<std::size_t>(s * length.columns)];
      if (first < 0 || first > has) fail_range(c, "offset", first, s, has + 1);
      if (n < 0 || n > has - first) fail_range(c, "length", n, s, has - first + 1);
      return static_cast<int>(n);
    });
    const operand out = c.output(0);
    detail::run_cut<false>(b, c, c.input(0), out, from, out);
  }
};
template <>
struct call_kernel<gradient_of<operators::sequence_slice>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand d = c.input(3), dx = c.output(0);
    if (!dx) return;
    fill(b, dx, 0);
    detail::run_cut<true>(b, c, d, dx, dx.domain, d);
  }
};

template <>
struct call_kernel<operators::sequence_reshape> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const host_rows h(c);
    const int from = c.input(0).domain, width = c.input(0).columns, wide = c.output(0).columns;
    make_sequences(h, c.output(0).domain, h.sequences(from).count, [&](int s) {
      const int rows = h.sequences(from).length(s);
      const std::int64_t elements = static_cast<std::int64_t>(rows) * width;
      if (elements % wide != 0)
        fail(c, {"expected sequences whose elements fill rows of ", wide, ", found ", rows,
                 " rows of ", width, " in sequence ", s});
      return static_cast<int>(elements / wide);
    });
    copy_elements(b, c.input(0), c.output(0));
  }
};
template <>
struct call_kernel<gradient_of<operators::sequence_reshape>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand dx = c.output(0);
    if (!dx) return;
    require_size(c, dx, c.input(1));
    copy_elements(b, c.input(1), dx);
  }
};

}}}  // namespace lamina::engine::cuda
