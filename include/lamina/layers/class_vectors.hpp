// SPDX-License-Identifier: Apache-2.0
// lamina/layers/class_vectors.hpp - computes products with some rows of a trained table, for costs
// over many classes.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/operators/embedding/lookup_table/layer.hpp>
#include <lamina/operators/matrix/matmul/layer.hpp>
#include <lamina/operators/shape/reshape/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of costs over many classes: nce and hsigmoid.
struct class_cost_attr {
  param_attr param{};       // options of the table of class vectors; initialised by Xavier
  bool bias = true;         // false: no bias
  param_attr bias_param{};  // options of the biases; initialised with 0
  bool is_sparse = false;   // sparse gradients (selected_rows): only the rows that were read
  int seed = 0;             // nce: seed of the sampled classes; 0: the seed of the run
  std::string_view name{};
};

namespace detail {

/// Computes x . table[id] + bias[id] for each of the Count ids of each row; x has `Width` elements.
/// Parameters: a table [Classes, Width] and biases [Classes, 1].
template <int Classes, int Count, class T, class R, int Width, class Ids>
constexpr auto class_scores(layer_helper& layer, variable<T, R, Width> x, Ids ids,
                            const class_cost_attr& attr, int line) {
  program_builder& b = *x.builder;
  const auto rows_of = [&]<int Columns>(int table, std::integral_constant<int, Columns>) {
    const auto y = layer.template output<variable<T, R, Count, Columns>>();
    b.add_operator(schema_of<operators::lookup_table>(), {table, ids.id}, {y.id},
                   attr.is_sparse ? b.attribute_list(true, false, -1) : -1);
    return y;
  };
  const int table =
      layer.parameter(attr.param, ".w_", {Classes, Width}, dtype_of<T>, init::xavier(), line);
  const auto vectors = rows_of(table, std::integral_constant<int, Width>{});
  const auto products = matmul(vectors, reshape<Width, 1>(x), {}, line);
  if (!attr.bias) return reshape<Count>(products);
  const int biases =
      layer.parameter(attr.bias_param, ".b_", {Classes, 1}, dtype_of<T>, init::constant(0), line);
  return reshape<Count>(
      elementwise_add(products, rows_of(biases, std::integral_constant<int, 1>{}), {}, line));
}

}  // namespace detail
}}}  // namespace lamina::layer
