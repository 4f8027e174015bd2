// SPDX-License-Identifier: Apache-2.0
// Channels apart and side by side.
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/conv/channel_squares.hpp>

namespace cpu = lamina::engine::cpu;

TEST_CASE("channels of a vector side by side and back, of any number of columns") {
  constexpr int lanes = cpu::lanes;
  for (int channels = 1; channels <= lanes; ++channels)
    for (int columns = 1; columns <= 3 * lanes + 1; ++columns) {
      const int stride = columns + 3;
      // Not one element more than there are, for the sanitizer.
      std::vector<float> image(static_cast<std::size_t>((channels - 1) * stride + columns));
      for (std::size_t i = 0; i < image.size(); ++i) image[i] = 1.F + static_cast<float>(i);
      std::vector<float> lines(static_cast<std::size_t>(columns * lanes + 1), -1.F);
      cpu::gather_lanes(image.data(), stride, channels, columns, lines.data());
      bool same = lines.back() == -1.F;
      for (int x = 0; x < columns; ++x)
        for (int c = 0; c < lanes; ++c)
          same = same && lines[static_cast<std::size_t>(x * lanes + c)] ==
                             (c < channels ? image[static_cast<std::size_t>(c * stride + x)] : 0.F);
      CAPTURE(channels, columns);
      REQUIRE(same);
      std::vector<float> back(image.size(), -1.F);
      lines.pop_back();
      cpu::scatter_lanes(lines.data(), channels, columns, back.data(), stride);
      for (int c = 0; c < channels; ++c)
        for (int x = 0; x < stride && c * stride + x < static_cast<int>(back.size()); ++x) {
          const auto i = static_cast<std::size_t>(c * stride + x);
          same = same && back[i] == (x < columns ? image[i] : -1.F);
        }
      REQUIRE(same);
    }
}
