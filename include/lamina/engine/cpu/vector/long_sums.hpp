// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/vector/long_sums.hpp - accurate sums of many numbers. Each number is added in
// double, or small groups are added in float and their sums in double.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/memory/array_layout.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/engine/cpu/vector/row_sums.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu::detail {

// How far ahead a sum prefetches, in floats. Without these prefetches a sum would wait at each new
// page, because the hardware prefetcher stops at the end of a page.
inline constexpr int prefetched_floats = 1024;

/// The sum of n floats in double. It adds to sixteen independent sums; in one chain of dependent
/// additions, the additions would take four times as long as the reads from memory.
#if LAMINA_DEFINES
LAMINA_NOINLINE LAMINA_API double double_sum(const float* x, std::ptrdiff_t n) {
  using four_floats [[gnu::vector_size(16)]] = float;
  using four_doubles [[gnu::vector_size(32)]] = double;
  four_doubles sum[4] = {};
  std::ptrdiff_t j = 0;
  for (; j + 16 <= n; j += 16) {
    __builtin_prefetch(x + j + prefetched_floats);
    LAMINA_UNROLL for (int i = 0; i < 4; ++i) {
      four_floats v;
      std::memcpy(&v, x + j + 4 * i, sizeof v);
      sum[i] += __builtin_convertvector(v, four_doubles);
    }
  }
  const four_doubles all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  double total = (all[0] + all[1]) + (all[2] + all[3]);
  for (; j < n; ++j) total += static_cast<double>(x[j]);
  return total;
}
#else
LAMINA_NOINLINE double double_sum(const float* x, std::ptrdiff_t n);
#endif  // LAMINA_DEFINES

/// The sum of n numbers with stride `step`.
template <class Real>
inline double line_sum(const Real* x, std::ptrdiff_t n, std::ptrdiff_t step) {
  if (step == 1) {
    if constexpr (std::is_same_v<Real, float>)
      return double_sum(x, n);
    else
      return row_sum(x, n);
  }
  double sum[4] = {};
  std::ptrdiff_t i = 0;
  for (; i + 4 <= n; i += 4)
    LAMINA_UNROLL for (int k = 0; k < 4; ++k) sum[k] += static_cast<double>(x[(i + k) * step]);
  for (; i < n; ++i) sum[0] += static_cast<double>(x[i * step]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// For each position of loop nest `kept`, sums `from` over all positions of loop nest `over`, and
/// calls store(offsets, index, sum), where `offsets` and `index` (in the innermost loop) are the
/// position in `kept`. Array 0 of both nests is `from`.
template <int K, int L, class Real, class Store>
inline void sum_over(const loop_nest<K>& kept, const loop_nest<L>& over, const Real* from,
                     Store store) {
  const std::ptrdiff_t step = kept.inner_step(0), inside = over.inner_step(0);
  kept.run([&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    const Real* const x = from + at[0];
    if (step == 1 && n >= 4) {
      for (std::ptrdiff_t first = 0; first < n; first += summed_columns) {
        const int width = static_cast<int>(std::min<std::ptrdiff_t>(summed_columns, n - first));
        alignas(64) double sums[summed_columns];
        std::fill_n(sums, width, 0.0);
        over.run([&](const std::ptrdiff_t* next, std::ptrdiff_t m) {
          sum_rows(x + first + next[0], m, inside, width, sums);
        });
        for (int j = 0; j < width; ++j) store(at, first + j, sums[j]);
      }
      return;
    }
    for (std::ptrdiff_t k = 0; k < n; ++k) {
      double sum = 0;
      over.run([&](const std::ptrdiff_t* next, std::ptrdiff_t m) {
        sum += line_sum(x + k * step + next[0], m, inside);
      });
      store(at, k, sum);
    }
  });
}

/// Accurate sums over many rows. A kernel adds each row to the n numbers `sums`, in Real. After
/// every 32 rows, this class adds the n numbers to sums in double and sets them to 0.
template <class Real>
class blocked_sums {
 public:
  /// `sums` must hold zeros, or be null if there is nothing to sum. `memory` holds n doubles.
  blocked_sums(Real* sums, int n, float* memory)
      : sums_(sums), n_(sums == nullptr ? 0 : n), aside_(numbers_at<double>(memory)) {
    for (int j = 0; j < n_; ++j) aside_[j] = 0;
  }
  void begin_row() {
    if (++rows_ % 32 == 0) put_aside();
  }
  void finish() {
    put_aside();
    for (int j = 0; j < n_; ++j) sums_[j] = static_cast<Real>(aside_[j]);
  }

 private:
  void put_aside() {
    for (int j = 0; j < n_; ++j) {
      aside_[j] += static_cast<double>(sums_[j]);
      sums_[j] = 0;
    }
  }

  Real* sums_;
  int n_;
  double* aside_;
  int rows_ = 0;
};

/// sums[c] = the sum of all elements of channel c over all rows. The elements of a channel are
/// contiguous in each row.
template <class Real>
inline void add_channels(const operand& d, int channels, Real* sums) {
  const std::ptrdiff_t size = channels > 0 ? d.columns / channels : 0;
  constexpr int together = 64;
  for (int first = 0; first < channels; first += together) {
    const int count = (std::min)(together, channels - first);
    double sum[together] = {};
    for (int r = 0; r < d.rows; ++r) {
      const Real* const from = d.row<const Real>(r) + first * size;
      for (int c = 0; c < count; ++c) sum[c] += static_cast<double>(row_sum(from + c * size, size));
    }
    for (int c = 0; c < count; ++c) sums[first + c] = static_cast<Real>(sum[c]);
  }
}

}}}  // namespace lamina::engine::cpu::detail
