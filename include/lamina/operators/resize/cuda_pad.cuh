// SPDX-License-Identifier: Apache-2.0
// lamina/operators/resize/cuda_pad.cuh - the kernels of pad2d, which pads images.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/channel_position.cuh>
#include <lamina/engine/cuda/body/recurrent_body.cuh>
#include <lamina/operators/resize/common.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct pad_arguments {
  row_array from, to;
  divider columns, plane, width;  // of the array whose elements threads compute
  padded_image image;
  float value;
  int count;
};
struct pad_body {
  using arguments = pad_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const channel_position to(a.columns, a.plane, i);
    int k = to.inside;
    const int row = a.image.rows.at(a.width.divide(k)), column = a.image.columns.at(k);
    const int first = (to.channel * a.image.rows.in + row) * a.image.columns.in;
    a.to.row(to.row)[to.at] = row < 0 || column < 0 ? a.value : a.from.row(to.row)[first + column];
  }
};
/// Computes the gradient of an element of the image: the sum of the gradients of all its copies.
struct pad_grad_body {
  using arguments = pad_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const channel_position to(a.columns, a.plane, i);
    const padded_side rows = a.image.rows, columns = a.image.columns;
    int x = to.inside;
    const int y = a.width.divide(x);
    float sum = 0;
    for (int v = rows.next(-1, y); v < rows.out; v = rows.next(v, y)) {
      if (rows.at(v) != y) continue;
      const float* const d = a.from.row(to.row) + (to.channel * rows.out + v) * columns.out;
      for (int h = columns.next(-1, x); h < columns.out; h = columns.next(h, x))
        if (columns.at(h) == x) sum += d[h];
    }
    a.to.row(to.row)[to.at] = sum;
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::pad2d> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), y = c.output(0);
    require_float(c, x);
    b.template elements<detail::pad_body>({x, y, divider(y.columns), divider(y.dims[2] * y.dims[3]),
                                           divider(y.dims[3]), padded_image(c, x, y),
                                           static_cast<float>(c.number(1)), y.rows * y.columns});
  }
};
template <>
struct call_kernel<gradient_of<operators::pad2d>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand d = c.input(1), dx = c.output(0);
    if (!dx) return;
    b.template elements<detail::pad_grad_body>(
        {d, dx, divider(dx.columns), divider(dx.dims[2] * dx.dims[3]), divider(dx.dims[3]),
         padded_image(c, dx, d), 0, dx.rows * dx.columns});
  }
};

}}}  // namespace lamina::engine::cuda
