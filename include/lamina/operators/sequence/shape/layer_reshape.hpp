// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/shape/layer_reshape.hpp - sequence_reshape: rearranges the elements of
// sequences into rows of another width.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/sequence/shape/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of sequence_reshape.
struct sequence_reshape_attr {
  std::string_view name{};
};

/// Rearranges the elements of each sequence into rows of NewDim elements:
/// `sequence_reshape<"pairs", 2>(x)`. A sequence of n rows with Width elements becomes a sequence
/// of n * Width / NewDim rows; the new sequences have the name Name. If this number is not an
/// integer, the run fails. Fluid: layers.sequence_reshape.
template <fixed_string Name, int NewDim, class T, class R, int... D>
constexpr auto sequence_reshape(variable<T, R, D...> x,
                                const options<sequence_reshape_attr, T>& attr = {}) {
  constexpr bool fits = is_tokens<R> && sizeof...(D) == 1 && NewDim > 0;
  static_assert(
      check<fits, gets<NewDim>, gets_type<variable<T, R, D...>>>,
      "lamina: sequence_reshape: the input holds sequences of rows with one dimension, the "
      "new one is positive");
  using out = variable<T, tokens<Name, parent_rows<R>>, (NewDim > 0 ? NewDim : 1)>;
  program_builder& b = *x.builder;
  layer_helper layer(b, "sequence_reshape", attr.name);
  const out y = layer.template output<out>();
  b.add_operator(schema_of<operators::sequence_reshape>(), {x.id}, {y.id},
                 b.attribute_list(NewDim));
  return layer.returns(y);
}

}}}  // namespace lamina::layer
