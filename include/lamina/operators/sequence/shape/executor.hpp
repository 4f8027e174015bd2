// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/shape/executor.hpp - operators that rearrange rows of sequences:
// reverse, concat, slice, reshape, lod_reset.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/operators/sequence/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// For each row of a result, the row of the input that is copied to it; and the sequences of the
/// result, if they are new.
struct rows_and_lod {
  row_positions from;
  lod sequences;
};

template <class Real>
void sequence_reverse_forward(call_context<Real>& ctx) {
  const lod::level& begin = ctx.lod("X").last();
  row_positions from;
  for (std::size_t s = 0; s + 1 < begin.size(); ++s)
    for (std::size_t r = begin[s + 1]; r > begin[s]; --r) from.push_back(r - 1);
  ctx.give("Y", rows_at(ctx.input("X"), from));
}

/// Calls f(index of the input, row of this input) for each row of the result of a sequence_concat,
/// in order.
template <class Real, class F>
void for_concatenated_rows(const call_context<Real>& ctx, F&& f) {
  for (std::size_t s = 0; s < ctx.lod("X").sequences(); ++s)
    for (int i = 0; i < ctx.count("X"); ++i)
      for (std::size_t r = ctx.lod("X", i).last()[s]; r < ctx.lod("X", i).last()[s + 1]; ++r)
        f(i, r);
}

template <class Real>
void sequence_concat_forward(call_context<Real>& ctx) {
  const lod first = ctx.lod("X");
  lod::level lengths(first.sequences(), 0);
  std::size_t rows = 0;
  for (int i = 0; i < ctx.count("X"); ++i) {
    const lod& x = ctx.lod("X", i);
    if (x.sequences() != lengths.size())
      ctx.fail("expected " + std::to_string(lengths.size()) + " sequences in variable '" +
               ctx.input_name("X", i) + "' as in '" + ctx.input_name("X") + "', found " +
               std::to_string(x.sequences()));
    for (std::size_t s = 0; s < lengths.size(); ++s) lengths[s] += x.length(s);
    rows += x.rows();
  }
  ctx.give("Out", ctx.input("X").visit([&]<class T>(const xt::xarray<T>& a) {
    tensor_shape shape = shape_of(a);
    const std::size_t width = matrix(shape, 1).columns;
    shape[0] = rows;
    xt::xarray<T> out = xt::xarray<T>::from_shape(shape);
    xt::xarray<T> storage;
    std::size_t at = 0;
    for_concatenated_rows(ctx, [&](int i, std::size_t r) {
      const xt::xarray<T>& x = values_as(ctx.input("X", i), storage);
      for (std::size_t c = 0; c < width; ++c) out.flat(at++) = x.flat(r * width + c);
    });
    return tensor(std::move(out));
  }));
  ctx.set_lod("Out", first.above().below(lengths));
}

template <class Real>
void sequence_concat_gradient(call_context<Real>& ctx) {
  const auto& d = ctx.real("Out@GRAD");
  const std::size_t width = matrix(shape_of(d), 1).columns;
  std::vector<xt::xarray<Real>> dx;
  for (int i = 0; i < ctx.count("X"); ++i) dx.push_back(zeros<Real>(ctx.input("X", i).shape()));
  std::size_t at = 0;
  for_concatenated_rows(ctx, [&](int i, std::size_t r) {
    for (std::size_t c = 0; c < width; ++c)
      dx[static_cast<std::size_t>(i)].flat(r * width + c) = d.flat(at++);
  });
  for (int i = 0; i < ctx.count("X"); ++i)
    ctx.give("X@GRAD", std::move(dx[static_cast<std::size_t>(i)]), i);
}

template <class Real>
rows_and_lod sliced(const call_context<Real>& ctx) {
  const lod& x = ctx.lod("X");
  const auto offset = ctx.integers("Offset"), length = ctx.integers("Length");
  if (offset.size() != x.sequences() || length.size() != x.sequences())
    ctx.fail("expected one number in 'Offset' and 'Length' for each of the " +
             std::to_string(x.sequences()) + " sequences of 'X', found " +
             std::to_string(offset.size()) + " and " + std::to_string(length.size()));
  rows_and_lod r;
  lod::level lengths;
  for (std::size_t s = 0; s < x.sequences(); ++s) {
    const std::int64_t has = static_cast<std::int64_t>(x.length(s));
    ctx.require_range("Offset", offset.flat(s), 0, has + 1);
    ctx.require_range("Length", length.flat(s), 0, has - offset.flat(s) + 1);
    lengths.push_back(static_cast<std::size_t>(length.flat(s)));
    const std::size_t first = x.last()[s] + static_cast<std::size_t>(offset.flat(s));
    append_rows(r.from, first, first + lengths.back());
  }
  r.sequences = x.above().below(lengths);
  return r;
}
template <class Real>
void sequence_slice_forward(call_context<Real>& ctx) {
  rows_and_lod r = sliced(ctx);
  ctx.give("Out", rows_at(ctx.input("X"), r.from));
  ctx.set_lod("Out", std::move(r.sequences));
}
template <class Real>
void sequence_slice_gradient(call_context<Real>& ctx) {
  give_rows_back(ctx, sliced(ctx).from);
}

template <class Real>
void sequence_reshape_forward(call_context<Real>& ctx) {
  const lod x = ctx.lod("X");
  const std::size_t width = matrix(ctx.input("X").shape(), 1).columns;
  const int asked = ctx.integer("new_dim");
  if (asked < 1) ctx.fail("expected a positive new_dim, found " + std::to_string(asked));
  const std::size_t wide = static_cast<std::size_t>(asked);
  lod::level lengths;
  for (std::size_t s = 0; s < x.sequences(); ++s) {
    if (x.length(s) * width % wide != 0)
      ctx.fail("expected sequences whose elements fill rows of " + std::to_string(wide) +
               ", found " + std::to_string(x.length(s)) + " rows of " + std::to_string(width) +
               " in sequence " + std::to_string(s));
    lengths.push_back(x.length(s) * width / wide);
  }
  lod sequences = x.above().below(lengths);
  ctx.give("Out", ctx.input("X").visit([&]<class T>(const xt::xarray<T>& a) {
    return tensor(reshaped(a, {sequences.rows(), wide}));
  }));
  ctx.set_lod("Out", std::move(sequences));
}

/// The gradient of operators that keep all elements in order and change only their rows or
/// sequences.
template <class Real>
void reshaped_gradient(call_context<Real>& ctx) {
  ctx.give("X@GRAD", reshaped(ctx.real("Out@GRAD"), ctx.input("X").shape()));
}

template <class Real>
void lod_reset_forward(call_context<Real>& ctx) {
  const std::size_t rows = ctx.input("X").shape()[0];
  lod sequences = ctx.has("Y") ? ctx.lod("Y") : lod();
  if (sequences.empty()) {
    lod::level offsets;
    if (ctx.has("Y"))
      for (const std::int64_t at : ctx.integers("Y"))
        offsets.push_back(static_cast<std::size_t>(at));
    else
      for (const int at : ctx.integer_list("target_lod"))
        offsets.push_back(static_cast<std::size_t>(at));
    std::vector<lod::level> levels;
    if (ctx.flag("append") && offsets.size() != rows + 1)
      ctx.fail("expected one sequence for each of the " + std::to_string(rows) + " rows of '" +
               ctx.input_name("X") + "', found " + std::to_string(offsets.size()) + " offsets");
    if (ctx.flag("append"))
      for (std::size_t l = 0; l < ctx.lod("X").levels(); ++l)
        levels.push_back(ctx.lod("X").offsets(l));
    levels.push_back(std::move(offsets));
    try {
      sequences = lod(std::move(levels));
    } catch (const error& wrong) {
      ctx.fail(wrong.what());
    }
  }
  if (sequences.rows() != rows)
    ctx.fail("expected sequences over the " + std::to_string(rows) + " rows of '" +
             ctx.input_name("X") + "', found lengths " + to_string(sequences));
  ctx.give("Out", ctx.input("X"));
  ctx.set_lod("Out", std::move(sequences));
}

template <class Real>
void add_sequence_shape_kernels(kernel_table<Real>& table) {
  table["sequence_reverse"] = sequence_reverse_forward<Real>;
  table["sequence_concat"] = sequence_concat_forward<Real>;
  table["sequence_concat_grad"] = sequence_concat_gradient<Real>;
  table["sequence_slice"] = sequence_slice_forward<Real>;
  table["sequence_slice_grad"] = sequence_slice_gradient<Real>;
  table["sequence_reshape"] = sequence_reshape_forward<Real>;
  table["sequence_reshape_grad"] = reshaped_gradient<Real>;
  table["lod_reset"] = lod_reset_forward<Real>;
  table["lod_reset_grad"] = reshaped_gradient<Real>;
}

}}}  // namespace lamina::kernel
