// SPDX-License-Identifier: Apache-2.0
// lamina/operators/random/dropout/layer.hpp - dropout, which sets random elements to 0 in training.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/operators/random/dropout/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// When elements are multiplied by the factor that preserves their mean: in inference, by 1 -
/// probability, or in training, by 1 / (1 - probability).
enum class dropout_implementation : std::uint8_t { downgrade_in_infer, upscale_in_train };

/// Options of dropout.
struct dropout_attr {
  bool is_test = false;
  int seed = 0;  // 0: the program's seed
  dropout_implementation implementation = dropout_implementation::downgrade_in_infer;
  std::string_view name{};
};

/// In training, sets each element of x to 0 with the given probability. With downgrade_in_infer,
/// the other elements do not change, and inference returns x * (1 - probability). With
/// upscale_in_train, the other elements are divided by (1 - probability), and inference returns x.
/// Source: Srivastava et al.
/// 2014. Fluid: dropout.
template <class T, class R, int... D>
constexpr auto dropout(variable<T, R, D...> x, float probability,
                       const options<dropout_attr, T>& attr = {}, int line = __builtin_LINE()) {
  constexpr bool real = detail::is_real<T>;
  static_assert(check<real, gets_type<variable<T, R, D...>>>,
                "lamina: layer: the input is floating point; cast integers first");
  program_builder& b = *x.builder;
  b.require_option(probability >= 0 && probability <= 1, line, "dropout: 0 <= probability <= 1");
  layer_helper layer(b, "dropout", attr.name);
  const int y = layer.output_like(x.id);
  const int mask =
      detail::without_gradient(layer, layer.template output<variable<std::uint8_t, R, D...>>().id);
  const bool downgrade = attr.implementation == dropout_implementation::downgrade_in_infer;
  const attribute_value how = b.text(downgrade ? "downgrade_in_infer" : "upscale_in_train");
  b.add_operator(schema_of<operators::dropout>(), {x.id, -1}, {y, mask},
                 b.attribute_list(probability, attr.is_test, attr.seed != 0, attr.seed, how));
  return layer.returns(variable<T, R, D...>{&b, y});
}

#ifdef LAMINA_NAMES_OPTIONS
// clang-format off
constexpr no_match<dropout_attr>
dropout(...) = delete;  // call dropout(x, 0.5f); options: is_test, seed, implementation, name
// clang-format on
#endif

}}}  // namespace lamina::layer
