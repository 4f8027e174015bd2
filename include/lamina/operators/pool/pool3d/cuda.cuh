// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool3d/cuda.cuh - kernels of pool3d, max_pool2d_with_index and unpool,
// pooling operators that networks rarely use.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/cuda/body/channel_position.cuh>
#include <lamina/engine/cuda/body/recurrent_body.cuh>
#include <lamina/operators/pool/pool3d/common.hpp>
#include <lamina/operators/pool/pool3d/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct volume_arguments {
  volume_windows w;
  row_array x, grad, to;
  std::int32_t* positions;  // positions of the largest elements, or null
  std::ptrdiff_t positions_stride;
  divider columns, size, layer, width;  // of the array that the threads compute
  bool is_average, counts_padding;
  int count;

  struct element {
    int row, at, channel, z, y, x;
  };
  LAMINA_INLINE LAMINA_FN element at(int i) const {
    const channel_position p(columns, size, i);
    element e{p.row, p.at, p.channel, 0, 0, p.inside};
    e.z = layer.divide(e.x);
    e.y = width.divide(e.x);
    return e;
  }
  LAMINA_INLINE LAMINA_FN float weight(int held) const {
    return 1.0f / static_cast<float>(
                      counts_padding ? w.side[0].size * w.side[1].size * w.side[2].size : held);
  }
  LAMINA_INLINE LAMINA_FN int in_size() const { return w.side[0].in * w.side[1].in * w.side[2].in; }
  LAMINA_INLINE LAMINA_FN int out_size() const {
    return w.side[0].out * w.side[1].out * w.side[2].out;
  }
};

inline volume_arguments volume_of(const volume_windows& w, const operand& to, bool of_windows) {
  const auto extent = [&](int d) { return of_windows ? w.side[d].out : w.side[d].in; };
  volume_arguments a{w,     {nullptr, 0}, {nullptr, 0},        to, nullptr, 0, {}, {}, {}, {},
                     false, false,        to.rows * to.columns};
  a.columns = divider(to.columns);
  a.size = divider(extent(0) * extent(1) * extent(2));
  a.layer = divider(extent(1) * extent(2));
  a.width = divider(extent(2));
  return a;
}

struct volume_pool_body {
  using arguments = volume_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const auto e = a.at(i);
    const pool_side* const s = a.w.side;
    const float* const from = a.x.row(e.row) + e.channel * a.in_size();
    float sum = 0, most = 0;
    int held = 0, position = -1;
    for (int z = s[0].first(e.z); z < s[0].end(e.z); ++z)
      for (int y = s[1].first(e.y); y < s[1].end(e.y); ++y) {
        LAMINA_CUDA_KEEP_LOOP
        for (int x = s[2].first(e.x); x < s[2].end(e.x); ++x) {
          const int at = (z * s[1].in + y) * s[2].in + x;
          const float v = from[at];
          sum += v;
          if (held++ == 0 || math::is_above(v, most)) most = v, position = at;
        }
      }
    if (a.to) a.to.row(e.row)[e.at] = a.is_average ? sum * a.weight(held) : most;
    if (a.positions != nullptr) a.positions[e.row * a.positions_stride + e.at] = position;
  }
};

/// Computes the gradient of an element of the image: a sum over the windows that contain it. For
/// averages, each window adds a weighted gradient. For maxima (ByPlace), the windows of which
/// it is the largest element add their whole gradient.
template <bool ByPlace>
struct volume_grad_body {
  using arguments = volume_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const auto e = a.at(i);
    const pool_side* const s = a.w.side;
    const int channel = e.channel * a.out_size();
    const int own = (e.z * s[1].in + e.y) * s[2].in + e.x;
    float sum = 0;
    LAMINA_CUDA_KEEP_LOOP
    for (int z = s[0].first_window(e.z); z < s[0].out && s[0].first(z) <= e.z; ++z) {
      LAMINA_CUDA_KEEP_LOOP
      for (int y = s[1].first_window(e.y); y < s[1].out && s[1].first(y) <= e.y; ++y) {
        LAMINA_CUDA_KEEP_LOOP
        for (int x = s[2].first_window(e.x); x < s[2].out && s[2].first(x) <= e.x; ++x) {
          if (e.z >= s[0].end(z) || e.y >= s[1].end(y) || e.x >= s[2].end(x)) continue;
          const int at = channel + (z * s[1].out + y) * s[2].out + x;
          const float grad = a.grad.row(e.row)[at];
          if constexpr (ByPlace)
            sum += a.positions[e.row * a.positions_stride + at] == own ? grad : 0.0f;
          else
            sum += grad * a.weight((s[0].end(z) - s[0].first(z)) * (s[1].end(y) - s[1].first(y)) *
                                   (s[2].end(x) - s[2].first(x)));
        }
      }
    }
    a.to.row(e.row)[e.at] = sum;
  }
};

inline void set_pooling(const call_context& c, volume_arguments& a) {
  a.is_average = text_of(c, 0) == "avg";
  a.counts_padding = !c.flag(5) && !c.flag(6);
  if (!a.is_average && text_of(c, 0) != "max")
    fail(c, {"expected a pooling_type 'max' or 'avg', found '", text_of(c, 0), "'"});
}

/// The arguments of the unpool kernels. Line i is a channel of an image, whose elements are written
/// to positions of a larger channel; if several elements have one position, the last is kept. Each
/// thread owns some of the positions, so that one thread writes all elements of a position, in
/// order.
struct unpool_arguments {
  row_array x, y;  // `y` is the larger image
  argument_view positions;
  int* last;  // for the gradient: the index of the element at each position
  int channels, few, many;
  fault_word* fault;
  int group;
  int lines, width, count;

  /// Calls f(index of the element, position) for each element of a line whose position the calling
  /// thread owns.
  template <class Team, class F>
  LAMINA_INLINE LAMINA_FN void each(int line, const Team& team, const F& f) const {
    const int row = line / channels, first = line % channels * few;
    for (int i = 0; i < few; ++i) {
      const int at = row * positions.columns + first + i;
      const std::int64_t position = positions.integer(at);
      const bool is_one = position >= 0 && position < many;
      if (!is_one && team.rank() == 0) report_fault(fault, group, at);
      if (is_one && static_cast<int>(position) % team.size() == team.rank())
        f(i, static_cast<int>(position));
    }
  }
};
struct unpool_lines {
  using arguments = unpool_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const int row = i / a.channels, channel = i % a.channels;
    const float* const x = a.x.row(row) + channel * a.few;
    float* const y = a.y.row(row) + channel * a.many;
    for (int k = team.rank(); k < a.many; k += team.size()) y[k] = 0;
    a.each(i, team, [&](int k, int position) { y[position] = x[k]; });
  }
};
/// If several elements of X have the same position, only the last of them is in Out and gets the
/// gradient; the others get 0.
struct unpool_grad_lines {
  using arguments = unpool_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const int row = i / a.channels, channel = i % a.channels;
    float* const x = a.x.row(row) + channel * a.few;
    const float* const y = a.y.row(row) + channel * a.many;
    int* const last = a.last + static_cast<std::ptrdiff_t>(i) * a.many;
    a.each(i, team, [&](int k, int position) { last[position] = k; });
    a.each(i, team, [&](int k, int position) { x[k] = last[position] == k ? y[position] : 0.0f; });
  }
};

inline unpool_arguments unpool_of(const call_context& c, const operand& few, const operand& many,
                                  const operand& positions) {
  unpool_arguments a{};
  a.x = few;
  a.y = many;
  a.positions = view_of_operand(positions);
  a.channels = positions.dims[1];
  a.few = positions.columns / at_least_one(a.channels);
  a.many = many.columns / at_least_one(a.channels);
  a.fault = c.run.fault;
  a.group = c.number_of_group;
  a.lines = a.count = positions.rows * a.channels;
  a.width = a.many;
  return a;
}

/// Checks that positions are inside a channel of the larger image. count(c) is the number of
/// elements of the channel.
inline constexpr checked_input checked_positions(int (*count)(const call_context&)) {
  return {.slot = 1, .what = "position", .count = count};
}

}  // namespace detail

template <>
struct call_kernel<operators::pool3d> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), out = c.output(0);
    require_float(c, x);
    const volume_windows w(c, pool3d_attributes, x, out);
    auto a = detail::volume_of(w, out, true);
    detail::set_pooling(c, a);
    a.x = x;
    b.template elements<detail::volume_pool_body>(a);
  }
};
template <>
struct call_kernel<gradient_of<operators::pool3d>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), out = c.input(1), dx = c.output(0);
    if (!dx) return;
    const volume_windows w(c, pool3d_attributes, x, out);
    auto a = detail::volume_of(w, dx, false);
    detail::set_pooling(c, a);
    a.grad = c.input(2);
    if (a.is_average) return b.template elements<detail::volume_grad_body<false>>(a);
    // The gradient needs the positions of the largest elements; another kernel computes them again.
    a.positions = reinterpret_cast<std::int32_t*>(c.run.scratch);
    a.positions_stride = out.columns;
    auto find = detail::volume_of(w, out, true);
    find.to = {nullptr, 0};
    find.x = x;
    find.positions = a.positions;
    find.positions_stride = a.positions_stride;
    b.template elements<detail::volume_pool_body>(find);
    b.template elements<detail::volume_grad_body<true>>(a);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return static_cast<std::ptrdiff_t>(c.input(1).rows) * c.input(1).columns;
  }
};

template <>
struct call_kernel<operators::max_pool2d_with_index> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), out = c.output(0), positions = c.output(1);
    require_float(c, x);
    const operand& made = out ? out : positions;
    const volume_windows w(c, indexed_pool_attributes, x, made);
    auto a = detail::volume_of(w, made, true);
    a.x = x;
    a.to = out;
    a.positions = positions ? positions.row<std::int32_t>(0) : nullptr;
    a.positions_stride = positions.stride;
    b.template elements<detail::volume_pool_body>(a);
  }
};
template <>
struct call_kernel<gradient_of<operators::max_pool2d_with_index>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand positions = c.input(1), grad = c.input(2), dx = c.output(0);
    if (!dx) return;
    const volume_windows w(c, indexed_pool_attributes, dx, grad);
    auto a = detail::volume_of(w, dx, false);
    a.grad = grad;
    a.positions = positions.row<std::int32_t>(0);
    a.positions_stride = positions.stride;
    b.template elements<detail::volume_grad_body<true>>(a);
  }
};

template <>
struct call_kernel<operators::unpool> {
  static constexpr checked_input checked = detail::checked_positions(
      [](const call_context& c) { return c.output(0).columns / at_least_one(c.input(1).dims[1]); });
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), out = c.output(0);
    require_float(c, x);
    if (text_of(c, 3) != "max")
      fail(c, {"expected an unpooling_type 'max', found '", text_of(c, 3), "'"});
    const auto a = detail::unpool_of(c, x, out, c.input(1));
    if (a.lines > 0) b.template lines<team_lines<detail::unpool_lines>>(a);
  }
};
template <>
struct call_kernel<gradient_of<operators::unpool>> {
  static constexpr checked_input checked = detail::checked_positions(
      [](const call_context& c) { return c.input(3).columns / at_least_one(c.input(1).dims[1]); });
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand dx = c.output(0);
    if (!dx) return;
    auto a = detail::unpool_of(c, dx, c.input(3), c.input(1));
    a.last = reinterpret_cast<int*>(c.run.scratch);
    if (a.lines > 0) b.template lines<team_lines<detail::unpool_grad_lines>>(a);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return static_cast<std::ptrdiff_t>(c.input(3).rows) * c.input(3).columns;
  }
};

}}}  // namespace lamina::engine::cuda
