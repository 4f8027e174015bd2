// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/pool/executor.hpp - sequence_pool, which pools the rows of each
// sequence into one row.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Returns the divisor of the sum of a pooled sequence of `length` rows.
template <class Real>
Real pool_divisor(const std::string& type, std::size_t length) {
  const Real n = static_cast<Real>(length);
  return type == "AVERAGE" ? n : type == "SQRT" ? std::sqrt(n) : Real(1);
}

template <class Real>
void sequence_pool_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const lod sequences = ctx.lod("X");
  const lod::level& begin = sequences.last();
  const std::string type = ctx.text("pooltype");
  const std::size_t width = matrix(shape_of(x), 1).columns;
  tensor_shape shape = shape_of(x);
  shape[0] = sequences.sequences();
  auto out = zeros<Real>(shape);
  auto index = zeros<std::int32_t>(shape);
  for (std::size_t s = 0; s < sequences.sequences(); ++s)
    for (std::size_t c = 0; c < width; ++c) {
      Real& y = out.flat(s * width + c);
      std::int32_t& from = index.flat(s * width + c);
      from = -1;
      y = ctx.real_attribute("pad_value");
      if (sequences.length(s) == 0) continue;
      const std::size_t first = begin[s], last = begin[s + 1] - 1;
      if (type == "FIRST" || type == "LAST") {
        y = x.flat((type == "FIRST" ? first : last) * width + c);
      } else if (type == "MAX") {
        for (std::size_t r = first; r <= last; ++r)
          if (from < 0 || math::is_above(x.flat(r * width + c), y)) {
            y = x.flat(r * width + c);
            from = static_cast<std::int32_t>(r);
          }
      } else if (type == "AVERAGE" || type == "SUM" || type == "SQRT") {
        double sum = 0;
        for (std::size_t r = first; r <= last; ++r)
          sum += static_cast<double>(x.flat(r * width + c));
        y = static_cast<Real>(sum);
        y /= pool_divisor<Real>(type, sequences.length(s));
      } else {
        ctx.fail("expected the pooltype AVERAGE, SUM, SQRT, MAX, LAST or FIRST, found '" + type +
                 "'");
      }
    }
  ctx.give("Out", std::move(out));
  ctx.set_lod("Out", sequences.above());
  if (type != "MAX") return;
  ctx.give("MaxIndex", std::move(index));
  ctx.set_lod("MaxIndex", sequences.above());
}

template <class Real>
void sequence_pool_gradient(call_context<Real>& ctx) {
  if (!ctx.wants("X@GRAD")) return;
  const lod& sequences = ctx.lod("X");
  const lod::level& begin = sequences.last();
  const auto& d = ctx.real("Out@GRAD");
  const std::string type = ctx.text("pooltype");
  auto dx = zeros<Real>(ctx.input("X").shape());
  const std::size_t width = matrix(shape_of(dx), 1).columns;
  const xt::xarray<std::int64_t> index =
      type == "MAX" ? ctx.integers("MaxIndex") : xt::xarray<std::int64_t>();
  for (std::size_t s = 0; s < sequences.sequences(); ++s) {
    if (sequences.length(s) == 0) continue;
    const std::size_t first = begin[s], last = begin[s + 1] - 1;
    for (std::size_t c = 0; c < width; ++c) {
      const Real dy = d.flat(s * width + c);
      if (type == "MAX")
        dx.flat(static_cast<std::size_t>(index.flat(s * width + c)) * width + c) = dy;
      else if (type == "FIRST" || type == "LAST")
        dx.flat((type == "FIRST" ? first : last) * width + c) = dy;
      else
        for (std::size_t r = first; r <= last; ++r)
          dx.flat(r * width + c) = dy / pool_divisor<Real>(type, sequences.length(s));
    }
  }
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void add_sequence_pool_kernels(kernel_table<Real>& table) {
  table["sequence_pool"] = sequence_pool_forward<Real>;
  table["sequence_pool_grad"] = sequence_pool_gradient<Real>;
}

}}}  // namespace lamina::kernel
