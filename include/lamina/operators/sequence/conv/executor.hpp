// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/conv/executor.hpp - convolutions over the rows of sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/matrix_product.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// The rows that each window of a sequence_conv reads, relative to the row of the window's result.
struct sequence_window {
  std::ptrdiff_t start = 0, length = 0;   // the window: rows [start, start + length)
  std::ptrdiff_t before = 0, behind = 0;  // padding rows before and after a sequence
  std::size_t width = 0, filters = 0;
};

template <class Real>
sequence_window window_of(const call_context<Real>& ctx) {
  sequence_window w;
  w.start = ctx.integer("contextStart");
  w.length = ctx.integer("contextLength");
  w.before = std::max<std::ptrdiff_t>(0, -w.start);
  w.behind = std::max<std::ptrdiff_t>(0, w.start + w.length - 1);
  if (w.length < 1 || ctx.integer("contextStride", 1) != 1)
    ctx.fail("expected a positive contextLength and a contextStride of 1, found " +
             std::to_string(w.length) + " and " + std::to_string(ctx.integer("contextStride", 1)));
  const tensor_shape x = ctx.input("X").shape(), filter = ctx.input("Filter").shape();
  w.width = matrix(x, 1).columns;
  if (filter.size() != 2 || filter[0] != static_cast<std::size_t>(w.length) * w.width)
    ctx.fail("expected a filter of contextLength " + std::to_string(w.length) + " times " +
             std::to_string(w.width) + " rows for the input " + to_string(x) + ", found " +
             to_string(filter));
  w.filters = filter[1];
  if (ctx.flag("paddingTrainable")) {
    const tensor_shape padding = ctx.input("PaddingData").shape();
    const tensor_shape wanted{static_cast<std::size_t>(w.before + w.behind), w.width};
    if (padding != wanted)
      ctx.fail("expected PaddingData " + to_string(wanted) + ", found " + to_string(padding));
  }
  return w;
}

/// Calls f(row of the result, position in the window, row of X or -1, row of PaddingData or -1) for
/// each position of each window. If the window reads zeros at this position, both rows are -1.
template <class F>
void for_windows(const lod::level& begin, const sequence_window& w, F&& f) {
  for (std::size_t s = 0; s + 1 < begin.size(); ++s) {
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(begin[s]);
    const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(begin[s + 1]) - first;
    for (std::ptrdiff_t t = 0; t < n; ++t)
      for (std::ptrdiff_t j = 0; j < w.length; ++j) {
        const std::ptrdiff_t at = t + w.start + j;
        const std::size_t row = static_cast<std::size_t>(first + t);
        const std::size_t tap = static_cast<std::size_t>(j);
        if (at < 0)
          f(row, tap, std::ptrdiff_t{-1}, w.before + at);
        else if (at >= n)
          f(row, tap, std::ptrdiff_t{-1}, w.before + at - n);
        else
          f(row, tap, first + at, std::ptrdiff_t{-1});
      }
  }
}

template <class Real>
void sequence_conv_forward(call_context<Real>& ctx) {
  const sequence_window w = window_of(ctx);
  const auto &x = ctx.real("X"), &filter = ctx.real("Filter");
  const Real* padding = ctx.flag("paddingTrainable") ? ctx.real("PaddingData").data() : nullptr;
  auto out = zeros<Real>({x.shape()[0], w.filters});
  for_windows(ctx.lod("X").last(), w,
              [&](std::size_t t, std::size_t j, std::ptrdiff_t row, std::ptrdiff_t padded) {
                if (row < 0 && padding == nullptr) return;
                const Real* from = row >= 0 ? x.data() + static_cast<std::size_t>(row) * w.width
                                            : padding + static_cast<std::size_t>(padded) * w.width;
                add_product(from, false, filter.data() + j * w.width * w.filters, false,
                            out.data() + t * w.filters, 1, w.width, w.filters);
              });
  ctx.give("Out", std::move(out));
}

template <class Real>
void sequence_conv_gradient(call_context<Real>& ctx) {
  const sequence_window w = window_of(ctx);
  const auto &x = ctx.real("X"), &filter = ctx.real("Filter"), &d = ctx.real("Out@GRAD");
  const bool trained = ctx.flag("paddingTrainable");
  const Real* padding = trained ? ctx.real("PaddingData").data() : nullptr;
  auto dx = zeros<Real>(shape_of(x));
  auto dfilter = zeros<Real>(shape_of(filter));
  auto dpadding =
      zeros<Real>({trained ? static_cast<std::size_t>(w.before + w.behind) : 0, w.width});
  for_windows(ctx.lod("X").last(), w,
              [&](std::size_t t, std::size_t j, std::ptrdiff_t row, std::ptrdiff_t padded) {
                if (row < 0 && !trained) return;
                const std::size_t at = static_cast<std::size_t>(row >= 0 ? row : padded) * w.width;
                const std::size_t tap = j * w.width * w.filters;
                const Real* dy = d.data() + t * w.filters;
                add_product(dy, false, filter.data() + tap, true,
                            (row >= 0 ? dx.data() : dpadding.data()) + at, 1, w.filters, w.width);
                add_product((row >= 0 ? x.data() : padding) + at, true, dy, false,
                            dfilter.data() + tap, w.width, 1, w.filters);
              });
  ctx.give("X@GRAD", std::move(dx));
  ctx.give("Filter@GRAD", std::move(dfilter));
  if (trained) ctx.give("PaddingData@GRAD", std::move(dpadding));
}

/// Calls f(position in the result, position in X, position in Filter) for every product of a
/// row_conv.
template <class Real, class F>
void for_row_products(const call_context<Real>& ctx, F&& f) {
  const lod::level& begin = ctx.lod("X").last();
  const tensor_shape filter = ctx.input("Filter").shape();
  const std::size_t width = matrix(ctx.input("X").shape(), 1).columns;
  if (filter.size() != 2 || filter[1] != width)
    ctx.fail("expected a filter with rows of " + std::to_string(width) + " as in 'X', found " +
             to_string(filter));
  for (std::size_t s = 0; s + 1 < begin.size(); ++s)
    for (std::size_t t = begin[s]; t < begin[s + 1]; ++t)
      for (std::size_t j = 0; j < filter[0] && t + j < begin[s + 1]; ++j)
        for (std::size_t c = 0; c < width; ++c)
          f(t * width + c, (t + j) * width + c, j * width + c);
}

template <class Real>
void row_conv_forward(call_context<Real>& ctx) {
  const auto &x = ctx.real("X"), &filter = ctx.real("Filter");
  auto out = zeros<Real>(shape_of(x));
  for_row_products(ctx, [&](std::size_t to, std::size_t from, std::size_t tap) {
    out.flat(to) += x.flat(from) * filter.flat(tap);
  });
  ctx.give("Out", std::move(out));
}

template <class Real>
void row_conv_gradient(call_context<Real>& ctx) {
  const auto &x = ctx.real("X"), &filter = ctx.real("Filter"), &d = ctx.real("Out@GRAD");
  auto dx = zeros<Real>(shape_of(x));
  auto dfilter = zeros<Real>(shape_of(filter));
  for_row_products(ctx, [&](std::size_t to, std::size_t from, std::size_t tap) {
    dx.flat(from) += d.flat(to) * filter.flat(tap);
    dfilter.flat(tap) += d.flat(to) * x.flat(from);
  });
  ctx.give("X@GRAD", std::move(dx));
  ctx.give("Filter@GRAD", std::move(dfilter));
}

template <class Real>
void add_sequence_conv_kernels(kernel_table<Real>& table) {
  table["sequence_conv"] = sequence_conv_forward<Real>;
  table["sequence_conv_grad"] = sequence_conv_gradient<Real>;
  table["row_conv"] = row_conv_forward<Real>;
  table["row_conv_grad"] = row_conv_gradient<Real>;
}

}}}  // namespace lamina::kernel
