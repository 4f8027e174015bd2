// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/group_norm/definition.hpp - operators that normalise the channels of
// images.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina::inline LAMINA_ABI {

/// Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias for each channel (dimension 1). In
/// training, mean and biased variance are those of the batch, and MeanOut = momentum * Mean + (1 -
/// momentum) * mean, VarianceOut likewise; with is_test or use_global_stats they are Mean and
/// Variance, which do not change. In training, if a channel of the batch is a single number, Y is X
/// and nothing else changes. SavedMean is the mean that was used, SavedVariance 1 / sqrt(variance +
/// epsilon). Source: Ioffe and Szegedy 2015. Fluid: batch_norm.
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

/// Y = (X - Mean) / sqrt(Variance + epsilon) * Scale + Bias, where Mean and the biased Variance
/// [N, groups] are over the channels of a group and all their elements; Scale and Bias [C] have one
/// number per channel. Source: Wu and He 2018. Fluid: group_norm.
struct group_norm : operator_definition {
  static constexpr const char* type = "group_norm";
  static constexpr std::array<slot_desc, 3> inputs{
      {{"X"}, {"Scale", false, true}, {"Bias", false, true}}};
  static constexpr std::array<slot_desc, 3> outputs{
      {{"Y"}, {"Mean", false, false, true}, {"Variance", false, false, true}}};
  static constexpr std::array<attribute_desc, 3> attributes{
      {{"epsilon", attribute_type::real, 1e-5},
       {"groups", attribute_type::integer, 1},
       {"data_layout", attribute_type::string, 0, "NCHW"}}};
  static constexpr std::uint32_t differentiable = 7;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr std::uint32_t gradient_outputs = 6;
};

/// group_norm with a group for each channel; SavedVariance is 1 / sqrt(variance + epsilon).
/// Source: Ulyanov et al. 2016. Fluid: instance_norm.
struct instance_norm : operator_definition {
  static constexpr const char* type = "instance_norm";
  static constexpr std::array<slot_desc, 3> inputs{
      {{"X"}, {"Scale", false, true}, {"Bias", false, true}}};
  static constexpr std::array<slot_desc, 3> outputs{
      {{"Y"}, {"SavedMean", false, false, true}, {"SavedVariance", false, false, true}}};
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"epsilon", attribute_type::real, 1e-5}}};
  static constexpr std::uint32_t differentiable = 7;
  static constexpr std::uint32_t gradient_inputs = 3;
  static constexpr std::uint32_t gradient_outputs = 6;
};

/// Out = X * MidOut^-beta, MidOut = k + alpha * the sum of the squares of the n channels around
/// each, at the same position. Source: Krizhevsky et al. 2012. Fluid: lrn.
struct lrn : operator_definition {
  static constexpr const char* type = "lrn";
  static constexpr auto inputs = slots_x;
  static constexpr std::array<slot_desc, 2> outputs{{{"Out"}, {"MidOut", false, false, true}}};
  static constexpr std::array<attribute_desc, 4> attributes{{{"n", attribute_type::integer, 5},
                                                             {"k", attribute_type::real, 2},
                                                             {"alpha", attribute_type::real, 1e-4},
                                                             {"beta", attribute_type::real, 0.75}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr std::uint32_t gradient_outputs = 3;
};

/// The channels [first, end) around channel c that lrn adds up; with `back`, the channels that have
/// channel c as a neighbour.
struct channels_around {
  int first, end;
  constexpr channels_around(int c, int n, int channels, bool back = false)
      : first(c - (back ? n - 1 - (n - 1) / 2 : (n - 1) / 2)), end(first + n) {
    if (first < 0) first = 0;
    if (end > channels) end = channels;
  }
};

using norm_group_norm_operators = operator_list<batch_norm, group_norm, instance_norm, lrn>;

}  // namespace lamina::inline LAMINA_ABI
