// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/winograd_transforms.hpp - the transforms of Winograd convolutions with six
// or eight interpolation points, and their transposes for gradients. Each function transforms one
// vector of channels at a time.
//
// A filter of R numbers and a result of 4 numbers are treated as the coefficients of polynomials.
// The product of these polynomials is determined by its values at R + 3 points (Toom 1963, Cook
// 1966, Winograd 1980; in two dimensions Lavin and Gray 2015). The points are 0, pairs p and -p,
// and infinity. With six points, p^2 is 1/2 and 2; this gives smaller factors, and so a smaller
// rounding error, than 1 and 4. With eight points, p^2 is 1/4, 1 and 4.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cpu/vector/simd.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu::detail {

/// The number of results of a tile along a side.
inline constexpr int winograd_step = 4;
/// The number of interpolation points along a side, for filters of this size.
constexpr int winograd_points(int filter) { return filter + winograd_step - 1; }

/// The pairs of interpolation points p and -p. For each pair, `square` has p^2 and `root` has p.
template <int Points>
struct point_pairs;
template <>
struct point_pairs<6> {
  static constexpr int count = 2;
  static constexpr double square[] = {0.5, 2};
  static constexpr double root[] = {0.70710678118654752, 1.41421356237309505};
};
template <>
struct point_pairs<8> {
  static constexpr int count = 3;
  static constexpr double square[] = {0.25, 1, 4};
  static constexpr double root[] = {0.5, 1, 2};
};

/// The constants of a transform with the points 0, the pairs, and infinity. They are in a table
/// because the compiler does not evaluate functions of the counters of unrolled loops at compile
/// time.
template <int Points>
struct point_table {
  static constexpr int count = point_pairs<Points>::count;

  float root[bound(count)], power[bound(count)][3];  // root[i]: p of pair i; power[i][j]: p^(2 j)
  float factor[bound(count + 1)]
              [bound(count + 1)];      // [i][k]: coefficient of x^(2 k) in the product of
                                       // (x^2 - square) over all pairs except pair i
  float filter_factor[bound(Points)];  // for each point, the factor of a filter's value there

  constexpr point_table() : root{}, power{}, factor{}, filter_factor{} {
    constexpr auto& square = point_pairs<Points>::square;
    for (int i = 0; i <= count; ++i) {
      double of[bound(count + 1)] = {1}, apart = i < count ? 2 * square[i] : 1;
      for (int j = 0, degree = 0; j < count; ++j) {
        if (j == i) continue;
        ++degree;
        for (int k = degree; k >= 0; --k) of[k] = (k > 0 ? of[k - 1] : 0) - square[j] * of[k];
        apart *= (i < count ? square[i] : 0) - square[j];
      }
      for (int k = 0; k <= count; ++k) factor[i][k] = static_cast<float>(of[k]);
      if (i == count) {
        filter_factor[0] = static_cast<float>(1 / apart);
        filter_factor[Points - 1] = 1;
        continue;
      }
      filter_factor[2 * i + 1] = filter_factor[2 * i + 2] = static_cast<float>(1 / apart);
      root[i] = static_cast<float>(point_pairs<Points>::root[i]);
      double of_pair = 1;
      for (int j = 0; j < 3; ++j, of_pair *= square[i]) power[i][j] = static_cast<float>(of_pair);
    }
  }
};
template <int Points>
inline constexpr point_table<Points> points_of{};

/// Computes the values, at the interpolation points, of the polynomial with coefficients c. For
/// filters the values are also multiplied by `filter_factor`.
template <int Points, int Count>
struct evaluate {
  static constexpr const auto& set = points_of<Points>;
  static constexpr int from = Count, to = Points;
  static constexpr bool is_filter = Points == winograd_points(Count);
  static LAMINA_INLINE void run(const vector* c, vector* v) {
    constexpr int last_even = (Count - 1) / 2 * 2, last_odd = (Count - 2) / 2 * 2 + 1;
    v[0] = is_filter && set.filter_factor[0] != 1 ? vector(set.filter_factor[0]) * c[0] : c[0];
    LAMINA_UNROLL for (int i = 0; i < set.count; ++i) {
      const float filter_factor = is_filter ? set.filter_factor[2 * i + 1] : 1;
      const vector square(set.power[i][1]), root(set.root[i] * filter_factor);
      vector even = c[last_even], odd = c[last_odd];
      LAMINA_UNROLL for (int j = last_even - 2; j >= 0; j -= 2) {
        even = fused_multiply_add(square, even, c[j]);
      }
      LAMINA_UNROLL for (int j = last_odd - 2; j >= 1; j -= 2) {
        odd = fused_multiply_add(square, odd, c[j]);
      }
      if (is_filter) even = vector(filter_factor) * even;
      v[2 * i + 1] = fused_multiply_add(root, odd, even);
      v[2 * i + 2] = fused_multiply_add(-root, odd, even);
    }
    v[Points - 1] = c[Count - 1];
  }
};

/// Computes the linear map that is the transpose of evaluate.
template <int Points, int Count>
struct combine {
  static constexpr const auto& set = points_of<Points>;
  static constexpr int from = Points, to = Count;
  static constexpr bool is_filter = Points == winograd_points(Count);
  static LAMINA_INLINE void run(const vector* v, vector* c) {
    c[0] = is_filter && set.filter_factor[0] != 1 ? vector(set.filter_factor[0]) * v[0] : v[0];
    LAMINA_UNROLL for (int i = 0; i < set.count; ++i) {
      const float filter_factor = is_filter ? set.filter_factor[2 * i + 1] : 1;
      vector even = v[2 * i + 1] + v[2 * i + 2];
      if (is_filter) even = vector(filter_factor) * even;
      const vector odd = vector(set.root[i] * filter_factor) * (v[2 * i + 1] - v[2 * i + 2]);
      LAMINA_UNROLL for (int j = 0; j < Count; ++j) {
        const vector one = j % 2 == 0 ? even : odd;
        if (j == 0)
          c[j] += one;
        else if (i == 0)
          c[j] = vector(set.power[i][j / 2]) * one;
        else
          c[j] = fused_multiply_add(vector(set.power[i][j / 2]), one, c[j]);
      }
    }
    c[Count - 1] += v[Points - 1];
  }
};

/// Converts adjacent elements of an image to one value per interpolation point (B^T d).
template <int Points>
struct see {
  static constexpr const auto& set = points_of<Points>;
  static constexpr int from = Points, to = Points;
  static LAMINA_INLINE void run(const vector* d, vector* v) {
    constexpr int pairs = set.count;
    v[0] = d[2 * pairs];
    v[Points - 1] = d[2 * pairs + 1];
    LAMINA_UNROLL for (int k = 0; k < pairs; ++k) {
      const vector factor(set.factor[pairs][k]);
      v[0] = fused_multiply_add(factor, d[2 * k], v[0]);
      v[Points - 1] = fused_multiply_add(factor, d[2 * k + 1], v[Points - 1]);
    }
    LAMINA_UNROLL for (int i = 0; i < pairs; ++i) {
      vector even = d[2 * pairs], odd = d[2 * pairs - 1];
      LAMINA_UNROLL for (int k = 0; k < pairs - 1; ++k) {
        const vector factor(set.factor[i][k]);
        even = fused_multiply_add(factor, d[2 * k + 2], even);
        odd = fused_multiply_add(factor, d[2 * k + 1], odd);
      }
      v[2 * i + 1] = fused_multiply_add(vector(set.root[i]), odd, even);
      v[2 * i + 2] = fused_multiply_add(vector(-set.root[i]), odd, even);
    }
  }
};

/// Computes the linear map that is the transpose of see.
template <int Points>
struct show {
  static constexpr const auto& set = points_of<Points>;
  static constexpr int from = Points, to = Points;
  static LAMINA_INLINE void run(const vector* v, vector* d) {
    constexpr int pairs = set.count;
    LAMINA_UNROLL for (int k = 0; k <= pairs; ++k) {
      const vector factor(set.factor[pairs][k]);
      d[2 * k] = factor * v[0];
      d[2 * k + 1] = factor * v[Points - 1];
    }
    LAMINA_UNROLL for (int i = 0; i < pairs; ++i) {
      const vector even = v[2 * i + 1] + v[2 * i + 2];
      const vector odd = vector(set.root[i]) * (v[2 * i + 1] - v[2 * i + 2]);
      LAMINA_UNROLL for (int k = 0; k < pairs; ++k) {
        const vector factor(set.factor[i][k]);
        d[2 * k + 2] = fused_multiply_add(factor, even, d[2 * k + 2]);
        d[2 * k + 1] = fused_multiply_add(factor, odd, d[2 * k + 1]);
      }
    }
  }
};

/// The layout of a square of vectors: the distances in floats between two rows and between two
/// columns.
struct square_strides {
  std::ptrdiff_t row, column;
};

/// Applies transform T along both sides of a square of vectors. Calls `put(to, v)` to store each
/// result v.
template <class T, class Put>
LAMINA_INLINE void transform_square(const float* from, square_strides in, float* to,
                                    square_strides out, Put put) {
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

/// A series of squares: their number, and the distances in floats between two of them in the input
/// (`from`) and in the output (`to`).
struct square_series {
  int count;
  std::ptrdiff_t from, to;
};

/// Transforms a series of squares. If `more` is not null, the vector at `more` (a bias) is added to
/// every result.
template <class T>
LAMINA_NOINLINE void transform_squares(square_series s, const float* from, square_strides in,
                                       float* to, square_strides out, const float* more = nullptr) {
  const vector sum = more == nullptr ? vector(0.F) : vector::load_unaligned(more);
  for (int i = 0; i < s.count; ++i, from += s.from, to += s.to)
    transform_square<T>(
        from, in, to, out, [sum](float* at, vector v) __attribute__((always_inline)) {
          (v + sum).store_unaligned(at);
        });
}
/// Transforms a series of squares and adds the results to the stored values.
template <class T>
LAMINA_NOINLINE void add_transformed_squares(square_series s, const float* from, square_strides in,
                                             float* to, square_strides out) {
  for (int i = 0; i < s.count; ++i, from += s.from, to += s.to)
    transform_square<T>(
        from, in, to, out, [](float* at, vector v) __attribute__((always_inline)) {
          (vector::load_unaligned(at) + v).store_unaligned(at);
        });
}

/// Functions that transform a series of squares and store the results, or add them to stored
/// values.
using square_transform = void (*)(square_series, const float* from, square_strides in, float* to,
                                  square_strides out, const float* more);
using square_addition = void (*)(square_series, const float* from, square_strides in, float* to,
                                 square_strides out);

/// The transforms that a convolution needs: of filters, of image tiles and of result tiles. The
/// next two structs hold the transforms of its gradients.
struct forward_transforms {
  square_transform filters, image, result;
};
struct backward_transforms {
  square_transform filters, grad;
  square_addition result;
};
struct filter_gradient_transforms {
  square_transform image, grad, filters;
};
template <int Filter, int Points = winograd_points(Filter)>
inline constexpr forward_transforms forward_transforms_of{
    &transform_squares<evaluate<Points, Filter>>, &transform_squares<see<Points>>,
    &transform_squares<combine<Points, winograd_step>>};
template <int Filter, int Points = winograd_points(Filter)>
inline constexpr backward_transforms backward_transforms_of{
    &transform_squares<evaluate<Points, Filter>>,
    &transform_squares<evaluate<Points, winograd_step>>, &add_transformed_squares<show<Points>>};
template <int Filter, int Points = winograd_points(Filter)>
inline constexpr filter_gradient_transforms filter_gradient_transforms_of{
    &transform_squares<see<Points>>, &transform_squares<evaluate<Points, winograd_step>>,
    &transform_squares<combine<Points, Filter>>};

}}}  // namespace lamina::engine::cpu::detail
