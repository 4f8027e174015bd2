// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/selected_rows/cuda.cuh - kernels that add up sparse gradients, and
// that update parameters by sparse gradients. A sparse gradient stores only some of the rows of a
// table.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/memory/selected_rows.cuh>
#include <lamina/operators/elementwise/sum/cuda.cuh>
#include <lamina/operators/embedding/lookup_table/cuda.cuh>
#include <lamina/operators/update/cuda.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Writes the row numbers of an addend as keys for the sort; the value of each key is the offset of
/// the row's elements from `base`, in multiples of the alignment.
struct selected_keys_body {
  struct arguments {
    selected_rows_view from;
    const float* base;
    int *keys, *positions;
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    a.keys[i] = a.from.counts(i) ? a.from.numbers[i] : a.from.entries;
    a.positions[i] =
        static_cast<int>((a.from.values + i * a.from.stride - a.base) / alignment_floats);
  }
};

/// Adds each row of a sparse gradient to the row of an array that has the same number.
struct selected_rows_lines {
  struct arguments {
    selected_rows_view from;
    float* to;
    std::ptrdiff_t stride;
    int columns;
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    if (!a.from.counts(i)) return;
    const float* const from = a.from.values + i * a.from.stride;
    float* const to = a.to + a.from.numbers[i] * a.stride;
    for (int j = team.rank(); j < a.columns; j += team.size()) to[j] += from[j];
  }
};

template <class Backend>
void add_selected_rows(Backend& b, const selected_rows& from, const operand& to) {
  if (from.count > 0)
    b.template lines<team_lines<selected_rows_lines>>({from.view(), static_cast<float*>(to.data),
                                                       to.stride, to.columns, from.count,
                                                       to.columns, from.count});
}

/// Adds up the sparse gradients addend(0) to addend(n - 1) in `sum`. Rows with equal numbers are
/// added in the order of the addends. All addends must be in one block of memory, because their
/// rows are identified by offsets. `scratch` has the size that entry_sum_scratch() returns.
template <class Backend, class Addends>
void sum_selected_rows(Backend& b, const Addends& addend, int n, const selected_rows& sum,
                       float* scratch) {
  if (sum.count == 0) return;
  entry_order order(scratch, sum.count, sum.entries);
  order.sort.sorted_keys = sum.numbers;
  // A row of any addend is identified by its offset from the first row of addend 0.
  float* const base = addend(0).values;
  for (int i = 0, at = 0; i < n; ++i) {
    const selected_rows& x = addend(i);
    b.template elements<selected_keys_body>(
        {x.view(), base, order.sort.keys + at, order.sort.numbers + at, x.count});
    at += x.count;
  }
  entry_arguments a{};
  a.table = sum.values;
  a.table_step = padded(sum.columns);
  a.entries = sum.entries;
  a.to = base;
  a.to_step = alignment_floats;
  a.to_in_row = divider(1);
  a.size = a.width = sum.columns;
  a.lines = a.count = sum.count;
  order.run(b, a);
  b.template lines<team_lines<entry_sum_lines<true>>>(a);
}

}  // namespace detail

template <>
struct call_kernel<operators::selected_rows_sum> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand out = c.output(0);
    if (!out) return;
    detail::sum_selected_rows(
        b, [&](int i) -> const selected_rows& { return rows_of(c.input(0, i)); }, c.input_count(0),
        rows_of(out), c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand out = c.output(0);
    return out ? detail::entry_sum_scratch<Backend>(rows_of(out).capacity) : 0;
  }
};

template <>
struct call_kernel<operators::mixed_rows_sum> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand out = c.output(0);
    if (!out) return;
    detail::clear(b, out);
    for (int i = 0; i < c.input_count(0); ++i) {
      const operand x = c.input(0, i);
      if (has_selected_rows(x))
        detail::add_selected_rows(b, rows_of(x), out);
      else
        b.template elements<detail::add_body>({x.data, out.data, x.stride, out.stride,
                                               divider(out.columns), dtype::float32, true,
                                               out.rows * out.columns});
    }
  }
};

namespace detail {

/// The rows of a table that an update computes: only the rows of the gradient if the update leaves
/// all other rows unchanged, else all rows. With `lines` lines, line i computes the rows i, i +
/// lines, i + 2 * lines, ...
template <class Update>
struct updated_rows {
  static constexpr int states = Update::states;
  static constexpr int numbers = static_cast<int>(Update::attributes.size());
  static constexpr int norms = Update::traits::has_norms ? 2 : 0;
  float* of[bound(1 + states)];  // the parameter, then its accumulators
  const float* number;           // the update's scalars; then its norms, if any
  selected_rows_view gradient;
  std::ptrdiff_t stride;
  int rows, columns;

  /// Calls f(row, gradient of the row, scalars of the update) for each row of line i. The gradient
  /// is null if the sparse gradient does not store the row.
  template <class F>
  LAMINA_INLINE LAMINA_FN void each(int i, int lines, const F& f) const {
    // With weight decay, the update changes every row.
    const bool some = number[Update::lazy_mode] != 0 && number[4] == 0 && number[5] == 0;
    const int visited = some ? gradient.count : rows;
    for (int k = i; k < visited; k += lines) {
      if (some && !gradient.counts(k)) continue;
      const int at = some ? k : gradient.find(k);
      float own[bound(numbers + norms)];
      LAMINA_CUDA_UNROLL
      for (int n = 0; n < numbers + norms; ++n) own[n] = number[n];
      // The gradient of a row that is not stored is 0, so clipping must not change it: the limits
      // become infinite.
      constexpr float infinity = __builtin_huge_valf();
      if (at < 0) own[2] = -infinity, own[3] = infinity;
      f(some ? gradient.numbers[k] : k, at < 0 ? nullptr : gradient.values + at * gradient.stride,
        own);
    }
  }
  template <class State>
  LAMINA_INLINE LAMINA_FN void load(State& state, std::ptrdiff_t at) const {
    LAMINA_CUDA_UNROLL
    for (int s = 0; s < states; ++s) state[s] = of[1 + s][at];
  }
};

template <class Update>
struct rows_update_lines {
  struct arguments : updated_rows<Update> {
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    a.each(i, a.lines, [&](int row, const float* gradient, const float* number) {
      for (int j = team.rank(); j < a.columns; j += team.size()) {
        const std::ptrdiff_t at = row * a.stride + j;
        float param = a.of[0][at], state[bound(Update::states)];
        a.load(state, at);
        Update::template apply<float>(param, gradient == nullptr ? 0.0f : gradient[j], state,
                                      number, number + arguments::numbers);
        a.of[0][at] = param;
        LAMINA_CUDA_UNROLL
        for (int s = 0; s < Update::states; ++s) a.of[1 + s][at] = state[s];
      }
    });
  }
};

/// Computes two sums of squares per line: of the parameter, and of the numbers that
/// Update::normed() returns.
template <class Update>
struct rows_norm_lines {
  struct arguments : updated_rows<Update> {
    double* to;
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    double of_param = 0, of_other = 0;
    a.each(i, a.lines, [&](int row, const float* gradient, const float* number) {
      for (int j = team.rank(); j < a.columns; j += team.size()) {
        const std::ptrdiff_t at = row * a.stride + j;
        float state[bound(Update::states)];
        a.load(state, at);
        const float param = a.of[0][at];
        const double p = static_cast<double>(param);
        const double u = static_cast<double>(Update::template normed<float>(
            param, gradient == nullptr ? 0.0f : gradient[j], state, number));
        of_param += p * p;
        of_other += u * u;
      }
    });
    of_param = sum_of(team, of_param);
    of_other = sum_of(team, of_other);
    if (team.rank() != 0) return;
    a.to[2 * i] = of_param;
    a.to[2 * i + 1] = of_other;
  }
};

/// Computes the two norms of an update from the sums of all lines, and appends them to the update's
/// scalars. One team computes each norm.
struct norm_lines {
  struct arguments {
    const double* squares;
    const float* number;
    float* to;
    int parts, numbers;
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    double sum = 0;
    for (int k = team.rank(); k < a.parts; k += team.size()) sum += a.squares[2 * k + i];
    sum = sum_of(team, sum);
    if (team.rank() == 0) a.to[a.numbers + i] = static_cast<float>(math::sqrt(sum));
    for (int k = team.rank(); i == 0 && k < a.numbers; k += team.size()) a.to[k] = a.number[k];
  }
};

/// Returns the number of lines among which the rows of an update are divided.
inline int update_lines(int selected, int rows) {
  constexpr int most = 1024;
  return selected > rows || rows < most ? at_least_one(rows) : selected > most ? selected : most;
}
inline int norm_lines_of(int rows) { return rows < 256 ? at_least_one(rows) : 256; }

}  // namespace detail

/// Returns the number of scratch floats that an update by a sparse gradient needs.
template <class Update>
constexpr std::ptrdiff_t rows_update_scratch(int rows) {
  if constexpr (Update::traits::has_norms)
    return 4 * detail::norm_lines_of(rows) +
           padded(static_cast<int>(Update::attributes.size()) + 2);
  else
    return 0;
}

/// Updates a parameter [rows, columns] by a sparse gradient. The rows of `value` and `states` are
/// padded; `scratch` must be aligned to 8 bytes, because it holds doubles.
template <class Update, class Backend>
void run_rows_update(Backend& b, float* value, const selected_rows& gradient, float* const* states,
                     const float* number, int rows, int columns, float* scratch) {
  detail::updated_rows<Update> a{};
  a.of[0] = value;
  for (int s = 0; s < Update::states; ++s) a.of[1 + s] = states[s];
  a.number = number;
  a.gradient = gradient.view();
  a.stride = padded(columns);
  a.rows = rows;
  a.columns = columns;
  if constexpr (Update::traits::has_norms) {
    const int lines = detail::norm_lines_of(rows);
    constexpr int numbers = static_cast<int>(Update::attributes.size());
    double* const squares = reinterpret_cast<double*>(scratch);
    float* const with_norms = scratch + 4 * lines;
    // The norms in `with_norms` are not set yet; no kernel reads them before they are computed.
    b.template elements<detail::reshape_body>(
        {number, with_norms, 0, 0, divider(numbers), divider(numbers), sizeof(float), numbers});
    a.number = with_norms;
    b.template lines<team_lines<detail::rows_norm_lines<Update>>>(
        {a, squares, lines, columns, lines});
    b.template lines<team_lines<detail::norm_lines>>(
        {squares, number, with_norms, lines, numbers, 2, lines, 2});
  }
  const int lines = detail::update_lines(gradient.count, rows);
  b.template lines<team_lines<detail::rows_update_lines<Update>>>({a, lines, columns, lines});
}

/// Updates a parameter by a sparse gradient.
template <class Opt, bool Given>
struct call_kernel<rows_update_operator<Opt, Given>> {
  using update = rows_update_operator<Opt, Given>;
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand param = c.at_position(0);
    const float* const number = c.arguments[2 + update::states];
    // If there are no scalars, the caller of the machine computes the updates, and this kernel does
    // nothing.
    if (param && number != nullptr)
      run_rows_update<update>(b, static_cast<float*>(param.data), rows_of(c.at_position(1)),
                              c.arguments + 2, number, param.rows, param.columns, c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return rows_update_scratch<update>(c.at_position(0).rows);
  }
};

}}}  // namespace lamina::engine::cuda
