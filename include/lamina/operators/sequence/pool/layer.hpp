// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/pool/layer.hpp - sequence_pool, which pools the rows of each sequence
// into one row.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/pooling_type.hpp>
#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/sequence/pool/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of sequence_pool.
struct sequence_pool_attr {
  pooling_type type = pooling_type::average;
  float pad_value = 0;  // the result for a sequence without rows
  std::string_view name{};
};

/// Options of sequence_first_step and sequence_last_step.
struct sequence_step_attr {
  float pad_value = 0;  // the result for a sequence without rows
  std::string_view name{};
};

/// Returns the average, the sum, the sum / sqrt(length), the maximum, the last or the first of the
/// rows of each sequence: `sequence_pool(x, {.type = lamina::pooling_type::max})`. If the rows of x
/// are tokens<"a", Parent>, the result has rows Parent; the inner dimensions do not change. Fluid:
/// layers.sequence_pool.
template <class T, class R, int... D>
constexpr auto sequence_pool(variable<T, R, D...> x,
                             const options<sequence_pool_attr, T>& attr = {}) {
  using in = variable<T, R, D...>;
  static_assert(check<is_tokens<R>, gets_type<in>>,
                "lamina: sequence_pool: the rows of the input form sequences");
  static_assert(check<(!is_tokens<R> || detail::is_real<T>), gets_type<in>>,
                "lamina: sequence_pool: the input is floating point; cast or embed integers first");
  using out = with_rows<parent_rows<R>, in>;
  program_builder& b = *x.builder;
  layer_helper layer(b, "sequence_pool", attr.name);
  const out y = layer.template output<out>();
  int index = -1;
  if (attr.type == pooling_type::max)
    index = detail::without_gradient(
        layer, layer.template output<variable<std::int32_t, parent_rows<R>, D...>>().id);
  const attribute_value type = b.text(pool_names[static_cast<int>(attr.type)]);
  b.add_operator(schema_of<operators::sequence_pool>(), {x.id}, {y.id, index},
                 b.attribute_list(type, attr.pad_value));
  return layer.returns(y);
}

/// Returns the first row of each sequence. Fluid: layers.sequence_first_step.
template <class T, class R, int... D>
constexpr auto sequence_first_step(variable<T, R, D...> x,
                                   const options<sequence_step_attr, T>& attr = {}) {
  return sequence_pool(
      x, {.type = pooling_type::first, .pad_value = attr.pad_value, .name = attr.name});
}

/// Returns the last row of each sequence. Fluid: layers.sequence_last_step.
template <class T, class R, int... D>
constexpr auto sequence_last_step(variable<T, R, D...> x,
                                  const options<sequence_step_attr, T>& attr = {}) {
  return sequence_pool(
      x, {.type = pooling_type::last, .pad_value = attr.pad_value, .name = attr.name});
}

}}}  // namespace lamina::layer
