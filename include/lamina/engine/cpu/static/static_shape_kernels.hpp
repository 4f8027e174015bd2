// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/static/static_shape_kernels.hpp - concat, split, slice, pad, transpose2 and
// reshapes of sizes that the compiler knows. They copy boxes of elements within each row.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>
#include <utility>

#include <lamina/engine/cpu/static/static_kernels.hpp>
#include <lamina/operators/shape/concat/definition.hpp>
#include <lamina/operators/shape/reshape/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// A box of elements of each row that a kernel copies: its extents, and its steps and offsets in
/// the rows of source and target, all in elements.
struct static_box {
  int rank = 0;
  int extent[16] = {};
  std::ptrdiff_t from_step[16] = {}, to_step[16] = {};
  std::ptrdiff_t from_begin = 0, to_begin = 0;

  /// The box of all elements of argument `Small`, one of the operands; `Whole` contains it, and
  /// `begin` gives its first index there along a dimension, the rows included.
  template <class Group, int Whole, int Small, class Begin>
  static constexpr static_box inside(bool reads_whole, const Begin& begin) {
    static_box b;
    b.rank = Group::rank(Small) - 1;
    std::ptrdiff_t inner = 1, outer = 1, at = 0;
    for (int d = b.rank; d-- > 0;) {
      b.extent[d] = Group::extent(Small, d + 1);
      (reads_whole ? b.to_step : b.from_step)[d] = inner;
      (reads_whole ? b.from_step : b.to_step)[d] = outer;
      at += begin(d + 1) * outer;
      inner *= b.extent[d];
      outer *= Group::extent(Whole, d + 1);
    }
    (reads_whole ? b.from_begin : b.to_begin) = at;
    return b;
  }
  /// Joins the last dimensions that lie without gaps in both rows, so that one copy moves more.
  constexpr static_box joined() const {
    static_box b = *this;
    while (b.rank > 1 && b.from_step[b.rank - 2] == b.to_step[b.rank - 2] &&
           b.from_step[b.rank - 2] == b.extent[b.rank - 1]) {
      b.extent[b.rank - 2] *= b.extent[b.rank - 1];
      b.from_step[b.rank - 2] = b.to_step[b.rank - 2] = 1;
      --b.rank;
    }
    return b;
  }
};

/// Copies dimension `D` and those after it of a box; `Size` is the size of an element.
template <class Box, std::size_t Size, int D = 0>
LAMINA_INLINE void copy_box(const char* from, char* to) {
  constexpr const static_box& b = Box::box;
  if constexpr (b.rank == 0) {
    std::memcpy(to, from, Size);
  } else if constexpr (D == b.rank - 1) {
    std::memcpy(to, from, static_cast<std::size_t>(b.extent[D]) * Size);
  } else {
    for (int i = 0; i < b.extent[D]; ++i)
      copy_box<Box, Size, D + 1>(from + i * b.from_step[D] * static_cast<std::ptrdiff_t>(Size),
                                 to + i * b.to_step[D] * static_cast<std::ptrdiff_t>(Size));
  }
}

/// Copies `Box::box` of each row of argument From to argument To.
template <class Group, int From, int To, class Box>
LAMINA_INLINE void copy_boxes(float* memory) {
  constexpr argument_info from = Group::arguments.of[From].info, to = Group::arguments.of[To].info;
  constexpr auto size = static_cast<std::ptrdiff_t>(size_of(from.type));
  const auto* x = reinterpret_cast<const char*>(address_in<Group, From>(memory));
  auto* y = reinterpret_cast<char*>(address_in<Group, To>(memory));
  if (x == nullptr || y == nullptr) return;
  x += Box::box.from_begin * size;
  y += Box::box.to_begin * size;
  for (int r = 0; r < from.rows; ++r, x += from.stride * size, y += to.stride * size)
    copy_box<Box, static_cast<std::size_t>(size)>(x, y);
}

/// The dimension that an attribute names, the rows included.
template <class Group>
constexpr int static_axis(double axis, int argument) {
  const int a = static_cast<int>(axis);
  return a < 0 ? a + Group::rank(argument) : a;
}

/// The box of argument Part in argument Whole, where the arguments from First to Part lie one after
/// the other along dimension `Axis`.
template <class Group, int Whole, int Part, int First, int Axis, bool ReadsWhole>
struct part_box {
  static constexpr static_box box = static_box::inside<Group, Whole, Part>(ReadsWhole, [](int d) {
                                      std::ptrdiff_t before = 0;
                                      for (int a = First; d == Axis && a < Part; ++a)
                                        before += Group::extent(a, Axis);
                                      return before;
                                    }).joined();
};

}  // namespace detail

/// Concatenates along a dimension other than the rows.
template <>
struct static_call_kernel<operators::concat> {
  template <class Group>
  requires(detail::static_axis<Group>(Group::number(0), Group::count - 1) >
           0) static void run(float* memory) {
    join<Group>(memory, std::make_integer_sequence<int, Group::count - 1>{});
  }

 private:
  template <class Group, int... Part>
  static void join(float* memory, std::integer_sequence<int, Part...>) {
    constexpr int whole = Group::count - 1;
    constexpr int axis = detail::static_axis<Group>(Group::number(0), whole);
    (detail::copy_boxes<Group, Part, whole, detail::part_box<Group, whole, Part, 0, axis, false>>(
         memory),
     ...);
    // The block is in the window now, so the next state is complete.
    if constexpr (constexpr int window = Group::arguments.of[whole].window; window >= 0) {
      using layout = typename Group::layout;
      const int now = layout::template cursor_of<window>(memory).now;
      layout::template set_cursor<window>(memory, {now, now + layout::windows.of[window].block});
    }
  }
};

/// Splits along a dimension other than the rows.
template <>
struct static_call_kernel<operators::split> {
  template <class Group>
  requires(detail::static_axis<Group>(Group::number(2), 0) > 0) static void run(float* memory) {
    part<Group>(memory, std::make_integer_sequence<int, Group::count - 1>{});
  }

 private:
  template <class Group, int... Part>
  static void part(float* memory, std::integer_sequence<int, Part...>) {
    constexpr int axis = detail::static_axis<Group>(Group::number(2), 0);
    (detail::copy_boxes<Group, 0, Part + 1, detail::part_box<Group, 0, Part + 1, 1, axis, true>>(
         memory),
     ...);
  }
};

/// Cuts a box out of each row. No limit is on the rows, because a program cannot know their number.
template <>
struct static_call_kernel<operators::slice> {
  template <class Group>
  struct cut {
    static constexpr detail::static_box box =
        detail::static_box::inside<Group, 0, 1>(true, [](int d) {
          std::ptrdiff_t start = 0;
          for (int i = 0; i < Group::list_size(0); ++i) {
            if (detail::static_axis<Group>(Group::integer(0, i), 0) != d) continue;
            const int n = Group::extent(0, d), wanted = Group::integer(1, i);
            start = wanted < 0 ? (wanted + n < 0 ? 0 : wanted + n) : wanted < n ? wanted : n;
          }
          return start;
        }).joined();
  };
  template <class Group>
  static void run(float* memory) {
    detail::copy_boxes<Group, 0, 1, cut<Group>>(memory);
  }
};

/// Pads each row.
template <>
struct static_call_kernel<operators::pad> {
  template <class Group>
  struct place {
    static constexpr detail::static_box box =
        detail::static_box::inside<Group, 1, 0>(false, [](int d) {
          return static_cast<std::ptrdiff_t>(Group::integer(0, 2 * d));
        }).joined();
  };
  template <class Group>
  requires(Group::arguments.of[0].info.type == dtype::float32) static void run(float* memory) {
    constexpr argument_info to = Group::arguments.of[1].info;
    float* y = detail::address_in<Group, 1>(memory);
    for (int r = 0; r < to.rows; ++r, y += to.stride)
      for (int j = 0; j < to.columns; ++j) y[j] = static_cast<float>(Group::number(1));
    detail::copy_boxes<Group, 0, 1, place<Group>>(memory);
  }
};

namespace detail {

/// Copies all elements in their order; the rows of source and target may have other lengths. Plans
/// have such a copy only where a result must not share the memory of its operand.
struct static_reshape {
  template <class Group>
  static void run(float* memory) {
    constexpr argument_info from = Group::arguments.of[0].info;
    constexpr argument_info to = Group::arguments.of[reshaped<Group>()].info;
    constexpr auto size = static_cast<std::ptrdiff_t>(size_of(from.type));
    constexpr int run = from.columns < to.columns ? from.columns : to.columns;
    static_assert(from.rows * from.columns == to.rows * to.columns);
    static_assert(from.columns % run == 0 && to.columns % run == 0);
    constexpr auto at = Group::arguments.of[0].position;
    if (at == Group::arguments.of[reshaped<Group>()].position) return;
    const auto* x = reinterpret_cast<const char*>(address_in<Group, 0>(memory));
    auto* y = reinterpret_cast<char*>(address_in<Group, reshaped<Group>()>(memory));
    for (int i = 0; i < from.rows * from.columns; i += run)
      std::memcpy(y + (i / to.columns * to.stride + i % to.columns) * size,
                  x + (i / from.columns * from.stride + i % from.columns) * size,
                  static_cast<std::size_t>(run * size));
  }

 private:
  // The result Out; XShape, the last argument, has no memory.
  template <class Group>
  static constexpr int reshaped() {
    return Group::count - 2;
  }
};

}  // namespace detail

template <>
struct static_call_kernel<operators::reshape2> : detail::static_reshape {};
template <>
struct static_call_kernel<operators::squeeze2> : detail::static_reshape {};
template <>
struct static_call_kernel<operators::unsqueeze2> : detail::static_reshape {};
template <>
struct static_call_kernel<operators::flatten2> : detail::static_reshape {};

/// Permutes the dimensions of each row.
template <>
struct static_call_kernel<operators::transpose2> {
  template <class Group>
  struct turned {
    static constexpr detail::static_box make() {
      detail::static_box b =
          detail::static_box::inside<Group, 1, 1>(false, [](int) { return std::ptrdiff_t{0}; });
      for (int d = 0; d < b.rank; ++d) {
        b.from_step[d] = 1;
        for (int k = detail::static_axis<Group>(Group::integer(0, d + 1), 0) + 1;
             k < Group::rank(0); ++k)
          b.from_step[d] *= Group::extent(0, k);
      }
      // Single elements are copied, because the last dimension need not be contiguous in X.
      b.extent[b.rank] = 1;
      b.from_step[b.rank] = b.to_step[b.rank] = 1;
      ++b.rank;
      return b;
    }
    static constexpr detail::static_box box = make();
  };
  template <class Group>
  requires(detail::static_axis<Group>(Group::integer(0, 0), 0) ==
           0) static void run(float* memory) {
    detail::copy_boxes<Group, 0, 1, turned<Group>>(memory);
  }
};

}}}  // namespace lamina::engine::cpu
