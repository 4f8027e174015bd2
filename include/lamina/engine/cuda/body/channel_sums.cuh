// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/channel_sums.cuh - sums over all elements of each channel in a batch of
// images.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>

#include <lamina/engine/cuda/body/column_sums.cuh>
#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/engine/cuda/body/pack.cuh>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The elements of each channel of an array. A channel has `size` adjacent elements in each row. An
/// absent array has no elements.
struct channel_elements {
  int rows, channels;
  divider size;

  channel_elements() = default;
  channel_elements(const operand& x, int count)
      : rows(x ? x.rows : 0), channels(count), size(count > 0 ? x.columns / count : 0) {}
  LAMINA_INLINE LAMINA_FN int count() const { return rows * size.divisor(); }
  /// Calls f(row, column) for the elements that the calling thread sums. The elements of a channel
  /// are divided into `parts` parts; the elements of part `part` are divided among the threads of a
  /// team.
  template <class Team, class F>
  LAMINA_INLINE LAMINA_FN void each(int channel, int part, int parts, const Team& team,
                                    const F& f) const {
    const int all = count(), length = all / parts + (all % parts != 0);
    const int first = part * length, end = all - first < length ? all : first + length;
    LAMINA_CUDA_UNROLL_BY_4
    for (int i = first + team.rank(); i < end; i += team.size()) {
      int inside = i;
      const int row = size.divide(inside);
      f(row, channel * size.divisor() + inside);
    }
  }
};

/// Computes the sums over a channel, or over one part of it, with one team. Terms has `sums`, the
/// number of sums per channel, and
///   add(channel, row, column, sums)   adds the terms of one element
/// Finish has
///   store(part, channel, sums)        stores the sums of one part
template <class Terms, class Finish>
struct channel_sum_lines {
  struct arguments {
    Terms terms;
    Finish finish;
    channel_elements elements;
    int parts, lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const int channel = i / a.parts, part = i % a.parts;
    double sums[Terms::sums] = {};
    a.elements.each(channel, part, a.parts, team,
                    [&](int row, int column) { a.terms.add(channel, row, column, sums); });
    for (double& sum : sums) sum = sum_of(team, sum);
    if (team.rank() == 0) a.finish.store(part, channel, sums);
  }
};

/// The partial sums of each channel as terms of a second summation, in which `row` is the index of
/// the part.
template <int Sums>
struct partial_channels {
  static constexpr int sums = Sums;
  partial_sums<Sums> of;

  LAMINA_INLINE LAMINA_FN void add(int channel, int part, int, double (&to)[bound(Sums)]) const {
    of.add(part, channel, to);
  }
};

/// Returns the number of parts into which a channel is divided. Few long channels have enough parts
/// to keep a device busy. The number depends only on sizes, so that equal inputs give equal bits on
/// all devices.
inline int channel_parts(int channels, int elements) {
  constexpr int wanted_lines = 1024, least_elements = 2048;
  return std::clamp((std::min)(wanted_lines / at_least_one(channels), elements / least_elements), 1,
                    256);
}
/// Returns the floats of scratch memory that sum_channels() needs for channels of this size or
/// smaller.
inline std::ptrdiff_t channel_scratch(int sums, const channel_elements& of) {
  const int parts = channel_parts(of.channels, of.count());
  return parts == 1 ? 0 : std::ptrdiff_t{2} * sums * parts * of.channels;
}
/// Sums `terms` over each channel and passes the sums to `finish`, as the sums of part 0.
template <class Terms, class Finish, class Backend>
void sum_channels(Backend& b, const Terms& terms, const Finish& finish, const channel_elements& of,
                  float* scratch) {
  if (of.channels == 0) return;
  const int parts = channel_parts(of.channels, of.count()), lines = of.channels * parts;
  const int width = of.count() / parts;
  if (parts == 1)
    return b.template lines<team_lines<channel_sum_lines<Terms, Finish>>>(
        {terms, finish, of, 1, lines, width, lines});
  using partial = partial_sums<Terms::sums>;
  const partial sums{reinterpret_cast<double*>(scratch), of.channels};
  b.template lines<team_lines<channel_sum_lines<Terms, partial>>>(
      {terms, sums, of, parts, lines, width, lines});
  channel_elements of_parts;
  of_parts.rows = parts, of_parts.channels = of.channels;
  using all_parts = partial_channels<Terms::sums>;
  b.template lines<team_lines<channel_sum_lines<all_parts, Finish>>>(
      {all_parts{sums}, finish, of_parts, 1, of.channels, parts, of.channels});
}

/// Terms for the sums over an array: a term is an element.
struct channel_terms {
  static constexpr int sums = 1;
  const float* from;
  std::ptrdiff_t stride;

  LAMINA_INLINE LAMINA_FN void add(int, int row, int column, double (&to)[1]) const {
    to[0] += static_cast<double>(load_constant<lone_float>(from + row * stride + column).v[0]);
  }
};
/// Stores to[c] = the sum of channel c.
template <class Backend>
void add_channels(Backend& b, const operand& x, const operand& to, float* scratch) {
  sum_channels(b, channel_terms{x.row<const float>(0), x.stride}, store_sums{to.row<float>(0)},
               {x, to.columns}, scratch);
}

}}}  // namespace lamina::engine::cuda
