// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/batch_norm/definition.hpp - normalisation over the rows of a batch.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias for each channel (dimension 1). In
/// training, mean and biased variance are computed over the batch, MeanOut = momentum * Mean + (1 -
/// momentum) * mean, and VarianceOut likewise. With is_test or use_global_stats, mean and variance
/// are Mean and Variance, which do not change. In training, if each channel has a single element in
/// the batch, Y is X and nothing else changes. SavedMean is the mean that was used, SavedVariance
/// is 1 / sqrt(variance + epsilon). Source: Ioffe and Szegedy 2015. Fluid: batch_norm.
struct batch_norm : operator_definition {
  static constexpr const char* type = "batch_norm";
  static constexpr std::array<slot_desc, 5> inputs{
      {{"X"}, {"Scale"}, {"Bias"}, {"Mean"}, {"Variance"}}};
  static constexpr std::array<slot_desc, 5> outputs{{{"Y"},
                                                     {"MeanOut"},
                                                     {"VarianceOut"},
                                                     {"SavedMean", false, false, true},
                                                     {"SavedVariance", false, false, true}}};
  static constexpr std::array<attribute_desc, 5> attributes{
      {{"is_test", attribute_type::boolean, 0},
       {"momentum", attribute_type::real, 0.9},
       {"epsilon", attribute_type::real, 1e-5},
       {"data_layout", attribute_type::string, 0, "NCHW"},
       {"use_global_stats", attribute_type::boolean, 0}}};
  static constexpr std::uint32_t differentiable = 7;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr std::uint32_t gradient_outputs = 24;
};

using norm_batch_norm_operators = operator_list<batch_norm>;

}}}  // namespace lamina::operators

namespace lamina { inline namespace LAMINA_ABI {

/// Whether any of a program's operators is a batch_norm.
constexpr bool has_batch_norm(const operator_desc* operators, int count) {
  for (int k = 0; k < count; ++k)
    if (is<operators::batch_norm>(operators[k])) return true;
  return false;
}

}}  // namespace lamina
