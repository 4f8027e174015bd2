// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/executor.hpp - functions that copy rows, for all sequence operators.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// A list that holds, for each row of a result, the index of the input row that is copied to it.
using row_positions = std::vector<std::size_t>;

/// Returns the rows of x that `from` lists, with the element type of x.
inline tensor rows_at(const tensor& x, const row_positions& from) {
  return x.visit([&]<class T>(const xt::xarray<T>& a) {
    tensor_shape shape = shape_of(a);
    const std::size_t width = matrix(shape, 1).columns;
    shape[0] = from.size();
    xt::xarray<T> out = xt::xarray<T>::from_shape(shape);
    for (std::size_t r = 0; r < from.size(); ++r)
      for (std::size_t c = 0; c < width; ++c) out.flat(r * width + c) = a.flat(from[r] * width + c);
    return tensor(std::move(out));
  });
}

/// Writes X@GRAD: each row of Out@GRAD is added to the row of X from which it was copied.
template <class Real>
void give_rows_back(call_context<Real>& ctx, const row_positions& from) {
  const auto& d = ctx.real("Out@GRAD");
  auto dx = zeros<Real>(ctx.input("X").shape());
  const std::size_t width = matrix(shape_of(dx), 1).columns;
  for (std::size_t r = 0; r < from.size(); ++r)
    for (std::size_t c = 0; c < width; ++c) dx.flat(from[r] * width + c) += d.flat(r * width + c);
  ctx.give("X@GRAD", std::move(dx));
}

/// Appends the indices `first` to `end` - 1.
inline void append_rows(row_positions& to, std::size_t first, std::size_t end) {
  for (std::size_t r = first; r < end; ++r) to.push_back(r);
}

}}}  // namespace lamina::kernel
