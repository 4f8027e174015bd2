// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/mean/layer.hpp - the mean of all elements of a variable.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/layer_helper.hpp>
#include <lamina/operators/reduce/mean/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of mean.
struct mean_attr {
  std::string_view name{};
};

/// Returns the mean of all elements of `x`, shape [1]. Fluid: layers.mean.
template <class T, class R, int... D>
constexpr variable<T, once, 1> mean(variable<T, R, D...> x,
                                    const options<mean_attr, T>& attr = {}) {
  layer_helper layer(*x.builder, "mean", attr.name);
  const auto y = layer.template output<variable<T, once, 1>>();
  x.builder->add_operator(schema_of<operators::mean>(), {x.id}, {y.id});
  return layer.returns(y);
}

}}}  // namespace lamina::layer
