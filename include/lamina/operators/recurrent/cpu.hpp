// SPDX-License-Identifier: Apache-2.0
// lamina/operators/recurrent/cpu.hpp - code of the recurrent kernels on CPUs: computes each time
// step for all sequences together.
//
// Sequences are sorted by descending length, so the sequences that have a step k are always the
// first ones. Their rows at step k form one matrix, so one matrix product per step serves all
// sequences. The row of a sequence in this matrix is the same in all its steps, so the states of
// the previous step need not be moved.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>

#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/gemm/gemm_row_major.hpp>
#include <lamina/engine/cpu/gemm/panel_copies.hpp>
#include <lamina/engine/cpu/memory/array_layout.hpp>
#include <lamina/engine/cpu/memory/scratch_arena.hpp>
#include <lamina/engine/cpu/vector/long_sums.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/activation/simple/definition.hpp>
#include <lamina/operators/recurrent/common.hpp>
#include <lamina/operators/recurrent/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Returns the number of floats of scratch memory that a kernel needs. The constructor `Arrays(c,
/// scratch_arena&)` must take all arrays that the kernel uses.
template <class Arrays>
std::ptrdiff_t scratch_floats(const call_context& c) {
  scratch_arena arena(nullptr);
  const Arrays m(c, arena);
  return arena.used();
}

/// Ranks sequences by length: rank 0 is the longest. Also finds the first row of each step in
/// arrays that are ordered by steps: such an array has the rows of step 0 first, one row per rank,
/// then the rows of step 1, and so on.
class step_schedule {
 public:
  /// Takes memory from `arena`. If `arena` only counts memory, the schedule stays empty.
  step_schedule(const call_context& c, const operand& rows, bool reverse, scratch_arena& arena)
      : all_(c.sequences(rows)), reverse_(reverse) {
    order_ = arena.take_integers(all_.count);
    start_ = arena.take_integers(static_cast<std::ptrdiff_t>(rows.rows) + 1);
    if (order_ == nullptr) return;
    for (int i = 0; i < all_.count; ++i) order_[i] = i;
    std::sort(order_, order_ + all_.count, [this](int a, int b) {
      const int first = all_.length(a), second = all_.length(b);
      return first != second ? first > second : a < b;
    });
    steps_ = all_.count > 0 ? all_.length(order_[0]) : 0;
    start_[0] = 0;
    for (int k = 0, n = all_.count; k < steps_; ++k) {
      while (all_.length(order_[n - 1]) <= k) --n;
      start_[k + 1] = start_[k] + n;
    }
  }

  int sequences() const { return all_.count; }
  /// The length of the longest sequence.
  int steps() const { return steps_; }
  /// active(k) is the number of sequences that are longer than k; start(k) is the first row of step
  /// k in arrays that are ordered by steps.
  int active(int k) const { return start_[k + 1] - start_[k]; }
  int start(int k) const { return start_[k]; }
  /// The index, in the batch, of the sequence with rank `rank`.
  int sequence(int rank) const { return order_[rank]; }
  /// The row that the sequence with rank `rank` reads at step k, in arrays that are ordered by
  /// sequences.
  int row(int rank, int k) const {
    const int s = order_[rank];
    return reverse_ ? all_.end(s) - 1 - k : all_.begin(s) + k;
  }

 private:
  sequence_rows all_;
  bool reverse_;
  int* order_;
  int* start_;
  int steps_ = 0;
};

namespace detail {
template <class Op, class Real>
inline void apply_in_place(Real* x, std::ptrdiff_t n) {
  for_each_position<Real>(
      n, [x](std::ptrdiff_t j, auto like) { store(x + j, Op::f(load(x + j, like))); });
}
}  // namespace detail

/// x[j] = f(x[j]).
template <class Real>
LAMINA_NOINLINE inline void apply(recurrent_activation f, Real* x, std::ptrdiff_t n) {
  if (f == recurrent_activation::sigmoid) detail::apply_in_place<operators::sigmoid>(x, n);
  if (f == recurrent_activation::tanh) detail::apply_in_place<operators::tanh>(x, n);
  if (f == recurrent_activation::relu) detail::apply_in_place<operators::relu>(x, n);
}

/// Multiplies the rows of each step by the same weight matrix, which is packed into panels once for
/// all steps.
template <class Real>
struct basic_step_product {
  int depth, width;
  Real *panels, *scratch;

  /// Reserves memory for the panels and for products of `fewest` to `rows` rows.
  basic_step_product(int rows, int depth_of, int width_of, scratch_arena& arena, int fewest = 1)
      : depth(depth_of), width(width_of), panels(arena.take<Real>(panels_floats(depth, width))) {
    std::ptrdiff_t most = 0;
    for (int n = fewest; n <= rows; ++n)
      most = (std::max)(most, gemm_scratch_floats<Real>(n, depth, width));
    scratch = arena.take<Real>(most);
  }
  /// Packs a weight [depth, width] into `panels`. run() multiplies by this weight until the next
  /// call of take().
  void take(const operand& weight) {
    pack(depth, width, weight.row<const Real>(0), weight.stride, panels);
  }
  /// to[rows, width] = from[rows, depth] times the weight; with `adds`, += instead of =.
  void run(int rows, const Real* from, std::ptrdiff_t from_stride, Real* to,
           std::ptrdiff_t to_stride, bool adds) const {
    const detail::basic_plain_store<Real> store{to, to_stride, width, 1, adds};
    gemm(rows, depth, width, from, from_stride, panels, to_stride,
         &detail::basic_plain_store<Real>::run, &store, scratch);
  }
};
using step_product = basic_step_product<float>;

/// Copies the initial state of each sequence to the row of `to` that belongs to the sequence's
/// rank; writes zeros if `given` is absent.
template <class Real>
inline void take_states(const step_schedule& steps, const operand& given, Real* to, int width) {
  const int stride = padded(width);
  for (int r = 0; r < steps.sequences(); ++r)
    if (given)
      std::copy_n(given.row<const Real>(steps.sequence(r)), width,
                  to + static_cast<std::ptrdiff_t>(r) * stride);
    else
      std::fill_n(to + static_cast<std::ptrdiff_t>(r) * stride, width, Real(0));
}

/// Returns the state before step k of the sequence with rank `rank`. For k > 0 this is the row of
/// step k - 1 in `all`, the states of all steps. For k = 0 it is the sequence's row of `given`, the
/// initial states, or `nothing` if `given` is absent.
template <class Real>
inline const Real* state_before(const step_schedule& steps, int rank, int k, const operand& all,
                                const operand& given, const Real* nothing) {
  return k > 0   ? all.row<const Real>(steps.row(rank, k - 1))
         : given ? given.row<const Real>(steps.sequence(rank))
                 : nothing;
}

/// Copies states that are ordered by rank to the rows of `to`, which are in the order of the batch.
/// Does nothing if `to` is absent.
template <class Real>
inline void give_states(const step_schedule& steps, const Real* from, int width,
                        const operand& to) {
  if (!to) return;
  for (int r = 0; r < steps.sequences(); ++r)
    std::copy_n(from + static_cast<std::ptrdiff_t>(r) * padded(width), width,
                to.row<Real>(steps.sequence(r)));
}

/// Computes to = x + bias; to = x if `bias` is null.
template <class Real>
inline void add_bias(const Real* x, const Real* bias, Real* to, int width) {
  if (bias == nullptr) {
    std::copy_n(x, width, to);
    return;
  }
  for_each_position<Real>(width, [=](std::ptrdiff_t j, auto like) {
    store(to + j, load(x + j, like) + load(bias + j, like));
  });
}

/// Adds the sum of column j of x to to[j], for each j.
template <class Real>
inline void add_rows(const Real* x, std::ptrdiff_t stride, int rows, int width, Real* to) {
  for (int first = 0; first < width; first += detail::summed_columns) {
    const int n = width - first < detail::summed_columns ? width - first : detail::summed_columns;
    alignas(64) double sums[detail::summed_columns];
    for (int j = 0; j < n; ++j) sums[j] = static_cast<double>(to[first + j]);
    detail::sum_rows(x + first, rows, stride, n, sums);
    for (int j = 0; j < n; ++j) to[first + j] = static_cast<Real>(sums[j]);
  }
}

}}}  // namespace lamina::engine::cpu
