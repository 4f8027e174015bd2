// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/expand/executor.hpp - sequence_expand and sequence_expand_as, which
// repeat rows and sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/executor/call_context.hpp>
#include <lamina/operators/sequence/executor.hpp>
#include <lamina/operators/sequence/shape/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

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
void add_sequence_expand_kernels(kernel_table<Real>& table) {
  table["sequence_expand"] = sequence_expand_forward<Real>;
  table["sequence_expand_grad"] = sequence_expand_gradient<Real>;
  table["sequence_expand_as"] = sequence_expand_as_forward<Real>;
  table["sequence_expand_as_grad"] = sequence_expand_as_gradient<Real>;
}

}}}  // namespace lamina::kernel
