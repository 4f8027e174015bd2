// SPDX-License-Identifier: Apache-2.0
// lamina/operators/conv/executor.hpp - the operators conv2d, depthwise_conv2d, conv3d and
// conv2d_transpose.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/matrix_product.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Relates the positions of two images by a filter. The large image is padded: it is the input of a
/// convolution, or the output of a transposed convolution. Two-dimensional images are volumes of
/// depth 1.
struct convolution {
  std::size_t samples, groups, large_channels, small_channels;  // channels per group
  int large[3] = {1, 1, 1}, smaller[3] = {1, 1, 1}, filter[3] = {1, 1, 1};
  int stride[3] = {1, 1, 1}, padding[3] = {0, 0, 0}, dilation[3] = {1, 1, 1};

  template <class Real>
  convolution(const call_context<Real>& ctx, const tensor_shape& large_shape,
              const tensor_shape& small_shape, const tensor_shape& filters)
      : samples(large_shape[0]),
        groups(static_cast<std::size_t>(ctx.integer("groups", 1))),
        large_channels(large_shape[1] / groups),
        small_channels(small_shape[1] / groups) {
    const std::size_t sides = large_shape.size() - 2, first = 3 - sides;
    const auto strides = ctx.integer_list("strides"), paddings = ctx.integer_list("paddings"),
               dilations = ctx.integer_list("dilations");
    if (strides.size() != sides || paddings.size() != sides || dilations.size() != sides)
      ctx.fail("expected " + std::to_string(sides) + " strides, paddings and dilations, found " +
               std::to_string(strides.size()) + ", " + std::to_string(paddings.size()) + " and " +
               std::to_string(dilations.size()));
    if (filters[0] != small_shape[1] || filters[1] != large_channels)
      ctx.fail("expected filters of " + std::to_string(small_shape[1]) + " by " +
               std::to_string(large_channels) + " channels, found " + to_string(filters));
    for (std::size_t d = 0; d < sides; ++d) {
      large[first + d] = static_cast<int>(large_shape[2 + d]);
      smaller[first + d] = static_cast<int>(small_shape[2 + d]);
      filter[first + d] = static_cast<int>(filters[2 + d]);
      stride[first + d] = strides[d];
      padding[first + d] = paddings[d];
      dilation[first + d] = dilations[d];
    }
  }

  /// Calls f(position in the larger image, position in the filters, position in the smaller image)
  /// for each product.
  template <class F>
  void for_each_product(F f) const {
    const int taps = filter[0] * filter[1] * filter[2];
    const std::size_t large_size = volume(large), small_size = volume(smaller);
    for (std::size_t n = 0; n < samples; ++n)
      for (std::size_t o = 0; o < groups * small_channels; ++o)
        for (std::size_t c = 0; c < large_channels; ++c) {
          const std::size_t group = o / small_channels;
          const std::size_t from = ((n * groups + group) * large_channels + c) * large_size;
          const std::size_t to = (n * groups * small_channels + o) * small_size;
          const std::size_t weights = (o * large_channels + c) * static_cast<std::size_t>(taps);
          for (int t = 0; t < taps; ++t) {
            const int tap[3] = {t / (filter[1] * filter[2]), t / filter[2] % filter[1],
                                t % filter[2]};
            for (std::size_t s = 0; s < small_size; ++s) {
              const int rest = static_cast<int>(s);
              const int position[3] = {rest / (smaller[1] * smaller[2]),
                                       rest / smaller[2] % smaller[1], rest % smaller[2]};
              int at = 0;
              bool inside = true;
              for (int d = 0; d < 3; ++d) {
                const int x = position[d] * stride[d] - padding[d] + tap[d] * dilation[d];
                inside = inside && x >= 0 && x < large[d];
                at = at * large[d] + x;
              }
              if (inside)
                f(from + static_cast<std::size_t>(at), weights + static_cast<std::size_t>(t),
                  to + s);
            }
          }
        }
  }

  /// Writes the windows of one channel group of the larger image as a matrix: one row per channel
  /// and filter tap, one column per position of the smaller image. Elements beyond the border are
  /// 0.
  template <class Real>
  void unfold(const Real* from, Real* to) const {
    for (std::size_t c = 0; c < large_channels; ++c, from += volume(large))
      for (int z = 0; z < filter[0]; ++z)
        for (int y = 0; y < filter[1]; ++y)
          for (int x = 0; x < filter[2]; ++x)
            for (int i = 0; i < smaller[0]; ++i)
              for (int j = 0; j < smaller[1]; ++j, to += smaller[2]) {
                const int plane = i * stride[0] - padding[0] + z * dilation[0];
                const int row = j * stride[1] - padding[1] + y * dilation[1];
                if (plane < 0 || plane >= large[0] || row < 0 || row >= large[1])
                  std::fill(to, to + smaller[2], Real(0));
                else
                  unfold_row(
                      from + (static_cast<std::ptrdiff_t>(plane) * large[1] + row) * large[2],
                      x * dilation[2] - padding[2], to);
              }
  }

  /// Adds the elements of such a matrix to the windows of one channel group of the larger image.
  /// Elements beyond the border are left out.
  template <class Real>
  void fold(const Real* from, Real* to) const {
    for (std::size_t c = 0; c < large_channels; ++c, to += volume(large))
      for (int z = 0; z < filter[0]; ++z)
        for (int y = 0; y < filter[1]; ++y)
          for (int x = 0; x < filter[2]; ++x)
            for (int i = 0; i < smaller[0]; ++i)
              for (int j = 0; j < smaller[1]; ++j, from += smaller[2]) {
                const int plane = i * stride[0] - padding[0] + z * dilation[0];
                const int row = j * stride[1] - padding[1] + y * dilation[1];
                if (plane < 0 || plane >= large[0] || row < 0 || row >= large[1]) continue;
                Real* const line =
                    to + (static_cast<std::ptrdiff_t>(plane) * large[1] + row) * large[2];
                for (int k = 0; k < smaller[2]; ++k) {
                  const int at = k * stride[2] - padding[2] + x * dilation[2];
                  if (at >= 0 && at < large[2]) line[at] += from[k];
                }
              }
  }

  static std::size_t volume(const int (&sides)[3]) {
    return static_cast<std::size_t>(sides[0]) * static_cast<std::size_t>(sides[1]) *
           static_cast<std::size_t>(sides[2]);
  }

 private:
  template <class Real>
  void unfold_row(const Real* row, int first, Real* to) const {
    if (stride[2] == 1 && first >= 0 && first + smaller[2] <= large[2]) {
      std::copy(row + first, row + first + smaller[2], to);
      return;
    }
    for (int k = 0; k < smaller[2]; ++k) {
      const int x = first + k * stride[2];
      to[k] = x >= 0 && x < large[2] ? row[x] : Real(0);
    }
  }
};

/// Adds the bias of each channel to x.
template <class Real>
void add_channel_bias(const call_context<Real>& ctx, xt::xarray<Real>& x) {
  if (!ctx.has("Bias")) return;
  const auto& bias = ctx.real("Bias");
  const lines l(shape_of(x), 1);
  Real* at = x.data();
  for (std::size_t o = 0; o < l.outer; ++o)
    for (std::size_t k = 0; k < l.n; ++k)
      for (const Real* const end = at + l.inner; at != end; ++at) *at += bias.flat(k);
}
/// Computes the gradient of the bias: the sum of d over each channel.
template <class Real>
void give_channel_sums(call_context<Real>& ctx, const xt::xarray<Real>& d) {
  const lines l(shape_of(d), 1);
  auto sums = zeros<double>({l.n});
  for (std::size_t i = 0; i < d.size(); ++i)
    sums.flat(i / l.inner % l.n) += static_cast<double>(d.flat(i));
  ctx.give("Bias@GRAD", xt::xarray<Real>(xt::cast<Real>(sums)));
}

/// Computes one matrix product per sample and group: the filters, one per row, times the windows of
/// all positions. The gradients add up single products instead, so that they check this code
/// independently.
template <class Real>
void conv_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("Input");
  const auto& w = ctx.real("Filter");
  const tensor_shape filters = shape_of(w);
  auto y = zeros<Real>(
      windows_shape(ctx, "Output", shape_of(x), filters[0], {filters.begin() + 2, filters.end()}));
  const convolution conv(ctx, shape_of(x), shape_of(y), filters);
  const std::size_t positions = convolution::volume(conv.smaller);
  const std::size_t inputs = conv.large_channels * convolution::volume(conv.filter);
  std::vector<Real> seen(inputs * positions);
  for (std::size_t i = 0; i < conv.samples * conv.groups; ++i) {
    conv.unfold(x.data() + i * conv.large_channels * convolution::volume(conv.large), seen.data());
    add_product(w.data() + i % conv.groups * conv.small_channels * inputs, false, seen.data(),
                false, y.data() + i * conv.small_channels * positions, conv.small_channels, inputs,
                positions);
  }
  add_channel_bias(ctx, y);
  if (ctx.has("ResidualData")) y += ctx.real("ResidualData");
  ctx.give("Output", std::move(y));
}

template <class Real>
void conv_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("Input");
  const auto& w = ctx.real("Filter");
  const auto& d = ctx.real("Output@GRAD");
  auto dx = zeros<Real>(shape_of(x));
  auto dw = zeros<Real>(shape_of(w));
  convolution(ctx, shape_of(x), shape_of(d), shape_of(w))
      .for_each_product([&](std::size_t from, std::size_t weight, std::size_t to) {
        dx.flat(from) += w.flat(weight) * d.flat(to);
        dw.flat(weight) += x.flat(from) * d.flat(to);
      });
  if (ctx.has("Bias")) give_channel_sums(ctx, d);
  if (ctx.has("ResidualData")) ctx.give("ResidualData@GRAD", d);
  ctx.give("Input@GRAD", std::move(dx));
  ctx.give("Filter@GRAD", std::move(dw));
}

/// Returns the shape of a transposed convolution. In a program from a file, sides may be known at
/// run time only.
template <class Real>
tensor_shape transposed_shape(const call_context<Real>& ctx, const tensor_shape& from,
                              const tensor_shape& filters) {
  bool is_known = true;
  for (std::size_t d = 2; d < from.size(); ++d) is_known = is_known && !ctx.is_unknown("Output", d);
  if (is_known) return ctx.output_shape("Output");
  const std::vector<int> recorded = ctx.recorded_dims("Output"),
                         strides = ctx.integer_list("strides"),
                         paddings = ctx.integer_list("paddings"),
                         dilations = ctx.integer_list("dilations");
  tensor_shape shape{from[0], filters[1] * static_cast<std::size_t>(ctx.integer("groups", 1))};
  for (std::size_t d = 2; d < from.size(); ++d) {
    const int extent = recorded[d] >= 0
                           ? recorded[d]
                           : (static_cast<int>(from[d]) - 1) * strides.at(d - 2) -
                                 2 * paddings.at(d - 2) +
                                 dilations.at(d - 2) * (static_cast<int>(filters[d]) - 1) + 1;
    if (extent < 1) ctx.fail("expected a result with elements, found the image " + to_string(from));
    shape.push_back(static_cast<std::size_t>(extent));
  }
  return shape;
}

/// Computes one matrix product per sample and group: the transposed filters times the positions;
/// then adds its elements to the windows.
template <class Real>
void conv_transpose_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("Input");
  const auto& w = ctx.real("Filter");
  auto y = zeros<Real>(transposed_shape(ctx, shape_of(x), shape_of(w)));
  const convolution conv(ctx, shape_of(y), shape_of(x), shape_of(w));
  const std::size_t positions = convolution::volume(conv.smaller);
  const std::size_t outputs = conv.large_channels * convolution::volume(conv.filter);
  std::vector<Real> parts(outputs * positions);
  for (std::size_t i = 0; i < conv.samples * conv.groups; ++i) {
    std::fill(parts.begin(), parts.end(), Real(0));
    add_product(w.data() + i % conv.groups * conv.small_channels * outputs, true,
                x.data() + i * conv.small_channels * positions, false, parts.data(), outputs,
                conv.small_channels, positions);
    conv.fold(parts.data(), y.data() + i * conv.large_channels * convolution::volume(conv.large));
  }
  add_channel_bias(ctx, y);
  ctx.give("Output", std::move(y));
}

template <class Real>
void conv_transpose_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("Input");
  const auto& w = ctx.real("Filter");
  const auto& d = ctx.real("Output@GRAD");
  auto dx = zeros<Real>(shape_of(x));
  auto dw = zeros<Real>(shape_of(w));
  convolution(ctx, shape_of(d), shape_of(x), shape_of(w))
      .for_each_product([&](std::size_t to, std::size_t weight, std::size_t from) {
        dx.flat(from) += w.flat(weight) * d.flat(to);
        dw.flat(weight) += x.flat(from) * d.flat(to);
      });
  if (ctx.has("Bias")) give_channel_sums(ctx, d);
  ctx.give("Input@GRAD", std::move(dx));
  ctx.give("Filter@GRAD", std::move(dw));
}

template <class Real>
void add_conv_kernels(kernel_table<Real>& table) {
  for (const char* type : {"conv2d", "depthwise_conv2d", "conv3d"})
    table[type] = conv_forward<Real>;
  for (const char* type : {"conv2d_grad", "depthwise_conv2d_grad", "conv3d_grad"})
    table[type] = conv_gradient<Real>;
  table["conv2d_transpose"] = conv_transpose_forward<Real>;
  table["conv2d_transpose_grad"] = conv_transpose_gradient<Real>;
}

}}}  // namespace lamina::kernel
