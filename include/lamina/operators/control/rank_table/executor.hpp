// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/rank_table/executor.hpp - operators that process sequences of different
// lengths step by step.
#pragma once

#include <lamina/core/config.hpp>

#include <vector>

#include <lamina/core/arrays/sort_stably.hpp>
#include <lamina/operators/control/array/executor.hpp>
#include <lamina/operators/control/split_merge/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// A rank table, as the operators of this file read it.
struct rank_table {
  std::vector<std::size_t> index, length;  // by rank
  lod above;                               // LoD levels above the ranked sequences

  template <class Real>
  explicit rank_table(const call_context<Real>& ctx) : above(ctx.lod("RankTable")) {
    const auto items = ctx.integers("RankTable");
    for (std::size_t i = 0; i < items.size() / 2; ++i) {
      index.push_back(static_cast<std::size_t>(items.flat(2 * i)));
      length.push_back(static_cast<std::size_t>(items.flat(2 * i + 1)));
    }
  }
  std::size_t steps() const { return length.empty() ? 0 : length[0]; }
  /// The number of sequences that are longer than t: those that have a step t.
  std::size_t alive(std::size_t t) const {
    std::size_t n = 0;
    while (n < length.size() && length[n] > t) ++n;
    return n;
  }
  /// The LoD of the ranked sequences: the levels above them and their own offsets.
  lod sequences() const {
    lod::level lengths(length.size());
    for (std::size_t r = 0; r < length.size(); ++r) lengths[index[r]] = length[r];
    return above.below(lengths);
  }
};

/// Returns a LoD with the levels of `above`, followed by the levels of `below`.
inline lod stacked(const lod& above, const lod& below) {
  std::vector<lod::level> offsets;
  for (std::size_t l = 0; l < above.levels(); ++l) offsets.push_back(above.offsets(l));
  for (std::size_t l = 0; l < below.levels(); ++l) offsets.push_back(below.offsets(l));
  return lod(std::move(offsets));
}

template <class Real>
void lod_rank_table_forward(call_context<Real>& ctx) {
  const lod& whole = ctx.lod("X");
  const std::size_t level = static_cast<std::size_t>(ctx.integer("level"));
  std::vector<lod::level> offsets;
  for (std::size_t l = 0; l <= level; ++l) offsets.push_back(whole.offsets(l));
  const lod sequences(std::move(offsets));
  std::vector<std::size_t> order(sequences.sequences());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  sort_stably(order, [&](std::size_t a, std::size_t b) {
    return sequences.length(a) > sequences.length(b);
  });
  std::vector<std::int64_t> items;
  for (const std::size_t i : order) {
    items.push_back(static_cast<std::int64_t>(i));
    items.push_back(static_cast<std::int64_t>(sequences.length(i)));
  }
  ctx.set_lod("Out", sequences.above());
  ctx.give("Out", tensor({order.size(), 2}, items));
}

template <class Real>
void max_sequence_len_forward(call_context<Real>& ctx) {
  const rank_table table(ctx);
  ctx.give("Out", tensor::filled<std::int64_t>({1}, static_cast<std::int64_t>(table.steps())));
}

template <class Real>
void lod_tensor_to_array_forward(call_context<Real>& ctx) {
  const rank_table table(ctx);
  const lod sequences = table.sequences();
  const masked_parts parts(ctx.input("X").shape()[0], ctx.lod("X"), sequences.levels());
  std::vector<lod_tensor>& to = ctx.array_output("Out");
  to.clear();
  for (std::size_t t = 0; t < table.steps(); ++t) {
    std::vector<std::size_t> chosen;
    for (std::size_t r = 0; r < table.alive(t); ++r)
      chosen.push_back(sequences.last()[table.index[r]] + t);
    to.push_back(chosen_parts(ctx.input("X"), parts, chosen));
  }
}

/// Copies the gradients of sub-sequences, which the slots of an array hold by time step, to the
/// order that the sub-sequences have in X.
template <class Real>
void lod_tensor_to_array_gradient(call_context<Real>& ctx) {
  const rank_table table(ctx);
  const lod sequences = table.sequences();
  const masked_parts parts(ctx.input("X").shape()[0], ctx.lod("X"), sequences.levels());
  const std::vector<lod_tensor>& from = ctx.array_of("Out@GRAD");
  auto dx = zeros<Real>(ctx.input("X").shape());
  const std::size_t width = matrix(ctx.input("X").shape(), 1).columns;
  for (std::size_t t = 0; t < table.steps(); ++t) {
    if (!holds(from, t)) continue;
    const auto& d = from[t].template as<Real>();
    std::size_t at = 0;
    for (std::size_t r = 0; r < table.alive(t); ++r) {
      const std::size_t part = sequences.last()[table.index[r]] + t;
      for (std::size_t i = parts.begin[part] * width; i < parts.begin[part + 1] * width; ++i) {
        if (at == d.size())
          ctx.fail("expected a value for each row of step " + std::to_string(t) + ", found " +
                   std::to_string(at));
        dx.flat(i) = d.flat(at++);
      }
    }
  }
  ctx.set_lod("X@GRAD", ctx.lod("X"));
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void array_to_lod_tensor_forward(call_context<Real>& ctx) {
  const rank_table table(ctx);
  const lod sequences = table.sequences();
  const std::vector<lod_tensor>& from = ctx.array_of("X");
  const variable_desc& desc = ctx.output_desc("Out");
  tensor_shape shape = ctx.output_shape("Out");
  shape[0] = sequences.rows();
  std::size_t width = 1;
  for (std::size_t d = 1; d < shape.size(); ++d) width *= shape[d];
  const tensor zero = tensor::zeros(is_floating(desc.type) ? dtype_of<Real> : desc.type, shape);
  zero.visit([&]<class T>(const xt::xarray<T>& begin) {
    xt::xarray<T> out = begin;
    for (std::size_t t = 0; t < table.steps(); ++t) {
      if (!holds(from, t)) continue;
      xt::xarray<T> storage;
      const xt::xarray<T>& rows = values_as(from[t], storage);
      if (rows.shape()[0] != table.alive(t))
        ctx.fail("expected " + std::to_string(table.alive(t)) + " rows in step " +
                 std::to_string(t) + " of array '" + ctx.input_name("X") + "', found " +
                 std::to_string(rows.shape()[0]));
      for (std::size_t r = 0; r < table.alive(t); ++r)
        for (std::size_t c = 0; c < width; ++c)
          out.flat((sequences.last()[table.index[r]] + t) * width + c) = rows.flat(r * width + c);
    }
    ctx.give("Out", tensor(std::move(out)));
  });
  ctx.set_lod("Out", sequences);
}

/// Out = the first n rows or sequences of X, where n is the number of ranked sequences that are
/// longer than I.
template <class Real>
void shrink_rnn_memory_forward(call_context<Real>& ctx) {
  const rank_table table(ctx);
  const masked_parts parts(ctx.input("X").shape()[0], ctx.lod("X"), 0);
  const std::size_t n = table.alive(array_index(ctx));
  if (n > parts.count())
    ctx.fail("expected at least " + std::to_string(n) + " rows or sequences in '" +
             ctx.input_name("X") + "', found " + std::to_string(parts.count()));
  std::vector<std::size_t> first(n);
  for (std::size_t i = 0; i < n; ++i) first[i] = i;
  lod_tensor out = chosen_parts(ctx.input("X"), parts, first);
  ctx.set_lod("Out", out.lod());
  ctx.give("Out", std::move(out));
}
template <class Real>
void shrink_rnn_memory_gradient(call_context<Real>& ctx) {
  auto dx = zeros<Real>(ctx.input("X").shape());
  const auto& d = ctx.real("Out@GRAD");
  for (std::size_t i = 0; i < d.size(); ++i) dx.flat(i) = d.flat(i);
  ctx.set_lod("X@GRAD", ctx.lod("X"));
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void reorder_lod_tensor_by_rank_forward(call_context<Real>& ctx) {
  const rank_table table(ctx);
  const masked_parts parts(ctx.input("X").shape()[0], ctx.lod("X"), table.above.levels());
  if (parts.count() != table.index.size())
    ctx.fail("expected " + std::to_string(table.index.size()) + " rows or sequences in '" +
             ctx.input_name("X") + "', found " + std::to_string(parts.count()));
  lod_tensor out = chosen_parts(ctx.input("X"), parts, table.index);
  ctx.set_lod("Out", out.lod());
  ctx.give("Out", std::move(out));
}
template <class Real>
void reorder_lod_tensor_by_rank_gradient(call_context<Real>& ctx) {
  const rank_table table(ctx);
  const masked_parts parts(ctx.input("Out@GRAD").shape()[0], ctx.lod("Out@GRAD"), 0);
  std::vector<std::size_t> rank(table.index.size());
  for (std::size_t r = 0; r < rank.size(); ++r) rank[table.index[r]] = r;
  lod_tensor dx = chosen_parts(ctx.input("Out@GRAD"), parts, rank);
  ctx.set_lod("X@GRAD", stacked(table.above, dx.lod()));
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void last_rnn_memory_forward(call_context<Real>& ctx) {
  const rank_table table(ctx);
  const std::vector<lod_tensor>& from = ctx.array_of("X");
  const variable_desc& desc = ctx.output_desc("Out");
  tensor_shape shape = ctx.output_shape("Out");
  shape[0] = table.index.size();
  const std::size_t width = matrix(shape, 1).columns;
  const tensor zero = tensor::zeros(is_floating(desc.type) ? dtype_of<Real> : desc.type, shape);
  zero.visit([&]<class T>(const xt::xarray<T>& begin) {
    xt::xarray<T> out = begin;
    for (std::size_t r = 0; r < table.index.size(); ++r) {
      const std::size_t t = table.length[r];
      if (!holds(from, t) || from[t].shape()[0] <= r)
        ctx.fail("expected a row for sequence " + std::to_string(table.index[r]) + " at index " +
                 std::to_string(t) + " of array '" + ctx.input_name("X") + "', found none");
      xt::xarray<T> storage;
      const xt::xarray<T>& rows = values_as(from[t], storage);
      for (std::size_t c = 0; c < width; ++c)
        out.flat(table.index[r] * width + c) = rows.flat(r * width + c);
    }
    ctx.give("Out", tensor(std::move(out)));
  });
  ctx.set_lod("Out", table.above);
}
template <class Real>
void last_rnn_memory_gradient(call_context<Real>& ctx) {
  const rank_table table(ctx);
  const auto& d = ctx.real("Out@GRAD");
  std::vector<lod_tensor>& to = ctx.array_output("X@GRAD");
  const std::size_t width = matrix(shape_of(d), 1).columns;
  if (to.size() <= table.steps()) to.resize(table.steps() + 1);
  for (std::size_t r = 0; r < table.index.size(); ++r) {
    const std::size_t t = table.length[r];
    if (!to[t].has_value()) {
      tensor_shape shape = shape_of(d);
      shape[0] = t == 0 ? table.index.size() : table.alive(t - 1);
      to[t] = tensor(zeros<Real>(shape));
    }
    for (std::size_t c = 0; c < width; ++c)
      to[t].template as<Real>().flat(r * width + c) += d.flat(table.index[r] * width + c);
  }
}

template <class Real>
void fill_constant_batch_size_like_forward(call_context<Real>& ctx) {
  tensor_shape shape;
  for (const int d : ctx.integer_list("shape"))
    shape.push_back(d < 0 ? ctx.input("Input").shape()[0] : static_cast<std::size_t>(d));
  ctx.give("Out", tensor::filled<double>(shape, ctx.attribute("value")));
}

template <class Real>
void add_rank_table_kernels(kernel_table<Real>& table) {
  table["lod_rank_table"] = lod_rank_table_forward<Real>;
  table["max_sequence_len"] = max_sequence_len_forward<Real>;
  table["lod_tensor_to_array"] = lod_tensor_to_array_forward<Real>;
  table["lod_tensor_to_array_grad"] = lod_tensor_to_array_gradient<Real>;
  table["array_to_lod_tensor"] = array_to_lod_tensor_forward<Real>;
  table["shrink_rnn_memory"] = shrink_rnn_memory_forward<Real>;
  table["shrink_rnn_memory_grad"] = shrink_rnn_memory_gradient<Real>;
  table["reorder_lod_tensor_by_rank"] = reorder_lod_tensor_by_rank_forward<Real>;
  table["reorder_lod_tensor_by_rank_grad"] = reorder_lod_tensor_by_rank_gradient<Real>;
  table["last_rnn_memory"] = last_rnn_memory_forward<Real>;
  table["last_rnn_memory_grad"] = last_rnn_memory_gradient<Real>;
  table["fill_constant_batch_size_like"] = fill_constant_batch_size_like_forward<Real>;
}

}}}  // namespace lamina::kernel
