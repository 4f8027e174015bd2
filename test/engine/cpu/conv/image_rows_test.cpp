// SPDX-License-Identifier: Apache-2.0
// The result of an image does not depend on the batch.
#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/cpu/conv/conv_backward.hpp>
#include <lamina/engine/cpu/conv/image_rows.hpp>

namespace {

/// What filters of 3 by 3 make of small images forward and backward, some images at a time.
std::vector<float> filtered(int channels, int width, int filters, std::vector<int> parts) {
  namespace cpu = lamina::engine::cpu;
  lamina::engine::conv_shape s;
  s.large_channels = channels;
  s.small_channels = filters;
  s.side[1] = {4, 4, 3, 1, 1, 1};
  s.side[2] = {width, width, 3, 1, 1, 1};
  int samples = 0;
  for (const int n : parts) samples += n;
  const int large = lamina::padded(channels * 4 * width),
            small = lamina::padded(filters * 4 * width);
  const int taps = channels * 9;
  const auto numbers = [](int n) {
    lamina::engine::aligned_buffer b(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) b.data()[i] = static_cast<float>(i * 37 % 101) / 50.0F - 1;
    return b;
  };
  lamina::engine::aligned_buffer images = numbers(samples * large),
                                 filter = numbers(filters * taps);
  lamina::engine::aligned_buffer made = numbers(samples * small), back = numbers(samples * large);
  const cpu::conv_forward forward(s, &cpu::all_conv_methods<>);
  const cpu::conv_backward backward(s, &cpu::all_conv_methods<>);
  int first = 0;
  for (const int n : parts) {
    lamina::engine::aligned_buffer scratch(
        static_cast<std::size_t>(std::max(forward.scratch(n), backward.scratch(n))));
    forward.run(n, {images.data() + first * large, large}, filter.data(), taps, nullptr,
                {made.data() + first * small, small}, scratch.data());
    backward.run(n, {made.data() + first * small, small}, filter.data(), taps, nullptr,
                 {back.data() + first * large, large}, scratch.data());
    first += n;
  }
  std::vector<float> all(made.data(), made.data() + samples * small);
  all.insert(all.end(), back.data(), back.data() + samples * large);
  return all;
}

}  // namespace

TEST_CASE("conv2d: an image's result has the same bits whatever is computed with it") {
  for (const int width : {4, 9}) {
    const std::vector<float> together = filtered(14, width, 50, {7});
    for (int n = 1; n < 7; ++n) {
      CAPTURE(width, n);
      CHECK((filtered(14, width, 50, {n, 7 - n}) == together));
    }
  }
  // Few enough tiles an image, and so many images, that a last part of them would be short.
  CHECK((filtered(12, 4, 12, {2971}) == filtered(12, 4, 12, {2000, 971})));
}
