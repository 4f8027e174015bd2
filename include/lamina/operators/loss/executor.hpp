// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/executor.hpp - checks of labels and shapes of costs, for all operators that
// compute one cost per row.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <limits>

#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Returns the label of a row, or -1 if the label is ignore_index. Fails if the label is not the
/// number of a class.
template <class Real>
std::int64_t label_of(const call_context<Real>& ctx, const xt::xarray<std::int64_t>& labels,
                      std::size_t row, std::size_t classes) {
  const std::int64_t label = labels.flat(row);
  if (label == ctx.integer("ignore_index", -100)) return -1;
  ctx.require_range("Label", label, 0, static_cast<std::int64_t>(classes));
  return label;
}

/// Returns the input Label. Fails unless it has one label per row.
template <class Real>
xt::xarray<std::int64_t> labels_of(const call_context<Real>& ctx, std::size_t rows) {
  xt::xarray<std::int64_t> labels = ctx.integers("Label");
  if (labels.size() != rows)
    ctx.fail("expected " + std::to_string(rows) + " labels in variable '" +
             ctx.input_name("Label") + "', found the shape " + to_string(shape_of(labels)));
  return labels;
}

/// Returns the shape of the costs of an input: the shape of the input with 1 in place of the last
/// dimension.
inline tensor_shape cost_shape(tensor_shape shape) {
  shape.back() = 1;
  return shape;
}

/// Returns d / p, or 0 if d is 0. The result is limited so that a sum of several quotients stays
/// finite.
template <class Real>
Real finite_ratio(Real d, Real p) {
  constexpr Real most = (std::numeric_limits<Real>::max)() / 1024;
  return d == 0 ? Real(0) : std::clamp(d / p, -most, most);
}

}}}  // namespace lamina::kernel
