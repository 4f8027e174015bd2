// SPDX-License-Identifier: Apache-2.0
// Statements over images and parts of images: each element gets the number of its channel.
#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/cpu/schedule/channel_walk.hpp>

namespace {

namespace cpu = lamina::engine::cpu;

/// Stores the head plus the number of the element's channel.
struct adds_channel {
  using real = float;
  using vector = cpu::vector;
  float* const* arguments;
  float* to;

  void operator()(vector head, const cpu::element_position& at) const {
    using reader = cpu::detail::operand_reader<lamina::expression::channel<0>, vector>;
    (head + reader::get(arguments, nullptr, head, nullptr, at)).store_unaligned(to + at.offset);
  }
};

}  // namespace

TEST_CASE("run_channels: images of any size, whole and in parts") {
  for (const int channels : {1, 2, 5, 19, 40})
    for (const int size : {1, 3, 7, 15, 16, 17, 49}) {
      CAPTURE(channels, size);
      const int columns = channels * size, width = lamina::padded(columns);
      lamina::engine::aligned_buffer numbers(static_cast<std::size_t>(lamina::padded(channels))),
          head(static_cast<std::size_t>(width)), made(static_cast<std::size_t>(2 * width));
      for (int c = 0; c < channels; ++c) numbers.data()[c] = static_cast<float>(1000 * c);
      for (int j = 0; j < width; ++j) head.data()[j] = static_cast<float>(j);
      float* const arguments[] = {numbers.data()};
      const adds_channel runner{arguments, made.data()};
      for (const int part : {width, cpu::lanes, 3 * cpu::lanes}) {
        for (int j = 0; j < 2 * width; ++j) made.data()[j] = -1;
        for (int first = 0; first < width; first += part)
          cpu::detail::run_channels(runner, channels, columns, 1, head.data(), first, first + part);
        bool equal = true;
        for (int j = 0; j < columns; ++j)
          equal = equal && made.data()[width + j] == static_cast<float>(j + j / size * 1000);
        CHECK(equal);
        CHECK(made.data()[width - 1] == -1);
      }
      cpu::detail::run_channels(runner, channels, columns, 0, nullptr);
      CHECK(made.data()[columns - 1] == static_cast<float>(1000 * (channels - 1)));
    }
}
