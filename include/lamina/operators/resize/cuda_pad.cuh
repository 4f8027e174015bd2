// SPDX-License-Identifier: Apache-2.0
// lamina/operators/resize/cuda_pad.cuh - the kernels of pad2d, which pads images.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/bound_kernel.cuh>
#include <lamina/engine/cuda/body/channel_position.cuh>
#include <lamina/operators/resize/common.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct pad_kernel : kernel_call {
  row_array from = input(0), to = output(0);
  image_elements elements{output(0)};
  padded_image image{*call, input(0), output(0)};
  float value = real(1);
  int count = elements.count;

  LAMINA_INLINE LAMINA_FN void run(int i) const {
    const auto e = elements[i];
    const int row = image.rows.at(e.y), column = image.columns.at(e.x);
    const int first = (e.channel * image.rows.in + row) * image.columns.in;
    to.row(e.row)[e.at] = row < 0 || column < 0 ? value : from.row(e.row)[first + column];
  }
};
/// Each element of the image adds up the gradients of all its copies.
struct pad_grad_kernel : kernel_call {
  row_array d = input(1), dx = output(0);
  image_elements elements{output(0)};
  padded_image image{*call, output(0), input(1)};
  int count = elements.count;

  LAMINA_INLINE LAMINA_FN void run(int i) const {
    const auto e = elements[i];
    const padded_side rows = image.rows, columns = image.columns;
    float sum = 0;
    for (int v = rows.next(-1, e.y); v < rows.out; v = rows.next(v, e.y)) {
      if (rows.at(v) != e.y) continue;
      const float* const line = d.row(e.row) + (e.channel * rows.out + v) * columns.out;
      for (int h = columns.next(-1, e.x); h < columns.out; h = columns.next(h, e.x))
        if (columns.at(h) == e.x) sum += line[h];
    }
    dx.row(e.row)[e.at] = sum;
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::pad2d> : elements_call<detail::pad_kernel> {};
template <>
struct call_kernel<gradient_of<operators::pad2d>> : elements_call<detail::pad_grad_kernel> {};

}}}  // namespace lamina::engine::cuda
