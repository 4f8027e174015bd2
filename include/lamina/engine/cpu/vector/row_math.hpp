// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/vector/row_math.hpp - sums and copies of rows. They read only the elements of a
// row, not the padding after it.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>

#include <lamina/engine/cpu/memory/array_layout.hpp>
#include <lamina/engine/cpu/vector/row_vectors.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The sum of the elements of a vector.
template <class Real>
LAMINA_INLINE Real sum_of(simd::batch<Real> v) {
  alignas(64) Real part[lanes_in<Real>];
  v.store_aligned(part);
  Real sum = 0;
  for (const Real p : part) sum += p;
  return sum;
}

namespace detail {
/// The largest number of terms that are added in Real. A longer row is split into parts of this
/// length, and the sums of the parts are added in double.
inline constexpr std::ptrdiff_t most_summed = 4096;

template <class Real, class Term, class Rest>
LAMINA_INLINE Real sum_terms(std::ptrdiff_t n, Term term, Rest rest) {
  using vector = vector_in<Real>;
  constexpr int lanes = lanes_in<Real>;
  const vector none(Real(0));
  double before = 0;
  std::ptrdiff_t j = 0;
  for (;;) {
    // A long row is summed in parts: one running sum would lose the digits of terms that are small
    // compared with it.
    const bool is_long = n - j > most_summed;
    const std::ptrdiff_t end = is_long ? j + most_summed : n;
    vector sum[4] = {none, none, none, none};
    for (; j + 4 * lanes <= end; j += 4 * lanes)
      LAMINA_UNROLL for (int i = 0; i < 4; ++i) sum[i] += term(j + i * lanes);
    for (; j + lanes <= end; j += lanes) sum[0] += term(j);
    Real total = sum_of((sum[0] + sum[1]) + (sum[2] + sum[3]));
    for (; j < end; ++j) total += rest(j);
    if (!is_long) return static_cast<Real>(before + static_cast<double>(total));
    before += static_cast<double>(total);
  }
}
}  // namespace detail

/// x[0] + ... + x[n - 1].
template <class Real>
LAMINA_NOINLINE Real row_sum(const Real* x, std::ptrdiff_t n);

/// x[0] * y[0] + ... + x[n - 1] * y[n - 1].
template <class Real>
LAMINA_NOINLINE inline Real dot(const Real* x, const Real* y, std::ptrdiff_t n) {
  return detail::sum_terms<Real>(
      n,
      [=](std::ptrdiff_t j) {
        return vector_in<Real>::load_unaligned(x + j) * vector_in<Real>::load_unaligned(y + j);
      },
      [=](std::ptrdiff_t j) { return x[j] * y[j]; });
}

/// The sum of x[j] - shift.
template <class Real>
LAMINA_NOINLINE inline Real sum_of_offsets(const Real* x, std::type_identity_t<Real> shift,
                                           std::ptrdiff_t n) {
  const vector_in<Real> s(shift);
  return detail::sum_terms<Real>(
      n,
      [=](std::ptrdiff_t j) { return vector_in<Real>(vector_in<Real>::load_unaligned(x + j) - s); },
      [=](std::ptrdiff_t j) { return x[j] - shift; });
}

/// The mean of n >= 1 numbers. It is exact if all numbers are equal; otherwise a normalisation of
/// equal numbers would divide a rounding error by a standard deviation of nearly 0.
template <class Real>
inline Real mean_of(const Real* x, std::ptrdiff_t n) {
  return x[0] + sum_of_offsets(x, x[0], n) / static_cast<Real>(n);
}

/// The sum of (x[j] - center)^2.
template <class Real>
LAMINA_NOINLINE inline Real squared_distance(const Real* x, std::type_identity_t<Real> center,
                                             std::ptrdiff_t n) {
  const vector_in<Real> c(center);
  return detail::sum_terms<Real>(
      n,
      [=](std::ptrdiff_t j) {
        const vector_in<Real> d = vector_in<Real>::load_unaligned(x + j) - c;
        return d * d;
      },
      [=](std::ptrdiff_t j) { return (x[j] - center) * (x[j] - center); });
}

/// The sum of d[j] * (x[j] - center); subtracting `center` first keeps the precision if the mean of
/// x is far from 0.
template <class Real>
LAMINA_NOINLINE inline Real centred_dot(const Real* d, const Real* x,
                                        std::type_identity_t<Real> center, std::ptrdiff_t n) {
  const vector_in<Real> c(center);
  return detail::sum_terms<Real>(
      n,
      [=](std::ptrdiff_t j) {
        return vector_in<Real>::load_unaligned(d + j) *
               (vector_in<Real>::load_unaligned(x + j) - c);
      },
      [=](std::ptrdiff_t j) { return d[j] * (x[j] - center); });
}

/// Whether a sum of squares is accurate: it has not overflowed, and it is large enough that its
/// terms have lost no digits by underflow.
template <class Real>
constexpr bool holds_squares(Real sum) {
  using limits = std::numeric_limits<Real>;
  return sum >= (limits::min)() / limits::epsilon() && sum <= (limits::max)();
}

/// The square root of the sum of (x[j * step] - center)^2 for elements whose squares would overflow
/// or underflow.
template <class Real>
LAMINA_COLD Real scaled_norm(const Real* x, std::ptrdiff_t n, std::type_identity_t<Real> center = 0,
                             std::ptrdiff_t step = 1) {
  Real most = 0;
  for (std::ptrdiff_t j = 0; j < n; ++j) {
    const Real size = std::abs(x[j * step] - center);
    if (!(size <= most)) most = size;
    if (size != size) return size;
  }
  if (most == 0 || most > (std::numeric_limits<Real>::max)()) return most;
  Real sum = 0;
  for (std::ptrdiff_t j = 0; j < n; ++j) {
    const Real part = (x[j * step] - center) / most;
    sum += part * part;
  }
  return most * std::sqrt(sum);
}

/// The square root of x[0]^2 + ... + x[n - 1]^2 + epsilon, without overflow or underflow.
template <class Real>
inline Real euclidean_norm(const Real* x, std::ptrdiff_t n,
                           std::type_identity_t<Real> epsilon = 0) {
  const Real sum = dot(x, x, n) + epsilon;
  if (holds_squares(sum)) return std::sqrt(sum);
  return std::hypot(scaled_norm(x, n), std::sqrt(epsilon));
}

/// A wider type, in which squares of Real numbers and sums of such squares do not overflow.
template <class Real>
using wide_number = std::conditional_t<std::is_same_v<Real, float>, double, long double>;

/// Whether x is neither infinite nor NaN.
template <class Real>
constexpr bool is_finite(Real x) {
  return (x < 0 ? -x : x) <= (std::numeric_limits<Real>::max)();
}

/// 1 / sqrt(variance + epsilon), or 0 if variance + epsilon is 0.
template <class Real>
inline Real inverse_deviation(Real variance, Real epsilon) {
  const Real sum = variance + epsilon;
  return sum == 0 ? Real(0) : 1 / std::sqrt(sum);
}
/// 1 / sqrt(variance + epsilon) for the n numbers x. It is correct also if the variance exceeds the
/// range of Real and only its square root does not.
template <class Real>
inline Real inverse_deviation(const Real* x, std::ptrdiff_t n, Real mean, Real variance,
                              Real epsilon) {
  if (variance > (std::numeric_limits<Real>::max)())
    return std::sqrt(static_cast<Real>(n)) / scaled_norm(x, n, mean);
  return inverse_deviation(variance, epsilon);
}

/// The parameters of a normalisation (x - mean) * inverse, where `variance` is the biased variance
/// and inverse = 1 / sqrt(variance + epsilon).
template <class Real>
struct moments {
  Real mean, variance, inverse;
};

/// The moments of the n numbers x for which `each(f)` calls f(x). The sums are in a wider type,
/// because a sum or the variance may exceed the range of Real although the standard deviation does
/// not.
template <class Real, class Each>
LAMINA_COLD moments<Real> wide_moments(std::ptrdiff_t n, Real epsilon, const Each& each) {
  using wide = wide_number<Real>;
  wide sum = 0, squares = 0;
  each([&](Real x) { sum += static_cast<wide>(x); });
  const Real mean = static_cast<Real>(sum / static_cast<wide>(n));
  each([&](Real x) {
    const wide off = static_cast<wide>(x) - static_cast<wide>(mean);
    squares += off * off;
  });
  const wide variance = squares / static_cast<wide>(n);
  return {mean, static_cast<Real>(variance),
          static_cast<Real>(1 / std::sqrt(variance + static_cast<wide>(epsilon)))};
}

/// The moments of n numbers, without overflow or underflow.
template <class Real>
inline moments<Real> row_moments(const Real* x, std::ptrdiff_t n, Real epsilon) {
  const Real mean = mean_of(x, n);
  const Real variance = squared_distance(x, mean, n) / static_cast<Real>(n);
  if (is_finite(variance)) return {mean, variance, inverse_deviation(variance, epsilon)};
  return wide_moments<Real>(n, epsilon, [=](const auto& f) {
    for (std::ptrdiff_t j = 0; j < n; ++j) f(x[j]);
  });
}

/// The sum of d[j] * (x[j] - mean) * inverse, correct even if d[j] * (x[j] - mean) would overflow.
template <class Real>
LAMINA_COLD wide_number<Real> wide_grad(const Real* d, const Real* x, Real mean, Real inverse,
                                        std::ptrdiff_t n) {
  wide_number<Real> sum = 0;
  for (std::ptrdiff_t j = 0; j < n; ++j)
    sum += static_cast<wide_number<Real>>(d[j] * ((x[j] - mean) * inverse));
  return sum;
}
template <class Real>
inline Real normalised_dot(const Real* d, const Real* x, Real mean, Real inverse,
                           std::ptrdiff_t n) {
  const Real sum = centred_dot(d, x, mean, n) * inverse;
  return is_finite(sum) ? sum : static_cast<Real>(wide_grad(d, x, mean, inverse, n));
}

/// Visits positions 0 to n - 1. Calls f(j, like) for each whole vector, where j is its first
/// position, and then for each remaining position j. `like` is a vector in the first case and a
/// number in the second.
template <class Real = float, class F>
LAMINA_INLINE void for_each_position(std::ptrdiff_t n, F&& f) {
  constexpr int step = lanes_in<Real>;
  std::ptrdiff_t j = 0;
  for (; j + step <= n; j += step) f(j, vector_in<Real>(Real(0)));
  for (; j < n; ++j) f(j, Real(0));
}

/// Sets every element of an array to 0, padding included.
LAMINA_API void clear(const operand& o);

/// Copies all elements in row-major order between two arrays whose rows may have different widths.
/// Does nothing if the plan gives both arrays the same memory.
inline void copy_elements(const operand& from, const operand& to) {
  if (from.data == to.data) return;
  const std::ptrdiff_t width = size_of(from.type);
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(from.rows) * from.columns;
  const char* source = static_cast<const char*>(from.data);
  char* target = static_cast<char*>(to.data);
  std::ptrdiff_t r = 0, i = 0, s = 0, j = 0;
  for (std::ptrdiff_t done = 0; done < size;) {
    const std::ptrdiff_t n = (std::min)(from.columns - i, to.columns - j);
    std::memcpy(target + (s * to.stride + j) * width, source + (r * from.stride + i) * width,
                static_cast<std::size_t>(n * width));
    done += n;
    i += n;
    j += n;
    if (i == from.columns) i = 0, ++r;
    if (j == to.columns) j = 0, ++s;
  }
}

/// Returns the elements of an array without padding between its rows: the array itself if it has no
/// padding; otherwise a copy in `scratch`, after which `scratch` points to the end of the copy.
template <class Real>
inline const Real* without_gaps(const operand& o, Real*& scratch) {
  if (o.stride == o.columns || o.rows <= 1) return o.row<const Real>(0);
  Real* const copy = scratch;
  for (int r = 0; r < o.rows; ++r)
    std::memcpy(copy + static_cast<std::ptrdiff_t>(r) * o.columns, o.row<const Real>(r),
                static_cast<std::size_t>(o.columns) * sizeof(Real));
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(o.rows) * o.columns;
  scratch += (size + alignment_floats - 1) / alignment_floats * alignment_floats;
  return copy;
}

/// Returns how many numbers of `scratch` without_gaps() needs for the array.
inline std::ptrdiff_t scratch_without_gaps(const operand& o) {
  if (o.stride == o.columns || o.rows <= 1) return 0;
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(o.rows) * o.columns;
  return (size + alignment_floats - 1) / alignment_floats * alignment_floats;
}

#if LAMINA_DEFINES

template <class Real>
Real row_sum(const Real* x, std::ptrdiff_t n) {
  return detail::sum_terms<Real>(
      n, [=](std::ptrdiff_t j) { return vector_in<Real>::load_unaligned(x + j); },
      [=](std::ptrdiff_t j) { return x[j]; });
}
LAMINA_INSTANCE(float row_sum<float>(const float*, std::ptrdiff_t))
LAMINA_INSTANCE(double row_sum<double>(const double*, std::ptrdiff_t))

void clear(const operand& o) {
  const std::size_t bytes = static_cast<std::size_t>(o.stride) *
                            static_cast<std::size_t>(o.rows < 0 ? 0 : o.rows) *
                            static_cast<std::size_t>(size_of(o.type));
  if (bytes != 0) std::memset(o.data, 0, bytes);
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
