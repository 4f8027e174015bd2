// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/executor.hpp - labels and cost shapes, for all costs with one value per
// row.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <limits>

#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// The label of a row; fails if it is not a class number. Returns -1 for an ignored row.
template <class Real>
std::int64_t label_of(const call_context<Real>& ctx, const xt::xarray<std::int64_t>& labels,
                      std::size_t row, std::size_t classes) {
  const std::int64_t label = labels.flat(row);
  if (label == ctx.integer("ignore_index", -100)) return -1;
  ctx.require_range("Label", label, 0, static_cast<std::int64_t>(classes));
  return label;
}

/// The labels; fails unless there is one per row.
template <class Real>
xt::xarray<std::int64_t> labels_of(const call_context<Real>& ctx, std::size_t rows) {
  xt::xarray<std::int64_t> labels = ctx.integers("Label");
  if (labels.size() != rows)
    ctx.fail("expected " + std::to_string(rows) + " labels in variable '" +
             ctx.input_name("Label") + "', found the shape " + to_string(shape_of(labels)));
  return labels;
}

/// The shape of costs: as the input, with 1 in place of the last dimension.
inline tensor_shape cost_shape(tensor_shape shape) {
  shape.back() = 1;
  return shape;
}

/// d / p, limited so that a sum of several such quotients stays finite; 0 if d is 0.
template <class Real>
Real finite_ratio(Real d, Real p) {
  constexpr Real most = (std::numeric_limits<Real>::max)() / 1024;
  return d == 0 ? Real(0) : std::clamp(d / p, -most, most);
}

}}}  // namespace lamina::kernel
