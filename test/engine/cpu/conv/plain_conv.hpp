// SPDX-License-Identifier: Apache-2.0
// test/engine/cpu/conv/plain_conv.hpp - compares class conv_forward with sums in double, and the
// parts that it calls finished with the results.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/cpu/conv/conv_forward.hpp>

namespace plain_conv {

namespace cpu = lamina::engine::cpu;
using lamina::engine::aligned_buffer;
using lamina::engine::conv_shape;

/// A convolution of two-dimensional images.
inline conv_shape shape(int groups, int channels, int filters, int height, int width, int filter,
                        int stride = 1, int padding = 0, int dilation = 1) {
  conv_shape s;
  s.groups = groups;
  s.large_channels = channels / groups;
  s.small_channels = filters / groups;
  for (int d = 1; d < 3; ++d) {
    const int large = d == 1 ? height : width;
    s.side[d] = {large,   (large + 2 * padding - (filter - 1) * dilation - 1) / stride + 1,
                 filter,  stride,
                 padding, dilation};
  }
  return s;
}

/// What the epilogue of a convolution is given.
struct finished {
  float* images;  // results
  const std::vector<double>* wanted;
  int columns, row_stride;
  double tolerance;        // grows with the number of terms of a sum
  std::vector<int> times;  // how often each element, padding included, was called finished
  bool equal = true;       // whether all of them had their values

  static void run(const void* context, int row, const cpu::image_part& part) {
    auto& f = *static_cast<finished*>(const_cast<void*>(context));
    const cpu::image_tile& t = part.tile;
    f.equal = f.equal && part.begin % cpu::lanes == 0 && t.width % cpu::lanes == 0;
    for (int i = 0; i < t.channels; ++i)
      for (int j = 0; j < t.width; ++j) {
        const std::ptrdiff_t at = part.begin + i * t.channel_size + j;
        f.images[row * f.row_stride + at] = t.sums[i * t.stride + j];  // as statements do
        f.see(row, at);
      }
    const std::ptrdiff_t end = part.end < f.row_stride ? part.end : f.row_stride;
    for (std::ptrdiff_t j = part.begin; j < end; ++j) f.see(row, j);
  }
  void see(int row, std::ptrdiff_t at) {
    ++times[static_cast<std::size_t>(row * row_stride + at)];
    if (at < columns) equal = equal && is_close(row, at);
  }
  bool is_close(int row, std::ptrdiff_t j) const {
    const double a = images[row * row_stride + j],
                 b = (*wanted)[static_cast<std::size_t>(row * columns + j)];
    return (std::isnan(a) && std::isnan(b)) || a == b ||
           std::abs(a - b) <= tolerance * (std::abs(b) + 1);
  }
};

/// Checks a convolution of `samples` images. `first` is the first element of the images, for edge
/// values. Returns the results.
inline std::vector<float> check(const conv_shape& s, int samples, bool has_bias = false,
                                float first = 0.25F) {
  CAPTURE(s.groups, s.large_channels, s.small_channels, s.side[1].large, s.side[2].large,
          s.side[1].filter, s.side[1].stride, samples);
  const int from_columns = s.groups * s.large_channels * s.large_size(),
            columns = s.groups * s.small_channels * s.small_size(), taps = s.taps(),
            depth = s.large_channels * taps, filters = s.groups * s.small_channels;
  const int from_stride = lamina::padded(from_columns), stride = lamina::padded(columns),
            filter_stride = depth + 3;
  const auto numbers = [](int n, int step) {
    aligned_buffer b(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) b.data()[i] = static_cast<float>(i * step % 101) / 50.0F - 1;
    return b;
  };
  aligned_buffer images = numbers(samples * from_stride, 37),
                 filter = numbers(filters * filter_stride, 53), bias = numbers(filters, 11);
  images.data()[0] = first;
  constexpr int guard = 64;
  aligned_buffer made = numbers(samples * stride + guard, 1);
  std::vector<double> wanted;
  for (int n = 0; n < samples; ++n)
    for (int o = 0; o < filters; ++o)
      for (int y = 0; y < s.side[1].smaller; ++y)
        for (int x = 0; x < s.side[2].smaller; ++x) {
          double sum = has_bias ? bias.data()[o] : 0;
          for (int c = 0; c < s.large_channels; ++c)
            for (int i = 0; i < s.side[1].filter; ++i)
              for (int j = 0; j < s.side[2].filter; ++j) {
                const int iy = y * s.side[1].stride - s.side[1].padding + i * s.side[1].dilation,
                          ix = x * s.side[2].stride - s.side[2].padding + j * s.side[2].dilation;
                if (iy < 0 || iy >= s.side[1].large || ix < 0 || ix >= s.side[2].large) continue;
                const int channel = o / s.small_channels * s.large_channels + c;
                sum += double(images.data()[n * from_stride + channel * s.large_size() +
                                            iy * s.side[2].large + ix]) *
                       filter.data()[o * filter_stride +
                                     (c * s.side[1].filter + i) * s.side[2].filter + j];
              }
          wanted.push_back(sum);
        }
  finished seen{made.data(),
                &wanted,
                columns,
                stride,
                1e-7 * std::max(100, depth),
                std::vector<int>(static_cast<std::size_t>(samples * stride))};
  const cpu::conv_forward forward(s, &cpu::all_conv_methods<>);
  aligned_buffer scratch(static_cast<std::size_t>(forward.scratch(samples)));
  for (std::size_t i = 0; i < scratch.size(); ++i) scratch.data()[i] = std::nanf("");
  const float after = made.data()[samples * stride];
  forward.run(samples, {images.data(), from_stride}, filter.data(), filter_stride,
              has_bias ? bias.data() : nullptr, {made.data(), stride}, scratch.data(),
              {&finished::run, &seen});
  CHECK(seen.equal);
  bool once = true, close = true;
  for (const int t : seen.times) once = once && t == 1;
  CHECK(once);
  for (int n = 0; n < samples; ++n)
    for (int j = 0; j < columns; ++j) close = close && seen.is_close(n, j);
  CHECK(close);
  CHECK(made.data()[samples * stride] == after);
  return {made.data(), made.data() + samples * stride};
}

/// Checks several batches, and that each image has the same bits in all of them.
inline void check_batches(const conv_shape& s, bool has_bias = false) {
  const std::vector<float> one = check(s, 1, has_bias);
  for (const int samples : {3, 17}) {
    const std::vector<float> several = check(s, samples, has_bias);
    const int columns = s.groups * s.small_channels * s.small_size();
    CHECK(std::vector<float>(several.begin(), several.begin() + columns) ==
          std::vector<float>(one.begin(), one.begin() + columns));
  }
}

}  // namespace plain_conv
