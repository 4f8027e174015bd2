// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/winograd_transforms.hpp - the transforms of convolutions by six points, and the
// transposes of them that gradients need. Each works on a vector of channels at a time.
//
// Filters of R and results of M = 7 - R numbers are polynomials; their product is known by its
// values at the points 0, -p, p, -q, q and at infinity, p = 1 / sqrt 2 and q = sqrt 2 (Toom 1963,
// Cook 1966, Winograd 1980; in two dimensions Lavin and Gray 2015). These points have smaller
// factors than 0, -1, 1, -2, 2 and so a smaller error.
#pragma once

#include <cstddef>

#include <lamina/engine/cpu/simd.hpp>

namespace lamina::engine::cpu::detail {

/// Points along a side, and places of a transformed tile.
inline constexpr int winograd_points = 6;
inline constexpr int winograd_places = winograd_points * winograd_points;

inline constexpr float winograd_near = 0.70710678118654752F, winograd_far = 1.41421356237309505F;

/// What the values of a filter at the points are multiplied by.
inline constexpr float winograd_share[winograd_points] = {1,       -2 / 3.F, -2 / 3.F,
                                                          1 / 6.F, 1 / 6.F,  1};

/// The values of the polynomial with these coefficients at the points.
template <int Count>
struct evaluate {
  static constexpr int from = Count, to = winograd_points;
  static LAMINA_INLINE void run(const vector* c, vector* v) {
    constexpr int last = Count - 1, second = last < 2 ? last : 2, third = last < 3 ? last : 3;
    const vector half(0.5F), two(2.F), near(winograd_near), far(winograd_far);
    vector even_near = c[0], even_far = c[0], odd_near = c[1], odd_far = c[1];
    if constexpr (Count == 5) {
      even_near = fused_multiply_add(vector(0.25F), c[last], even_near);
      even_far = fused_multiply_add(vector(4.F), c[last], even_far);
    }
    if constexpr (Count >= 3) {
      even_near = fused_multiply_add(half, c[second], even_near);
      even_far = fused_multiply_add(two, c[second], even_far);
    }
    if constexpr (Count >= 4) {
      odd_near = fused_multiply_add(half, c[third], odd_near);
      odd_far = fused_multiply_add(two, c[third], odd_far);
    }
    v[0] = c[0];
    v[1] = fused_multiply_add(near, odd_near, even_near);
    v[2] = fused_multiply_add(-near, odd_near, even_near);
    v[3] = fused_multiply_add(far, odd_far, even_far);
    v[4] = fused_multiply_add(-far, odd_far, even_far);
    v[5] = c[last];
  }
};

/// The transpose of evaluate<Count>.
template <int Count>
struct combine {
  static constexpr int from = winograd_points, to = Count;
  static LAMINA_INLINE void run(const vector* v, vector* c) {
    const vector half(0.5F), two(2.F);
    const vector even_near = v[1] + v[2], even_far = v[3] + v[4];
    const vector odd_near = vector(winograd_near) * (v[1] - v[2]);
    const vector odd_far = vector(winograd_far) * (v[3] - v[4]);
    c[0] = v[0] + (even_near + even_far);
    c[1] = odd_near + odd_far;
    if constexpr (Count >= 3) c[2] = fused_multiply_add(two, even_far, half * even_near);
    if constexpr (Count >= 4) c[3] = fused_multiply_add(two, odd_far, half * odd_near);
    if constexpr (Count == 5)
      c[4] = fused_multiply_add(vector(4.F), even_far, vector(0.25F) * even_near);
    c[Count - 1] += v[5];
  }
};

/// What the points see of six neighbouring elements of an image.
struct see {
  static constexpr int from = winograd_points, to = winograd_points;
  static LAMINA_INLINE void run(const vector* d, vector* v) {
    const vector middle(-2.5F), near(winograd_near), far(winograd_far);
    const vector even_near = fused_multiply_add(vector(-2.F), d[2], d[4]);
    const vector odd_near = fused_multiply_add(vector(-2.F), d[1], d[3]);
    const vector even_far = fused_multiply_add(vector(-0.5F), d[2], d[4]);
    const vector odd_far = fused_multiply_add(vector(-0.5F), d[1], d[3]);
    v[0] = fused_multiply_add(middle, d[2], d[0] + d[4]);
    v[1] = fused_multiply_add(near, odd_near, even_near);
    v[2] = fused_multiply_add(-near, odd_near, even_near);
    v[3] = fused_multiply_add(far, odd_far, even_far);
    v[4] = fused_multiply_add(-far, odd_far, even_far);
    v[5] = fused_multiply_add(middle, d[3], d[1] + d[5]);
  }
};

/// The transpose of see.
struct show {
  static constexpr int from = winograd_points, to = winograd_points;
  static LAMINA_INLINE void run(const vector* v, vector* d) {
    const vector middle(-2.5F), two(-2.F), half(-0.5F);
    const vector even_near = v[1] + v[2], even_far = v[3] + v[4];
    const vector odd_near = vector(winograd_near) * (v[1] - v[2]);
    const vector odd_far = vector(winograd_far) * (v[3] - v[4]);
    d[0] = v[0];
    d[1] = fused_multiply_add(two, odd_near, fused_multiply_add(half, odd_far, v[5]));
    d[2] = fused_multiply_add(middle, v[0], fused_multiply_add(two, even_near, half * even_far));
    d[3] = fused_multiply_add(middle, v[5], odd_near + odd_far);
    d[4] = v[0] + (even_near + even_far);
    d[5] = v[5];
  }
};

/// Where the vectors of a square, row by row, lie: floats between rows and between columns.
struct square_places {
  std::ptrdiff_t row, column;
};

/// A transform T along both sides of a square of vectors. `put(to, v)` stores them.
template <class T, class Put>
LAMINA_INLINE void transform_square(const float* from, square_places in, float* to,
                                    square_places out, Put put) {
  vector half_way[T::from][T::to];
  for (int x = 0; x < T::from; ++x) {
    vector a[T::from];
    LAMINA_UNROLL for (int y = 0; y < T::from; ++y) {
      a[y] = vector::load_unaligned(from + y * in.row + x * in.column);
    }
    T::run(a, half_way[x]);
  }
  for (int y = 0; y < T::to; ++y) {
    vector a[T::from], b[T::to];
    LAMINA_UNROLL for (int x = 0; x < T::from; ++x) a[x] = half_way[x][y];
    T::run(a, b);
    LAMINA_UNROLL for (int x = 0; x < T::to; ++x) put(to + y * out.row + x * out.column, b[x]);
  }
}

/// How many squares, and how far apart.
struct square_series {
  int count;
  std::ptrdiff_t from, to;
};

/// The same for a series of squares; `more` is added to every result.
template <class T>
LAMINA_NOINLINE void transform_squares(square_series s, const float* from, square_places in,
                                       float* to, square_places out, const float* more = nullptr) {
  const vector sum = more == nullptr ? vector(0.F) : vector::load_unaligned(more);
  for (int i = 0; i < s.count; ++i, from += s.from, to += s.to)
    transform_square<T>(
        from, in, to, out, [sum](float* at, vector v) __attribute__((always_inline)) {
          (v + sum).store_unaligned(at);
        });
}
/// The same, added to what is there.
template <class T>
LAMINA_NOINLINE void add_transformed_squares(square_series s, const float* from, square_places in,
                                             float* to, square_places out) {
  for (int i = 0; i < s.count; ++i, from += s.from, to += s.to)
    transform_square<T>(
        from, in, to, out, [](float* at, vector v) __attribute__((always_inline)) {
          (vector::load_unaligned(at) + v).store_unaligned(at);
        });
}

}  // namespace lamina::engine::cpu::detail
