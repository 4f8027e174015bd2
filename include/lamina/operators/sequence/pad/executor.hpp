// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/pad/executor.hpp - the operators sequence_pad, sequence_unpad and
// sequence_mask.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Copies rows from sequences to padded sequences or, if `to_padded` is false, from padded
/// sequences to sequences. Sequence s has `length` rows of the padded array, from row s * length
/// on.
template <class T>
void copy_padded(const lod& sequences, std::size_t length, std::size_t width, bool to_padded,
                 const xt::xarray<T>& from, xt::xarray<T>& to) {
  for (std::size_t s = 0; s < sequences.sequences(); ++s)
    for (std::size_t i = 0; i < sequences.length(s) * width; ++i) {
      const std::size_t packed = sequences.last()[s] * width + i, padded = s * length * width + i;
      to.flat(to_padded ? padded : packed) = from.flat(to_padded ? packed : padded);
    }
}

template <class Real>
void sequence_pad_forward(call_context<Real>& ctx) {
  const lod sequences = ctx.lod("X");
  const tensor_shape rows = ctx.input("X").shape();
  const std::size_t width = matrix(rows, 1).columns;
  auto lengths = zeros<std::int64_t>({sequences.sequences()});
  std::size_t longest = 0;
  for (std::size_t s = 0; s < sequences.sequences(); ++s) {
    lengths.flat(s) = static_cast<std::int64_t>(sequences.length(s));
    longest = (std::max)(longest, sequences.length(s));
  }
  const int asked = ctx.integer("padded_length", -1);
  const std::size_t length = asked < 0 ? longest : static_cast<std::size_t>(asked);
  if (longest > length)
    ctx.fail("expected sequences of at most " + std::to_string(length) + " rows in variable '" +
             ctx.input_name("X") + "', found " + std::to_string(longest));
  const std::size_t pads = ctx.input("PadValue").size();
  if (pads != 1 && pads != width)
    ctx.fail("expected 1 or " + std::to_string(width) + " numbers in variable '" +
             ctx.input_name("PadValue") + "', found " + std::to_string(pads));
  tensor_shape shape{sequences.sequences(), length};
  shape.insert(shape.end(), rows.begin() + 1, rows.end());
  tensor out = ctx.input("X").visit([&]<class T>(const xt::xarray<T>& x) {
    const xt::xarray<T> pad = ctx.input("PadValue").template cast<T>();
    auto y = zeros<T>(shape);
    for (std::size_t i = 0; i < y.size(); ++i) y.flat(i) = pad.flat(i % pads);
    copy_padded(sequences, length, width, true, x, y);
    return tensor(std::move(y));
  });
  ctx.give("Out", std::move(out));
  ctx.give("Length", std::move(lengths));
  ctx.set_lod("Out", sequences.above());
  ctx.set_lod("Length", sequences.above());
}
template <class Real>
void sequence_pad_gradient(call_context<Real>& ctx) {
  if (!ctx.wants("X@GRAD")) return;
  const auto& d = ctx.real("Out@GRAD");
  auto dx = zeros<Real>(ctx.input("X").shape());
  copy_padded(ctx.lod("X"), d.shape()[1], matrix(shape_of(dx), 1).columns, false, d, dx);
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void sequence_unpad_forward(call_context<Real>& ctx) {
  const tensor_shape padded = ctx.input("X").shape();
  const auto length = ctx.integers("Length");
  if (length.size() != padded[0])
    ctx.fail("expected " + std::to_string(padded[0]) + " lengths in variable '" +
             ctx.input_name("Length") + "', found " + std::to_string(length.size()));
  lod::level lengths;
  for (std::size_t i = 0; i < length.size(); ++i) {
    ctx.require_range("Length", length.flat(i), 0, static_cast<std::int64_t>(padded[1]) + 1);
    lengths.push_back(static_cast<std::size_t>(length.flat(i)));
  }
  const lod sequences = ctx.lod("X").below(lengths);
  tensor_shape shape{sequences.rows()};
  shape.insert(shape.end(), padded.begin() + 2, padded.end());
  if (shape.size() == 1) shape.push_back(1);
  tensor out = ctx.input("X").visit([&]<class T>(const xt::xarray<T>& x) {
    auto y = zeros<T>(shape);
    copy_padded(sequences, padded[1], matrix(shape, 1).columns, false, x, y);
    return tensor(std::move(y));
  });
  ctx.give("Out", std::move(out));
  ctx.set_lod("Out", sequences);
}
template <class Real>
void sequence_unpad_gradient(call_context<Real>& ctx) {
  if (!ctx.wants("X@GRAD")) return;
  auto dx = zeros<Real>(ctx.input("X").shape());
  copy_padded(ctx.lod("Out@GRAD"), dx.shape()[1], matrix(shape_of(dx), 2).columns, true,
              ctx.real("Out@GRAD"), dx);
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void sequence_mask_forward(call_context<Real>& ctx) {
  const auto x = ctx.integers("X");
  std::int64_t n = ctx.integer("maxlen", -1);
  if (n < 0) {
    n = 0;
    for (const std::int64_t length : x) n = (std::max)(n, length);
  }
  const std::size_t longest = static_cast<std::size_t>(n);
  tensor_shape shape = shape_of(x);
  shape.push_back(longest);
  auto y = zeros<std::int64_t>(shape);
  for (std::size_t i = 0; i < y.size(); ++i)
    y.flat(i) = static_cast<std::int64_t>(i % longest) < x.flat(i / longest) ? 1 : 0;
  ctx.give("Y", std::move(y));
}

template <class Real>
void add_sequence_pad_kernels(kernel_table<Real>& table) {
  table["sequence_pad"] = sequence_pad_forward<Real>;
  table["sequence_pad_grad"] = sequence_pad_gradient<Real>;
  table["sequence_unpad"] = sequence_unpad_forward<Real>;
  table["sequence_unpad_grad"] = sequence_unpad_gradient<Real>;
  table["sequence_mask"] = sequence_mask_forward<Real>;
}

}}}  // namespace lamina::kernel
