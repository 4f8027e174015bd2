// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/shape/executor.hpp - operators that put the rows of sequences
// elsewhere: expand, reverse, concat, slice, reshape, other sequences over the same rows.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/kernel_table.hpp>

namespace lamina::inline LAMINA_ABI::kernel {

/// For each row of a result, the number of the input row that is copied to it.
using row_positions = std::vector<std::size_t>;

/// The rows of x at `from`, of x's own type.
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

/// Appends the rows from `first` to before `end`.
inline void append_rows(row_positions& to, std::size_t first, std::size_t end) {
  for (std::size_t r = first; r < end; ++r) to.push_back(r);
}

/// The rows of a result and, if it has new ones, its sequences.
struct rows_and_lod {
  row_positions from;
  lod sequences;
};

template <class Real>
rows_and_lod expanded(const call_context<Real>& ctx) {
  const lod& x = ctx.lod("X");
  const lod& y = ctx.lod("Y");
  const int asked = ctx.integer("ref_level", -1);
  const std::size_t level = asked < 0 ? y.levels() - 1 : static_cast<std::size_t>(asked);
  if (level >= y.levels())
    ctx.fail("expected a ref_level below the " + std::to_string(y.levels()) +
             " levels of 'Y', found " + std::to_string(asked));
  const bool whole_sequences = x.levels() == level + 1;
  const std::size_t items = whole_sequences ? x.sequences() : ctx.input("X").shape()[0];
  if (items != y.sequences(level))
    ctx.fail("expected one " + std::string(whole_sequences ? "sequence" : "row") +
             " of 'X' for each of the " + std::to_string(y.sequences(level)) +
             " sequences of 'Y', found " + std::to_string(items));
  rows_and_lod r;
  lod::level lengths;
  for (std::size_t i = 0; i < items; ++i)
    for (std::size_t k = y.offsets(level)[i]; k < y.offsets(level)[i + 1]; ++k) {
      append_rows(r.from, whole_sequences ? x.last()[i] : i,
                  whole_sequences ? x.last()[i + 1] : i + 1);
      if (whole_sequences) lengths.push_back(x.length(i));
    }
  r.sequences = y;
  while (r.sequences.levels() > level + 1) r.sequences = r.sequences.above();
  if (whole_sequences) r.sequences = r.sequences.below(lengths);
  return r;
}

template <class Real>
void sequence_expand_forward(call_context<Real>& ctx) {
  rows_and_lod r = expanded(ctx);
  ctx.give("Out", rows_at(ctx.input("X"), r.from));
  ctx.set_lod("Out", std::move(r.sequences));
}
template <class Real>
void sequence_expand_gradient(call_context<Real>& ctx) {
  give_rows_back(ctx, expanded(ctx).from);
}

template <class Real>
row_positions expanded_as(const call_context<Real>& ctx) {
  const lod& y = ctx.lod("Y");
  const std::size_t rows = ctx.input("X").shape()[0];
  if (rows != y.sequences())
    ctx.fail("expected one row of 'X' for each of the " + std::to_string(y.sequences()) +
             " sequences of 'Y', found " + std::to_string(rows));
  row_positions from;
  for (std::size_t i = 0; i < rows; ++i) from.insert(from.end(), y.length(i), i);
  return from;
}
template <class Real>
void sequence_expand_as_forward(call_context<Real>& ctx) {
  const lod sequences = ctx.lod("Y");
  ctx.give("Out", rows_at(ctx.input("X"), expanded_as(ctx)));
  ctx.set_lod("Out", sequences);
}
template <class Real>
void sequence_expand_as_gradient(call_context<Real>& ctx) {
  give_rows_back(ctx, expanded_as(ctx));
}

template <class Real>
void sequence_reverse_forward(call_context<Real>& ctx) {
  const lod::level& begin = ctx.lod("X").last();
  row_positions from;
  for (std::size_t s = 0; s + 1 < begin.size(); ++s)
    for (std::size_t r = begin[s + 1]; r > begin[s]; --r) from.push_back(r - 1);
  ctx.give("Y", rows_at(ctx.input("X"), from));
}

/// Calls f(input, row of that input) for the rows of a sequence_concat, in their order.
template <class Real, class F>
void for_joined_rows(const call_context<Real>& ctx, F&& f) {
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
    std::size_t at = 0;
    for_joined_rows(ctx, [&](int i, std::size_t r) {
      const xt::xarray<T>& x = ctx.input("X", i).template as<T>();
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
  for_joined_rows(ctx, [&](int i, std::size_t r) {
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

/// The gradient of the same elements in other rows or other sequences.
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
void add_sequence_row_kernels(kernel_table<Real>& table) {
  table["sequence_expand"] = sequence_expand_forward<Real>;
  table["sequence_expand_grad"] = sequence_expand_gradient<Real>;
  table["sequence_expand_as"] = sequence_expand_as_forward<Real>;
  table["sequence_expand_as_grad"] = sequence_expand_as_gradient<Real>;
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

}  // namespace lamina::inline LAMINA_ABI::kernel
