// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/static/static_kernels.hpp - kernels for groups whose sizes are compile-time
// constants. Their loops have constant length, they need no scratch memory for few samples, and
// none throws.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include <lamina/core/messages/check.hpp>
#include <lamina/engine/cpu/schedule/channel_walk.hpp>
#include <lamina/engine/cpu/schedule/group_kernel.hpp>
#include <lamina/engine/cpu/static/static_layout.hpp>
#include <lamina/operators/activation/prelu_maxout/definition.hpp>
#include <lamina/operators/activation/simple/definition.hpp>
#include <lamina/operators/activation/softmax/definition.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The kernel of an operator that is not fused, for sizes known to the compiler. Each operator
/// specialises this template with a function
///   template <class Group> static void run(float* memory);
template <class Op>
struct static_call_kernel;

namespace detail {

/// The address of argument A of a group.
template <class Group, int A>
LAMINA_INLINE float* address_in(float* memory) {
  constexpr std::ptrdiff_t position = Group::arguments.of[A].position;
  constexpr int window = Group::arguments.of[A].window;
  if constexpr (window >= 0)
    return memory + position + Group::layout::template cursor_of<window>(memory).now;
  return position == Group::layout::nowhere ? nullptr : memory + position;
}

/// The addresses of all arguments.
template <class Group>
struct static_arguments {
  float* of[bound(Group::count)] = {};
  LAMINA_INLINE explicit static_arguments(float* memory) {
    fill(memory, std::make_integer_sequence<int, Group::count>{});
  }
  template <int... A>
  LAMINA_INLINE void fill(float* memory, std::integer_sequence<int, A...>) {
    ((of[A] = address_in<Group, A>(memory)), ...);
  }
};

/// The vector for rows of `Columns` elements: a short one if it has room for all of them, as small
/// states have. Besides less work, a load of it gets the elements that a copy of a row has just
/// stored from the store buffer, which no load can that is wider than the store.
template <int Columns>
using static_vector =
    std::conditional_t<(Columns <= 4 && lanes > 4), vector_of<4>,
                       std::conditional_t<(Columns <= 8 && lanes > 8), vector_of<8>, vector>>;

template <class V>
LAMINA_INLINE V multiply_add(V a, V b, V c) {
  if constexpr (std::is_same_v<V, vector>)
    return fused_multiply_add(a, b, c);
  else
    return simd::fma(a, b, c);
}

/// The number of vectors of an output row that are computed together. Their sums are independent,
/// and there are enough of them to hide the latency of a multiply-add.
template <int Rows>
inline constexpr int static_vectors =
    8 / Rows < tile_vectors ? tile_vectors : 8 / Rows / tile_vectors* tile_vectors;

/// Computes `Vectors` vectors of each row of a product from column `first` on; these columns may
/// belong to several panels.
template <int Rows, int Vectors, int Depth, int Stride, int ProductStride, class Runner>
LAMINA_INLINE void multiply_vectors(const float* x, const float* panels, int width, int first,
                                    const Runner& runner) {
  using vector = typename Runner::vector;
  constexpr int lanes = lanes_of<vector>;
  constexpr int count = chains(Rows * Vectors);
  vector acc[bound(count)][bound(Rows)][bound(Vectors)];
  LAMINA_UNROLL for (int c = 0; c < count; ++c) {
    LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
      LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) acc[c][i][j] = vector(0.F);
    }
  }
  const auto advance = [&](auto& chain, std::ptrdiff_t k) __attribute__((always_inline)) {
    vector b[bound(Vectors)];
    LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) {
      // Each panel has Depth rows, so panel n begins n * Depth rows after the first.
      const int column = j * lanes;
      b[j] = vector::load_unaligned(panels + column / panel_width * Depth * panel_width +
                                    k * width + column % panel_width);
    }
    LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
      const vector a(x[i * Stride + k]);
      LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) {
        chain[i][j] = multiply_add(a, b[j], chain[i][j]);
      }
    }
  };
  constexpr std::ptrdiff_t whole = Depth - Depth % count;
  for (std::ptrdiff_t k = 0; k < whole; k += count) {
    LAMINA_UNROLL for (int c = 0; c < count; ++c) advance(acc[c], k + c);
  }
  for (std::ptrdiff_t k = whole; k < Depth; ++k) advance(acc[0], k);
  LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
    LAMINA_UNROLL for (int j = 0; j < Vectors; ++j) {
      // Pairs are added first: this is short, and the sums of each pair wait for no other.
      LAMINA_UNROLL for (int c = 0; c + 1 < count; c += 2) acc[c][i][j] += acc[c + 1][i][j];
      vector sum = acc[0][i][j];
      if constexpr (count == 4) sum += acc[2][i][j];
      runner(sum, {i * ProductStride + first + j * lanes, i, first + j * lanes});
    }
  }
}

template <class Group, class Runner>
LAMINA_INLINE void static_product(float* memory, const Runner& runner) {
  constexpr int rows = Group::rows, depth = Group::depth, end = padded(Group::columns);
  constexpr int vectors = static_vectors<rows>, together = vectors * lanes;
  constexpr int stride = Group::arguments.of[0].info.stride;
  const float* const x = address_in<Group, 0>(memory);
  const float* const w = address_in<Group, 1>(memory);
  if constexpr (!std::is_same_v<typename Runner::vector, vector>)
    return multiply_vectors<rows, 1, depth, stride, end>(x, w, end, 0, runner);
  constexpr int blocks = end / together;
  bool from_end = false;
  if constexpr (blocks > 1 && Group::layout::alternates(Group::desc))
    from_end = Group::layout::order_of_panels(memory) == panel_order::descending;
  for (int i = 0; i < blocks; ++i) {
    const int b = from_end ? blocks - 1 - i : i;
    multiply_vectors<rows, vectors, depth, stride, end>(x, w + offset_of_panel(depth, b * together),
                                                        panel_width, b * together, runner);
  }
  constexpr int rest = (end - blocks * together) / panel_width;
  constexpr int last = blocks * together + rest * panel_width;
  if constexpr (rest > 0)
    multiply_vectors<rows, rest * tile_vectors, depth, stride, end>(
        x, w + offset_of_panel(depth, blocks * together), panel_width, blocks * together, runner);
  if constexpr (last < end)
    multiply_vectors<rows, (end - last) / lanes, depth, stride, end>(
        x, w + offset_of_panel(depth, last), end - last, last, runner);
}

/// Runs statements over image `row`, as run_channels does, with a short loop for images of one
/// element per channel.
template <class Group, int Channels, class Runner>
LAMINA_INLINE void run_static_channels(const Runner& runner, int row, const float* head) {
  using vector = typename Runner::vector;
  constexpr int width = padded(Group::columns);
  if constexpr (Channels == Group::columns) {
    element_position at{.offset = row * width, .row = row, .column = 0, .apart = true};
    for (int j = 0; j < width; j += lanes_of<vector>) {
      at.channel = at.column = j;
      runner(head == nullptr ? vector(0.F) : vector::load_unaligned(head + j), at);
      at.offset += lanes_of<vector>;
    }
  } else {
    run_channels(runner, Channels, Group::columns, row, head);
  }
}

/// The largest number of rows of a product for which the sums and a row of the weights fit into
/// registers.
inline constexpr int static_product_rows = 3;

template <class Group, class Expression>
struct static_kernel;

template <class Group, class S>
struct static_kernel<Group, expression::group_expression<fusion_anchor::gemm, S>> {
  static void run(float* memory) {
    const static_arguments<Group> a(memory);
    if constexpr (Group::multiplies_own_panels()) {
      Group::layout::weights::template multiply<Group, statement_runner<S>>(
          a.of, memory + Group::layout::at.scratch);
    } else if constexpr (Group::rows <= static_product_rows) {
      using runner = statement_runner<S, float, static_vector<Group::columns>>;
      static_product<Group>(memory, runner(a.of));
    } else {
      gemm(Group::rows, Group::depth, Group::columns, a.of[0], Group::arguments.of[0].info.stride,
           a.of[1], padded(Group::columns), &run_tile<statement_runner<S>>, a.of,
           memory + Group::layout::at.scratch);
    }
  }
};

template <class Group, class S>
struct static_kernel<Group, expression::group_expression<fusion_anchor::pointwise, S>> {
  static void run(float* memory) {
    static_assert(!Group::desc.panel);  // a forward pass does not write weights
    const static_arguments<Group> a(memory);
    constexpr int width = padded(Group::columns);
    if constexpr (statement_runner<S>::channels >= 0) {
      const statement_runner<S> runner(a.of);
      constexpr int channels = Group::arguments.of[statement_runner<S>::channels].info.columns;
      for (int i = 0; i < Group::rows; ++i)
        run_static_channels<Group, channels>(runner, i, nullptr);
    } else {
      using vector = static_vector<Group::columns>;
      const statement_runner<S, float, vector> runner(a.of);
      for (int i = 0; i < Group::rows; ++i)
        for (int j = 0; j < Group::columns; j += lanes_of<vector>)
          runner(vector(0.F), {i * width + j, i, j});
    }
  }
};

template <class Group, class S>
struct static_kernel<Group, expression::group_expression<fusion_anchor::reduce_rows, S>> {
  static void run(float* memory) {
    const static_arguments<Group> a(memory);
    reduce_rows(statement_runner<S>(a.of), a.of[0], Group::layout::rows_of(Group::depth),
                Group::arguments.of[0].info.stride, padded(Group::columns));
  }
};

template <class Group, class Op>
struct static_kernel<Group, expression::call_expression<Op>> {
  static void run(float* memory) {
    constexpr bool known = requires(float* m) { static_call_kernel<Op>::template run<Group>(m); };
    static_assert(check<known, gets_type<Op>>,
                  "lamina: static_evaluator: this operator has no kernel that needs no heap");
    if constexpr (known) static_call_kernel<Op>::template run<Group>(memory);
  }
};

}  // namespace detail

/// Runs group G of program P for `Rows` samples on a block of memory that static_layout describes.
template <class P, int Rows, int G, class Weights = float_weights>
void run_static_group(float* memory) {
  using group = static_group<P, Rows, G, Weights>;
  detail::static_kernel<group, expression::group_of<plan<P>, G>>::run(memory);
}

template <>
struct static_call_kernel<operators::stage_feed> {
  template <class Group>
  static void run(float* memory) {
    constexpr argument_info from = Group::arguments.of[0].info, to = Group::arguments.of[1].info;
    constexpr std::size_t size = static_cast<std::size_t>(size_of(from.type));
    if (Group::arguments.of[0].position == Group::arguments.of[1].position) return;
    const auto* x = reinterpret_cast<const char*>(detail::address_in<Group, 0>(memory));
    auto* y = reinterpret_cast<char*>(detail::address_in<Group, 1>(memory));
    for (int i = 0; i < from.rows; ++i, x += from.stride * size, y += to.stride * size)
      std::memcpy(y, x, from.columns * size);
  }
};

template <>
struct static_call_kernel<operators::unpack_panels> {
  template <class Group>
  static void run(float* memory) {
    constexpr argument_info from = Group::arguments.of[0].info, to = Group::arguments.of[1].info;
    const float* const panels = detail::address_in<Group, 0>(memory);
    float* const y = detail::address_in<Group, 1>(memory);
    for_each_row_segment<float>(
        from.rows, from.columns, [&](std::ptrdiff_t offset, int count, int k, int n) {
          std::memcpy(y + static_cast<std::ptrdiff_t>(k) * to.stride + n, panels + offset,
                      static_cast<std::size_t>(count) * sizeof(float));
        });
  }
};

/// prelu: each slope is for one element of a row, for all elements of a channel, or for all.
template <>
struct static_call_kernel<operators::prelu> {
  template <class Group>
  static void run(float* memory) {
    constexpr argument_info in = Group::arguments.of[0].info, slope = Group::arguments.of[1].info;
    constexpr argument_info out = Group::arguments.of[2].info;
    constexpr int slopes = slope.rows * slope.columns, width = in.columns / slopes;
    static_assert(slope.rows == 1 || slope.columns == 1);
    constexpr std::ptrdiff_t next = slope.rows == 1 ? 1 : slope.stride;
    const float* const a = detail::address_in<Group, 1>(memory);
    for (int r = 0; r < in.rows; ++r) {
      const float* const x = detail::address_in<Group, 0>(memory) + r * in.stride;
      float* const y = detail::address_in<Group, 2>(memory) + r * out.stride;
      if constexpr (width == 1 && next == 1) {
        for (int j = 0; j < in.columns; j += lanes)
          bend(vector::load_unaligned(x + j), vector::load_unaligned(a + j)).store_unaligned(y + j);
      } else {
        for (int c = 0; c < slopes; ++c) channel<width>(x + c * width, a[c * next], y + c * width);
      }
    }
  }

 private:
  static LAMINA_INLINE vector bend(vector x, vector slope) {
    return math::select(x > vector(0.F), x, vector(slope * x));
  }
  template <int Width>
  static LAMINA_INLINE void channel(const float* x, float slope, float* y) {
    constexpr int whole = Width / lanes * lanes;
    for (int j = 0; j < whole; j += lanes)
      bend(vector::load_unaligned(x + j), vector(slope)).store_unaligned(y + j);
    for (int j = whole; j < Width; ++j) y[j] = x[j] > 0 ? x[j] : slope * x[j];
  }
};

/// Softmax over whole rows.
template <>
struct static_call_kernel<operators::softmax> {
  template <class Group>
  requires(Group::rank(0) == 2) static void run(float* memory) {
    constexpr argument_info in = Group::arguments.of[0].info, out = Group::arguments.of[1].info;
    for (int r = 0; r < in.rows; ++r)
      row(detail::address_in<Group, 0>(memory) + r * in.stride,
          detail::address_in<Group, 1>(memory) + r * out.stride, in.columns);
  }

 private:
  static void row(const float* x, float* y, int n) {
    float largest = x[0], sum = 0;
    for (int j = 1; j < n; ++j) largest = x[j] > largest ? x[j] : largest;
    for (int j = 0; j < n; ++j) sum += y[j] = std::exp(x[j] - largest);
    for (int j = 0; j < n; ++j) y[j] /= sum;
  }
};

}}}  // namespace lamina::engine::cpu
