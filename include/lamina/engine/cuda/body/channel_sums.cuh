// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/channel_sums.cuh - sums over all elements of a channel of images, by one
// block per channel.
#pragma once

#include <cstddef>

#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/engine/cuda/body/pack.cuh>

namespace lamina::engine::cuda {

/// The elements of the channels of an array, `size` neighbours in each row; none of an absent one.
struct channel_elements {
  int rows, channels;
  divider size;

  channel_elements() = default;
  channel_elements(const operand& x, int count)
      : rows(x ? x.rows : 0), channels(count), size(count > 0 ? x.columns / count : 0) {}
  LAMINA_INLINE LAMINA_FN int count() const { return rows * size.divisor(); }
  /// f(row, column) for each element of a channel that the calling thread has.
  template <class Team, class F>
  LAMINA_INLINE LAMINA_FN void each(int channel, const Team& team, const F& f) const {
    for (int i = team.rank(); i < count(); i += team.size()) {
      int inside = i;
      const int row = size.divide(inside);
      f(row, channel * size.divisor() + inside);
    }
  }
};

/// Launches a line of Kernel per channel.
template <class Kernel, class Backend>
void run_channels(Backend& b, typename Kernel::arguments& a, const channel_elements& elements) {
  a.elements = elements;
  a.lines = a.count = elements.channels;
  a.width = elements.count();
  if (a.lines > 0) b.template lines<team_lines<Kernel>>(a);
}

/// to[c] = the sum of channel c.
struct channel_sum_lines {
  struct arguments {
    const float* from;
    std::ptrdiff_t stride;
    float* to;
    channel_elements elements;
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int c, const Team& team) {
    double sum = 0;
    a.elements.each(c, team, [&](int row, int column) {
      sum += static_cast<double>(a.from[row * a.stride + column]);
    });
    sum = sum_of(team, sum);
    if (team.rank() == 0) a.to[c] = static_cast<float>(sum);
  }
};
template <class Backend>
void add_channels(Backend& b, const operand& x, const operand& to) {
  channel_sum_lines::arguments a{};
  a.from = x.row<const float>(0);
  a.stride = x.stride;
  a.to = to.row<float>(0);
  run_channels<channel_sum_lines>(b, a, {x, to.columns});
}

}  // namespace lamina::engine::cuda
