// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/ids/executor.hpp - sequence_enumerate, sequence_erase,
// sequence_scatter.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>

#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

template <class Real>
void sequence_enumerate_forward(call_context<Real>& ctx) {
  const auto x = ctx.integers("X");
  const lod& sequences = ctx.lod("X");
  const int asked = ctx.integer("win_size", 1);
  if (asked < 1) ctx.fail("expected a win_size of at least 1, found " + std::to_string(asked));
  const std::size_t window = static_cast<std::size_t>(asked);
  auto out = zeros<std::int64_t>({x.size(), window});
  for (std::size_t s = 0; s < sequences.sequences(); ++s) {
    const std::size_t end = sequences.last()[s + 1];
    for (std::size_t t = sequences.last()[s]; t < end; ++t)
      for (std::size_t w = 0; w < window; ++w)
        out.flat(t * window + w) = t + w < end ? x.flat(t + w) : ctx.integer("pad_value");
  }
  ctx.give("Out", std::move(out));
}

template <class Real>
void sequence_erase_forward(call_context<Real>& ctx) {
  const auto x = ctx.integers("X");
  const lod sequences = ctx.lod("X");
  const std::vector<int> erased = ctx.integer_list("tokens");
  std::vector<std::int64_t> kept;
  lod::level lengths;
  for (std::size_t s = 0; s < sequences.sequences(); ++s) {
    const std::size_t before = kept.size();
    for (std::size_t t = sequences.last()[s]; t < sequences.last()[s + 1]; ++t)
      if (std::find(erased.begin(), erased.end(), x.flat(t)) == erased.end())
        kept.push_back(x.flat(t));
    lengths.push_back(kept.size() - before);
  }
  ctx.give("Out", tensor({kept.size(), 1}, kept));
  ctx.set_lod("Out", sequences.above().below(lengths));
}

/// Calls f(position in X of the element that is changed, row of Ids) for each row of Ids.
template <class Real, class F>
void each_scattered(const call_context<Real>& ctx, std::size_t width, F f) {
  const auto ids = ctx.integers("Ids");
  const lod& sequences = ctx.lod("Ids");
  for (std::size_t s = 0; s < sequences.sequences(); ++s)
    for (std::size_t t = sequences.last()[s]; t < sequences.last()[s + 1]; ++t) {
      ctx.require_range("Ids", ids.flat(t), 0, static_cast<std::int64_t>(width));
      f(s * width + static_cast<std::size_t>(ids.flat(t)), t);
    }
}
template <class Real>
void sequence_scatter_forward(call_context<Real>& ctx) {
  xt::xarray<Real> out = ctx.real("X");
  const auto& updates = ctx.real("Updates");
  if (ctx.lod("Ids").sequences() != out.shape()[0] || updates.size() != ctx.input("Ids").size())
    ctx.fail("expected " + std::to_string(out.shape()[0]) +
             " sequences of as many ids as updates, "
             "found " +
             std::to_string(ctx.lod("Ids").sequences()) + " sequences, " +
             std::to_string(ctx.input("Ids").size()) + " ids and " +
             std::to_string(updates.size()) + " updates");
  each_scattered(ctx, out.shape()[1],
                 [&](std::size_t at, std::size_t t) { out.flat(at) += updates.flat(t); });
  ctx.give("Out", std::move(out));
}
template <class Real>
void sequence_scatter_gradient(call_context<Real>& ctx) {
  const xt::xarray<Real> d = ctx.real("Out@GRAD");
  if (ctx.wants("Updates@GRAD")) {
    auto du = zeros<Real>(ctx.input("Ids").shape());
    each_scattered(ctx, d.shape()[1],
                   [&](std::size_t at, std::size_t t) { du.flat(t) = d.flat(at); });
    ctx.give("Updates@GRAD", std::move(du));
  }
  ctx.give("X@GRAD", d);
}

template <class Real>
void add_sequence_ids_kernels(kernel_table<Real>& table) {
  table["sequence_enumerate"] = sequence_enumerate_forward<Real>;
  table["sequence_erase"] = sequence_erase_forward<Real>;
  table["sequence_scatter"] = sequence_scatter_forward<Real>;
  table["sequence_scatter_grad"] = sequence_scatter_gradient<Real>;
}

}}}  // namespace lamina::kernel
