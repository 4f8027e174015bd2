// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/static/static_image_kernels.hpp - conv2d and pool2d of sizes that the compiler
// knows. They need little machine code and no copies of the filters.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstddef>
#include <cstring>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/cpu/static/static_kernels.hpp>
#include <lamina/operators/pool/pool2d/common_side.hpp>
#include <lamina/operators/pool/pool2d/definition.hpp>
#include <lamina/plan/image_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// How many vectors of a row of the output a convolution computes at once: as many as leave the
/// fewest of them unused in the last step, and then as many as possible. A row has `wide` vectors.
constexpr int conv_vectors(int wide) {
  int best = 1;
  for (int n = 2; n <= (vector_registers == 32 && lanes > 1 ? 4 : 3); ++n)
    if ((wide + n - 1) / n * n <= (wide + best - 1) / best * best) best = n;
  return best;
}
/// For how many filters it does so: the sums stay in registers, next to the vectors of the image
/// and one factor, and all steps have about the same number of filters.
constexpr int conv_filters(int filters, int vectors) {
  const int room = (vector_registers == 32 && lanes > 1 ? 24 : 12) / vectors;
  const int most = room < 8 ? room : 8, steps = (filters + most - 1) / most;
  return (filters + steps - 1) / steps;
}

/// A convolution as a loop over the rows of the output. Each step computes up to `vectors` vectors
/// of a row for `together` filters at once.
template <class Group>
struct static_conv {
  static constexpr static_conv_shape shape{Group::program::desc, Group::first};
  static constexpr int out = shape.width.out(), rows_out = shape.height.out();
  using vector = static_vector<out>;
  static constexpr int lanes = lanes_of<vector>;
  static constexpr int wide = (out + lanes - 1) / lanes;
  /// How many vectors of a row, and how many filters (`together`), have their sums in registers at
  /// the same time.
  static constexpr int vectors = conv_vectors(wide);
  static constexpr int together = conv_filters(shape.filters, vectors);
  static constexpr std::ptrdiff_t filter_stride = Group::arguments.of[1].info.stride;
  static constexpr std::ptrdiff_t in_size =
      static_cast<std::ptrdiff_t>(shape.height.padded()) * shape.width.padded();
  static constexpr std::ptrdiff_t out_size = static_cast<std::ptrdiff_t>(rows_out) * out;

  /// Convolves one image x with all filters w: y = conv2d(x, w).
  static void run(const float* x, const float* w, float* y, float* scratch) {
    if constexpr (shape.padded_floats() > 0) x = surround(x, scratch);
    for (int g = 0; g < shape.groups; ++g) {
      for (int f = 0; f + together <= shape.filters; f += together) filters<together>(x, w, y);
      if constexpr (constexpr int rest = shape.filters % together; rest > 0) filters<rest>(x, w, y);
      x += shape.channels * in_size;
    }
  }

 private:
  static const float* surround(const float* x, float* to) {
    constexpr int height = shape.height.in, width = shape.width.in;
    std::memset(to, 0, sizeof(float) * static_cast<std::size_t>(shape.padded_floats()));
    float* row = to + shape.height.padding * shape.width.padded() + shape.width.padding;
    for (int c = 0; c < shape.groups * shape.channels; ++c, row += in_size)
      for (int i = 0; i < height; ++i, x += width)
        std::memcpy(row + i * shape.width.padded(), x, sizeof(float) * width);
    return to;
  }
  static LAMINA_INLINE vector load(const float* x) {
    // A state has just got its last element: a load of more would wait for the store.
    if constexpr (out == 1) return vector(x[0]);
    if constexpr (shape.width.stride == 1) return vector::load_unaligned(x);
    alignas(64) float apart[bound(lanes)];
    for (int l = 0; l < lanes; ++l) apart[l] = x[l * shape.width.stride];
    return vector::load_aligned(apart);
  }
  // Computes the output images of `Filters` filters, and advances `w` and `y` to the next filters.
  template <int Filters>
  static void filters(const float* x, const float*& w, float*& y) {
    for (int i = 0; i < rows_out; ++i)
      for (int j = 0; j < wide; j += vectors)
        tile<Filters>(
            x + static_cast<std::ptrdiff_t>(i) * shape.height.stride * shape.width.padded() +
                j * lanes * shape.width.stride,
            w, y + i * out + j * lanes, out - j * lanes);
    w += Filters * filter_stride;
    y += Filters * out_size;
  }
  template <int Filters>
  static LAMINA_INLINE void tile(const float* x, const float* w, float* y, int columns) {
    vector sums[bound(Filters)][bound(vectors)];
    LAMINA_UNROLL for (int f = 0; f < Filters; ++f) {
      LAMINA_UNROLL for (int v = 0; v < vectors; ++v) sums[f][v] = vector(0.F);
    }
    for (int c = 0; c < shape.channels; ++c, x += in_size)
      for (int ky = 0; ky < shape.height.filter; ++ky) {
        const float* const row = x + ky * shape.height.dilation * shape.width.padded();
        for (int kx = 0; kx < shape.width.filter; ++kx, ++w) {
          vector seen[bound(vectors)];
          LAMINA_UNROLL for (int v = 0; v < vectors; ++v) {
            seen[v] = load(row + kx * shape.width.dilation + v * lanes * shape.width.stride);
          }
          LAMINA_UNROLL for (int f = 0; f < Filters; ++f) {
            const vector factor(w[f * filter_stride]);
            LAMINA_UNROLL for (int v = 0; v < vectors; ++v) {
              sums[f][v] = multiply_add(factor, seen[v], sums[f][v]);
            }
          }
        }
      }
    LAMINA_UNROLL for (int f = 0; f < Filters; ++f) {
      LAMINA_UNROLL for (int v = 0; v < vectors; ++v) {
        const int rest = columns - v * lanes;
        float* const to = y + f * out_size + v * lanes;
        if (rest >= lanes) {
          sums[f][v].store_unaligned(to);
        } else {
          alignas(64) float all[bound(lanes)];
          sums[f][v].store_aligned(all);
          for (int l = 0; l < rest; ++l) to[l] = all[l];
        }
      }
    }
  }
};

template <class Group, class S>
struct static_kernel<Group, expression::group_expression<fusion_anchor::conv, S>> {
  static void run(float* memory) {
    using runner = statement_runner<S>;
    const static_arguments<Group> a(memory);
    constexpr int channels =
        runner::channels < 0
            ? 1
            : Group::arguments.of[runner::channels < 0 ? 0 : runner::channels].info.columns;
    float* const y = a.of[runner::last_store()];
    for (int r = 0; r < Group::rows; ++r) {
      float* const image = y + static_cast<std::ptrdiff_t>(r) * padded(Group::columns);
      static_conv<Group>::run(a.of[0] + r * Group::arguments.of[0].info.stride, a.of[1], image,
                              memory + Group::layout::at.scratch);
      run_static_channels<Group, channels>(runner(a.of), r, image);
    }
  }
};

}  // namespace detail

template <>
struct static_call_kernel<operators::pool2d> {
  template <class Group>
  static void run(float* memory) {
    constexpr argument_info in = Group::arguments.of[0].info, out = Group::arguments.of[1].info;
    for (int r = 0; r < in.rows; ++r)
      for (int c = 0; c < Group::extent(0, 1); ++c) {
        constexpr pool_side height = side<Group>(0), width = side<Group>(1);
        channel<Group, height, width>(
            detail::address_in<Group, 0>(memory) + r * in.stride + c * height.in * width.in,
            detail::address_in<Group, 1>(memory) + r * out.stride + c * height.out * width.out);
      }
  }

 private:
  template <class Group>
  static constexpr pool_side side(int d) {
    const int in = Group::extent(0, 2 + d), out = Group::extent(1, 2 + d);
    const bool adaptive = Group::number(6) != 0;
    if (Group::number(2) != 0) return {in, out, in, 1, 0, adaptive};
    return {in, out, Group::integer(1, d), Group::integer(3, d), Group::integer(4, d), adaptive};
  }
  template <class Group, pool_side Height, pool_side Width>
  static void channel(const float* x, float* y) {
    constexpr bool is_average = Group::text(0) == "avg";
    constexpr bool counts_padding = Group::number(5) == 0 && Group::number(6) == 0;
    for (int i = 0; i < Height.out; ++i)
      for (int j = 0; j < Width.out; ++j) {
        const int top = Height.first(i), bottom = Height.end(i);
        const int left = Width.first(j), right = Width.end(j);
        float all = x[top * Width.in + left], sum = 0;
        for (int k = top; k < bottom; ++k)
          for (int l = left; l < right; ++l) {
            const float now = x[k * Width.in + l];
            all = math::maximum(all, now);
            sum += now;
          }
        const int size =
            counts_padding ? Height.size * Width.size : (bottom - top) * (right - left);
        *y++ = is_average ? sum / static_cast<float>(size) : all;
      }
  }
};

/// Computes the factor scale / sqrt(moving variance + epsilon), by which later statements multiply.
template <>
struct static_call_kernel<operators::batch_norm_factor> {
  template <class Group>
  requires(Group::arguments.of[0].position ==
           Group::layout::nowhere) static void run(float* memory) {
    constexpr int variance = 4, factor = 9;
    const auto epsilon = static_cast<float>(Group::number(2));
    for (int i = 0; i < Group::arguments.of[factor].info.columns; ++i)
      detail::address_in<Group, factor>(memory)[i] =
          detail::address_in<Group, 1>(memory)[i] /
          std::sqrt(detail::address_in<Group, variance>(memory)[i] + epsilon);
  }
};

}}}  // namespace lamina::engine::cpu
