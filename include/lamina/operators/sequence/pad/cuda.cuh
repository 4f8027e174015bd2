// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/pad/cuda.cuh - the kernels of sequence_pad, sequence_unpad and
// sequence_mask.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/schedule/dynamic_sequences.hpp>
#include <lamina/operators/sequence/pad/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// The arguments of the kernels that pad and unpad. Each padded row holds the rows of one sequence,
/// one after the other.
struct padded_arguments {
  sequence_view all;
  argument_view rows, padded, pad, length;  // absent `pad`: zeros
  divider columns;                          // columns of `rows`
  bool pads_alike;                          // whether one number pads all elements
  int steps, bytes;                         // `steps`: rows of a sequence in a padded row
  fault_word* fault;
  int group;
  int lines, width, count;
};

struct pad_lines {
  using arguments = padded_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s), n = a.all.end(s) - begin, width = a.columns.divisor();
    if (team.rank() == 0) {
      if (a.length) store_integer(a.length.data, a.length.type, s * a.length.stride, n);
      if (a.padded && n > a.steps) report_fault(a.fault, a.group, s);
    }
    for (int i = team.rank(); i < a.steps * width; i += team.size()) {
      int j = i;
      const int t = a.columns.divide(j);
      const std::ptrdiff_t to = s * a.padded.stride + i;
      if (t < n) {
        copy_element(a.rows.data, (begin + t) * a.rows.stride + j, a.padded.data, to, a.bytes);
      } else if (a.pad) {
        const int p = a.pads_alike ? 0 : j;
        copy_element(a.pad.data, p / a.pad.columns * a.pad.stride + p % a.pad.columns,
                     a.padded.data, to, a.bytes);
      } else {
        zero_element(a.padded.data, to, a.bytes);
      }
    }
  }
};
struct unpad_lines {
  using arguments = padded_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s), n = a.all.end(s) - begin;
    const int most = (n < a.steps ? n : a.steps) * a.columns.divisor();
    for (int i = team.rank(); i < most; i += team.size()) {
      int j = i;
      const int t = a.columns.divide(j);
      copy_element(a.padded.data, s * a.padded.stride + i, a.rows.data,
                   (begin + t) * a.rows.stride + j, a.bytes);
    }
  }
};
template <class Kernel, class Backend>
void run_padded(Backend& b, const call_context& c, const operand& rows, const operand& padded,
                const argument_view& pad = {}, const argument_view& length = {}) {
  padded_arguments a{};
  a.all = c.sequences(rows.domain);
  a.rows = view_of_operand(rows);
  a.padded = view_of_operand(padded);
  a.pad = pad;
  a.length = length;
  a.columns = divider(rows.columns);
  a.pads_alike = pad.rows * pad.columns == 1;
  a.steps = padded && rows.columns > 0 ? padded.columns / rows.columns : 0;
  a.bytes = size_of(rows.type);
  a.fault = c.run.fault;
  a.group = c.number_of_group;
  a.lines = a.count = a.all.count;
  a.width = padded.columns;
  if (a.lines > 0) b.template lines<team_lines<Kernel>>(a);
}

}  // namespace detail

template <>
struct call_kernel<operators::sequence_pad> {
  static constexpr bool launches = true;
  static constexpr checked_input checked{0, "", chosen::length};
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0);
    const operand padded = c.output(0);
    const argument_view pad = c.in(1);
    if (const int pads = pad.rows * pad.columns; padded && pads != 1 && pads != x.columns)
      fail(c, {"expected 1 or ", x.columns, " numbers to pad with, found ", pads});
    detail::run_padded<detail::pad_lines>(b, c, x, padded, pad, c.out(1));
  }
};
template <>
struct call_kernel<gradient_of<operators::sequence_pad>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    if (const operand dx = c.output(0))
      detail::run_padded<detail::unpad_lines>(b, c, dx, c.input(1));
  }
};

template <>
struct call_kernel<operators::sequence_unpad> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const int width = c.output(0).columns, rows = c.input(0).rows;
    const int most = c.input(0).columns / width;
    const std::vector<std::int64_t> lengths = values_of(c, 1);
    if (static_cast<int>(lengths.size()) != rows)
      fail(c, {"expected ", rows, " lengths, found ", static_cast<int>(lengths.size())});
    make_sequences(host_rows(c), c.output(0).domain, rows, [&](int s) {
      const std::int64_t n = lengths[static_cast<std::size_t>(s)];
      if (n < 0 || n > most) fail_range(c, "length", n, s, most + 1);
      return static_cast<int>(n);
    });
    detail::run_padded<detail::unpad_lines>(b, c, c.output(0), c.input(0));
  }
};
template <>
struct call_kernel<gradient_of<operators::sequence_unpad>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    if (const operand dx = c.output(0)) detail::run_padded<detail::pad_lines>(b, c, c.input(2), dx);
  }
};

namespace detail {

struct sequence_mask_body {
  struct arguments {
    argument_view x, y;
    divider length, columns;  // the elements of a mask, of a row of y
    divider x_columns;
    int in_row, count;  // masks per row
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    int column = i;
    const int row = a.columns.divide(column);
    int j = column;
    int at = row * a.in_row + a.length.divide(j);
    const int x_row = a.x_columns.divide(at);
    const std::int64_t ones = load_integer(a.x.data, a.x.type, x_row * a.x.stride + at);
    store_integer(a.y.data, a.y.type, row * a.y.stride + column, j < ones ? 1 : 0);
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::sequence_mask> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), y = c.output(0);
    if (x.columns == 0 || y.columns == 0) return;
    const int in_row = y.rows == x.rows ? x.columns : 1;  // 1 for a vector [n]: a row of y per mask
    b.template elements<detail::sequence_mask_body>(
        {view_of_operand(x), view_of_operand(y), divider(y.columns / in_row), divider(y.columns),
         divider(x.columns), in_row, y.rows * y.columns});
  }
};

}}}  // namespace lamina::engine::cuda
